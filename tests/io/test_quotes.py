"""Quotes that are not closed: refused, or told where the cell they make holds what look like rows."""

import io
import logging
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

from featprop import labels
from featprop.errors import FileError
from featprop.graph import Graph
from featprop.io import quotes, read_graph
from featprop.io.table_pieces import CsvPieces
from featprop.io.tables import read_table

UNCLOSED = 'source,target,note\na,b,x\n\nb,c,"two\nlines"\nc,d,"urgent\nd,a,\na,c,\n'
TORN = 'source,target,note\na,b,x\nb,c,"urgent\nc,d,\nd,a,"late\na,c,\n'
SWALLOWED = 'source,target,note\na,b,x\nb,c,"urgent\nc,d,\nd,a,\na,c,late"\n'
SOUND = (
    "id,note\n1,plain\n",
    'id,note\n1,"5"" pipe"\n2,5" pipe\n3,=""x""\n4,\n',
    'id,address,city\n1,"Main Street 5\n2nd floor, left, back\nsecond line, c/o, Ann\nthird",Berlin\n2,"a\nb\nc\n",X\n',
    'id,note\n1,"Dear Ann,\nthe flat, the one above,\nis free, again,\nbye, bye"\n',
    'id;note\n1;"a, b\nc, d\ne, f\ng, h\ni, j" \n2;"x\r\ny"\r\n3;"z\n"',
)


@pytest.fixture(params=[quotes.BLOCK, 7])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the file at once, or at a few bytes at a time."""
    monkeypatch.setattr(quotes, "BLOCK", request.param)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("read", [read_table, CsvPieces])
def test_a_quote_that_is_never_closed(tmp_path: Path, read: Callable[[Path], object], encoding: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(UNCLOSED, encoding=encoding)
    with pytest.raises(FileError, match="must close every quote") as caught:
        read(path)
    assert caught.value.what == f"{path}"
    assert caught.value.found == 'one that opens in row 3 (c,d,"urgent) and never closes'
    assert 'double it ("")' in caught.value.cure


def test_a_quote_that_the_header_opens(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text('sep=,\nsource,"target\na,b\n')
    with pytest.raises(FileError, match=r"opens in the header \(source,\"target\)"):
        read_table(path)


def test_edges_and_labels_are_held_to_it(write_folder: Callable[..., Path], tmp_path: Path, line: Graph) -> None:
    folder = write_folder("id,x\na,1\nb,2\nc,3\nd,5\n", 'source,target,note\na,b,"urgent\nb,c,\nc,d,\n')
    with pytest.raises(FileError, match="must close every quote"):
        read_graph(folder)
    sheet = tmp_path / "labels.csv"
    sheet.write_text('id,label\na,"yes\nb,no\n')
    with pytest.raises(FileError, match="must close every quote"):
        labels.read(sheet, line)


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("text", [TORN, SWALLOWED])
@pytest.mark.parametrize("read", [read_table, CsvPieces])
def test_a_cell_that_holds_rows_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, read: Callable[[Path], object], text: str
) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(text)
    read(path)
    (message,) = caplog.messages
    assert message.startswith(
        f"{path}: the quote that opens in row 2 makes one cell of lines that look like rows: close"
    )


def test_several_such_cells_are_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(TORN + 'b,c,"urgent\nc,d,\nd,a,"late\na,c,\n')
    read_table(path)
    assert [message.count("(and 1 more such cells)") for message in caplog.messages] == [1]


@pytest.mark.usefixtures("block")
@pytest.mark.parametrize("text", SOUND)
def test_lines_in_cells_are_text(tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    path = tmp_path / "nodes.csv"
    path.write_bytes(text.encode())
    with caplog.at_level(logging.WARNING, "featprop"):
        read_table(path, text=None)
    assert caplog.messages == []


@given(st.text('ab,\n\r"""', max_size=24))
def test_quotes_count_where_pyarrow_has_them_count(text: str) -> None:
    opened, closed = quotes._in_quotes(text.encode(), ord(","))
    is_open = len(opened) > 0 and closed[-1] == len(text)
    options = csv.ParseOptions(newlines_in_values=True, invalid_row_handler=lambda _: "skip")
    as_text = csv.ConvertOptions(column_types={"a": pa.string()})
    rows = csv.read_csv(io.BytesIO(text.encode() + b"\nlast\n"), csv.ReadOptions(column_names=["a"]), options, as_text)
    assert (rows.column(0).to_pylist()[-1:] != ["last"]) == is_open
