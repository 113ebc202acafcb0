"""The label log: events are added, never changed; what holds now follows from them."""

import datetime as dt
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.errors import FileError, LabelError, ParameterError
from featprop.labels import Annotation, Consensus, Kind, LabelLog
from featprop.labels.agreement import pool_audits
from featprop.labels.importing import add_annotations
from featprop.labels.log import ClassEntry
from tests.helpers import raises


def test_a_day_of_labelling() -> None:
    log = LabelLog()
    log.tell({"a": "ok", "b": "fraud"}, annotator="ada", round=1)
    log.answer("a", "fraud", annotator="ada", round=1)
    log.skip("c", "blurred", annotator="ada", round=2)
    log.note("c", "ask Grace", annotator="ada")
    assert log.labels() == {"a": "fraud", "b": "fraud"}
    assert log.skips() == {"c": "blurred"}
    assert [(note.node, note.text) for note in log.notes()] == [("c", "ask Grace")]
    undone = log.undo(annotator="ada")
    assert undone is not None
    assert (undone.kind, undone.node) == ("skip", "c")
    assert log.skips() == {}
    assert log.undo(annotator="ada").kind == "label"
    assert log.labels() == {"a": "ok", "b": "fraud"}
    assert [act.kind for act in log.events()] == ["label", "label", "label", "skip", "note", "undo", "undo"]
    assert [act.number for act in log.events()] == [1, 2, 3, 4, 5, 6, 7]
    assert [act.undoes for act in log.events()[-2:]] == [4, 3]
    assert {act.round for act in log.events()} == {0, 1, 2}
    assert all(act.time.tzinfo is dt.UTC and act.annotator == "ada" for act in log.events())


def test_an_event_sent_again_changes_nothing() -> None:
    log = LabelLog()
    assert log.undo(key="u") is None
    log.answer(1, "a", key="k1")
    log.answer(1, "b", key="k2")
    log.skip(2, "odd", key="k3")
    log.tell({2: "c"})
    before = log.labels()
    for _ in range(2):
        log.answer(1, "a", key="k1")
        log.answer(1, "b", key="k2")
        log.skip(2, "odd", key="k3")
        assert log.undo(key="u") is None, "there was nothing to undo when it was first sent"
    assert log.labels() == before == {1: "b", 2: "c"}
    log.answer(1, "b", key="k4")
    assert log.undo().key == "k4"
    log.answer(1, "b", key="k4")
    assert log.undo().node == 2, "what was undone stays undone when it is sent again"
    for other in (
        lambda: log.undo(key="k1"),
        lambda: log.answer(1, "b", key="k1"),
        lambda: log.answer(2, "a", key="k1"),
        lambda: log.answer(1, "a", annotator="ada", key="k1"),
        lambda: log.note(1, "a", key="k1"),
    ):
        with raises(LabelError, value="k1"):
            other()


def test_labels_come_all_or_none() -> None:
    log = LabelLog()
    log.tell({"a": "ok"})
    for wrong, error in [({"b": "ok", "a": "fraud"}, LabelError), ({"b": "ok", "c": None}, LabelError)]:
        with pytest.raises(error):
            log.tell(wrong)
    with raises(ParameterError):
        log.tell({"b": "ok", "c": object()})
    assert log.labels() == {"a": "ok"}


NAMES = [
    "text",
    "1",
    1,
    1.0,
    -7,
    10**30,
    0.1,
    float("inf"),
    True,
    (0, 1),
    ((1, "a"), 2.5),
    dt.date(2026, 11, 16),
    dt.datetime(2026, 11, 16, 8, 30, tzinfo=dt.UTC),
    "ü\n'\"",
]


def test_names_keep_value_and_type(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "labels.sqlite") as log:
        log.extend(Annotation((place, name), name) for place, name in enumerate(NAMES))
    with LabelLog(tmp_path / "labels.sqlite") as log:
        labels = log.labels()
    assert list(map(repr, labels.items())) == [repr(((place, name), name)) for place, name in enumerate(NAMES)]


