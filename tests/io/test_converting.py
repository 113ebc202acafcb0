"""Tables converted in pieces: the very graph that is read in memory, whatever the tables are like."""

import csv
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featprop.errors import FeatpropError, ParameterError
from featprop.graph import Graph
from featprop.interop import positions
from featprop.interop.tables import raw_from_tables
from featprop.io import buckets, column_files, converting, feature_files, read_graph, table_pieces
from featprop.io.converting import convert_tables, tables_at
from featprop.io.folder import TwoTables
from featprop.io.native import open_native, write_native
from featprop.io.tables import read_table
from featprop.tables import TableOptions
from featprop.tables.encoders import group

WriteFolder = Callable[..., Path]
PLAIN = "id,w\na,1\nb,2\nc,3\nd,4\n"


@contextmanager
def small_pieces() -> Iterator[None]:
    """Two rows to a piece, a column of nodes and three entries to a file, and every id through the compiled table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_pieces, "ROWS", 2)
        patch.setattr(table_pieces, "BLOCKS", (64, 1 << 20))
        patch.setattr(column_files, "TOGETHER", 1)
        patch.setattr(column_files, "ROWS", 2)
        patch.setattr(group, "TOGETHER", 2)
        patch.setattr(feature_files, "SMALL", 0)
        patch.setattr(buckets, "BUCKET", 3)
        patch.setattr(buckets, "MOST", 7)
        patch.setattr(positions, "FEW", 0)
        patch.setattr(converting, "entries_at_once", lambda *_: 4)
        yield


def read_whole(tables: TwoTables, options: TableOptions) -> Graph:
    """Read both tables into memory, each as one."""
    nodes, edges = tables.nodes(options), read_table(tables.edges_path, text=None)
    names = tables.nodes_name, tables.edges_name
    return Graph.from_raw(raw_from_tables(nodes, edges, options, *names, typed=tables.typed))


def told(act: Callable[[], Any], caplog: pytest.LogCaptureFixture) -> tuple[Any, str | None, list[str]]:
    """Return what an act gives, the error it ends with, and what it says."""
    caplog.clear()
    try:
        with caplog.at_level(logging.INFO, "featprop"):
            return act(), None, list(caplog.messages)
    except FeatpropError as error:
        return None, str(error), list(caplog.messages)


def assert_same_files(one: Path, other: Path) -> None:
    names = {path.name for path in one.iterdir()} - {"checked.json"}
    assert names == {path.name for path in other.iterdir()} - {"checked.json"}
    for name in sorted(names - {"graph.json", "table.arrow"}):
        np.testing.assert_array_equal(np.load(one / name), np.load(other / name), err_msg=name)
        if name.startswith("adjacency"):
            assert np.load(one / name).dtype == np.load(other / name).dtype, name
    assert json.loads((one / "graph.json").read_text()) == json.loads((other / "graph.json").read_text())
    first, second = open_native(one), open_native(other)
    assert first.table == second.table
    assert first.fingerprint == second.fingerprint


def assert_converts_as_it_reads(folder: Path, options: TableOptions, caplog: pytest.LogCaptureFixture) -> Graph | None:
    """Convert tables in pieces and read them in memory: the same graph, the same words, the same error."""
    tables = tables_at(folder)
    assert tables is not None
    graph, error, messages = told(lambda: read_whole(tables, options), caplog)
    out, beside = folder / "in-pieces", folder / "in-memory"
    with small_pieces():
        made, its_error, its_messages = told(lambda: convert_tables(tables, out, options, max_memory=10**9), caplog)
    assert its_error == error
    if graph is None:
        assert not out.exists()
        return None
    assert its_messages == messages
    write_native(graph, beside)
    assert_same_files(out, beside)
    assert made[:3] == (graph.n_nodes, graph.n_edges, graph.n_features)
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    return graph


ALL_KINDS = "id,age,country,vip,born,x\n" + "".join(
    f'n{i},{i * 7 % 50},{["DE", "FR", "NL"][i % 3]},{"yes" if i % 4 else "no"},2020-01-{i + 1:02},"[{i},{i % 3}]"\n'
    for i in range(25)
)
WORDS = ",".join(["id", *(f"w_{i}" for i in range(60))]) + "\n"
WORDS += "".join(
    ",".join([f"n{row}", *("1" if (row * 7 + i) % 23 == 0 else "0" for i in range(60))]) + "\n" for row in range(9)
)
EMBEDDED = ",".join(["id", *(f"e{i}" for i in range(9)), "age", "city"]) + "\n"
EMBEDDED += "".join(
    ",".join([f"n{row}", *(f"{(row * 7 + i * 5) % 11 - 5.5}" for i in range(9)), f"{row**2}", "XY"[row % 2]]) + "\n"
    for row in range(12)
)
LATE = "id,real,code,flag,word,day,time,none\n"
LATE += "".join(f"n{row},{row},{row + 5},{row % 2},{row},2020-01-{row + 1:02},2020-01-01,NA\n" for row in range(20))
LATE += "n20,2.5,007,true,x,NA,2020-01-01 10:00:00,\nn21,1,1,false,1,,2020-01-02,NA\n"

TRAPS = {
    "plain": (PLAIN, "source,target\na,b\nb,c\nc,d\n", {}),
    "repeats, loops, zeros": (
        PLAIN,
        "source,target,weight\na,b,0.5\na,b,0.25\nb,a,2\nb,c,1e-3\nc,c,1\na,c,0\nd,a,7\na,d,7\nd,a,1\n",
        {},
    ),
    "one weight everywhere": (PLAIN, "source,target,weight\na,b,5\nb,c,5\nc,d,5\n", {}),
    "decimal commas that show late": (
        PLAIN,
        "source;target;weight\na;b;1.234\nb;c;2\nc;d;3\nd;a;4,5\na;c;0,5\nb;d;1,5\n",
        {},
    ),
    "percent that show late": (
        PLAIN,
        "source,target,weight\na,b,0\nb,c,0\nc,d,0\nd,a,4%\na,c,5%\nb,d,15%\na,b,1%\nb,c,1%\nc,d,1%\n",
        {},
    ),
    "currencies": (PLAIN, "source,target,weight\na,b,1 €\nb,c,2 €\nc,d,3\nd,a,€ 4\n", {}),
    "a unit": (PLAIN, "source,target,weight\na,b,1 kg\nb,c,2 kg\nc,d,3 kg\nd,a,4 kg\n", {}),
    "a word as a weight": (PLAIN, "source,target,weight\na,b,1\nb,c,2\nc,d,3\nd,a,4\na,c,strong\nb,d,1\n", {}),
    "no weight at all": (PLAIN, "source,target,weight\na,b,\nb,c,\nc,d,\n", {}),
    "a weight that is missing": (PLAIN, "source,target,weight\na,b,1\nb,c,2\nc,d,\nd,a,4\n", {}),
    "weights below 0": (PLAIN, "source,target,weight\na,b,1\nb,c,2\nc,d,-3\nd,a,4\na,c,-1\n", {}),
    "weights beyond a float": (PLAIN, "source,target,weight\na,b,1\nb,c,2\nc,d,1e39\nd,a,4\na,c,1\n", {}),
    "unknown ends": (PLAIN, "source,target\na,b\nb,x\ny,c\nc,d\nx,a\n", {}),
    "nearly known ends": ("id,w\n161,1\n162,2\n7,3\n", "u,v\n161.0,162\n162,7\n7,161.0\n", {}),
    "numbers that are no nodes": ("id,w\n1,1\n2,2\n3,3\n", "u,v\n1,2\n2,99\n3,1\n98,1\n", {}),
    "padded numbers": ("id,w\n1,1\n2,2\n3,3\n", "u,v\n1,2\n2,03\n3,1\n", {}),
    "empty ends": (PLAIN, "source,target\na,b\n,c\nc,d\n", {}),
    "empty rows at the end": (PLAIN, "source,target,note\na,b,\nb,c,x\n,,\n,,\n,,\n", {}),
    "a note in the last empty row": (PLAIN, "source,target,note\na,b,\nb,c,x\n,,\n,,y\n,,\n", {}),
    "empty rows in the middle": (PLAIN, "source,target\na,b\n,\n,\n,\nb,c\n", {}),
    "columns without a name": (PLAIN, ",source,target,,\n0,a,b,,\n1,b,c,,\n2,c,d,,\n", {}),
    "a column without a name that is full": (PLAIN, "source,target,\na,b,x\nb,c,y\nc,d,z\n", {}),
    "an index": (PLAIN, "row,source,target\n1,a,b\n2,b,c\n3,c,d\n", {}),
    "an index between two columns": (PLAIN, "index,x,y\n0,a,b\n1,b,c\n2,c,d\n3,d,a\n", {}),
    "no index": (PLAIN, "index,x,y\n0,a,b\n1,b,c\n2,c,d\n7,d,a\n", {}),
    "other columns": (PLAIN, "since,target,source\n1999,a,b\n2001,b,c\n2002,c,d\n", {}),
    "columns named": (
        PLAIN,
        "tx,payer,payee,sum\n1,a,b,3\n2,b,c,4\n3,c,d,5\n",
        {"source": "payer", "target": "payee", "weight": "sum"},
    ),
    "a column named that is not there": (PLAIN, "u,v\na,b\n", {"source": "u", "target": "z"}),
    "one column named": (PLAIN, "u,v\na,b\n", {"source": "u"}),
    "an edge for a header": (PLAIN, "a,b\nb,c\nc,d\n", {}),
    "no ends": (PLAIN, "x,y,z\na,b,c\n", {}),
    "columns of one name": (PLAIN, "source,target,target\na,b,b\n", {}),
    "a row too long": (PLAIN, "source,target\na,b\nb,c\nc,d,e\nd,a\n", {}),
    "quotes and new lines": (
        'id,w\n"a,1",1\n"b\n2",2\n"c ""3",3\n',
        'u,v\n"a,1","b\n2"\n"b\n2","c ""3"\n"c ""3","a,1"\n',
        {},
    ),
    "a quote that is never closed": (PLAIN, 'source,target,note\na,b,\nb,c,"urgent\nc,d,\nd,a,\n', {}),
    "a cell that holds rows": (PLAIN, 'source,target,note\na,b,"x\nb,c,\nc,d,\nb,d,\nd,a,y"\na,c,\n', {}),
    "nodes with a cell that holds rows": ('id,w,x\na,1,"5\nb,2,6\nc,3,"7\nd,4,8\ne,5,9\n', "u,v\na,d\n", {}),
    "semicolons and a mark": ("\ufeffid;w\na;1,5\nb;2,5\nc;3,5\n", "\ufeffsource;target\na;b\nb;c\nc;a\n", {}),
    "a delimiter that is named": (PLAIN, "sep=|\nsource|target\na|b\nb|c\n", {}),
    "leading zeros": ("id,w\n007,1\n8,2\n9,3\n", "source,target\n007,9\n8,007\n8,9\n", {}),
    "numbers anywhere": ("id,w\n9000000000,1\n-5,2\n3,3\n", "u,v\n9000000000,-5\n-5,3\n3,9000000000\n", {}),
    "counted": ("id,w\n5,1\n6,2\n7,3\n8,4\n", "u,v\n5,6\n6,7\n7,8\n8,5\n", {}),
    "names of missing things": ("id,w\nNA,1\nnull,2\nnan,3\n", "u,v\nNA,null\nnull,nan\nnan,NA\n", {}),
    "labels": ("id,w,label\na,1,x\nb,2,\nc,3,y\nd,4,x\n", "u,v\na,b\nb,c\nc,d\n", {}),
    "labels of programs": ("id,w,label\na,1,x\nb,2,NULL\nc,3,#REF!\nd,4,y\n", "u,v\na,b\nb,c\nc,d\n", {}),
    "no edges": (PLAIN, "source,target\n", {}),
    "no edges, weighted": (PLAIN, "source,target,weight\n", {}),
    "no nodes": ("id,w\n", "source,target\na,b\n", {}),
    "repeated ids": ("id,w\na,1\nb,2\na,3\n", "source,target\na,b\n", {}),
    "repeated numbers": ("id,w\n1,1\n20,2\n1,3\n", "source,target\n1,20\n", {}),
    "empty ids": ("id,w\na,1\n,2\nb,3\n", "source,target\na,b\n", {}),
    "no id": ("x,w\na,1\nb,2\n", "source,target\na,b\n", {}),
    "nothing to learn": ("id,email\na,x@y\nb,z@y\n", "source,target\na,b\n", {}),
    "beyond a float": ("id,w\na,1\nb,1e39\n", "source,target\na,b\n", {"raw": True}),
    "columns of all kinds": (ALL_KINDS, "u,v\n" + "".join(f"n{i},n{(i * 5 + 1) % 25}\n" for i in range(25)), {}),
    "a bag of words": (WORDS, "u,v\nn0,n1\nn1,n2\n", {}),
    "numbers of a group beside others": (EMBEDDED, "u,v\nn0,n1\nn1,n2\n", {}),
    "numbers as they are": (EMBEDDED, "u,v\nn0,n1\nn1,n2\n", {"raw": True, "features": ("e*",)}),
    "a missing number as it is": ("id,w,x\na,1,2\nb,,3\n", "u,v\na,b\n", {"raw": True}),
    "words as they are": ("id,w,x\na,1,p\nb,2,q\n", "u,v\na,b\n", {"raw": True}),
    "the same everywhere": ("id,w,x\na,1,5\nb,1,5\n", "u,v\na,b\n", {}),
    "nodes with empty rows at the end": ("id,w,x\na,1,5\nb,2,6\n,,\n,NA,\n", "u,v\na,b\n", {}),
    "nodes with a word in the last row": ("id,w,x\na,1,p\nb,2,q\n,,\n,,NA\n", "u,v\na,b\n", {}),
    "nodes with columns without a name": (",id,w,,\n0,a,1,NA,\n1,b,2,,\n2,c,4,NA,\n", "u,v\na,b\n", {}),
    "nodes with a full column without a name": ("id,w,\na,1,5\nb,2,6\nc,4,9\n", "u,v\na,b\n", {}),
    "nodes with a row too long": ("id,w\na,1\nb,2,3\nc,4\n", "u,v\na,b\n", {}),
    "nodes with columns of one name": ("id,w,w\na,1,2\nb,2,3\n", "u,v\na,b\n", {}),
    "nodes with decimal commas and points": (
        "id;w;x\n" + "".join(f"{name};{place},5;{place + 1}.250\n" for place, name in enumerate("abcde")),
        "u,v\na,b\n",
        {},
    ),
    "nodes with dots between thousands": (
        "id;w;x\n" + "".join(f"n{row};{row % 3 or '1.234'};{'2.500' if row else 7}\n" for row in range(12)),
        "u;v\nn0;n1\n",
        {},
    ),
    "types that show late": (LATE, "u,v\nn0,n1\n", {}),
    "a column of nodes that is named": ("id,w,x\na,1,2\nb,2,3\nc,5,3\n", "u,v\na,b\n", {"columns": {"x": "category"}}),
    "a column of nodes that is not there": ("id,w\na,1\nb,2\n", "u,v\na,b\n", {"columns": {"x": "category"}}),
    "an index of nodes": ("index,id,w\n0,a,5\n1,b,6\n2,c,9\n", "u,v\na,b\n", {}),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_csv_files_are_like(trap: str, write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    nodes, edges, said = TRAPS[trap]
    assert_converts_as_it_reads(write_folder(nodes, edges), TableOptions(**said), caplog)


def test_weights_with_dots_between_thousands(write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    texts = ["162", "3.796", "7", "1.382", "999", "12.500"]
    ends = ["a;b", "b;c", "c;d", "d;a", "a;c", "b;d"]
    edges = "source;target;weight\n" + "".join(f"{end};{text}\n" for end, text in zip(ends, texts, strict=True))
    folder = write_folder(PLAIN, edges)
    options = TableOptions(weights="raw")
    graph, _, messages = told(lambda: read_graph(folder, options=options), caplog)
    assert graph.adjacency[[0, 1, 2, 3, 0, 1], [1, 2, 3, 0, 2, 3]].tolist() == [162, 3796, 7, 1382, 999, 12500]
    said = "dots stand between thousands, 3.796 is 3796: write 3,796 if it is a decimal number"
    assert f"Column 'weight' of {folder / 'edges.csv'}: {said}" in messages
    tables = tables_at(folder)
    assert tables is not None
    with small_pieces():
        convert_tables(tables, folder / "in-pieces", options, max_memory=10**9)
    write_native(graph, folder / "in-memory")
    assert_same_files(folder / "in-pieces", folder / "in-memory")


def test_weights_with_dots_beside_decimal_points(write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    texts = ["2", "1.125", "3", "2.375", "1", "3.625"]
    ends = ["a;b", "b;c", "c;d", "d;a", "a;c", "b;d"]
    rows = "".join(f"{end};{text};0.5\n" for end, text in zip(ends, texts, strict=True))
    folder = write_folder(PLAIN, f"source;target;weight;score\n{rows}")
    graph, _, messages = told(lambda: read_graph(folder, options=TableOptions(weights="raw")), caplog)
    assert graph.adjacency[[0, 1, 2, 3, 0, 1], [1, 2, 3, 0, 2, 3]].tolist() == [2, 1.125, 3, 2.375, 1, 3.625]
    assert any("1.125 beside whole numbers up to 999 is read as a decimal number" in each for each in messages)


EDGES = {"source": list("abcdabca"), "target": list("bcdabadc"), "weight": [1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 0.0, 7.0]}
KINDS = {
    "text": (pa.table({"id": list("abcd"), "w": [1, 2, 3, 4]}), pa.table(EDGES)),
    "dictionaries": (
        pa.table({"id": pa.array(list("abcd")).dictionary_encode(), "w": [1, 2, 3, 4]}),
        pa.table(EDGES | {"source": pa.array(EDGES["source"]).dictionary_encode()}),
    ),
    "numbers": (
        pa.table({"id": [7, 8, 9], "w": [1, 2, 3]}),
        pa.table({"u": pa.array([7, 8, 9], pa.int8()), "v": pa.array([8, 9, 7], pa.uint64())}),
    ),
    "numbers and text": (
        pa.table({"id": [7, 8, 9], "w": [1, 2, 3]}),
        pa.table({"u": ["7", "8", "9"], "v": pa.array([8, 9, 7], pa.int32())}),
    ),
    "text and numbers": (
        pa.table({"id": ["7", "8", "x"], "w": [1, 2, 3]}),
        pa.table({"u": [7, 8, 7], "v": ["x", "7", "8"]}),
    ),
    "weights that are infinite": (
        pa.table({"id": [7, 8, 9], "w": [1, 2, 3]}),
        pa.table({"u": [7, 8, 9], "v": [8, 9, 7], "weight": [1.0, float("inf"), float("nan")]}),
    ),
    "weights that are dates": (
        pa.table({"id": [7, 8], "w": [1, 2]}),
        pa.table({"u": [7], "v": [8], "weight": pa.array([1], pa.date32())}),
    ),
    "ends that are missing": (
        pa.table({"id": [7, 8], "w": [1, 2]}),
        pa.table({"u": [7, None, 8], "v": [8, 7, None]}),
    ),
    "ends that are bytes": (
        pa.table({"id": ["7", "8"], "w": [1, 2]}),
        pa.table({"u": pa.array([b"7", b"\xff"]), "v": pa.array([b"8", b"7"])}),
    ),
    "nodes of all types": (
        pa.table(
            {
                "a.b": [1.5, None, 2.5, 7.0],
                "id": pa.array(list("abcd")).cast(pa.large_string()),
                "kind": pa.chunked_array([pa.array(list("xy")).dictionary_encode()] * 2),
                "other": pa.chunked_array([pa.array(list(text)).dictionary_encode() for text in ("pq", "rq")]),
                "lists": [[1.0, 2.0], [0.5, 1.0], None, [3.0, 1.0]],
                "parts": [{"b": 1}, {"b": 2}, None, {"b": 3}],
                "day": pa.array([1, 2, 3, 5], pa.date32()),
                "flag": [True, False, None, True],
                "label": ["u", None, "v", "u"],
            }
        ),
        pa.table(EDGES),
    ),
    "text of nodes that is not UTF-8": (
        pa.table({"id": list("ab"), "w": pa.array([b"7", b"\xff"]).view(pa.string())}),
        pa.table({"u": ["a"], "v": ["b"]}),
    ),
    "an index of pandas": (
        pa.table({"id": [7, 8], "w": [1, 2], "__index_level_0__": [3, 4]}),
        pa.table({"__index_level_0__": [5, 6], "a": [7, 8], "b": [8, 7]}),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_parquet_files_are_like(kind: str, write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    assert_converts_as_it_reads(write_folder(*KINDS[kind]), TableOptions(), caplog)


def test_words_that_each_group_of_rows_numbers_anew(tmp_path: Path) -> None:
    """As pandas writes categories of a table of many rows."""
    parts = [[f"{word}{row % 3}" for row in range(6)] for word in ("p", "q")]
    kinds = pa.chunked_array([pa.array(part).dictionary_encode() for part in parts])
    nodes = pa.table({"id": range(12), "w": [row / 7 for row in range(12)], "kind": kinds})
    pq.write_table(nodes, tmp_path / "nodes.parquet", row_group_size=6)
    pq.write_table(pa.table({"source": [0, 1], "target": [1, 2]}), tmp_path / "edges.parquet")
    tables = tables_at(tmp_path)
    assert tables is not None
    convert_tables(tables, tmp_path / "out", TableOptions(), max_memory=10**9)
    write_native(read_graph(tmp_path), tmp_path / "whole")
    for found in map(read_graph, (tmp_path / "out", tmp_path / "whole")):
        assert found.table.column("kind").to_pylist() == [*parts[0], *parts[1]]


NAMES = st.one_of(
    st.integers(-5, 20).map(str), st.text("ab01 ,\"'é\n", min_size=1, max_size=3), st.integers(0, 2**40).map(str)
)
WEIGHTS = st.one_of(
    st.floats(0, 1e6, width=32).map(lambda number: f"{number:g}"),
    st.sampled_from(["0", "1", "1.5", "2,5", "1.234", "1e-3", " 4 ", "5 €", "3%", "", "nan", "x", "-1"]),
)


@given(data=st.data(), names=st.lists(NAMES, min_size=1, max_size=8, unique=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_any_edges(
    data: st.DataObject, names: list[str], tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    ends = st.sampled_from(names) if data.draw(st.booleans()) else st.one_of(st.sampled_from(names), NAMES)
    usual = st.floats(0, 1e6, width=32).map(lambda number: f"{number:g}")
    weights = data.draw(st.sampled_from([None, usual, WEIGHTS]))
    columns = [ends, ends] if weights is None else [ends, ends, weights]
    rows = data.draw(st.lists(st.tuples(*columns), max_size=12))
    said = TableOptions(
        weights=data.draw(st.sampled_from(["mean", "raw", "none"])),
        repeated=data.draw(st.sampled_from(["max", "sum", "count"])),
    )
    folder = tmp_path_factory.mktemp("edges")
    tables = {
        "nodes": [["id", "w"], *([name, number] for number, name in enumerate(names))],
        "edges": [["source", "target", "weight"][: len(columns)], *rows],
    }
    for name, written in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(written)
    assert_converts_as_it_reads(folder, said, caplog)


def test_zeros_with_a_sign(write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    nodes = "id,w,x\na,0.0,\nb,0.0,p\nc,1.0,q\nd,2.0,q\ne,-0.0,q\n"
    assert assert_converts_as_it_reads(write_folder(nodes, "source,target\na,e\n"), TableOptions(), caplog) is not None


CELLS = {
    "integers": st.integers(-3, 10**6).map(str),
    "reals": st.floats(-1e6, 1e6, width=32).map(str),
    "flags": st.sampled_from(["true", "false", "True", "0", "1"]),
    "days": st.dates().map(str),
    "times": st.datetimes().map(lambda time: f"{time:%Y-%m-%d %H:%M:%S}"),
    "codes": st.sampled_from(["007", "12", "0x1F", "1.234", "1,5", "5 €", "3%"]),
    "words": st.text("ab ,\"'é\n", max_size=4),
    "missing": st.sampled_from(["", "NA", "nan", "-"]),
}


@given(data=st.data(), count=st.integers(1, 8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_nodes(
    data: st.DataObject, count: int, tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    titles = data.draw(st.lists(st.sampled_from(["", "w", "x1", "x2", "id2", "row", "label"]), min_size=1, max_size=4))
    columns = []
    for _ in titles:
        kinds = data.draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=2))
        columns.append(st.one_of(*(CELLS[kind] for kind in kinds)))
    rows = [data.draw(st.tuples(*columns)) for _ in range(count)]
    folder = tmp_path_factory.mktemp("nodes")
    tables = {
        "nodes": [["id", *titles], *([f"n{place}", *row] for place, row in enumerate(rows))],
        "edges": [["source", "target"], ["n0", f"n{count - 1}"]],
    }
    for name, written in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(written)
    assert_converts_as_it_reads(folder, TableOptions(), caplog)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "latin-1"])
def test_encodings(encoding: str, write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    nodes, edges = "id,w\né1,1\né2,2\né3,3\n", "source,target\né1,é2\né2,é3\né3,é1\n"
    folder = write_folder(nodes.encode(encoding), edges.encode(encoding))
    assert assert_converts_as_it_reads(folder, TableOptions(), caplog) is not None


def test_more_edges_than_fit_one_file(write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    """A hub that nearly all edges go to, as its rows are too many for a file, and shuffled numbers as ids."""
    generator = np.random.default_rng(0)
    ids = generator.permutation(400) * 3 + 1
    source = np.where(generator.random(3000) < 0.7, ids[5], generator.choice(ids, 3000))
    edges = pa.table({"u": source, "v": generator.choice(ids, 3000), "weight": generator.random(3000)})
    folder = write_folder(pa.table({"id": ids, "w": generator.random(400)}), edges)
    for repeated in ("max", "sum"):
        graph = assert_converts_as_it_reads(folder, TableOptions(repeated=repeated), caplog)
        assert graph is not None
        assert graph.n_edges > 1000
        for made in ("in-pieces", "in-memory"):
            shutil.rmtree(folder / made)


def test_a_bound_that_cannot_be_met_is_said(write_folder: WriteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder()
    tables = tables_at(folder)
    assert tables is not None
    with pytest.raises(ParameterError, match=r"max_memory must be at least 500.0 MB; found 1.0 MB"):
        convert_tables(tables, folder / "out", TableOptions(), max_memory=10**6)
    monkeypatch.setattr(converting, "BYTES_A_NODE", 10**9)
    with pytest.raises(ParameterError, match="must have room for 5 nodes"):
        convert_tables(tables, folder / "out", TableOptions(), max_memory=10**9)
    assert sorted(path.name for path in folder.iterdir()) == ["edges.csv", "nodes.csv"]


def test_nodes_that_take_more_than_the_bound_are_said(
    write_folder: WriteFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_folder()
    tables = tables_at(folder)
    assert tables is not None
    convert_tables(tables, folder / "out", TableOptions(), max_memory=10**9)
    assert caplog.messages == []
    monkeypatch.setattr(converting, "COLUMN", 10**8)
    convert_tables(tables, folder / "other", TableOptions(), max_memory=10**9)
    assert len(caplog.messages) == 1
    assert "while it is prepared: more than 1.0 GB, which edges keep to" in caplog.text
