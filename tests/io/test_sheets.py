"""The files people handle: sheets to fill, filled labels, predictions."""

import csv
import datetime as dt
import io
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from featprop.errors import FeatpropError, FileError, LabelError
from featprop.features.missing import is_no_class
from featprop.graph import Graph
from featprop.io.answers import read_ids
from featprop.io.formulas import bare
from featprop.io.label_words import SKIP_WORDS
from featprop.io.labels import read_labels
from featprop.io.overwriting import check_may_write
from featprop.io.prediction_files import write_prediction_table
from featprop.io.sheets import write_labels, write_pick_table
from featprop.sources import read_graph
from featprop.spelling import form_of

Contents = Callable[[], dict[str, bytes | None]]


def graph_with(ids: list[Any]) -> Graph:
    return Graph.from_scipy(np.zeros((len(ids), len(ids))), np.ones((len(ids), 1)), ids=ids)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_sheet_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    columns = {"represents": pa.array([3, 2]), "spread": pa.array([0.5, 0.25]), "seen": pa.array([[1], None])}
    write_pick_table(path, np.array(["007", "a,b"], object), columns)
    assert path.read_bytes() == (b'rank,id,represents,spread,seen,label\n1,"007",3,0.5,"[1]",\n2,"a,b",2,0.25,,\n')


def test_a_sheet_without_a_description(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    write_pick_table(path, np.array([30, 10]))
    assert path.read_bytes() == b"rank,id,label\n1,30,\n2,10,\n"
    check_may_write(path, force=False)
    path.write_bytes(b"rank,id,label\n1,30,\n2,10,x\n")
    with pytest.raises(FileError, match=r"found labels that a person typed: 1 \(10\)"):
        check_may_write(path, force=False)
    assert read_labels([path], graph_with([10, 20, 30])).blank == [30]


def test_predictions_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    probabilities = np.array([[0.25, 0.75], [0.875, 0.125]], np.float32)
    write_prediction_table(path, np.array([10, 20]), ("left", 2), [probabilities])
    assert path.read_bytes() == (
        b"id,label,confidence,given,distance,isolated,probability_left,probability_2\n"
        b'10,"2",0.7500,,,,0.2500,0.7500\n20,"left",0.8750,,,,0.8750,0.1250\n'
    )
    check_may_write(path, force=False)


def test_class_names_with_commas_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    write_prediction_table(path, np.array([1]), ('a,"b', "c\nd"), [np.array([[1.0, 0.0]], np.float32)])
    with path.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["label"] == 'a,"b'
    assert row['probability_a,"b'] == row["confidence"] == "1.0000"
    check_may_write(path, force=False)


def test_labels_and_blanks(tmp_path: Path, line: Graph) -> None:
    path = write(tmp_path / "s.csv", "rank,id,represents,spread,label\n1,d,2,0.5,x\n2,a,3,0.1,\n3,b,1,0,y\n")
    sheet = read_labels([path], line)
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["d", "b"], ["x", "y"], ["a"])


def test_several_sheets_are_one(tmp_path: Path, line: Graph) -> None:
    one = write(tmp_path / "one.csv", "rank,id,label\n1,a,x\n2,b,\n3,c,\n")
    other = write(tmp_path / "other.csv", "label,id\ny,b\nx,a\n")
    sheet = read_labels([one, other], line)
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["a", "b"], ["x", "y"], ["c"])


def test_a_class_has_one_name_over_all_sheets(tmp_path: Path, line: Graph) -> None:
    """1 is the number 1, whether it stands among numbers or among texts."""
    one = write(tmp_path / "one.csv", "id,label\na,1\nb,2\n")
    other = write(tmp_path / "other.csv", "id,label\na,1\nc,x\nd,2\ne,007\n")
    assert read_labels([one], line).labels == [1, 2]
    assert read_labels([other], line).labels == [1, "x", 2, "007"]
    assert read_labels([one, other], line).labels == [1, 2, "x", 2, "007"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0", 0),
        ("-5", -5),
        ("-0", "-0"),
        ("1.0", "1.0"),
        ("+1", "+1"),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", -(2**63)),
        ("١", "١"),
    ],
)
def test_a_label_is_a_number_only_if_it_reads_back_unchanged(
    tmp_path: Path, line: Graph, written: str, read: Hashable
) -> None:
    assert read_labels([write(tmp_path / "s.csv", f"id,label\na,{written}\nb,x\n")], line).labels == [read, "x"]


