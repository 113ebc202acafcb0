"""Predictions in blocks, as CSV and as Parquet."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from featprop.errors import FileError, ParameterError
from featprop.io.prediction_files import write_prediction_table
from featprop.io.sheets import significant

PROBABILITIES = np.random.default_rng(0).dirichlet(np.ones(3), size=25).astype(np.float32)
GIVEN = np.where(np.arange(25) % 7 == 0, 2, -1)


def written(path: Path, blocks: list[np.ndarray]) -> Path:
    write_prediction_table(
        path,
        np.arange(100, 125),
        ("a", "b", "c"),
        blocks,
        given=GIVEN,
        distances=np.linspace(0, 1, 25),
        isolated=np.arange(25) == 3,
    )
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_blocks_are_one_table(tmp_path: Path, suffix: str) -> None:
    whole = written(tmp_path / f"whole.{suffix}", [PROBABILITIES])
    parts = written(tmp_path / f"parts.{suffix}", np.split(PROBABILITIES, [10, 11]))
    read = csv.read_csv if suffix == "csv" else parquet.read_table
    assert read(whole).equals(read(parts))


def test_parquet_holds_what_csv_does_with_all_digits(tmp_path: Path) -> None:
    table = parquet.read_table(written(tmp_path / "p.parquet", [PROBABILITIES]))
    other = csv.read_csv(written(tmp_path / "p.csv", [PROBABILITIES]))
    assert table.column_names == other.column_names
    for name in ("id", "label", "given", "isolated"):
        assert [value or "" for value in table[name].to_pylist()] == [value or "" for value in other[name].to_pylist()]
    probabilities = np.column_stack([table[f"probability_{name}"] for name in "abc"])
    np.testing.assert_array_equal(probabilities, PROBABILITIES)
    label = ["abc".index(name) for name in table["label"].to_pylist()]
    np.testing.assert_array_equal(np.asarray(label)[::7], 2)
    np.testing.assert_array_equal(table["confidence"], PROBABILITIES[np.arange(25), label])


def test_an_own_table_is_written_over_and_no_other(tmp_path: Path) -> None:
    path = written(tmp_path / "p.parquet", [PROBABILITIES])
    written(path, [PROBABILITIES])
    parquet.write_table(pa.table({"mine": [1]}), path)
    with pytest.raises(FileError, match="found a file that featprop did not write"):
        written(path, [PROBABILITIES])
    path.write_bytes(b"no parquet")
    with pytest.raises(FileError, match="found a file that featprop did not write"):
        written(path, [PROBABILITIES])
    assert path.read_bytes() == b"no parquet"


def test_nothing_is_left_of_blocks_that_fail(tmp_path: Path) -> None:
    def failing() -> object:
        yield PROBABILITIES[:10]
        raise RuntimeError("cut")

    for suffix in ("csv", "parquet"):
        with pytest.raises(RuntimeError, match="cut"):
            write_prediction_table(tmp_path / f"p.{suffix}", np.arange(25), ("a", "b", "c"), failing())  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"out must end in \.csv or \.parquet; found 'p\.xlsx': write to p\.csv"):
        written(tmp_path / "p.xlsx", [PROBABILITIES])


@pytest.mark.parametrize("number", [0.0, 1.0, 0.1234565, 123456.7, 1234567.0, 1e-20, 3.3e30, -2.718281828, 0.5])
def test_six_digits_are_kept(number: float) -> None:
    assert significant(np.array([number]))[0].as_py() == pytest.approx(float(f"{number:.6g}"), rel=1e-6)
    assert (
        len(f"{significant(np.array([abs(number) + 0.1]))[0].as_py():.12g}".replace(".", "").strip("0").split("e")[0])
        <= 6
    )
