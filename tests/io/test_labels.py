"""Labels that nobody meant, and what becomes of them: each trap with its message."""

import logging
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featprop.errors import FeatpropError, GraphError, LabelError
from featprop.graph import Graph
from featprop.io.labels import LabelSheet, labels_of, read_labels

Read = Callable[..., LabelSheet]


def graph_of(n: int, labels: Any = None) -> Graph:
    return Graph.from_scipy(np.zeros((n, n)), np.ones((n, 1)), labels=labels)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.INFO, logger="featprop")
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read tables of ten nodes, 0 to 9, given as text."""
    monkeypatch.chdir(tmp_path)

    def read_tables(*tables: str, graph: Graph | None = None, names: str = "", **options: Any) -> LabelSheet:
        paths = [Path(f"{name}.csv") for name in (names.split() or "abc")[: len(tables)]]
        for path, table in zip(paths, tables, strict=True):
            path.write_text(table, encoding="utf-8")
        return read_labels(paths, graph or graph_of(10), **options)

    return read_tables


def column(*labels: str) -> str:
    return "id,label\n" + "".join(f"{node},{label}\n" for node, label in enumerate(labels))


SLIPS = "correct it if it is a slip; --classes refuses what you do not name"
ALONE = "label more nodes of it, or correct it if it is a slip"


@pytest.mark.parametrize(
    ("labels", "read_as", "message"),
    [
        (["OK", "ok", "Ok", "ok", "bad", "bad"], ["ok"] * 4 + ["bad"] * 2, "'OK' (1), 'Ok' (1) read as 'ok'"),
        (["OK", "ok", "bad", "bad"], ["OK", "OK", "bad", "bad"], "'ok' (1) read as 'OK'"),
        (["1", "1.0", "1", "2", "2"], [1, 1, 1, 2, 2], "'1.0' (1) read as 1"),
        (["1.0", "1", "1.0", "2", "2"], ["1.0", "1.0", "1.0", 2, 2], "1 (1) read as '1.0'"),
        (["not  ok", "not ok", "x", "x"], ["not  ok", "not  ok", "x", "x"], "'not ok' (1) read as 'not  ok'"),
    ],
)
def test_spellings_of_one_class(read: Read, told: Any, labels: list[str], read_as: list[Any], message: str) -> None:
    assert read(column(*labels)).labels == read_as
    assert told() == [f"Labels written in several ways are one class: {message}"]


def test_zeros_in_front_make_another_class(read: Read, told: Any) -> None:
    assert read(column("007", "7", "007", "7")).labels == ["007", 7, "007", 7]
    assert told() == []


def test_a_known_class_wins(read: Read, told: Any) -> None:
    graph = graph_of(10, ["Ok", "Bad", 1] + [None] * 7)
    table = column("OK", "OK", "bad", "bad", "1.0", "1.0")
    assert read(table, graph=graph).labels == ["Ok", "Ok", "Bad", "Bad", 1, 1]
    assert read(table, classes=["bAd"]).labels == ["OK", "OK", "bAd", "bAd", "1.0", "1.0"]
    assert read(table, graph=graph, allowed=["ok", "BAD", "1"]).labels == ["ok", "ok", "BAD", "BAD", 1, 1]


def test_the_graphs_own_labels_may_be_untidy_too(read: Read, told: Any) -> None:
    """Its column is a sheet like any other: two spellings there do not make two classes, nor a skip a class."""
    labels = ["fraud", "fraud", "ok", "OK", "ok", "n/a", "?", "frued"]
    graph = graph_of(10, [*labels, None, None])
    for sheet in (read(column(*labels), graph=graph), labels_of(graph)):
        assert sheet.labels == ["fraud", "fraud", "ok", "ok", "ok", "frued"]
        assert (sheet.skipped, sheet.blank) == ({5: "n/a", 6: "?"}, [])
    expected = [
        "Labels written in several ways are one class: 'OK' (1) read as 'ok'",
        f"Label 'frued' (node 7) is close to 'fraud' (2 labels): {SLIPS}",
        "Skips, not labels: 2 (5: n/a, 6: ?)",
    ]
    assert told() == expected * 2
    with pytest.raises(LabelError, match="closest 'fraud'"):
        labels_of(graph, allowed=["fraud", "ok"])
    assert labels_of(graph, allowed=["fraud", "ok", "OK", "frued"]).labels.count("OK") == 1


def test_names_that_are_no_text() -> None:
    graph = graph_of(6, [(0, 1), (0, 1), 1, 1, 2.5, 2.5])
    assert labels_of(graph).labels == graph.class_names()
    with pytest.raises(LabelError, match="Training must have labels; found no --labels, and no label in the graph"):
        labels_of(graph_of(2))


def test_classes_that_differ_in_case_if_they_are_named(read: Read) -> None:
    assert read(column("us", "US", "Us", "us"), allowed=["us", "US"]).labels == ["us", "US", "us", "us"]


def test_types_of_parquet_are_kept_unless_one_class_would_be_two(tmp_path: Path, told: Any) -> None:
    def sheet(name: str, ids: list[int], labels: list[Any]) -> Path:
        pq.write_table(pa.table({"id": ids, "label": labels}), tmp_path / name)
        return tmp_path / name

    text, numbers = sheet("a.parquet", [0, 1, 2, 3], ["1", "1", "2", "2"]), sheet("b.parquet", [4, 5], [1, 2])
    assert read_labels([text], graph_of(10)).labels == ["1", "1", "2", "2"]
    assert read_labels([sheet("c.parquet", [0, 1, 2, 3], [1, 1, 2, 2])], graph_of(10)).labels == [1, 1, 2, 2]
    assert told() == []
    assert read_labels([text, numbers], graph_of(10)).labels == ["1", "1", "2", "2", "1", "2"]
    assert told()[0] == "Labels written in several ways are one class: 1 (1) read as '1'"


@pytest.mark.parametrize(
    ("labels", "options", "messages"),
    [
        (
            ["fraud", "fraud", "ok", "ok", "frued"],
            {},
            [f"Label 'frued' (node 4) is close to 'fraud' (2 labels): {SLIPS}"],
        ),
        (
            ["fraud"] * 5 + ["fruad"] * 1 + ["ok", "okk", "ok"],
            {},
            [
                f"Label 'fruad' (node 5) is close to 'fraud' (5 labels): {SLIPS}",
                f"Classes with one label only: 1 ('okk' at node 7): {ALONE}",
            ],
        ),
        (
            ["frued", "frued", "ok", "ok"],
            {"classes": ["fraud"]},
            [f"Label 'frued' (2 labels, first at node 0) is close to 'fraud' (1 label): {SLIPS}"],
        ),
        (["frued", "fraud", "fraud", "frued"], {}, []),
        (["fraud", "fraud", "frued"], {"classes": ["frued", "fraud"]}, []),
        (["class 1", "class 1", "class 2", "class 2"], {}, []),
        (
            ["class 1", "class 1", "class 2"],
            {},
            [f"Classes with one label only: 1 ('class 2' at node 2): {ALONE}"],
        ),
        (
            ["valid", "valid", "invalid", "1"],
            {},
            [f"Classes with one label only: 2 ('invalid' at node 2, 1 at node 3): {ALONE}"],
        ),
        (["fraud", "ok", "ok"], {"classes": ["fraud"]}, []),
        (
            ["fraud", "ok", "ok"],
            {"allowed": ["fraud", "ok"]},
            [f"Classes with one label only: 1 ('fraud' at node 0): {ALONE}"],
        ),
    ],
)
def test_what_looks_like_a_slip(
    read: Read, told: Any, labels: list[str], options: dict[str, Any], messages: list[str]
) -> None:
    assert read(column(*labels), **options).labels == [int(label) if label.isdigit() else label for label in labels]
    assert told() == messages


def test_only_the_classes_that_are_allowed(read: Read) -> None:
    with pytest.raises(LabelError) as caught:
        read(column("fraud", "OK", "frued", "spam", "?"), allowed=["fraud", "ok"])
    assert str(caught.value) == (
        "Labels must be among fraud, ok; found 2 ('frued' of node 2, closest 'fraud', 'spam' of node 3): "
        "correct them, name the class in --classes too, or pass --skip WORD for a word that is no class."
    )
    with pytest.raises(FeatpropError, match="classes must name the classes there may be; found none"):
        read(column("a"), allowed=[])


@pytest.mark.parametrize(
    "word",
    [
        "skip",
        "SKIP",
        "?",
        "??",
        "n/a",
        "N/A",
        "na",
        "-",
        "don't know",
        "Don’t know",
        "dont know",
        "dk",
        "idk",
        "unsure",
        "not sure",
        "can't tell",
        "can‘t tell",
        "cannot tell",
    ],
)
def test_a_skip_is_no_class(read: Read, told: Any, word: str) -> None:
    sheet = read(column("x", "x", word))
    assert (sheet.labels, sheet.skipped, sheet.blank) == (["x", "x"], {2: word}, [])
    assert told() == [f"Skips, not labels: 1 (2: {word})"]


def test_further_words_for_a_skip(read: Read) -> None:
    assert read(column("x", "Later"), skip_words=["later"]).skipped == {1: "Later"}
    assert read(column("x", "Later")).skipped == {}


def test_a_class_that_is_called_like_a_skip_is_a_class(read: Read) -> None:
    """Sodium, for one."""
    table = column("na", "k", "NA", "?")
    assert read(table, allowed=["Na", "K"]).labels == ["Na", "K", "Na"]
    assert read(table, classes=["na"]).labels == ["na", "k", "na"]
    assert read(table).skipped == {0: "na", 2: "NA", 3: "?"}


def test_a_label_counts_more_than_a_skip(read: Read) -> None:
    sheet = read("id,label\n1,?\n2,x\n", "id,label\n1,x\n2,\n3,\n")
    assert (sheet.nodes, sheet.skipped, sheet.blank) == ([2, 1], {}, [3])


def test_skips_alone_are_an_answer(read: Read) -> None:
    assert read(column("?", "-")) == LabelSheet(skipped={0: "?", 1: "-"})


def test_an_umlaut_of_two_characters_is_one_of_one(read: Read, told: Any) -> None:
    sheet = read(column("prüfen", "pru\u0308fen", "pru\u0308fen", "ok", "ok"))
    assert sheet.labels == ["pru\u0308fen"] * 3 + ["ok"] * 2
    assert told() == ["Labels written in several ways are one class: 'pr\\xfcfen' (1) read as 'pru\u0308fen'"]
    known = read(column("prüfen", "ok", "ok"), classes=["pru\u0308fen"])
    assert known.labels == ["pru\u0308fen", "ok", "ok"]
    graph = graph_of(3, ["prüfen", "pru\u0308fen", "prüfen"])
    assert labels_of(graph).labels == ["prüfen"] * 3
    assert told()[-1] == ("Labels written in several ways are one class: 'pru\\u0308fen' (1) read as 'prüfen'")


def test_what_programs_write_for_nothing_is_no_label(read: Read, told: Any) -> None:
    words = column("x", "x", "NULL", "nan", "NaN", "None", "#REF!", "n/a")
    sheet = read(words + "8,<NA>\n")
    assert (sheet.nodes, sheet.labels, sheet.blank) == ([0, 1], ["x", "x"], [2, 3, 4, 5, 6, 8])
    assert sheet.skipped == {7: "n/a"}
    assert told()[0] == (
        "a.csv: cells that count as no label: 6, 'NULL' (1), 'nan' (1), 'NaN' (1), 'None' (1), '#REF!' (1), …: "
        "name in --classes what is a class"
    )
    everywhere = column("x", *["NULL"] * 9)
    assert read(everywhere).blank == []


def test_a_class_may_be_called_what_programs_write_for_nothing(read: Read, told: Any) -> None:
    words = column("None", "mild", "None", "mild", "NULL")
    assert read(words, allowed=["None", "mild"]).labels == ["None", "mild", "None", "mild"]
    assert "'NULL' (1)" in told()[0]
    assert read(words, classes=["null"]).labels == ["mild", "mild", "null"]
    assert labels_of(graph_of(3, ["None", "mild", "mild"]), allowed=["None", "mild"]).labels == ["None", "mild", "mild"]
    assert labels_of(graph_of(3, ["None", "mild", "mild"])).nodes == [1, 2]


def test_a_sheet_of_nothing_has_no_label(read: Read) -> None:
    with pytest.raises(LabelError, match=r"a.csv must have at least one label filled in; found none"):
        read(column("NULL", "nan"))
    assert read(column("NULL", "nan"), may_be_blank=True).blank == [0, 1]


PREDICTED = "id,label,confidence,probability_a,probability_b\n"
NEW = "id,label,confidence,given,distance,isolated,probability_a,probability_b\n"


def test_of_predictions_the_corrected_rows_count(read: Read, told: Any) -> None:
    table = PREDICTED + "0,a,0.9,0.9,0.1\n1,b,0.8,0.8,0.2\n2,b,0.6,0.4,0.6\n3,c,0.7,0.3,0.7\n4,?,0.7,0.3,0.7\n"
    sheet = read(table + "5,A,0.9,0.9,0.1\n6,b,0.5,0.5,0.5\n7,,0.9,0.9,0.1\n")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {1: "b", 3: "c"}
    assert (sheet.skipped, sheet.blank) == ({4: "?"}, [])
    assert told()[0] == "a.csv holds predictions: a person corrected 3 of 8; only these count as labels"


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ("0,a,0.9000,,1,,0.9000,0.1000", None),
        ("0,b,0.9000,,1,,0.9000,0.1000", "b"),
        ("0,b,0.1000,b,0,,0.9000,0.1000", "b"),
        ("0,a,0.1000,b,0,,0.9000,0.1000", "a"),
        ("0,c,0.1000,b,0,,0.9000,0.1000", "c"),
        ("0,a,0.9000,b,1,,0.9000,0.1000", "b"),
        ("0,b,0.1000,a,0,,0.9000,0.1000", "a"),
        ("0,b,0.9000,b,1,,0.9000,0.1000", "b"),
        ("0,,0.1000,b,0,,0.9000,0.1000", "b"),
        ('0,a,"0,1",b,0,,"0,9","0,1"', "a"),
        ("0,B,0.1,b,0,,0.9,0.1", "b"),
    ],
    ids=[
        "as predicted",
        "corrected",
        "given before",
        "given before, now as predicted",
        "given before, now another class",
        "typed into given",
        "given changed",
        "both typed",
        "label cleared",
        "through a spreadsheet with decimal commas",
        "given, in other letters",
    ],
)
def test_a_row_of_predictions(read: Read, row: str, label: str | None) -> None:
    sheet = read(NEW + row + "\n9,b,0.9,,1,yes,0.9,0.1\n")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {9: "b"} | ({} if label is None else {0: label})


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ("0,a,90%,,1,,90%,10%", None),
        ("0,b,90%,,1,,90%,10%", "b"),
        ('0,a,"90,5 %",,1,,"90,5 %","9,5 %"', None),
        ('0,b,"90,5\u00a0%",,1,,"90,5\u00a0%","9,5\u00a0%"', "b"),
        ("0,a,1,,1,,1,0", None),
        ("0,a,90%,a,0,,90%,10%", "a"),
        ("0,a,10%,b,0,,90%,10%", "a"),
        ("0,a,10%,b,0,,0.9012,0.0988", "a"),
        ("0,b,90%,a,0,,0.9012,0.0988", "b"),
    ],
)
def test_predictions_in_percent(read: Read, row: str, label: str | None) -> None:
    sheet = read(NEW + row + "\n9,b,90%,,1,yes,0.9012,0.0988\n")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {9: "b"} | ({} if label is None else {0: label})


def test_labels_given_before_are_known_in_percent_of_confidence_alone(read: Read, told: Any) -> None:
    read(NEW + "0,a,90%,a,0,,0.9012,0.0988\n1,b,10%,b,0,,0.9012,0.0988\n2,a,90%,,1,,0.9012,0.0988\n")
    assert "a person corrected 0 of 3 and had given 2 labels before" in told()[0]


LOST = (
    "found {} labels without the probability of every class, first in row {}: restore the table, or delete its columns "
)


@pytest.mark.parametrize(
    ("table", "count", "row"),
    [
        ("id,label,confidence\n0,a,0.9\n1,b,0.8\n", 2, 2),
        ("id,label,annotator,confidence\n0,a,,0.9\n1,b,,0.8\n", 2, 2),
        ("id,label,annotator,confidence,given,distance,isolated\n0,a,Ann,0.9,,1,\n1,b,,0.8,,1,\n", 2, 2),
        ("id,label,confidence,probability_a\n0,a,0.9,0.9\n1,b,0.8,0.2\n", 2, 2),
        ("id,label,confidence,given,distance,isolated\n0,a,0.9,,1,\n1,b,0.8,,1,\n", 2, 2),
        ("id,label,given,distance,isolated\n0,a,,1,\n1,b,,1,\n", 2, 2),
        (NEW + "0,a,0.9,,1,,high,low\n1,b,0.8,,1,,,\n", 2, 2),
        (NEW + "0,a,0.9,,1,,0.9,0.1\n1,b,,,,,,\n", 1, 3),
        ("id,label,confidence,probability_a,probability_b\n0,a,0.9,0.9,0.06\n1,c,0.8,0.1,0.1\n", 2, 2),
    ],
    ids=[
        "only the confidence",
        "nobody named",
        "somebody named in a table that was given nothing",
        "one class of several",
        "nothing given",
        "nothing given, no confidence",
        "words",
        "a row of somebody's own",
        "the column of one class deleted",
    ],
)
def test_predictions_without_their_probabilities_are_no_labels(read: Read, table: str, count: int, row: int) -> None:
    with pytest.raises(LabelError) as caught:
        read(table)
    assert str(caught.value) == (
        f"a.csv must tell predictions from labels that a person gave; {LOST.format(count, row)}"
        "confidence, given and probability_… if a person gave all these labels."
    )


@pytest.mark.parametrize("columns", ["confidence,given,distance,isolated", "given"])
def test_without_probabilities_what_was_given_counts(read: Read, told: Any, columns: str) -> None:
    cells = {"confidence": ["0.9", "0.8", "0.8"], "given": ["a", "", "b"], "distance": "111", "isolated": ["", "", ""]}
    rows = [",".join(cells[name][row] for name in columns.split(",")) for row in range(3)]
    sheet = read(f"id,label,{columns}\n0,a,{rows[0]}\n1,a,{rows[1]}\n2,c,{rows[2]}\n")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {0: "a", 2: "c"}
    assert told()[0] == (
        "a.csv has lost the probabilities that tell corrections from predictions: only rows with something in the "
        "column given count; restore them, or pass corrections in a sheet of their own (id, label)"
    )


def test_predictions_through_a_program_that_writes_nan(read: Read) -> None:
    sheet = read(NEW + "0,a,0.9,a,0,nan,0.9,0.1\n1,b,0.9,nan,1,nan,0.9,0.1\n2,a,0.9,nan,1,nan,0.9,0.1\n")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {0: "a", 1: "b"}


def test_predictions_without_a_confidence(read: Read) -> None:
    sheet = read("id,label,given,probability_a,probability_b\n0,a,a,0.9,0.1\n1,b,,0.9,0.1\n2,a,,0.9,0.1\n")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {0: "a", 1: "b"}


@pytest.mark.parametrize(
    "table",
    [
        "id,label,confidence\n0,a,sure\n1,b,unsure\n",
        "id,label,confidence\n0,a,5\n1,b,1\n",
        "id,label,given\n0,a,Ann\n1,b,Bob\n",
        "id,probability_x,probability_y,label\n0,0.9,0.9,a\n1,0.1,0.2,b\n",
        "id,prediction,confidence,label\n0,b,0.9,a\n1,b,0.8,b\n",
        "id,label,annotator,confidence\n0,a,Ann,0.9\n1,b,,1\n",
    ],
)
def test_columns_of_somebodys_own(read: Read, table: str) -> None:
    assert read(table).labels == ["a", "b"]


def test_predictions_of_classes_that_differ_in_case(read: Read) -> None:
    head = "id,label,confidence,given,distance,isolated,probability_a,probability_A\n"
    sheet = read(head + "0,a,0.9,,1,,0.9,0.1\n1,A,0.9,,1,,0.1,0.9\n2,A,0.7,,1,,0.7,0.3\n", allowed=["a", "A"])
    assert (sheet.nodes, sheet.labels) == ([2], ["A"])


def test_predictions_that_nobody_corrected(read: Read, told: Any) -> None:
    table = PREDICTED + "".join(f"{node},a,0.9,0.9,0.1\n" for node in range(10))
    with pytest.raises(LabelError) as caught:
        read(table)
    assert str(caught.value) == (
        "a.csv must hold labels that a person gave; found 10 predictions and none of them corrected: "
        "correct the label column where the model is wrong, or pass the sheet that was filled."
    )
    assert read(table, column("x", "x")).labels == ["x", "x"]
    assert told() == ["a.csv holds predictions: a person corrected 0 of 10; only these count as labels"]


def test_labels_kept_in_predictions_are_no_second_opinion(read: Read, told: Any) -> None:
    sheet = read(column("b", "b"), NEW + "0,b,0.1,b,0,,0.9,0.1\n1,b,0.8,b,1,,0.2,0.8\n2,a,0.9,,1,,0.9,0.1\n")
    assert (sheet.labels, sheet.agreement) == (["b", "b"], None)
    assert told() == [
        "b.csv holds predictions: a person corrected 0 of 3 and had given 2 labels before; only these count as labels"
    ]


def test_a_sheet_that_shows_probabilities_is_a_sheet(read: Read) -> None:
    sheet = read("rank,id,confidence,probability_a,probability_b,label\n1,4,0.9,0.9,0.1,a\n2,5,0.9,0.9,0.1,\n")
    assert (sheet.nodes, sheet.blank) == ([4], [5])


CURE = "keep one of them, or pass --on-conflict majority or latest."


def test_all_conflicts_are_told(read: Read) -> None:
    one, other = column(*"aaaaaaa"), column(*"abbbbbb")
    with pytest.raises(LabelError) as caught:
        read(one, other, names="ann bob")
    listed = ", ".join(f"node {node}: 'a' of ann.csv and 'b' of bob.csv" for node in range(1, 6))
    assert str(caught.value) == f"ann.csv and bob.csv must give a node one label; found 6 ({listed}, …): {CURE}"


def test_one_person_with_two_labels_for_a_node(read: Read) -> None:
    table = "id,annotator,label\n1,ann,x\n2,ann,y\n1,ann,y\n"
    with pytest.raises(LabelError, match=r"found 1 \(node 1: 'x' and 'y'\)"):
        read(table)
    assert read(table, on_conflict="latest").labels == ["y", "y"]
    with pytest.raises(LabelError) as caught:
        read(table, on_conflict="majority")
    assert str(caught.value) == (
        "a.csv must have a majority for each node; found a tie at 1 (node 1: 'x' and 'y'): "
        "settle them in the sheets, or pass --on-conflict latest."
    )


def test_spellings_are_no_conflict(read: Read) -> None:
    assert read(column("OK", "ok"), column("ok", "ok")).labels == ["ok", "ok"]


THREE = "id,Annotator,label\n1,ann,x\n1,bob,y\n1,cy,y\n2,ann,x\n2,bob,x\n3,cy,y\n3,ann,x\n3,bob,x\n3,bob,x\n4,ann,y\n"


def test_conflicts_are_settled(read: Read, told: Any) -> None:
    sheet = read(THREE, on_conflict="majority")
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == {1: "y", 2: "x", 3: "x", 4: "y"}
    assert sheet.annotators == {1: "cy", 2: "bob", 3: "bob", 4: "ann"}
    assert told()[-1] == "Different labels for one node, settled by majority: 2 (node 1: 'y', node 3: 'x')"
    later = read(THREE, "id,label\n1,x\n", on_conflict="latest")
    assert dict(zip(later.nodes, later.labels, strict=True)) == {1: "x", 2: "x", 3: "x", 4: "y"}
    assert 1 not in later.annotators


def test_an_unknown_rule(read: Read) -> None:
    with pytest.raises(FeatpropError) as caught:
        read(column("x"), on_conflict="lates")
    assert str(caught.value) == (
        "on-conflict must be one of error, latest, majority; found 'lates': did you mean 'latest'?"
    )


def test_agreement_by_hand(read: Read, told: Any) -> None:
    """Of four nodes two are alike: with both classes half of the time, chance gives half, and kappa is 0."""
    sheet = read(column(*"xxyy"), column(*"xyxy"), names="ann bob", on_conflict="latest")
    assert sheet.agreement is not None
    assert (sheet.agreement.n_nodes, sheet.agreement.n_alike) == (4, 2)
    assert sheet.agreement.kappas == {("ann.csv", "bob.csv"): pytest.approx(0)}
    assert told()[0] == (
        "4 nodes have several answers, 2 of them one label (50%), Cohen's kappa 0.00 of ann.csv and bob.csv"
    )


def test_agreement_of_three_people(read: Read, told: Any) -> None:
    read(THREE, on_conflict="majority")
    assert told()[0] == (
        "3 nodes have several answers, 1 of them one label (33%), mean Cohen's kappa 0.00 "
        "(0.00 of ann and bob, 0.00 of ann and cy, 0.00 of bob and cy)"
    )


def test_kappa_is_left_out_where_there_is_none(read: Read, told: Any) -> None:
    sheet = read("id,label\n1,x\n2,x\n", "id,label\n1,x\n3,x\n")
    assert sheet.agreement is not None
    assert sheet.agreement.kappas == {}
    assert told() == ["1 node has several answers, 1 of them one label (100%)"]


@pytest.mark.parametrize("table", ["id,label\n0,x\n1,\n2, \n3,x\n", "id,annotator,label\n0,ann,x\n1,ann,\n2,,\n3,,x\n"])
def test_a_row_without_a_label_was_asked_for(read: Read, table: str) -> None:
    """Also in a sheet that lost its rank column."""
    assert read(table).blank == [1, 2]
    assert read(table, graph=graph_of(4)).blank == []


@pytest.mark.parametrize(
    "head", ["node,label", "Node_ID,Label", "ID,LABEL", " Id ,label", "nodeid,label", "node id,label"]
)
def test_other_names_of_the_columns(read: Read, head: str) -> None:
    assert read(f"{head}\n3,x\n4,x\n").nodes == [3, 4]


def test_the_column_id_goes_before_others(read: Read) -> None:
    assert read("node,id,label\n1,3,x\n").nodes == [3]
    with pytest.raises(FeatpropError, match=r"must have one column 'id'; found 2 \(ID, Id\): name one of them id"):
        read("ID,Id,label\n1,3,x\n")


@pytest.mark.parametrize(
    ("written", "advice"),
    [("3.0", "did you mean 3?"), ("03", "did you mean 3?"), ("x", "ids of this graph look like 0.")],
)
def test_an_id_that_misses_by_type(read: Read, written: str, advice: str) -> None:
    with pytest.raises(GraphError) as caught:
        read(f"id,label\n1,x\n{written},x\n")
    assert str(caught.value) == f"ids in a.csv must be ids of the graph; found 1 ({written!r}) unknown: {advice}"


def test_an_id_that_misses_by_padding_or_case(tmp_path: Path) -> None:
    graph = Graph.from_scipy(np.zeros((2, 2)), np.ones((2, 1)), ids=["A1", "b2"])
    ids: dict[str, Hashable] = {" A1": "A1", "a1": "A1", "B2 ": "b2"}
    for written, meant in ids.items():
        (tmp_path / "s.csv").write_text(f'id,label\n"{written}",x\n')
        with pytest.raises(GraphError, match=f"did you mean {meant!r}"):
            read_labels([tmp_path / "s.csv"], graph)