EVENTS = st.lists(
    st.tuples(st.sampled_from(["tell", "answer", "skip", "undo", "note"]), st.integers(0, 3), st.sampled_from("xyz")),
    max_size=30,
)


@given(events=EVENTS)
@settings(max_examples=60, deadline=None)
def test_undo_takes_back_the_last_change(events: list[tuple[str, int, str]]) -> None:
    """Compared with a stack of states: an undo reverts the last event that changed anything."""
    log = LabelLog()
    stack: list[dict[int, str | None]] = [{}]
    for kind, node, label in events:
        now = stack[-1]
        if kind == "tell" and now.get(node) is None:
            log.tell({node: label})
            stack.append({**now, node: label})
        elif kind == "answer" and now.get(node) not in (None, label):
            log.answer(node, label)
            stack.append({**now, node: label})
        elif kind == "skip" and now.get(node, "") is not None:
            log.skip(node)
            stack.append({**now, node: None})
        elif kind == "note":
            log.note(node, label)
        elif kind == "undo":
            assert (log.undo() is None) == (len(stack) == 1)
            stack[1:] = stack[1:-1]
    assert log.labels() == {node: label for node, label in stack[-1].items() if label is not None}
    assert set(log.skips()) == {node for node, label in stack[-1].items() if label is None}


def test_a_verdict_counts_until_it_is_undone_or_replaced() -> None:
    log = LabelLog()
    log.tell({"a": "ok"}, annotator="ada")
    for key in ("v1", "v1", ""):
        log.adjudicate("a", "fraud", annotator="grace", key=key)
    assert [act.kind for act in log.events()] == ["label", "adjudicate"], "nothing is written twice"
    log.answer("a", "review", annotator="ada")
    assert log.labels() == {"a": "fraud"}
    log.adjudicate("a", "ok", annotator="ada")
    assert log.labels() == {"a": "ok"}
    for annotator, label in [("ada", "fraud"), ("grace", "review")]:
        assert log.undo(annotator=annotator).kind == "adjudicate"
        assert log.labels() == {"a": label}
    with raises(LabelError):
        log.adjudicate("a", None)


