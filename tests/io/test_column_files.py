"""Tables as columns on disk: what is read whole, with no column in memory but the one that is asked for."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from featprop.errors import FileError
from featprop.io import column_files
from featprop.io.column_files import ColumnFiles, read_by_column
from featprop.io.tables import read_table

ROWS = 5000
TABLE = pa.table(
    {
        "id": [f"n{row}" for row in range(ROWS)],
        "x": [row / 7 for row in range(ROWS)],
        "y": pa.array([None if row % 3 == 0 else row for row in range(ROWS)]),
        "kind": [("a", "b", "c,d")[row % 3] for row in range(ROWS)],
        "day": pa.array(range(ROWS), pa.date32()),
    }
)


@pytest.fixture(params=["csv", "parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(column_files, "TOGETHER", 80_000)
    found = tmp_path / f"nodes.{request.param}"
    if request.param == "csv":
        pyarrow.csv.write_csv(TABLE, found)
    else:
        pyarrow.parquet.write_table(TABLE, found, row_group_size=700)
    return found


def by_column(path: Path) -> ColumnFiles:
    folder = path.parent / "columns"
    folder.mkdir()
    found = read_by_column(path, ["id"], folder)
    assert isinstance(found, ColumnFiles)
    return found


def test_columns_are_those_of_the_table(path: Path) -> None:
    found, whole = by_column(path), read_table(path, ["id"])
    assert found.column_names == whole.column_names
    assert found.schema == whole.schema
    assert found.num_rows == whole.num_rows == ROWS
    assert all(found.column(name) == whole.column(name) for name in whole.column_names)
    assert 1 < len(found.files) < len(found.column_names)


def test_a_column_takes_no_memory_of_its_own(path: Path) -> None:
    found = by_column(path)
    before = pa.total_allocated_bytes()
    held = [found.column(name) for name in found.column_names]
    assert sum(values.nbytes for values in held) > 150_000
    assert pa.total_allocated_bytes() - before < 10_000


def test_rows_are_handed_out_some_at_a_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_files, "ROWS", 900)
    found = by_column(path).drop_columns(["x", "day"])
    batches = list(found.to_batches())
    assert [len(batch) for batch in batches] == [900] * 5 + [500]
    assert pa.Table.from_batches(batches) == read_table(path, ["id"]).drop_columns(["x", "day"])


def test_a_small_table_stays_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_files, "TOGETHER", 1 << 20)
    assert isinstance(read_by_column(path, ["id"], path.parent), pa.Table)


def test_what_cannot_be_read_is_said(path: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="must be a file; found no such file"):
        read_by_column(path.with_stem("other"), [], tmp_path)
    start = path.read_bytes()[:90_000]
    path.write_bytes(start if path.suffix == ".parquet" else start[: start.rfind(b"\n")] + b"\n1,2,3,4,5,6,7\n")
    with pytest.raises(FileError, match=r"must be a Parquet file; found this|must have 5 columns in every row"):
        read_by_column(path, [], tmp_path)
