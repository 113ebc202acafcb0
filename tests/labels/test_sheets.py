"""The files people handle: sheets to fill, filled labels, predictions."""

import csv
import datetime as dt
from collections.abc import Hashable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from featprop import labels as fp_labels
from featprop.errors import FeatpropError, FileError, GraphError, LabelError
from featprop.features.parsing import is_no_class
from featprop.graph import Graph
from featprop.ids import is_visible, normalize_label
from featprop.labels import LabelLog, export_labels, read_ids
from featprop.labels.classes import SKIP_WORDS
from featprop.labels.sheets import unescape_formula, write_sheet
from featprop.sources import read_graph
from tests.graphs import named
from tests.helpers import raises


def read_labels(paths: list[Path], graph: Graph) -> SimpleNamespace:
    found = fp_labels.read(paths, graph)
    return SimpleNamespace(nodes=list(found), labels=list(found.values()), blank=found.asked)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_sheet_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "picks.csv"
    columns = {"represents": pa.array([3, 2]), "spread": pa.array([0.5, 0.25]), "seen": pa.array([[1], None])}
    write_sheet(path, np.array(["007", "a,b"], object), columns)
    assert path.read_bytes() == (b'id,label,rank,represents,spread,seen\n"007",,1,3,0.5,"[1]"\n"a,b",,2,2,0.25,\n')
    with raises(FileError, path=path):
        write_sheet(path, np.array([30]))
    write_sheet(path, np.array([30, 10]), force=True)
    assert path.read_bytes() == b"id,label,rank\n30,,1\n10,,2\n"
    write(path, "id,label,rank\n30,,1\n10, x ,2\n")
    sheet = read_labels([path], named([10, 20, 30]))
    assert (sheet.labels, sheet.blank) == (["x"], [30])


def test_a_label_is_a_number_only_if_it_reads_back_unchanged(tmp_path: Path) -> None:
    words = ["0", "-5", "-0", "1.0", "+1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "١"]
    table = "".join(f"{place},{word}\n" for place, word in enumerate([*words, "x"]))
    found = read_labels([write(tmp_path / "s.csv", f"id,label\n{table}")], named(range(10))).labels
    assert found == [0, -5, "-0", "1.0", "+1", 2**63 - 1, "9223372036854775808", -(2**63), "١", "x"]


def test_the_labels_of_a_graph_are_named_like_those_of_a_sheet(tmp_path: Path, write_folder: Any) -> None:
    nodes = "id,w,label\na,1,1\nb,2,x\nc,3,\nd,4,007\ne,5,1\n"
    folder = write_folder(nodes=nodes)
    graph = read_graph(folder)
    assert graph.class_names() == [1, "x", None, "007", 1]
    assert read_labels([folder / "nodes.csv"], graph).labels == [1, "x", "007", 1]


DAY = dt.date(2026, 1, 2)


IDS = [
    [(0, 1), (0, 2), "x"],
    [0.5, 1.0, 2.0],
    [DAY, dt.datetime(2026, 1, 2, 12), "2026"],
    [True, 7, "7.5"],
    [2**70, "a"],
]


@pytest.mark.parametrize("ids", IDS, ids=repr)
def test_ids_come_back_from_a_sheet_with_their_types(tmp_path: Path, ids: list[Hashable]) -> None:
    path, graph = tmp_path / "s.csv", named(ids)
    write_sheet(path, graph.ids)
    path.write_text(path.read_text().replace(",,", ",x,"))
    for nodes in (read_labels([path], graph).nodes, read_ids(path, graph)):
        assert nodes == ids
        assert list(map(type, nodes)) == list(map(type, ids))


def test_an_id_that_stands_for_two(tmp_path: Path) -> None:
    graph = named([1, "1", "x"])
    assert read_ids(write(tmp_path / "x.csv", "id\nx\n"), graph) == ["x"]
    with raises(GraphError, node=1, path=tmp_path / "s.csv"):
        read_ids(write(tmp_path / "s.csv", "id\n1\n"), graph)


def test_ids_of_a_table(tmp_path: Path, line: Graph) -> None:
    assert read_ids(write(tmp_path / "s.csv", "note,id\nx,c\ny,a\n,\nz,c\n"), line) == ["c", "a"]
    with raises(FeatpropError):
        read_ids(write(tmp_path / "s.csv", "id\na\nq\n"), line)
    with raises(FeatpropError):
        read_ids(write(tmp_path / "s.csv", "id,w\n"), line)


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
    sheet = read_labels([write(tmp_path / "s.csv", text)], named(["007", f"x{delimiter}y", "z"]))
    assert (sheet.nodes, sheet.labels, sheet.blank) == (["007"], ["Käse"], [f"x{delimiter}y"])


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@given(
    ids=st.lists(TEXT, min_size=1, max_size=5, unique_by=unescape_formula),
    label=TEXT.filter(
        lambda text: (
            text.strip()
            and normalize_label(text) not in SKIP_WORDS
            and not is_no_class(text)
            and unescape_formula(text) == text
            and is_visible(text)
        )
    ),
)
@example(ids=["0"], label="\ufa15")  # Unicode has another character that is the same
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
def test_any_text_survives_from_sheet_to_labels(tmp_path: Path, ids: list[str], label: str) -> None:
    path = tmp_path / "s.csv"
    n = len(ids)
    write_sheet(
        path, np.fromiter(ids, object, n), dict.fromkeys(["represents", "spread"], pa.array(np.ones(n))), force=True
    )
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([rows[0], *([row[0], label, *row[2:]] for row in rows[1:])])
    sheet = read_labels([path], named(ids))
    assert sheet.nodes == ids
    assert {str(name) for name in sheet.labels} == {label.strip()}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("id,label\na,x\nq,y\nr,\n", GraphError),
        ("id,label\n,x\na,y\n", LabelError),
        ("id,label\na,\nb,\n", LabelError),
        ("id,label\n", LabelError),
        ("id,label\na,x\na,y\n", LabelError),
        ("id,class\na,x\n", FileError),
        ("name,label\na,x\n", FileError),
    ],
)
def test_bad_labels(tmp_path: Path, line: Graph, text: str, kind: type[FeatpropError]) -> None:
    with raises(kind):
        read_labels([write(tmp_path / "s.csv", text)], line)