def test_the_labels_of_a_graph_are_named_like_those_of_a_sheet(tmp_path: Path, write_folder: Any) -> None:
    nodes = "id,w,label\na,1,1\nb,2,x\nc,3,\nd,4,007\ne,5,1\n"
    folder = write_folder(nodes=nodes)
    graph = read_graph(folder)
    assert graph.class_names() == [1, "x", None, "007", 1]
    assert read_labels([folder / "nodes.csv"], graph).labels == [1, "x", "007", 1]


DAY = dt.date(2026, 1, 2)


@pytest.mark.parametrize(
    "ids",
    [
        [(0, 1), (0, 2), "x"],
        [0.5, 1.0, 2.0],
        [DAY, dt.datetime(2026, 1, 2, 12), "2026"],
        [True, 7, "7.5"],
        [2**70, "a", 3],
    ],
)
def test_ids_come_back_from_a_sheet_with_their_types(tmp_path: Path, ids: list[Hashable]) -> None:
    path, graph = tmp_path / "s.csv", graph_with(ids)
    write_pick_table(path, graph.ids)
    path.write_text(path.read_text().replace(",\n", ",x\n"))
    for nodes in (read_labels([path], graph).nodes, read_ids(path, graph)):
        assert nodes == ids
        assert list(map(type, nodes)) == list(map(type, ids))


def test_an_id_that_stands_for_two(tmp_path: Path) -> None:
    """A CSV has no types, so 1 may be the number or the text; Parquet says which."""
    graph = graph_with([1, "1", "x"])
    assert read_ids(write(tmp_path / "x.csv", "id\nx\n"), graph) == ["x"]
    with pytest.raises(FeatpropError) as caught:
        read_ids(write(tmp_path / "s.csv", "id\n1\n"), graph)
    assert str(caught.value) == (
        f"ids in {tmp_path / 's.csv'} must stand for one id of the graph each; found 1, which is 1 and '1': "
        "rename the nodes."
    )
    for value in (1, "1"):
        pq.write_table(pa.table({"id": [value]}), tmp_path / "s.parquet")
        assert [(node, type(node)) for node in read_ids(tmp_path / "s.parquet", graph)] == [(value, type(value))]


@pytest.mark.parametrize("values", [[0.5, 1.0], [DAY, dt.date(2025, 1, 1)]])
def test_typed_ids_of_parquet(tmp_path: Path, values: list[Hashable]) -> None:
    pq.write_table(pa.table({"id": values}), tmp_path / "s.parquet")
    assert read_ids(tmp_path / "s.parquet", graph_with(values)) == values


def test_ids_of_a_table(tmp_path: Path, line: Graph) -> None:
    assert read_ids(write(tmp_path / "s.csv", "note,id\nx,c\ny,a\n,\nz,c\n"), line) == ["c", "a"]
    with pytest.raises(FeatpropError, match=r"must be ids of the graph; found 1 \('q'\) unknown"):
        read_ids(write(tmp_path / "s.csv", "id\na\nq\n"), line)
    with pytest.raises(FeatpropError, match="must list at least one node; found none: fill the id column"):
        read_ids(write(tmp_path / "s.csv", "id,w\n"), line)


