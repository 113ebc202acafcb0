"""Columns that only number the rows."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from featprop.io.tables import read_table
from featprop.tables.index_columns import without_index


@pytest.mark.parametrize(
    "name", ["index", "Index", "level_0", "row", "Row_ID", "rownames", "X", "X.1", "#", "...1", "V1"]
)
@pytest.mark.parametrize("values", [[0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0], ["0", "1", "2"]])
def test_a_column_named_so_is_left_out_if_it_numbers_the_rows(name: str, values: list[Any]) -> None:
    table, dropped = without_index(pa.table({"w": [5, 6, 7], name: values}))
    assert (table.column_names, dropped) == (["w"], [name])


@pytest.mark.parametrize(
    "values", [[1, 2, 4], [2, 1, 0], [2, 3, 4], [0, 1, None], [0.5, 1.5, 2.5], ["a", "b", "c"], [[0], [1], [2]]]
)
def test_a_column_named_so_stays_if_it_does_not(values: list[Any]) -> None:
    table = pa.table({"index": values, "w": [5, 6, 7]})
    assert without_index(table) == (table, [])


@pytest.mark.parametrize("name", ["x", "age", "id", "indexed", "Xray", "x.1", "rowing"])
def test_other_names_stay(name: str) -> None:
    table = pa.table({name: [0, 1, 2]})
    assert without_index(table) == (table, [])


def test_two_rows_are_too_few_to_tell() -> None:
    assert without_index(pa.table({"X": [0, 1]}))[1] == []


def test_the_first_unnamed_column_is_an_index_whatever_it_holds(caplog: pytest.LogCaptureFixture) -> None:
    table = pa.table({"": ["a", "b", "c"], "w": [1, 2, 3], "__index_level_0__": [9, 8, 7]})
    with caplog.at_level(logging.INFO, "featprop"):
        assert without_index(table)[1] == ["", "__index_level_0__"]
    assert caplog.messages == ["index columns left out: 2 (the unnamed one, __index_level_0__)"]
    assert without_index(table, keep=[""])[1] == ["__index_level_0__"]
    assert without_index(pa.table({"Unnamed: 0": ["a", "b", "c"]}))[1] == ["Unnamed: 0"]


def test_a_later_unnamed_column_with_values_stays() -> None:
    table = pa.table({"id": ["a", "b", "c"], "Unnamed: 1": [0, 1, 2], "Unnamed: 2": ["x", "y", "z"]})
    assert without_index(table)[1] == ["Unnamed: 1"]
    assert without_index(pa.table({"id": ["a", "b", "c"], "Unnamed: 0": ["x", "y", "z"]}))[1] == []


def test_what_pandas_adds_is_left_out_and_a_named_index_stays(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": list("abcd"), "w": range(4)})
    frame.to_csv(tmp_path / "t.csv")
    pd.read_csv(tmp_path / "t.csv").to_csv(tmp_path / "again.csv")
    frame.iloc[[3, 0, 2, 1]].to_parquet(tmp_path / "t.parquet")
    frame.set_index("id").to_parquet(tmp_path / "named.parquet")
    frame.to_excel(tmp_path / "t.xlsx")
    for name, expected in {
        "t.csv": [""],
        "again.csv": ["", "Unnamed: 0"],
        "t.parquet": ["__index_level_0__"],
        "t.xlsx": [""],
        "named.parquet": [],
    }.items():
        table, dropped = without_index(read_table(tmp_path / name))
        assert dropped == expected
        assert sorted(table.column_names) == ["id", "w"]


def test_a_table_of_a_csv_of_r(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"","id","w"\n"1","a",5\n"2","b",6\n"3","c",7\n')
    assert without_index(read_table(tmp_path / "t.csv"))[1] == [""]
