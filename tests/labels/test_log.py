"""The label log: acts are added, never changed, never lost; what holds now follows from them."""

import datetime as dt
import gc
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.errors import FileError, LabelError, ParameterError
from featprop.labels import Annotation, Kind, LabelLog
from tests.helpers import raises


def test_a_day_of_labelling_by_hand() -> None:
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


def test_an_act_sent_again_is_harmless_whatever_was_done_in_between() -> None:
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
    with raises(LabelError, value="k1"):
        log.undo(key="k1")


def test_a_label_costs_the_same_however_many_there_are() -> None:
    """By the plan of the query, not by a clock: it looks at the acts of the node only."""
    log = LabelLog()
    plans: list[str] = []
    log._connection.set_trace_callback(plans.append)
    log.tell({"a": "ok"})
    query = next(plan for plan in plans if "FROM holding" in plan)
    log._connection.set_trace_callback(None)
    steps = [row[3] for row in log._connection.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert not [step for step in steps if step.startswith("SCAN")], steps


def test_each_annotator_has_an_answer_of_their_own() -> None:
    log = LabelLog()
    log.tell({"a": "ok"}, annotator="ada")
    log.tell({"a": "fraud"}, annotator="grace")
    assert [(act.annotator, act.label) for act in log.holding()] == [("ada", "ok"), ("grace", "fraud")]
    assert log.labels() == {"a": "fraud"}, "the last to answer counts"
    log.answer("a", "review", annotator="ada")
    assert log.labels() == {"a": "review"}
    assert log.undo(annotator="grace").label == "fraud"
    assert [act.annotator for act in log.holding()] == ["ada"]


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
    dt.time(8, 30),
    frozenset({"a"}),
    b"\0\xff",
    "ü\n'\"",
]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names_keep_value_and_type(name: Any, tmp_path: Path) -> None:
    with LabelLog(tmp_path / "labels.sqlite") as log:
        log.tell({name: name})
    with LabelLog(tmp_path / "labels.sqlite") as log:
        ((node, label),) = log.labels().items()
    assert (node, label) == (name, name)
    assert type(node) is type(label) is type(name)


ACTS = st.lists(
    st.tuples(st.sampled_from(["tell", "answer", "skip", "undo", "note"]), st.integers(0, 3), st.sampled_from("xyz")),
    max_size=30,
)


@given(acts=ACTS)
@settings(max_examples=60, deadline=None)
def test_what_holds_follows_from_the_acts(acts: list[tuple[str, int, str]]) -> None:
    """Beside a stack of states kept by hand: an undo takes back the last act that changed anything."""
    log = LabelLog()
    stack: list[dict[int, str | None]] = [{}]
    for kind, node, label in acts:
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