@pytest.mark.parametrize(
    ("ids", "written", "read"),
    [
        (["007", "8"], ["007", "8"], ["007", "8"]),
        (["007", "8"], ["8"], ["8"]),
        ([7, 8, 0], ["7", "0"], [7, 0]),
        ([-7, 8], ["-7"], [-7]),
        (["a", "10", "20"], ["10", "20"], ["10", "20"]),
    ],
)
def test_an_id_is_text_or_a_number_as_the_graph_has_it(
    tmp_path: Path, ids: list[Hashable], written: list[str], read: list[Hashable]
) -> None:
    path = write(tmp_path / "s.csv", "id,label\n" + "".join(f"{name},x\n" for name in written))
    assert read_labels([path], graph_with(ids)).nodes == read


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_sheet_that_went_through_a_spreadsheet(tmp_path: Path, delimiter: str) -> None:
    """Another delimiter, a byte order mark, CRLF, a note added, and empty rows at the end."""
    rows = [
        ["rank", "id", "represents", "spread", "label", "note"],
        ["1", "007", "2", '"0,25"', "Käse", ""],
        ["2", f'"x{delimiter}y"', "2", "1", "", "ask Ann"],
        ["", "", "", "", "", ""],
        ["", "", "", "", "", ""],
    ]
    text = "\ufeff" + "".join(delimiter.join(row) + "\r\n" for row in rows)
    sheet = read_labels([write(tmp_path / "s.csv", text)], graph_with(["007", f"x{delimiter}y"]))
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["007"], ["Käse"], [f"x{delimiter}y"])


def test_labels_of_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [7, 8, 9], "label": ["x", None, "y"]}), tmp_path / "s.parquet")
    sheet = read_labels([tmp_path / "s.parquet"], graph_with([7, 8, 9]))
    assert (sheet.nodes, sheet.labels, sheet.blank) == ([7, 9], ["x", "y"], [])


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@given(
    ids=st.lists(TEXT, min_size=1, max_size=5, unique_by=bare),
    label=TEXT.filter(
        lambda text: text.strip() and form_of(text) not in SKIP_WORDS and not is_no_class(text) and bare(text) == text
    ),
)
@example(ids=["0"], label="\ufa15")  # Unicode has another character that is the same
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_text_survives_from_sheet_to_labels(tmp_path: Path, ids: list[str], label: str) -> None:
    path = tmp_path / "s.csv"
    n = len(ids)
    write_pick_table(
        path, np.fromiter(ids, object, n), dict.fromkeys(["represents", "spread"], pa.array(np.ones(n))), force=True
    )
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([rows[0], *([*row[:4], label] for row in rows[1:])])
    sheet = read_labels([path], graph_with(ids))
    assert sheet.nodes == ids
    assert {str(name) for name in sheet.labels} == {label.strip()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,label\na,x\nq,y\nr,\n",
            "ids in s.csv must be ids of the graph; found 2 ('q', 'r') unknown: ids of this graph look like 'a'.",
        ),
        (
            "id,label\n,x\na,y\n",
            "ids in s.csv must be ids of the graph; found 1 (None) unknown: ids of this graph look like 'a'.",
        ),
        (
            "id,label\na,\nb,\n",
            "s.csv must have at least one label filled in; found none: fill the label column.",
        ),
        ("id,label\n", "s.csv must have at least one label filled in; found none: fill the label column."),
        (
            "id,label\na,x\na,y\n",
            "s.csv must give a node one label; found 1 (node 'a': 'x' and 'y'): "
            "keep one of them, or pass --on-conflict majority or latest.",
        ),
        ("id,class\na,x\n", "s.csv must have a column 'label'; found the columns id, class: name a column label."),
        ("name,label\na,x\n", "s.csv must have a column 'id'; found the columns name, label: name a column id."),
    ],
)
def test_bad_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: Graph, text: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FeatpropError) as caught:
        read_labels([write(Path("s.csv"), text)], line)
    assert str(caught.value) == message


def test_unknown_numbers_are_told_apart_from_known_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", "id,label\n1,x\n9z,y\n5,y\n")
    with pytest.raises(FeatpropError, match=r"found 2 \('9z', 5\) unknown: ids of this graph look like 1\."):
        read_labels([path], graph_with([1, 2]))


