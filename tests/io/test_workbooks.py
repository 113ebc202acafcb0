"""Sheets of Excel workbooks."""

import builtins
import datetime
import logging
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import openpyxl.chart
import pandas as pd
import pytest

from featprop.errors import FileError, MissingExtraError
from featprop.io import workbooks
from featprop.io.tables import read_table, sheet_names
from featprop.tables.naming import names
from tests.helpers import raises

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write sheets of rows, by the names of the sheets."""

    def write(**sheets: list[list[Any]]) -> Path:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            for row in rows:
                sheet.append(row)
        path = tmp_path / "graph.xlsx"
        book.save(path)
        book.close()
        return path

    return write


def test_columns_keep_the_type_all_their_values_have(write: Write) -> None:
    day, noon = datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2, 12, 30)
    path = write(
        nodes=[
            ["id", "whole", "half", "flag", "day", "at", "note", "mixed", "none", 2019],
            [1, 1.0, 0.5, True, day, datetime.time(8), "a", 1, None, 1e20],
            ["007", 2, 2, False, noon, datetime.time(9, 30), "#N/A", "old", None, 2],
            [161.0, None, None, None, None, None, "  ", True, None, None],
        ]
    )
    table = read_table(path, text=["id", "label"])
    assert table.to_pydict() == {
        "id": ["1", "007", "161"],
        "whole": [1, 2, None],
        "half": [0.5, 2, None],
        "flag": [True, False, None],
        "day": [day, noon, None],
        "at": [datetime.time(8), datetime.time(9, 30), None],
        "note": ["a", None, None],
        "mixed": ["1", "old", "TRUE"],
        "none": [None] * 3,
        "2019": [1e20, 2, None],
    }
    kinds = [str(field.type) for field in table.schema]
    expected = ["string", "int64", "double", "bool", "timestamp[us]", "time64[us]", "string", "string", "string"]
    assert kinds == [*expected, "double"]


def test_ids_are_read_as_those_of_a_csv(write: Write) -> None:
    path = write(nodes=[["id"], [1.0], [20]])
    assert names(read_table(path, text=["id"]), "id", "t", typed=False).to_pylist() == [1, 20]
    assert read_table(path, text=None)["id"].to_pylist() == ["1", "20"]


def test_days_and_moments_as_text(write: Write) -> None:
    path = write(nodes=[["id"], [datetime.datetime(2020, 1, 2)], [datetime.datetime(2020, 1, 2, 3, 4)], [0.1]])
    assert read_table(path, text=["id"])["id"].to_pylist() == ["2020-01-02", "2020-01-02 03:04:00", "0.1"]


def test_sheets_by_name(write: Write) -> None:
    path = write(Nodes=[["id"], ["a"]], edges=[["source", "target"], ["a", "b"]])
    assert sheet_names(path) == ["Nodes", "edges"]
    assert read_table(path).column_names == ["id"]
    assert read_table(path, sheet="nodes").column_names == ["id"]
    assert read_table(path, sheet="edges").column_names == ["source", "target"]
    with pytest.raises(FileError) as caught:
        read_table(path, sheet="labels")
    expected = f"{path} must have a sheet 'labels'; found the sheets Nodes, edges: name one of them."
    assert str(caught.value) == expected


def test_the_first_sheet_is_the_first_that_shows(write: Write) -> None:
    path = write(codes=[["x"], [1]], nodes=[["id"], ["a"]])
    book = openpyxl.load_workbook(path)
    book["codes"].sheet_state = "hidden"
    book.create_chartsheet("picture", 0).add_chart(openpyxl.chart.BarChart())
    book.active = 2
    book.save(path)
    assert sheet_names(path) == ["codes", "nodes"]
    assert read_table(path).column_names == ["id"]


def test_titles_above_empty_rows_and_columns_are_left_out(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    rows = [["Customers 2024"], ["as of May"], [], ["id", "age", None], ["a", 3, None], [], ["b", 4, " "], [None, None]]
    path = write(nodes=rows)
    book = openpyxl.load_workbook(path)
    book["nodes"].merge_cells("A1:C1")
    book.save(path)
    with caplog.at_level(logging.INFO, "featprop"):
        assert read_table(path).to_pydict() == {"id": ["a", "b"], "age": [3, 4]}
    assert caplog.messages == [f"{path}: 2 rows above the table left out"]


@pytest.mark.parametrize(
    "rows",
    [
        [["id"], ["a"], ["b"]],
        [["id"], ["a", "a note"], ["b"], ["c"]],
        [["id"], ["a"], ["b", "a note"]],
        [["id"], ["a", "a note"], ["b", "a note"], ["c"], ["d"], ["e"]],
        [["id"], [1, 2], [3, 4]],
    ],
)
def test_a_header_of_one_column_is_no_title(write: Write, rows: list[list[Any]]) -> None:
    assert read_table(write(nodes=rows)).column_names[0] == "id"


def test_as_pandas_writes_it_with_its_index(tmp_path: Path) -> None:
    path = tmp_path / "nodes.xlsx"
    pd.DataFrame({"name": ["a", "b"]}).to_excel(path)
    assert read_table(path).to_pydict() == {"": [0, 1], "name": ["a", "b"]}


def test_a_formula_is_what_was_computed_or_missing(write: Write) -> None:
    path = write(nodes=[["id", "sum"], ["a", "=1+1"], ["b", 3]])
    assert read_table(path)["sum"].to_pylist() == [None, 3]
    replace(path, "xl/worksheets/sheet1.xml", b"<v></v>", b"<v>2</v>", b"<v />", b"<v>2</v>")
    assert read_table(path)["sum"].to_pylist() == [2, 3]


def test_a_wrong_size_of_the_sheet_loses_no_rows(write: Write) -> None:
    path = write(nodes=[["id", "w"], ["a", 1], ["b", 2]])
    replace(path, "xl/worksheets/sheet1.xml", b'ref="A1:B3"', b'ref="A1"')
    assert read_table(path).to_pydict() == {"id": ["a", "b"], "w": [1, 2]}


def test_what_openpyxl_warns_of_is_not_shown(write: Write) -> None:
    """Warnings are errors in these tests: a workbook without a style is one that openpyxl warns of."""
    path = write(nodes=[["id"], ["a"]])
    replace(path, "xl/styles.xml", b"<cellStyles>", b"<cellStyles hidden='1'>", b'name="Normal"', b'name=""')
    extension = b"<extLst><ext uri='{78C0D931-6437-407d-A8EE-F0AAD7539E65}'/></extLst></worksheet>"
    replace(path, "xl/worksheets/sheet1.xml", b"</worksheet>", extension)
    assert read_table(path).num_rows == 1


def test_an_empty_sheet(write: Write) -> None:
    path = write(nodes=[[]])
    with pytest.raises(FileError) as caught:
        read_table(path)
    assert str(caught.value) == f"{path} must hold a table; found the empty sheet 'nodes': name another sheet."


def test_a_workbook_with_a_password(tmp_path: Path) -> None:
    path = tmp_path / "nodes.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500))
    with pytest.raises(FileError) as caught:
        read_table(path)
    assert str(caught.value) == (
        f"{path} must be an .xlsx workbook; found one with a password or of Excel 97: "
        "save it as .xlsx without a password."
    )


def test_damage_anywhere_is_one_clear_error_or_none(write: Write) -> None:
    path = write(nodes=[["id", "w"], *([f"n{row}", row] for row in range(50))])
    whole = path.read_bytes()
    dice = random.Random(0)
    refused = []
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(20):
            content[dice.randrange(len(content))] = dice.randrange(256)
        path.write_bytes(content[: dice.choice([len(whole), dice.randrange(len(whole))])])
        try:
            read_table(path)
        except FileError as error:
            refused.append(str(error))
    assert len(refused) > 30
    assert all(message.startswith(f"{path} must ") for message in refused)


def test_parts_that_are_broken(write: Write) -> None:
    path = write(nodes=[["id"], ["a"]])
    whole = path.read_bytes()
    for part in ("xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"):
        path.write_bytes(whole)
        replace(path, part, b"<", b"<<")
        with pytest.raises(FileError, match=r"must be an .xlsx workbook; found this: .*: save it again in that format"):
            read_table(path)


def test_a_workbook_that_unpacks_to_more_than_the_limit(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(nodes=[["id"], ["a"]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/bomb.xml", bytes(3_000_000))
    monkeypatch.setattr(workbooks, "LARGEST", 2_000_000)
    with pytest.raises(FileError) as caught:
        read_table(path)
    assert str(caught.value) == (f"{path} must have at most 2 MB when unpacked; found 3 MB: save its sheet as CSV.")


def test_without_openpyxl(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(nodes=[["id"], ["a"]])
    ordinary = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "openpyxl":
            raise ImportError(name)
        return ordinary(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    for read in (read_table, sheet_names):
        with raises(MissingExtraError, extra="excel", package="openpyxl"):
            read(path)


def replace(path: Path, part: str, *pairs: bytes) -> None:
    """Put other bytes into one part of a workbook: what stands there and what is to, in turns."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    changed = parts[part]
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        changed = changed.replace(old, new)
    assert changed != parts[part], parts[part]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | {part: changed}).items():
            archive.writestr(name, content)
