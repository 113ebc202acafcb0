"""Out of a label log and into one: what is written comes back, once, and what cannot be taken is named."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.errors import FileError, GraphError, ParameterError
from featprop.graph import Graph
from featprop.labels import Imported, LabelLog, export_labels, import_labels, rows
from featprop.labels.exporting import FORMATS
from tests.helpers import raises

EVERY = pytest.mark.parametrize("name", FORMATS)


def day() -> LabelLog:
    """Two people, a disagreement that was settled, a skip, notes, a correction and something undone."""
    log = LabelLog()
    log.tell({"a": "ok", "b": "fraud", "c": "ok"}, annotator="ada")
    log.tell({"a": "fraud", "c": "review"}, annotator="grace")
    log.answer("b", "ok", annotator="ada")
    log.skip("d", 'blurred, "odd"', annotator="grace")
    log.note("a", " two\nlines ", annotator="ada")
    log.note("e", "ünlike", annotator="ada")
    log.adjudicate("a", "ok", annotator="grace")
    log.tell({"e": "ok"}, annotator="grace")
    log.undo(annotator="grace")
    return log


def written(log: LabelLog, name: str, folder: Path, **options: Any) -> Path:
    path = folder / f"labels{FORMATS[name]}"
    path.write_bytes(export_labels(log, format=name, **options))
    return path


def holds(log: LabelLog) -> list[tuple[Any, ...]]:
    return [(each.node, each.kind, each.label, each.text, each.annotator, each.time) for each in log.holding()]


@EVERY
def test_an_export_taken_into_an_empty_log_holds_there_as_it_did(name: str, tmp_path: Path) -> None:
    log, other = day(), LabelLog()
    path = written(log, name, tmp_path)
    assert import_labels(other, path) == Imported(taken=6, skipped=1, notes=2)
    assert holds(other) == holds(log)
    assert other.labels() == log.labels() == {"a": "ok", "b": "ok", "c": "review"}
    assert other.skips() == log.skips()
    assert other.notes() == log.notes()
    assert export_labels(other, format=name) == path.read_bytes()


@EVERY
def test_an_export_taken_into_its_own_log_changes_nothing(name: str, tmp_path: Path) -> None:
    log = day()
    path = written(log, name, tmp_path)
    before = log.events()
    assert import_labels(log, path) == Imported(repeated=9)
    assert log.events() == before
    log.answer("b", "fraud", annotator="ada")
    log.undo(annotator="grace")
    before = log.events()
    assert import_labels(log, path) == Imported(repeated=7, superseded=2), "what was changed or undone since stays so"
    assert log.events() == before


@EVERY
def test_the_same_file_twice_changes_nothing(name: str, tmp_path: Path) -> None:
    other = LabelLog()
    path = written(day(), name, tmp_path)
    import_labels(other, path)
    before = other.events()
    assert import_labels(other, path) == Imported(repeated=9)
    assert other.events() == before


NAMES = st.one_of(
    st.integers(-99, 99), st.text("aäß'\"<&,;\n|#= ", min_size=1, max_size=5).map(lambda text: f"x{text}x")
)


@pytest.mark.parametrize("name", FORMATS)
@given(answers=st.dictionaries(NAMES, st.tuples(st.sampled_from(["ada", ""]), st.sampled_from(["ok", "Größe <1>", 7]))))
def test_any_names_come_back(
    name: str, answers: dict[Any, tuple[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    log, other = LabelLog(), LabelLog()
    for node, (annotator, label) in answers.items():
        log.tell({node: label}, annotator=annotator)
    path = written(log, name, tmp_path_factory.mktemp("any"))
    import_labels(other, path)
    if name == "csv" and not all(isinstance(node, int) for node in answers):
        assert {str(node): label for node, label in other.labels().items()} == {
            str(node): label for node, label in log.labels().items()
        }, "in a column with text, numbers are text; a graph says which they are"
    else:
        assert other.labels() == log.labels()


@EVERY
def test_ids_of_any_type_are_found_in_the_graph(name: str, tmp_path: Path) -> None:
    ids = [(0, 1), "7", 2.5]
    graph = Graph.from_scipy([[0, 1, 0], [1, 0, 1], [0, 1, 0]], [[1.0], [2], [3]], ids=ids)
    log, other = LabelLog(), LabelLog()
    log.tell(dict.fromkeys(ids, "ok"))
    import_labels(other, written(log, name, tmp_path), graph)
    assert list(other.labels()) == ids
    assert [type(node) for node in other.labels()] == [tuple, str, float]


def test_what_cannot_be_taken_is_named_and_the_rest_taken(tmp_path: Path, line: Graph) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,label\na,Left\nb,right\nx,left\nc,lfet\nd,?\ne,\ny,left\nx,right\n,left\n", encoding="utf-8")
    log = LabelLog()
    found = import_labels(log, path, line, ["left", "right"], annotator="ada")
    assert found == Imported(
        taken=2,
        skipped=1,
        unanswered=1,
        unknown_nodes=("x", "y"),
        unknown_classes=("lfet",),
        unclear=("row 9: no id",),
    )
    assert log.labels() == {"a": "left", "b": "right"}
    assert log.skips() == {"d": "?"}
    assert {act.annotator for act in log.events()} == {"ada"}


def test_classes_have_the_type_and_spelling_that_is_known(tmp_path: Path) -> None:
    log = LabelLog()
    log.tell({"a": "007", "b": "OK"})
    path = tmp_path / "labels.csv"
    path.write_text("id,label\nc,007\nd,ok\ne,1\nf,skip\n", encoding="utf-8")
    import_labels(log, path)
    assert log.labels() == {"a": "007", "b": "OK", "c": "007", "d": "OK", "e": 1}
    with raises(ParameterError):
        import_labels(log, path, classes=[])


def test_a_word_for_a_skip_may_be_a_class(tmp_path: Path) -> None:
    log = LabelLog()
    path = tmp_path / "labels.csv"
    path.write_text("id,label,kind\na,skip,\nb,skip,label\n", encoding="utf-8")
    import_labels(log, path)
    assert (log.labels(), log.skips()) == ({"b": "skip"}, {"a": "skip"})


def test_a_sheet_that_a_person_edits(tmp_path: Path) -> None:
    log = day()
    path = written(log, "csv", tmp_path)
    rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    place = next(number for number, row in enumerate(rows) if row[:3] == ["b", "ok", "ada"])
    rows[place][1], rows[place][5] = "review", "on second thoughts"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    assert import_labels(log, path) == Imported(taken=1, notes=1, repeated=8)
    assert log.labels()["b"] == "review"
    assert import_labels(log, path) == Imported(repeated=10)


def test_of_predictions_only_the_label_column_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text(
        "id,prediction,confidence,label,probability_x,probability_y\na,x,0.9,,0.9,0.1\nb,x,0.8,y,0.8,0.2\n",
        encoding="utf-8",
    )
    log = LabelLog()
    assert import_labels(log, path) == Imported(taken=1, unanswered=1)
    assert log.labels() == {"b": "y"}


def test_what_programs_write_for_nothing_is_not_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id,label\na,x\nb,NULL\nc,#N/A\nd,n/a\n", encoding="utf-8")
    log = LabelLog()
    assert import_labels(log, path) == Imported(taken=1, skipped=1, unanswered=2)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "'NULL' (1)" in caplog.text
    assert import_labels(log, path, classes=["x", "NULL"]) == Imported(taken=1, repeated=2, unanswered=1)


def test_two_labels_of_one_person_for_a_node_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("id,label,annotator\na,ok,ada\nb,ok,ada\na,fraud,ada\na,ok,bob\nb,Ok,ada\n", encoding="utf-8")
    log = LabelLog()
    done = import_labels(log, path)
    assert (done.taken, done.unclear) == (2, ("node 'a': 'ok' and 'fraud' by ada",))
    assert {(act.node, act.annotator): act.label for act in log.holding()} == {("b", "ada"): "ok", ("a", "bob"): "ok"}
    path.write_text(
        "id,label,annotator,time\na,ok,ada,2026-01-02T10:00:00\na,fraud,ada,2026-01-02T11:00:00\n", encoding="utf-8"
    )
    assert import_labels(log, path).taken == 2
    assert {act.annotator: act.label for act in log.holding() if act.node == "a"} == {"ada": "fraud", "bob": "ok"}


def test_a_class_called_none_comes_back_from_an_export(tmp_path: Path) -> None:
    log, other = LabelLog(), LabelLog()
    log.tell({"a": "None", "b": "mild"})
    import_labels(other, written(log, "csv", tmp_path))
    assert other.labels() == {"a": "None", "b": "mild"}


def test_nodes_that_nobody_answered_are_listed(line: Graph) -> None:
    log = LabelLog()
    log.tell({"b": "left"})
    rows = list(csv.DictReader(io.StringIO(export_labels(log, line, nodes=["d", "b", "d"]).decode())))
    assert [(row["id"], row["label"], row["kind"]) for row in rows] == [("b", "left", "label"), ("d", "", "")]
    lines = [json.loads(text) for text in export_labels(log, line, "jsonl", nodes=["d"]).decode().splitlines()]
    assert [(each["node_id"], each["label"]) for each in lines] == [("b", ["left"]), ("d", [])]
    with raises(GraphError):
        export_labels(log, line, nodes=["x"])
    log.tell({"x": "left"})
    with raises(GraphError):
        export_labels(log, line)


def test_an_unknown_format() -> None:
    with raises(ParameterError):
        export_labels(LabelLog(), format="josnl")


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b'[{"data": {}}',
        b'{"a": 1}\n{"b":\n',
        b"[1, 2]",
        b"7",
        b'"text"',
        b"[" * 100_000,
        b"\xff\xfe\xfd",
        b'[{"id": ' + b"9" * 5000 + b"}]",
    ],
)
def test_damaged_json_is_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if not content and name == "results.jsonl":
        assert import_labels(LabelLog(), path) == Imported(), "no lines are no damage"
        return
    with raises(FileError) as caught:
        import_labels(LabelLog(), path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_file_that_is_too_large_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_FILE_BYTES", 10)
    for name in ("x.json", "x.csv"):
        (tmp_path / name).write_text("id,label\na,b\n", encoding="utf-8")
        with raises(FileError):
            import_labels(LabelLog(), tmp_path / name)
    with raises(FileError):
        import_labels(LabelLog(), tmp_path / "nowhere.json")
    with raises(FileError):
        import_labels(LabelLog(), tmp_path)


def test_names_and_notes_have_a_length(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines: list[dict[str, Any]] = [
        {"node_id": "a" * 501, "label": ["x"]},
        {"node_id": "a", "label": ["x" * 501]},
        {"node_id": "a", "label": [], "note": "n" * 10_001},
        {"node_id": "a", "label": ["\ud800"]},
        {"node_id": "a", "label": [{"x": 1}]},
        {"node_id": "b", "label": ["x"]},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    log = LabelLog()
    found = import_labels(log, path)
    assert (found.taken, len(found.unclear)) == (1, 5)
    assert log.labels() == {"b": "x"}


def test_utf_16_and_a_mark_at_the_beginning(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        path = tmp_path / f"{encoding}.json"
        path.write_text('{"node_id": "ä", "label": "ö"}', encoding=encoding)
        log = LabelLog()
        import_labels(log, path)
        assert log.labels() == {"ä": "ö"}


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "@me", "'=1", "''", "'quoted", "-1.5", "+2e3", "\tx", "plain"])
def test_no_cell_is_a_formula_and_all_come_back(tmp_path: Path, text: str) -> None:
    log = LabelLog()
    log.answer(f"{text}n", f"{text.strip()}c", annotator="=ada")
    log.skip("other", f"{text} reason", annotator="=ada")
    content = export_labels(log)
    for row in csv.reader(content.decode().splitlines()):
        assert not any(cell[:1] in tuple("=+@\t") or re.match(r"-[^\d]", cell) for cell in row)
    (tmp_path / "out.csv").write_bytes(content)
    other = LabelLog()
    import_labels(other, tmp_path / "out.csv")
    kept = [(act.node, act.kind, act.label, act.text, act.annotator) for act in other.holding()]
    assert kept == [(act.node, act.kind, act.label, act.text, act.annotator) for act in log.holding()]