def test_sheets_that_contradict_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: Graph) -> None:
    monkeypatch.chdir(tmp_path)
    paths = [write(Path("one.csv"), "id,label\na,x\nb,1\n"), write(Path("two.csv"), "id,label\nb,2\n")]
    with pytest.raises(LabelError) as caught:
        read_labels(paths, line)
    assert str(caught.value) == (
        "one.csv and two.csv must give a node one label; found 1 (node 'b': 1 of one.csv and 2 of two.csv): "
        "keep one of them, or pass --on-conflict majority or latest."
    )


PREDICTIONS = "id,label,confidence,given,distance,isolated,probability_x,probability_y\n"
HEADER = "rank,id,represents,spread,label\n"


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "1,a,2,0.5,\n2,b,2,0.5,\n",
        HEADER,
        HEADER.replace("\n", "\r\n") + "1,a,2,0.5,\r\n",
        "\ufeff" + HEADER + "1,a,2,0.5,\n",
        "rank,id,represents,spread,prediction,confidence,neighbours,label\n1,a,2,0.5,x,0.9,3 x,\n",
        f"{PREDICTIONS}a,x,0.7000,,1.5,yes,0.7000,0.3000\nb,y,0.3000,y,0.0,,0.7000,0.3000\n",
    ],
)
def test_what_featprop_wrote_may_be_written_again(tmp_path: Path, text: str) -> None:
    check_may_write(write(tmp_path / "out.csv", text), force=False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (HEADER + "1,a,2,0.5,\n2,b,2,0.5,x\n", "labels that a person typed: 1 (b)"),
        (
            "\ufeff" + HEADER + "".join(f"1,n{row},2,0.5,x\r\n" for row in range(7)),
            "labels that a person typed: 7 (n0, n1, n2, n3, n4, …)",
        ),
        ((HEADER + "1,a,2,0.5,x\n").replace(",", ";"), "a file that featprop did not write"),
        ("id,label\na,x\n", "a file that featprop did not write"),
        ("my diary\n", "a file that featprop did not write"),
        ("", "a file that featprop did not write"),
        ("\0\x01" * 100_000, "a file that featprop did not write"),
        (HEADER + "1,a,2,0.5," + "x" * 200_000 + "\n", "a file that featprop did not write"),
    ],
)
def test_what_must_not_be_lost(
    tmp_path: Path, contents: Contents, caplog: pytest.LogCaptureFixture, text: str, found: str
) -> None:
    path = write(tmp_path / "out.csv", text)
    before = contents()
    nothing = np.array([])
    for attempt in (
        lambda: check_may_write(path, force=False),
        lambda: write_pick_table(path, nothing),
        lambda: write_prediction_table(path, nothing, (), [np.ones((0, 2), np.float32)]),
    ):
        with pytest.raises(FileError) as caught:
            attempt()
        cure = "choose another place or pass --force (force=True in Python)"
        assert str(caught.value) == f"{path} must not be overwritten; found {found}: {cure}."
    assert contents() == before
    write_pick_table(path, nothing, force=True)
    assert path.read_text() == "rank,id,label\n"
    kept = tmp_path / "out-before.csv"
    assert kept.read_bytes() == before["out.csv"]
    assert caplog.messages == [f"{path}, which is overwritten, held {found}: it is kept as {kept}"]


def test_what_is_overwritten_by_force_is_kept_under_a_name_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    for typed in ("first", "second", "third"):
        write(path, f"rank,id,label\n1,a,{typed}\n")
        write_pick_table(path, np.array(["a"], object), force=True)
    write_pick_table(path, np.array(["a"], object), force=True)
    kept = {each.name: each.read_text().split(",")[-1].strip() for each in tmp_path.iterdir()}
    assert kept == {
        "picks.csv": "",
        "picks-before.csv": "first",
        "picks-before-2.csv": "second",
        "picks-before-3.csv": "third",
    }


