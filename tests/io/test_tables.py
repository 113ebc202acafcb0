"""Tables of any file: what comes in is what was written."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featprop.errors import FileError, ParameterError
from featprop.io.tables import find_table, read_table
from featprop.tables.looks import plain_column
from featprop.tables.naming import names, no_column


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_as_a_spreadsheet_saves_it(tmp_path: Path, delimiter: str, newline: str, encoding: str) -> None:
    rows = [["rank", "id", "label"], ["1", "007", "Käse"], ["2", '"a b"', ""], ["3", "08", "x"]]
    path = tmp_path / "sheet.csv"
    path.write_text(newline.join(delimiter.join(row) for row in rows) + newline, encoding=encoding, newline="")
    table = read_table(path, text=["id", "label"])
    assert table.to_pydict() == {"rank": [1, 2, 3], "id": ["007", "a b", "08"], "label": ["Käse", "", "x"]}


def test_quoted_cells_hold_delimiters_newlines_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text('id,label\n"a,b",x\n"c\nd","say ""hi"""\n"e\r\nf",";"\n', newline="")
    table = read_table(path, text=["id", "label"])
    assert table.to_pydict() == {"id": ["a,b", "c\nd", "e\r\nf"], "label": ["x", 'say "hi"', ";"]}


def test_newlines_in_cells_of_a_long_file(tmp_path: Path) -> None:
    """Longer than the blocks it is read in, so that some block ends inside a cell."""
    cells = [f"{row}\n" + "line\n" * 200 for row in range(3_000)]
    path = tmp_path / "sheet.csv"
    path.write_text("id,label\n" + "".join(f'"{cell}",x\n' for cell in cells))
    assert read_table(path, text=["id"])["id"].to_pylist() == cells


def test_all_columns_as_text(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("source,target,weight\n01,2,3\nNA,null,nan\n")
    expected = {"source": ["01", "NA"], "target": ["2", "null"], "weight": ["3", "nan"]}
    assert read_table(path, text=None).to_pydict() == expected


def test_parquet(tmp_path: Path) -> None:
    table = pa.table({"id": ["007", "8"], "w": [1.5, None]})
    pq.write_table(table, tmp_path / "nodes.PARQUET")
    assert read_table(tmp_path / "nodes.PARQUET").equals(table)


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["b", "a", "b"]).dictionary_encode(),
        pa.array(["b", None, "c"], pa.large_string()),
        pa.array(["b", None, "c"], pa.string_view()),
        pa.array([1, None, 3], pa.date32()),
        pa.array([1, None, 3], pa.timestamp("ns", "Europe/Berlin")),
        pa.array([1, None, 3], pa.time64("us")),
        pa.array([1, None, 3], pa.duration("s")),
        pa.array([1, None, 3]).cast(pa.decimal128(21, 2)),
        pa.array([1, None, 3], pa.uint64()),
        pa.array([1, None, 3], pa.float16()),
        pa.array([[1.0, 2.0], None, []], pa.list_(pa.float32())),
        pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        pa.array([{"x": [1]}, None, {"x": None}]),
        pa.array([b"\xff", None, b""]),
        pa.array([None, None, None]),
    ],
    ids=lambda values: str(values.type),
)
def test_every_type_of_parquet_passes(tmp_path: Path, values: pa.Array) -> None:
    try:
        pq.write_table(pa.table({"id": ["x", "y", "z"], "v": values}), tmp_path / "t.parquet")
    except pa.ArrowNotImplementedError as error:
        pytest.skip(f"this version of PyArrow cannot write it: {error}")
    table = read_table(tmp_path / "t.parquet")
    assert table.schema.field("v").type == values.type
    assert plain_column(table, "v").to_pylist() == values.to_pylist()


def test_what_a_spreadsheet_leaves_around_a_table_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(" id ;w;;;\na;1;;;\nb;;;x;\n;;;;\n;;;;\n")
    assert read_table(path, text=["id"]).to_pydict() == {"id": ["a", "b"], "w": [1, None], "Unnamed: 3": ["", "x"]}
    assert read_table(path, text=None).column_names == ["id", "w", "Unnamed: 3"]
    path.write_text(",id\n0,a\n1,b\n")
    assert read_table(path, text=["id"]).column_names == ["", "id"]


def test_a_file_without_sheets_has_none_to_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id\na\n")
    with pytest.raises(ParameterError) as caught:
        read_table(tmp_path / "t.csv", sheet="nodes")
    assert str(caught.value) == (
        f"sheet must be left out for a file without sheets; found 'nodes' for {tmp_path}/t.csv: drop it."
    )


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (["1", "20", "-3"], [1, 20, -3]),
        (["007", "8"], ["007", "8"]),
        (["+1", "2"], ["+1", "2"]),
        (["1", " 2"], ["1", " 2"]),
        (["1.0", "2"], ["1.0", "2"]),
        (["1", ""], [1, None]),
        (["a", ""], ["a", None]),
        (["99999999999999999999", "1"], ["99999999999999999999", "1"]),
        (["true", "false"], ["true", "false"]),
        (["NA", "null"], ["NA", "null"]),
    ],
)
def test_names_of_a_csv_are_integers_only_if_they_read_back_unchanged(
    tmp_path: Path, content: list[str], read: list[Any]
) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text("id,w\n" + "".join(f"{name},1\n" for name in content))
    assert names(read_table(path, text=["id"]), "id", "t", typed=False).to_pylist() == read


