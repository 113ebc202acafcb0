"""What the words in sheets of labels mean."""

import logging
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from featprop import labels as fp_labels
from featprop.errors import FeatpropError, FileError, GraphError, LabelError, ParameterError
from featprop.graph import Graph
from tests.graphs import edgeless
from tests.helpers import raises

Read = Callable[..., Any]


def read_labels(paths: list[Path], graph: Graph, **options: Any) -> SimpleNamespace:
    """Return labels as lists, which tell types and order apart."""
    found = fp_labels.read(paths, graph, **options)
    return SimpleNamespace(nodes=list(found), labels=list(found.values()), blank=found.asked, skipped=found.skips)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.INFO, logger="featprop")
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read tables of ten nodes, 0 to 9, given as text."""
    monkeypatch.chdir(tmp_path)

    def read_tables(*tables: str, graph: Graph | None = None, names: str = "", **options: Any) -> Any:
        paths = [Path(f"{name}.csv") for name in (names.split() or "abc")[: len(tables)]]
        for path, table in zip(paths, tables, strict=True):
            path.write_text(table, encoding="utf-8")
        return read_labels(paths, graph or edgeless(10), **options)

    return read_tables


def column(*labels: str) -> str:
    return "id,label\n" + "".join(f"{node},{label}\n" for node, label in enumerate(labels))


@pytest.mark.parametrize(
    ("labels", "read_as", "facts"),
    [
        (["OK", "ok", "Ok", "ok", "bad", "bad"], ["ok"] * 4 + ["bad"] * 2, ("'OK' (1)", "'Ok' (1)", "'ok'")),
        (["OK", "ok", "bad", "bad"], ["OK", "OK", "bad", "bad"], ("'ok' (1)", "'OK'")),
        (["1", "1.0", "1", "2", "2"], [1, 1, 1, 2, 2], ("'1.0' (1)", "1")),
        (["1.0", "1", "1.0", "2", "2"], ["1.0", "1.0", "1.0", 2, 2], ("1 (1)", "'1.0'")),
        (["not  ok", "not ok", "x", "x"], ["not  ok", "not  ok", "x", "x"], ("'not ok' (1)", "'not  ok'")),
        (["prüf", *["pru\u0308f"] * 2, "x", "x"], [*["pru\u0308f"] * 3, "x", "x"], ("'pr\\xfcf' (1)",)),
        (["of\ufb01ce", "of\u200bfice", "\u202eoffice\u202c", "OFFICE", "office", "office"], ["office"] * 6, ()),
    ],
)
def test_spellings_of_one_class(
    read: Read, told: Any, labels: list[str], read_as: list[Any], facts: tuple[str, ...]
) -> None:
    assert read(column(*labels)).labels == read_as
    (said,) = told()
    assert all(fact in said for fact in facts)


def test_a_known_class_wins(read: Read, told: Any) -> None:
    graph = edgeless(10, labels=["Ok", "Bad", 1] + [None] * 7)
    table = column("OK", "OK", "bad", "bad", "1.0", "1.0")
    assert read(table, graph=graph).labels == ["Ok", "Ok", "Bad", "Bad", 1, 1]
    assert read(table, known=["bAd"]).labels == ["OK", "OK", "bAd", "bAd", "1.0", "1.0"]
    assert read(table, graph=graph, classes=["ok", "BAD", "1"]).labels == ["ok", "ok", "BAD", "BAD", 1, 1]
    assert read(column("us", "US", "Us", "us"), classes=["us", "US"]).labels == ["us", "US", "us", "us"]


def test_labels_of_the_graph(read: Read, told: Any) -> None:
    """Its column is a sheet like any other: two spellings there do not make two classes, nor a skip a class."""
    labels = ["fraud", "fraud", "ok", "OK", "ok", "n/a", "?", "frued"]
    graph = edgeless(10, labels=[*labels, None, None])
    for sheet in (read(column(*labels), graph=graph), read_labels([], graph)):
        assert sheet.labels == ["fraud", "fraud", "ok", "ok", "ok", "frued"]
        assert (sheet.skipped, sheet.blank) == ({5: "n/a", 6: "?"}, [])
    expected = ["'OK' (1)", "(5: n/a, 6: ?)", "'frued' at node 7"]
    for said, facts in zip(told(), [*expected[:2], *expected], strict=True):
        assert facts in said
    with raises(LabelError):
        read_labels([], graph, classes=["fraud", "ok"])
    assert read_labels([], graph, classes=["fraud", "ok", "OK", "frued"]).labels.count("OK") == 1


@pytest.mark.parametrize(
    ("labels", "options", "facts"),
    [
        (["fraud", "fraud", "ok", "ok", "frued"], {}, ["1 ('frued' at node 4)"]),
        (["valid", "valid", "spam", "1"], {}, ["2 ('spam' at node 2, 1 at node 3)"]),
        (["frued", "frued", "ok", "ok"], {}, []),
        (["fraud", "ok", "ok"], {"known": ["fraud"]}, []),
        (["fraud", "ok", "ok"], {"classes": ["fraud", "ok"]}, []),
    ],
)
def test_classes_with_a_single_label_are_logged(
    read: Read, told: Any, labels: list[str], options: dict[str, Any], facts: list[str]
) -> None:
    assert read(column(*labels), **options).labels == [int(label) if label.isdigit() else label for label in labels]
    for said, fact in zip(told(), facts, strict=True):
        assert fact in said


def test_only_the_allowed_classes(read: Read) -> None:
    with raises(LabelError, parameter="classes", value="frued", node=2, choices=("fraud", "ok")) as caught:
        read(column("fraud", "OK", "frued", "spam", "?"), classes=["fraud", "ok"])
    assert "'spam' of node 3" in str(caught.value)
    with raises(ParameterError, parameter="classes"):
        read(column("a"), classes=[])


@pytest.mark.parametrize("word", ["SKIP", "?", "N/A", "-", "not sure", "Don’t know"])
def test_a_skip_is_no_class(read: Read, told: Any, word: str) -> None:
    sheet = read(column("x", "x", word))
    assert (sheet.labels, sheet.skipped, sheet.blank) == (["x", "x"], {2: word}, [])
    assert f"1 (2: {word})" in told()[0]


def test_a_class_may_be_named_like_a_skip_or_an_empty_word(read: Read) -> None:
    table = column("na", "None", "NA", "?", "NULL")
    assert read(table, classes=["Na", "None"]).labels == ["Na", "None", "Na"]
    assert read(table, known=["na", "null"]).labels == ["na", "na", "null"]
    sheet = read(table, known=["x"], classes=["None"])
    assert (sheet.labels, sheet.skipped, sheet.blank) == (["None"], {0: "na", 2: "NA", 3: "?"}, [4])


def test_a_label_overrides_a_skip(read: Read) -> None:
    sheet = read("id,label\n1,?\n2,x\n", "id,label\n1,x\n2,\n3,\n")
    assert (sorted(sheet.nodes), sheet.skipped, sheet.blank) == ([1, 2], {}, [3])


def test_empty_words_are_no_labels(read: Read, told: Any) -> None:
    words = column("x", "x", "NULL", "nan", "NaN", "None", "#REF!", "n/a")
    sheet = read(words + "8,\u200b\n")
    assert (sheet.nodes, sheet.labels, sheet.blank) == ([0, 1], ["x", "x"], [2, 3, 4, 5, 6, 8])
    assert sheet.skipped == {7: "n/a"}
    assert all(fact in told()[0] for fact in ("a.csv", "6", "'NULL' (1)", "'#REF!' (1)"))
    everywhere = column("x", *["NULL"] * 9)
    assert read(everywhere).blank == []


def test_all_conflicts_are_listed(read: Read) -> None:
    one, other = column(*"aaaaaaa"), column(*"abbbbbb")
    with raises(LabelError, node=1) as caught:
        read(one, other, names="ann bob")
    listed = ", ".join(f"node {node}: 'a' by ann.csv and 'b' by bob.csv" for node in range(1, 6))
    assert f"6 ({listed}, …)" in str(caught.value)
    with raises(LabelError, node=1):
        read("id,annotator,label\n1,ann,x\n2,ann,y\n1,ann,y\n")
    with raises(LabelError, node=1) as caught:  # half are alike, as chance gives: kappa is 0
        read(column(*"xxyy"), column(*"xyxy"), names="ann bob")
    assert all(fact in str(caught.value) for fact in (": 4, of which 2", "0.00 for ann.csv and bob.csv"))


@pytest.mark.parametrize("table", ["id,label\n0,x\n1,\n2, \n3,x\n", "id,annotator,label\n0,ann,x\n1,ann,\n2,,\n3,,x\n"])
def test_a_row_without_a_label_was_asked_for(read: Read, table: str) -> None:
    """Also in a sheet that lost its rank column."""
    assert read(table).blank == [1, 2]
    assert read(table, graph=edgeless(4)).blank == []


@pytest.mark.parametrize("head", ["node,label", "Node_ID,Label", " Id ,label"])
def test_names_of_the_columns(read: Read, head: str) -> None:
    assert read(f"{head}\n3,x\n4,x\n").nodes == [3, 4]
    assert read("node,id,label\n1,3,x\n").nodes == [3]
    with raises(FeatpropError):
        read("ID,Id,label\n1,3,x\n")


@pytest.mark.parametrize(("written", "meant"), [("3.0", "3?"), ("x", "0")])
def test_an_unknown_id_is_named_with_one_that_is_close(read: Read, written: str, meant: str) -> None:
    with raises(GraphError) as caught:
        read(f"id,label\n1,x\n{written},x\n")
    assert repr(written) in str(caught.value)
    assert meant in str(caught.value)


def test_logs_and_exports_are_read_like_sheets(tmp_path: Path) -> None:
    with fp_labels.LabelLog(tmp_path / "my.labels") as log:
        log.answer(0, "x", annotator="ada")
        log.answer(1, "X", annotator="ada")
        log.answer(2, "y", annotator="ada")
        log.answer(2, "x", annotator="bob")
        log.skip(3, "blurred", annotator="ada")
        log.draw_audit({4: 2.0})
        log.answer(4, "x", annotator="ada")
    found = fp_labels.read(tmp_path / "my.labels", edgeless(6))
    assert (dict(found), found.skips) == ({0: "x", 1: "x"}, {3: "blurred"}), "node 2 is a tie"
    assert (found.audit, found.audited) == ({4: 2.0}, {4: "x"})
    (tmp_path / "more.jsonl").write_text('{"node_id": 5, "label": ["x"]}\n')
    both = fp_labels.read([tmp_path / "my.labels", tmp_path / "more.jsonl"], edgeless(6))
    assert dict(both) == {0: "x", 1: "x", 5: "x"}
    with raises(FileError, path=tmp_path / "none.labels"):
        fp_labels.read(tmp_path / "none.labels", edgeless(6))
