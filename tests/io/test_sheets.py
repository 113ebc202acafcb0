"""The files people handle: sheets to fill, filled labels, predictions."""

import csv
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featprop.errors import FeatpropError, FileError, LabelError
from featprop.graph import Graph
from featprop.io.sheets import check_may_write, read_labels, write_picks, write_predictions

Contents = Callable[[], dict[str, bytes | None]]


def graph_with(ids: list[Any]) -> Graph:
    return Graph.from_scipy(np.zeros((len(ids), len(ids))), np.ones((len(ids), 1)), ids=ids)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_sheet_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    write_picks(path, np.array(["007", "a,b"], object), np.array([3, 2]), np.array([0.5, 1 / 3]), force=False)
    assert path.read_bytes() == (b'rank,id,represents,mean_distance,label\n1,007,3,0.5,\n2,"a,b",2,0.333333,\n')


def test_predictions_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    probabilities = np.array([[0.25, 0.75], [0.875, 0.125]], np.float32)
    write_predictions(path, np.array([10, 20]), ("left", 2), probabilities, force=False)
    assert path.read_bytes() == (
        b"id,label,confidence,probability_left,probability_2\n10,2,0.7500,0.2500,0.7500\n20,left,0.8750,0.8750,0.1250\n"
    )


def test_labels_and_blanks(tmp_path: Path, line: Graph) -> None:
    path = write(tmp_path / "s.csv", "rank,id,represents,mean_distance,label\n1,d,2,0.5,x\n2,a,3,0.1,\n3,b,1,0,y\n")
    sheet = read_labels([path], line)
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["d", "b"], ["x", "y"], ["a"])


def test_several_sheets_are_one(tmp_path: Path, line: Graph) -> None:
    one = write(tmp_path / "one.csv", "rank,id,label\n1,a,x\n2,b,\n3,c,\n")
    other = write(tmp_path / "other.csv", "label,id\ny,b\nx,a\n")
    sheet = read_labels([one, other], line)
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["a", "b"], ["x", "y"], ["c"])


def test_a_class_has_one_name_over_all_sheets(tmp_path: Path, line: Graph) -> None:
    """Alone, the first sheet holds the numbers 1 and 2; with the second, 1 and 2 are texts like x."""
    one = write(tmp_path / "one.csv", "id,label\na,1\nb,2\n")
    other = write(tmp_path / "other.csv", "id,label\na,1\nc,x\nd,2\n")
    assert read_labels([one], line).labels == [1, 2]
    assert read_labels([one, other], line).labels == ["1", "2", "x", "2"]


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
        ["rank", "id", "represents", "mean_distance", "label", "note"],
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


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=6)
"""Without a lone CR: before Python 3.13 `csv.writer` does not quote one where lines end in LF."""


@given(ids=st.lists(TEXT, min_size=1, max_size=5, unique=True), label=TEXT.filter(str.strip))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_text_survives_from_sheet_to_labels(tmp_path: Path, ids: list[str], label: str) -> None:
    path = tmp_path / "s.csv"
    n = len(ids)
    write_picks(path, np.fromiter(ids, object, n), np.ones(n), np.ones(n), force=True)
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
            "s.csv must give a node one label; found 'x' and 'y' for node 'a': keep one of them.",
        ),
        ("id,class\na,x\n", "s.csv must have a column 'label'; found the columns id, class: name a column label."),
        ("node,label\na,x\n", "s.csv must have a column 'id'; found the columns node, label: name a column id."),
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
        "two.csv must give a node one label; found '1' and '2' for node 'b': keep one of them in one of the sheets."
    )


HEADER = "rank,id,represents,mean_distance,label\n"


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "1,a,2,0.5,\n2,b,2,0.5,\n",
        HEADER,
        HEADER.replace("\n", "\r\n") + "1,a,2,0.5,\r\n",
        "\ufeff" + HEADER + "1,a,2,0.5,\n",
        "id,label,confidence,probability_x,probability_y\na,x,0.7000,0.7000,0.3000\n",
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
    ],
)
def test_what_must_not_be_lost(tmp_path: Path, contents: Contents, text: str, found: str) -> None:
    path = write(tmp_path / "out.csv", text)
    before = contents()
    nothing = np.array([])
    for attempt in (
        lambda: check_may_write(path, force=False),
        lambda: write_picks(path, nothing, nothing, nothing, force=False),
        lambda: write_predictions(path, nothing, (), np.ones((0, 2), np.float32), force=False),
    ):
        with pytest.raises(FileError) as caught:
            attempt()
        assert str(caught.value) == (
            f"{path} must not be overwritten; found {found}: choose another --out or pass --force."
        )
    assert contents() == before
    write_picks(path, nothing, nothing, nothing, force=True)
    assert path.read_text() == HEADER


def test_an_output_is_a_csv_file(tmp_path: Path) -> None:
    with pytest.raises(FeatpropError) as caught:
        check_may_write(tmp_path / "picks.xlsx", force=True)
    assert str(caught.value) == "out must end in .csv; found 'picks.xlsx': write to picks.csv."
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FeatpropError, match=r"folder.csv must be a file; found a folder: choose another --out\."):
        check_may_write(tmp_path / "folder.csv", force=True)


@pytest.mark.parametrize(
    ("content", "is_kept"),
    [
        ("id,label,confidence,probability_x,probability_y\na,y,0.7000,0.7000,0.3000\n", True),
        ("id,label,confidence,probability_x,probability_y\na,z,0.7000,0.7000,0.3000\n", True),
        ("id,label,confidence,probability_x,probability_y\na,y,0.5000,0.5000,0.5000\n", False),
        ("id,label,confidence,annotator\na,x,sure,anna\n", True),
    ],
    ids=["a corrected prediction", "another class", "a tie", "somebody's own table"],
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
    path.write_text("rank,id,represents,mean_distance,label\n1,a,1,0,left \n2,b,1,0, left\n3,c,1,0,  \n")
    sheet = read_labels([path], graph_with(["a", "b", "c"]))
    assert (sheet.labels, sheet.blank) == (["left", "left"], ["c"])