@pytest.mark.parametrize(
    ("column", "read"),
    [
        (pa.array(["1", "2"]), ["1", "2"]),
        (pa.array(["1", ""], pa.large_string()), ["1", None]),
        (pa.array([1, 2], pa.int8()), [1, 2]),
        (pa.array([2**64 - 1, 2], pa.uint64()), [str(2**64 - 1), "2"]),
        (pa.array([5, 2], pa.uint64()), [5, 2]),
        (pa.array([1.0, 2.0]), [1, 2]),
        (pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"]),
        (pa.array([None, None], pa.string()), [None, None]),
    ],
)
def test_names_of_a_parquet_keep_their_type(tmp_path: Path, column: pa.Array, read: list[Any]) -> None:
    path = tmp_path / "nodes.parquet"
    pq.write_table(pa.table({"id": column}), path)
    assert names(read_table(path), "id", "t", typed=True).to_pylist() == read


def test_a_column_of_lists_holds_no_names(tmp_path: Path) -> None:
    path = tmp_path / "nodes.parquet"
    table = pa.table({"label": pa.array([[1], [2]])})
    with pytest.raises(FileError) as caught:
        names(table, "label", f"{path}", typed=True)
    assert str(caught.value) == (
        f"Column 'label' of {path} must hold text or whole numbers; found the type list<item: int64>: "
        "write one name in every row."
    )


def test_find_table(tmp_path: Path) -> None:
    (tmp_path / "nodes.parquet").touch()
    assert find_table(tmp_path, "nodes") == tmp_path / "nodes.parquet"
    (tmp_path / "nodes.csv").touch()
    with pytest.raises(FileError) as caught:
        find_table(tmp_path, "nodes")
    assert str(caught.value) == (
        f"{tmp_path} must hold one file of nodes; found nodes.csv and nodes.parquet: remove one of them."
    )
    (tmp_path / "nodes.parquet").unlink()
    assert find_table(tmp_path, "nodes") == tmp_path / "nodes.csv"
    (tmp_path / "nodes.csv").rename(tmp_path / "nodes.xlsx")
    assert find_table(tmp_path, "nodes") == tmp_path / "nodes.xlsx"
    with pytest.raises(FileError) as caught:
        find_table(tmp_path, "edges")
    assert str(caught.value) == (
        f"{tmp_path} must hold edges.csv, edges.parquet or edges.xlsx; found nodes.xlsx: add the file of edges."
    )


def test_a_missing_column_is_told_with_the_first_eight_there_are() -> None:
    table = pa.table({f"c{index}": [1] for index in range(9)})
    with pytest.raises(FileError) as caught:
        raise no_column(table, "id", "nodes.csv", "name a column id")
    assert str(caught.value) == (
        "nodes.csv must have a column 'id'; found the columns c0, c1, c2, c3, c4, c5, c6, c7, …: name a column id."
    )


def _parquet(compression: str | None = None) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": [str(index) for index in range(5_000)]}), sink, compression=compression)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("t.parquet", b"id,w\na,1\n", "must be a Parquet file"),
        ("t.parquet", _parquet()[:1_000], "must be a Parquet file"),
        ("t.parquet", _parquet("zstd")[:1_000] + b"\0" * 1_000 + _parquet("zstd")[2_000:], "must be a Parquet file"),
        ("t.csv", _parquet("zstd"), "must be a CSV file in UTF-8"),
        ("t.csv", bytes(range(256)) * 20, "must be a CSV file in UTF-8"),
        ("t.csv", "id,label\na,x\n".encode("utf-16")[:-1], "must be a CSV file in UTF-8"),
        ("t.xlsx", b"id,label\na,b\n", "must be an .xlsx workbook"),
    ],
)
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str, content: bytes, rule: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_table(path, text=["id", "label"])
    assert str(caught.value).startswith(f"{path} {rule}; found this: ")
    assert str(caught.value).endswith(": save it again in that format.")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.xlsx"])
def test_an_empty_file_holds_no_table(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(FileError, match=f"{name} must hold a table; found an empty file: export it again."):
        read_table(tmp_path / name)


def test_neither_missing_nor_a_folder_nor_ambiguous(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"x.csv must be a file; found no such file: check the path."):
        read_table(tmp_path / "x.csv")
    with pytest.raises(FileError, match=r"must be a file; found a folder: check the path."):
        read_table(tmp_path)
    (tmp_path / "x.csv").write_text("id,w,w,id\na,1,2,3\n")
    with pytest.raises(FileError, match=r"must have distinct columns; found 2 \(id, w\) repeated: rename them."):
        read_table(tmp_path / "x.csv")