def test_an_act_cannot_be_changed_or_deleted(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "labels.sqlite") as log:
        log.tell({"a": "ok"})
    connection = sqlite3.connect(tmp_path / "labels.sqlite")
    for statement in ("UPDATE events SET label = 'fraud'", "DELETE FROM events"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()


def test_the_file_is_as_safe_as_sqlite_makes_it(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "labels.sqlite") as log:
        ask = log._connection.execute
        assert ask("PRAGMA journal_mode").fetchone() == ("wal",)
        assert ask("PRAGMA synchronous").fetchone() == (2,), "FULL"
        assert ask("PRAGMA integrity_check").fetchone() == ("ok",)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.sqlite"], "nothing is left beside it"


WRITER = """
import sys
from pathlib import Path
from featprop.labels import LabelLog
log = LabelLog(Path(sys.argv[1]))
for number in range(100_000):
    log.tell({f"{sys.argv[2]} {number}": "ok"})
    print(number, flush=True)
"""


def test_a_killed_process_loses_no_act_it_was_told_of(tmp_path: Path) -> None:
    path = tmp_path / "labels.sqlite"
    for turn in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"{turn}"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(20 + 7 * turn):
            told = int(process.stdout.readline())
        process.kill()
        rest = process.stdout.read().split()
        process.wait()
        process.stdout.close()
        told = max([told, *map(int, rest)])
        with LabelLog(path) as log:
            ours = [act.node for act in log.events() if str(act.node).startswith(f"{turn} ")]
        assert ours[: told + 1] == [f"{turn} {number}" for number in range(told + 1)]
        assert len(ours) <= told + 2, "at most one more, of which nobody was told"


@pytest.mark.parametrize("kind", ["text", "damaged", "another database", "a missing folder"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path: Path, kind: str, read_only: bool) -> None:
    path = tmp_path / "labels.sqlite"
    if kind == "another database":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE mine (x)")
    elif kind == "a missing folder":
        path = tmp_path / "nowhere" / "labels.sqlite"
    else:
        path.write_bytes(b"not a database" if kind == "text" else b"SQLite format 3\0" + b"\1" * 4096)
    before = path.read_bytes() if path.exists() else None
    with raises(FileError, path=path):
        LabelLog(path, read_only=read_only)
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_verdict_counts_until_it_is_undone_or_settled_anew() -> None:
    log = LabelLog()
    log.tell({"a": "ok"}, annotator="ada")
    log.adjudicate("a", "fraud", annotator="grace", round=3, key="v1")
    log.adjudicate("a", "fraud", annotator="grace", round=3, key="v1")
    log.adjudicate("a", "fraud", annotator="grace")
    assert [act.kind for act in log.events()] == ["label", "adjudicate"], "nothing is written twice"
    log.answer("a", "review", annotator="ada")
    log.tell({"a": "review"}, annotator="edsger")
    assert log.labels() == {"a": "fraud"}
    assert [act.kind for act in log.holding()] == ["adjudicate", "label", "label"]
    log.adjudicate("a", "ok", annotator="ada")
    assert log.labels() == {"a": "ok"}
    assert log.undo(annotator="ada").kind == "adjudicate"
    assert log.labels() == {"a": "fraud"}
    assert log.undo(annotator="grace").round == 3
    assert log.labels() == {"a": "review"}
    with raises(LabelError):
        log.adjudicate("a", None)
    with raises(LabelError):
        log.adjudicate("b", "ok", key="v1")


def test_a_new_log_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_log_of_another_version_is_refused_and_left_unchanged(tmp_path: Path, version: int, read_only: bool) -> None:
    path = tmp_path / "labels.sqlite"
    with LabelLog(path) as log:
        log._connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with raises(FileError, path=path):
        LabelLog(path, read_only=read_only)
    assert path.read_bytes() == before


NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)


def told(label: str | None, time: dt.datetime | None = NOON, **changes: Any) -> Annotation:
    kind = Kind.SKIP if label is None else Kind.LABEL
    return Annotation(**{"kind": kind, "node": "a", "label": label, "annotator": "ada", "time": time} | changes)


def added(log: LabelLog, *annotations: Annotation) -> tuple[int, int, int]:
    """Add annotations and return how many were new, repeated and superseded."""
    done = log.add(annotations)
    return done.taken + done.skipped + done.notes, done.repeated, done.superseded


def test_annotations_from_elsewhere_are_added_once_with_their_time() -> None:
    log = LabelLog()
    found = [told("ok"), told(None, kind=Kind.NOTE, text="hm"), told("x", kind=Kind.VERDICT)]
    assert added(log, *found) == (3, 0, 0)
    assert {each.time for each in log.events()} == {NOON}
    assert added(log, *found) == (0, 3, 0)
    assert added(log, told("ok", None)) == (0, 1, 0), "it holds already"
    assert (log.labels(), len(log.events())) == ({"a": "x"}, 3)


def test_annotations_from_elsewhere_do_not_undo_what_was_said_since() -> None:
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
    assert added(log, told(None, None, text="why")) == (1, 0, 0)
    assert added(log, told("fraud", None)) == (1, 0, 0)
    assert log.labels() == {"a": "fraud"}


def test_annotations_from_elsewhere_are_added_all_or_none() -> None:
    log = LabelLog()
    with pytest.raises(ParameterError):
        log.add([told("ok"), told("ok", node=object())])
    assert log.events() == []


def test_answers_are_made_to_hold_once() -> None:
    log = LabelLog()
    said = [told("ok", None), told(None, None, kind=Kind.NOTE, text="hm"), told("x", None, kind=Kind.VERDICT)]
    for _ in range(2):
        log.extend(said)
        assert (log.labels(), len(log.events())) == ({"a": "x"}, 3)
    log.extend([told("fraud", None)])
    log.extend([told("ok", None)])
    assert [each.label for each in log.holding() if each.kind is Kind.LABEL] == ["ok"], "a label can be changed back"


def test_classes_are_renamed_and_merged() -> None:
    log = LabelLog()
    log.name_classes(["fraud", "frued", "ok"])
    log.answer("a", "frued", annotator="ada")
    log.answer("a", "fraud", annotator="bob")
    log.rename_class("frued", "fraud")
    assert log.consensus() == log.consensus().__class__({"a": "fraud"}, {})
    assert log.classes() == ["fraud", "ok"]
    log.rename_class("ok", "fine")
    assert log.classes() == ["fraud", "fine"]
    log.answer("b", "frued")
    assert log.labels() == {"a": "fraud", "b": "frued"}, "a later answer is not renamed"
    with raises(LabelError, value="none"):
        log.rename_class("none", "fraud")


def test_undo_leaves_out_a_verdict_that_was_settled_anew() -> None:
    log = LabelLog()
    log.answer("n", "ok", annotator="ada")
    log.adjudicate("m", "ok", annotator="ada")
    log.adjudicate("m", "fraud", annotator="grace")
    undone = log.undo(annotator="ada")
    assert undone is not None
    assert (undone.node, undone.kind) == ("n", "label")
    assert log.labels() == {"m": "fraud"}


def test_what_waits_is_written_together_and_refused_alone(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.answer("taken", "ok", key="taken")
        begun = threading.Barrier(20)
        told: list[str] = []

        def say(place: int) -> None:
            begun.wait()
            try:
                log.answer(f"n{place}", "ok", key="taken" if place % 2 else f"k{place}")
                told.append(f"n{place}")
            except LabelError:
                pass

        with log._lock:
            threads = [threading.Thread(target=say, args=(place,)) for place in range(20)]
            for thread in threads:
                thread.start()
            while len(log._waiting) < 20:
                time.sleep(0.01)
        for thread in threads:
            thread.join()
        assert sorted(told) == sorted(f"n{place}" for place in range(0, 20, 2))
        assert log.labels().keys() == {"taken", *told}


def test_what_cannot_be_written_is_told_to_all_who_wait_and_nothing_is_half_done(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log._connection.execute("PRAGMA query_only = 1")
        with raises(FileError, path=log.path):
            log.answer("n", "ok")
        log._connection.execute("PRAGMA query_only = 0")
        log.answer("n", "ok")
        assert len(log.events()) == 1
    with pytest.raises(FileError):
        log.answer("m", "ok")


def test_a_rollback_that_fails_is_no_error_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        in_transaction = True

        def execute(self, statement: str, *_: object) -> Any:
            raise sqlite3.OperationalError("database or disk is full")

    with LabelLog(tmp_path / "a.labels") as log:
        with monkeypatch.context() as patch:
            patch.setattr(log, "_connection", Full())
            with raises(FileError):
                log.answer("n", "ok")
        log.answer("n", "ok")


def test_the_classes_are_those_named_in_their_order_and_all_that_were_ever_a_label() -> None:
    log = LabelLog()
    log.answer("n", "odd")
    log.answer("n", "ok")
    assert log.classes() == ["odd", "ok"]
    log.name_classes(["fraud", "ok", 1, "1"], annotator="ada")
    assert log.classes() == ["fraud", "ok", 1, "1", "odd"]
    before = len(log.events())
    log.name_classes(log.classes())
    assert len(log.events()) == before
    log.name_classes(log.classes())
    assert len(log.events()) == before
    log.name_classes(["odd", "1", 1, "ok", "fraud"])
    assert log.classes() == ["odd", "1", 1, "ok", "fraud"]
    assert log.labels() == {"n": "ok"}
    assert log.undo().label == "ok"


@pytest.mark.parametrize(("kind", "mode"), [("nfs4", "delete"), ("fuse.sshfs", "delete"), ("ext4", "wal")])
def test_a_network_file_system_has_a_journal_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str, mode: str
) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.answer("n", "ok")
    part = SimpleNamespace(mountpoint=str(tmp_path), fstype=kind)
    root = SimpleNamespace(mountpoint="/", fstype="ext4")
    monkeypatch.setattr("psutil.disk_partitions", lambda **_: [root, part])
    with LabelLog(tmp_path / "a.labels") as log:
        assert log._connection.execute("PRAGMA journal_mode").fetchone() == (mode,)
        log.answer("m", "ok")
        assert len(log.labels()) == 2
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [kind in each for each in said] == [True] * (mode == "delete")


def test_a_log_where_nothing_can_be_written_is_read(tmp_path: Path) -> None:
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
        "text = ''",
        "text = '-1'",
        "kind = 'label'",
        "time = '2024-01-01'",
        "annotator = x'ff'",
        "undoes = 'a'",
        "node = '" + "[" * 100_000 + "'",
    ],
)
def test_the_file_itself_refuses_damaged_events(change: str, tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.draw_audit({"a": 3.0})
    with closing(sqlite3.connect(tmp_path / "a.labels")) as file:
        file.execute("DROP TRIGGER events_unchanged")
        with pytest.raises(sqlite3.IntegrityError):
            file.execute(f"UPDATE events SET {change}")


def test_an_unknown_kind_of_event_is_refused(tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.tell({"a": "x"})
        log.query("INSERT INTO events SELECT 2, 'k', time, '', 0, 'odd', node, label, '', '', NULL FROM events")
        with raises(FileError, path=log.path):
            log.events()


@pytest.mark.parametrize(
    "statement",
    [
        "DROP VIEW standing; CREATE VIEW standing AS "
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT events.* FROM events, n",
        "CREATE TRIGGER more AFTER INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
        "DROP TRIGGER events_unchanged",
        "DROP VIEW standing",
    ],
)
def test_a_log_whose_file_has_other_things_done_is_refused(statement: str, tmp_path: Path) -> None:
    """A view of a crafted file may go on forever, and a trigger may write what nobody said."""
    with LabelLog(tmp_path / "a.labels") as log:
        log.tell({"a": "x"})
    with closing(sqlite3.connect(tmp_path / "a.labels")) as file:
        file.executescript(statement)
    for read_only in (True, False):
        with raises(FileError, path=tmp_path / "a.labels"):
            LabelLog(tmp_path / "a.labels", read_only=read_only)


def test_a_path_may_be_text(tmp_path: Path) -> None:
    path = str(tmp_path / "a.labels")
    with LabelLog(path) as log:
        log.tell({"a": "x"})
        assert log.path == Path(path)
        log.copy_to(f"{path}.copy")
    for name in (path, f"{path}.copy"):
        with LabelLog(name, read_only=True) as log:
            assert log.labels() == {"a": "x"}


def test_a_log_closes_itself_when_it_is_collected(tmp_path: Path) -> None:
    """Python 3.13 warns of a connection that is not closed."""
    for path in (None, tmp_path / "labels.sqlite"):
        log = LabelLog(path)
        kept = log._connection
        log.tell({"a": "left"})
        del log
        gc.collect()
        with pytest.raises(sqlite3.ProgrammingError):
            kept.execute("SELECT 1")