def test_an_output_is_a_csv_file(tmp_path: Path) -> None:
    with pytest.raises(FeatpropError) as caught:
        check_may_write(tmp_path / "picks.xlsx", force=True)
    assert str(caught.value) == "out must end in .csv; found 'picks.xlsx': write to picks.csv."
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FeatpropError, match=r"folder.csv must be a file; found a folder: choose another place\."):
        check_may_write(tmp_path / "folder.csv", force=True)


@pytest.mark.parametrize(
    ("content", "is_kept"),
    [
        (PREDICTIONS + "a,y,0.7000,,1.5,,0.7000,0.3000\n", True),
        (PREDICTIONS + "a,z,0.7000,,1.5,,0.7000,0.3000\n", True),
        ("id,label,confidence,probability_x,probability_y\na,y,0.5000,0.5000,0.5000\n", True),
        ("id,label,confidence,annotator\na,x,sure,anna\n", True),
        (PREDICTIONS + "a,x,0.7000,,1.5,,0.7000,0.3000\nb,x,0.3000,y,0.0,,0.7000,0.3000\n", True),
        (PREDICTIONS + "a,x,0.7000,y,1.5,,0.7000,0.3000\n", True),
        (PREDICTIONS + "a,y,0.7000,y,1.5,,0.7000,0.3000\n", True),
        (PREDICTIONS + "a,y,0.5000,,1.5,,0.5000,0.5000\n", False),
        (PREDICTIONS + "a,x,70%,,1.5,,70%,30%\n", False),
        (PREDICTIONS + "a,y,70%,,1.5,,70%,30%\n", True),
        (PREDICTIONS + "a,x,0.7000,,1.5,,,\n", True),
    ],
    ids=[
        "a corrected prediction",
        "another class",
        "columns lost",
        "somebody's own table",
        "a given label corrected",
        "typed into given",
        "typed into both",
        "a tie",
        "in percent",
        "corrected in percent",
        "without probabilities",
    ],
)
def test_what_a_person_changed_in_predictions_is_kept(tmp_path: Path, content: str, is_kept: bool) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text(content)
    if is_kept:
        with pytest.raises(FileError, match="must not be overwritten"):
            check_may_write(path, force=False)
    else:
        check_may_write(path, force=False)


def test_blank_rows_of_another_table_mean_nothing(tmp_path: Path) -> None:
    """The nodes table itself, with the few labels there are, can be passed as labels."""
    path = tmp_path / "nodes.csv"
    path.write_text("id,w,label\na,1,left\nb,2,\nc,3, \n")
    sheet = read_labels([path], graph_with(["a", "b", "c"]))
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["a"], ["left"], [])


def test_spaces_around_a_label_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    path.write_text("rank,id,represents,spread,label\n1,a,1,0,left \n2,b,1,0, left\n3,c,1,0,  \n")
    sheet = read_labels([path], graph_with(["a", "b", "c"]))
    assert (sheet.labels, sheet.blank) == (["left", "left"], ["c"])


def test_a_label_that_new_predictions_would_not_keep(tmp_path: Path) -> None:
    """Somebody wrote that the model is right: nothing but the column `given` shows it."""
    path = write(tmp_path / "p.csv", PREDICTIONS + "a,x,0.7000,x,0.5,,0.7000,0.3000\n")
    arguments = (path, np.array(["a"], object), ("x", "y"), [np.array([[0.7, 0.3]], np.float32)])
    with pytest.raises(FileError, match=r"found labels that a person typed: 1 \(a\)"):
        write_prediction_table(*arguments)
    write_prediction_table(*arguments, given=np.array([1]), distances=np.array([0.0]), isolated=np.array([True]))
    assert path.read_text() == PREDICTIONS + '"a","y",0.3000,"y",0,"yes",0.7000,0.3000\n'