FORMULAS = ["=cmd|' /C calc'!A0", "+cmd", "-x", "@me", "'=1", "''-", "'quoted", "-1.5", "-"]


def no_formulas(path: Path) -> list[list[str]]:
    """Return the cells of a sheet, in which no spreadsheet sees a formula."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    for cell in (cell for row in rows for cell in row):
        assert cell[:1] not in {*"=@+-"} or isinstance(float(cell), float)
    return rows


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_sheet_is_a_formula_and_ids_and_labels_come_back(tmp_path: Path, text: str) -> None:
    path, graph = tmp_path / "picks.csv", named([text, "b", "c"])
    columns = {f"{text} title": pa.array([text, None]), "temperature": pa.array([-1.5, 2.0])}
    write_sheet(path, graph.ids[:2], columns)
    titles, row, _ = no_formulas(path)
    cells = [unescape_formula(cell) for cell in (titles[3], row[0], row[3])]
    assert [*cells, row[4]] == [f"{text} title", text, text, "-1.5"]
    assert read_ids(path, graph) == [text, "b"]
    log = LabelLog()
    log.answer(text, f"{text}y", annotator=f"{text}ada")
    log.skip("b", f"{text} reason")
    (tmp_path / "labels.csv").write_bytes(export_labels(log, graph))
    no_formulas(tmp_path / "labels.csv")
    read = fp_labels.read(tmp_path / "labels.csv", graph)
    assert (dict(read), read.skips, read.annotations[0].annotator) == (log.labels(), log.skips(), f"{text}ada")


def test_an_id_that_is_the_escaped_form_of_another(tmp_path: Path) -> None:
    graph = named(["=a", "'=a", "b"])
    write_sheet(tmp_path / "s.csv", graph.ids)
    assert read_ids(tmp_path / "s.csv", graph) == ["=a", "'=a", "b"]