def test_opening_waits_for_a_process_that_creates_the_log(tmp_path: Path) -> None:
    """SQLite itself does not wait where the kind of journal is changed."""
    with closing(sqlite3.connect(tmp_path / "new.labels", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        other.execute("SELECT count(*) FROM sqlite_master").fetchall()
        release = threading.Timer(0.3, other.execute, ("COMMIT",))
        release.start()
        with LabelLog(tmp_path / "new.labels") as log:
            log.answer("a", 1)
            assert log.labels() == {"a": 1}
        release.join()


NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def told(label: str | None, time: dt.datetime | None = NOON, **changes: Any) -> Annotation:
    kind = Kind.SKIP if label is None else Kind.LABEL
    return Annotation(**{"kind": kind, "node": "a", "label": label, "annotator": "ada", "time": time} | changes)


def added(log: LabelLog, *annotations: Annotation) -> tuple[int, int, int]:
    """Add annotations and return how many were new, repeated and superseded."""
    done = add_annotations(log, annotations)
    return done.taken + done.skipped + done.notes, done.repeated, done.superseded


def test_imported_annotations_are_added_once_with_their_time() -> None:
    log = LabelLog()
    found = [told("ok"), told(None, kind=Kind.NOTE, text="hm"), told("x", kind=Kind.VERDICT)]
    assert added(log, *found) == (3, 0, 0)
    assert {each.time for each in log.events()} == {NOON}
    assert added(log, *found) == (0, 3, 0)
    assert added(log, told("ok", None)) == (0, 1, 0), "it holds already"
    assert (log.labels(), len(log.events())) == ({"a": "x"}, 3)


def test_imported_annotations_do_not_undo_later_ones() -> None:
    log = LabelLog()
    assert added(log, told("ok")) == (1, 0, 0)
    log.answer("a", "fraud", annotator="ada")
    assert added(log, told("ok")) == (0, 0, 1), "added before"
    assert added(log, told("review")) == (0, 0, 1), "older than what holds"
    assert added(log, told("ok", key="other")) == (0, 0, 1), "the same answer under another key"
    assert added(log, told("review", annotator="grace")) == (1, 0, 0), "of another person"
    assert added(log, told("review", None)) == (1, 0, 0), "one without a time is of now"
    assert log.undo(annotator="ada").label == "review"
    assert log.undo(annotator="grace").label == "review"
    assert added(log, told("review", annotator="grace")) == (0, 0, 1), "what was undone stays undone"


def test_an_answer_edited_in_a_file_is_a_correction_of_now() -> None:
    log = LabelLog()
    added(log, told("ok"))
    assert added(log, told("fraud")) == (1, 0, 0)
    (answer,) = log.holding()
    assert answer.label == "fraud"
    assert answer.time > NOON
    assert added(log, told("ok"), told("fraud")) == (0, 1, 1)
    log.undo(annotator="ada")
    assert added(log, told("ok"), told("fraud")) == (0, 1, 1), "what was undone stays undone"
    assert added(log, told(None, None, text="why")) == (1, 0, 0)
    assert added(log, told("fraud", None)) == (1, 0, 0)
    assert log.labels() == {"a": "fraud"}


def test_classes_are_renamed_and_merged() -> None:
    log = LabelLog()
    log.set_classes(["fraud", "frued", "ok"])
    log.answer("a", "frued", annotator="ada")
    log.answer("a", "fraud", annotator="bob")
    log.rename_class("frued", "fraud")
    assert log.consensus() == Consensus({"a": "fraud"}, {})
    assert log.classes() == ["fraud", "ok"]
    log.rename_class("ok", "fine")
    assert log.classes() == ["fraud", "fine"]
    log.answer("b", "frued")
    assert log.labels() == {"a": "fraud", "b": "frued"}, "a later answer is not renamed"
    with raises(LabelError, value="none"):
        log.rename_class("none", "fraud")


def test_classes_are_those_set_and_those_used() -> None:
    log = LabelLog()
    log.answer("n", "odd")
    log.answer("n", "ok")
    assert log.classes() == ["odd", "ok"]
    entries = [ClassEntry("ok", "o", "nothing odd"), ClassEntry(1), ClassEntry("1"), ClassEntry("spare")]
    for _ in range(2):
        log.set_classes([*entries, entries[-1]], annotator="ada")
    assert log.class_entries() == entries
    assert len(log.events()) == 3, "nothing is written twice"
    log.set_classes(entries[:-1])
    log.answer("m", "new")
    assert log.classes() == ["ok", 1, "1", "new"]
    for refused, fields in [(["new"], {"value": "ok", "node": "n"}), (["ok", "new", ""], {"value": ""})]:
        with raises(LabelError, **fields):
            log.set_classes(refused)
    assert log.undo().label == "new", "classes are no answers"


@pytest.mark.parametrize(("kind", "mode"), [("nfs4", "delete"), ("fuse.sshfs", "delete"), ("ext4", "wal")])
def test_network_file_systems_get_a_rollback_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str, mode: str
) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.answer("n", "ok")
    part = SimpleNamespace(mountpoint=str(tmp_path), fstype=kind)
    root = SimpleNamespace(mountpoint="/", fstype="ext4")
    monkeypatch.setattr("psutil.disk_partitions", lambda **_: [root, part])
    with LabelLog(tmp_path / "a.labels") as log:
        assert log.query("PRAGMA journal_mode") == [(mode,)]
        assert log.query("PRAGMA synchronous") == [(2,)], "FULL"
        log.answer("m", "ok")
        assert len(log.labels()) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.labels"], "no other file is left"
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [kind in each for each in said] == [True] * (mode == "delete")


def test_a_read_only_folder(tmp_path: Path) -> None:
    place = tmp_path / "kept" / "a.labels"
    place.parent.mkdir()
    with LabelLog(place) as log:
        log.answer("n", "ok")
        with LabelLog(place, read_only=True) as reader:
            assert reader.labels() == {"n": "ok"}
            with raises(FileError):
                reader.answer("m", "ok")
    place.chmod(0o400)
    place.parent.chmod(0o500)
    try:
        with LabelLog(place, read_only=True) as reader:
            assert reader.labels() == {"n": "ok"}
    finally:
        place.parent.chmod(0o700)
    with pytest.raises(FileError):
        LabelLog(tmp_path / "nothing.labels", read_only=True)
    assert not (tmp_path / "nothing.labels").exists()


@pytest.mark.parametrize(
    "change",
    [
        *("text = ''", "text = '-1'", "kind = 'label'", "time = '2024-01-01'", "annotator = x'ff'", "undoes = 'a'"),
        "node = '" + "[" * 100_000 + "'",
    ],
)
def test_the_file_itself_refuses_changes_and_damaged_events(change: str, tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.draw_audit({"a": 3.0})
    with closing(sqlite3.connect(tmp_path / "a.labels")) as file:
        for statement in ("UPDATE events SET label = '1'", "DELETE FROM events"):
            with pytest.raises(sqlite3.IntegrityError):
                file.execute(statement)
        file.execute("DROP TRIGGER events_unchanged")
        with pytest.raises(sqlite3.IntegrityError):
            file.execute(f"UPDATE events SET {change}")


def test_an_unknown_kind_of_event_is_refused(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.tell({"a": "x"})
        log.query("INSERT INTO events SELECT 2, 'k', time, '', 0, 'odd', node, label, '', '', NULL FROM events")
        with raises(FileError, path=log.path):
            log.events()
        log.query("UPDATE classes SET name = '['")
        with raises(FileError, path=log.path):
            log.classes()


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        b"not a database",
        b"SQLite format 3\0" + b"\1" * 4096,
        "DROP VIEW holding; CREATE VIEW holding AS "
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT events.* FROM events, n",
        "CREATE TRIGGER more AFTER INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
        "DROP TRIGGER events_unchanged",
        "DROP VIEW holding",
        "PRAGMA user_version = 2",
        "PRAGMA application_id = 0",
    ],
)
def test_other_files_and_foreign_views_and_triggers_are_refused(
    change: str | bytes, read_only: bool, tmp_path: Path
) -> None:
    """A view of a crafted file may never end, and a trigger may write labels that no one entered."""
    path = tmp_path / "a.labels"
    if isinstance(change, bytes):
        path.write_bytes(change)
    else:
        LabelLog(path).close()
        with closing(sqlite3.connect(path)) as file:
            file.executescript(change)
    before = path.read_bytes()
    with raises(FileError, path=path):
        LabelLog(path, read_only=read_only)
    assert path.read_bytes() == before
    nowhere = tmp_path / "nowhere" / "a.labels"
    with raises(FileError, path=nowhere):
        LabelLog(nowhere, read_only=read_only)


def test_an_audit_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "labels.sqlite"
    with LabelLog(path) as log:
        log.tell({"a": "ok"})
        log.draw_audit({"b": 2.5, ("c", 1): 2.5})
        log.tell({"b": "fraud", "d": "ok"}, annotator="ada")
        log.skip(("c", 1), "blurred")
    with LabelLog(path) as log:
        assert log.audit() == {"b": 2.5, ("c", 1): 2.5}
        assert log.audited() == {"b": "fraud"}
        assert log.labels() == {"a": "ok", "d": "ok"}
        assert log.skips() == {("c", 1): "blurred"}
        assert [act.kind for act in log.events()] == ["label", "audit", "audit", "label", "label", "skip"]
        assert log.release_audit() == {"b": 2.5, ("c", 1): 2.5}
        assert log.labels() == {"a": "ok", "b": "fraud", "d": "ok"}
        assert (log.audit(), log.audited(), log.release_audit()) == ({}, {}, {})
        assert log.events()[-1].kind == "release", "there was nothing to release the second time"
        assert log.undo().kind == "skip", "a release is no answer"
        log.draw_audit({"e": 3.0})
        with raises(LabelError, node="a"):
            log.draw_audit({"f": 1.0, "a": 1.0})
        assert log.audit() == {"e": 3.0}, "all or none"


def test_uniform_audits_are_pooled_on_import() -> None:
    log = LabelLog()
    log.draw_audit({"a": 6.0, "b": 6.0})
    noon = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    second = [Annotation(node, None, Kind.AUDIT, text="5.0", time=noon) for node in "cd"]
    assert add_annotations(log, second).audit == 2
    assert log.audit() == dict.fromkeys("abcd", 3.0), "2 of 12, then 2 of 10: 4 of 12"
    n_events = len(log.events())
    assert add_annotations(log, second).known_audit == 2
    assert len(log.events()) == n_events, "added once"
    add_annotations(log, [Annotation("e", None, Kind.AUDIT, text="4.0"), Annotation("f", None, Kind.AUDIT, text="1.0")])
    assert log.audit() == {**dict.fromkeys("abcd", 3.0), "e": 4.0, "f": 1.0}


TEN, THIRTY = range(10), range(10, 40)


@pytest.mark.parametrize(
    ("draws", "weight"),
    [
        pytest.param([(TEN, 8.0), (THIRTY, 70 / 30)], 2.0, id="10 of 80, then 30 of 70: 40 of 80"),
        pytest.param([(THIRTY, 70 / 30), (TEN, 8.0)], 2.0, id="the other sheet first"),
        pytest.param([(TEN, 8.0), (THIRTY, 2.333)], 2.0, id="a weight that was rounded"),
        pytest.param([(TEN, 8.0), (THIRTY, 2.0)], 1.75, id="10 got a label in between: 40 of 70"),
        pytest.param([(TEN, 8.0), (range(10, 30), 4.0)], 80 / 30, id="drawn without a look at the first"),
        pytest.param([(TEN, 8.0), (range(5, 25), 4.0)], 3.2, id="and 5 nodes in both: 25 of 80"),
        pytest.param([(TEN, 8.0), (TEN, 8.0)], 8.0, id="one sheet for two people"),
        pytest.param([(range(5), 8.0), (range(5, 10), 8.0), (THIRTY, 70 / 30)], 2.0, id="a sheet in two parts"),
        pytest.param([(TEN, 8.0), (range(10, 20), 7.0), (range(20, 40), 3.0)], 2.0, id="three"),
        pytest.param([(TEN, 8.0), ((), 1.0)], 8.0, id="with a sheet of labels"),
    ],
)
def test_uniform_draws_are_pooled(draws: list[tuple[range, float]], weight: float) -> None:
    found = pool_audits([dict.fromkeys(nodes, each) for nodes, each in draws])
    assert found == pytest.approx({node: weight for nodes, _ in draws for node in nodes})


def test_stratified_draws_keep_their_weights() -> None:
    by_class = {"a": 9.0, "b": 1.0}
    assert pool_audits([by_class]) == by_class
    assert pool_audits([by_class, {"c": 10.0}]) == {**by_class, "c": 10.0}
    assert pool_audits([{"c": 10.0}, by_class, {"d": 3.0, "e": 3.0, "f": 3.0}]) == {
        **by_class,
        **dict.fromkeys("cdef", 2.5),
    }
    assert pool_audits([{"a": 10.0}, by_class]) == by_class, "the later sheet counts"
    assert pool_audits([]) == {}