def test_columns_that_would_be_lost(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    write_pick_table(path, np.array([1]), {"name": pa.array(["Ann"])})
    check_may_write(path, force=False, shown=["country", "name"])
    with pytest.raises(FileError, match="must not be overwritten; found columns that this run does not write: name:"):
        check_may_write(path, force=False)
    write(path, "rank,id,name,label\n1,1,Ann,x\n")
    with pytest.raises(FileError, match=r"found labels that a person typed: 1 \(1\)"):
        check_may_write(path, force=False, shown=["name"])


def test_a_stream_gets_the_table() -> None:
    stream = io.BytesIO()
    write_pick_table(stream, np.array([7]))
    assert stream.getvalue() == b"rank,id,label\n1,7,\n"


FORMULAS = ["=cmd|' /C calc'!A0", "+cmd", "-x", "@me", "'=1", "''-", "'quoted", "-1.5", "+2e3", "-", "plain"]


def no_formulas(path: Path) -> list[list[str]]:
    """Return the cells of a sheet, in which no spreadsheet sees a formula."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    for cell in (cell for row in rows for cell in row):
        assert cell[:1] not in {*"=@+-"} or isinstance(float(cell), float)
    return rows


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_sheet_is_a_formula_and_ids_and_labels_come_back(tmp_path: Path, text: str) -> None:
    path, graph = tmp_path / "picks.csv", graph_with([text, "b", "c"])
    columns = {f"{text} title": pa.array([text, None]), "temperature": pa.array([-1.5, 2.0])}
    write_pick_table(path, graph.ids[:2], columns)
    titles, row, _ = no_formulas(path)
    assert [bare(titles[2]), bare(row[1]), bare(row[2]), row[3]] == [f"{text} title", text, text, "-1.5"]
    check_may_write(path, force=False, shown=list(columns))
    assert read_ids(path, graph) == [text, "b"]
    write(path, path.read_text(encoding="utf-8").replace(",\n", ",x\n"))
    with pytest.raises(FileError) as caught:
        check_may_write(path, force=False, shown=list(columns))
    assert f"labels that a person typed: 2 ({text}, b)" in str(caught.value)
    labels = {text: f"{text}y", "b": "plain"}
    write_labels(tmp_path / "labels.csv", labels, force=False)
    no_formulas(tmp_path / "labels.csv")
    read = read_labels([tmp_path / "labels.csv"], graph)
    assert dict(zip(read.nodes, read.labels, strict=True)) == labels


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_predictions_is_a_formula_and_what_a_person_changed_comes_back(tmp_path: Path, text: str) -> None:
    path, graph = tmp_path / "p.csv", graph_with([f"{text}n", "b", "c"])
    classes, blocks = (f"{text}x", "y"), [np.array([[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]], np.float32)]
    for _ in range(2):  # the second time over the first, in which nobody typed
        write_prediction_table(path, graph.ids, classes, blocks, given=np.array([0, -1, -1]))
    rows = no_formulas(path)
    assert bare(rows[1][1]) == bare(rows[2][1]) == bare(rows[1][3]) == f"{text}x"
    read = read_labels([path], graph)
    assert (read.nodes, read.labels) == ([f"{text}n"], [f"{text}x"])
    with pytest.raises(FileError, match="labels that a person typed"):
        write_prediction_table(path, graph.ids, classes, blocks)
    rows[3][1] = rows[1][1]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    read = read_labels([path], graph)
    assert (read.nodes, read.labels) == ([f"{text}n", "c"], [f"{text}x", f"{text}x"])


def test_an_id_that_is_another_one_shielded(tmp_path: Path) -> None:
    graph = graph_with(["=a", "'=a", "b"])
    write_pick_table(tmp_path / "s.csv", graph.ids)
    with pytest.raises(
        FeatpropError, match="must stand for one id of the graph each; found '=a, which is \"'=a\" and '=a'"
    ):
        read_ids(tmp_path / "s.csv", graph)
