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
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featprop.errors import FeatpropError, ParameterError
from featprop.graph import Graph
from featprop.interop import positions
from featprop.interop.tables import raw_from_tables
from featprop.io import buckets, converting, table_pieces
from featprop.io.converting import convert_tables, tables_at
from featprop.io.folder import TwoTables
from featprop.io.native import open_native, write_native
from featprop.io.tables import read_table
from featprop.tables import TableOptions

WriteFolder = Callable[..., Path]
PLAIN = "id,w\na,1\nb,2\nc,3\nd,4\n"


@contextmanager
def small_pieces() -> Iterator[None]:
    """Two edges to a piece, some bytes to a block, three entries to a file, and every id through the compiled table."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_pieces, "ROWS", 2)
        patch.setattr(table_pieces, "BLOCKS", (64, 1 << 20))
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
    "no ends": (PLAIN, "x,y,z\na,b,c\n", {}),
    "columns of one name": (PLAIN, "source,target,target\na,b,b\n", {}),
    "a row too long": (PLAIN, "source,target\na,b\nb,c\nc,d,e\nd,a\n", {}),
    "quotes and new lines": (
        'id,w\n"a,1",1\n"b\n2",2\n"c ""3",3\n',
        'u,v\n"a,1","b\n2"\n"b\n2","c ""3"\n"c ""3","a,1"\n',
        {},
    ),
    "semicolons and a mark": ("\ufeffid;w\na;1,5\nb;2,5\nc;3,5\n", "\ufeffsource;target\na;b\nb;c\nc;a\n", {}),
    "a delimiter that is named": (PLAIN, "sep=|\nsource|target\na|b\nb|c\n", {}),
    "leading zeros": ("id,w\n007,1\n8,2\n9,3\n", "source,target\n007,9\n8,007\n8,9\n", {}),
    "numbers anywhere": ("id,w\n9000000000,1\n-5,2\n3,3\n", "u,v\n9000000000,-5\n-5,3\n3,9000000000\n", {}),
    "counted": ("id,w\n5,1\n6,2\n7,3\n8,4\n", "u,v\n5,6\n6,7\n7,8\n8,5\n", {}),
    "names of missing things": ("id,w\nNA,1\nnull,2\nnan,3\n", "u,v\nNA,null\nnull,nan\nnan,NA\n", {}),
    "labels": ("id,w,label\na,1,x\nb,2,\nc,3,y\nd,4,x\n", "u,v\na,b\nb,c\nc,d\n", {}),
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
}


@pytest.mark.parametrize("trap", TRAPS)
def test_what_csv_files_are_like(trap: str, write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    nodes, edges, said = TRAPS[trap]
    assert_converts_as_it_reads(write_folder(nodes, edges), TableOptions(**said), caplog)


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
    "an index of pandas": (
        pa.table({"id": [7, 8], "w": [1, 2], "__index_level_0__": [3, 4]}),
        pa.table({"__index_level_0__": [5, 6], "a": [7, 8], "b": [8, 7]}),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_parquet_files_are_like(kind: str, write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    assert_converts_as_it_reads(write_folder(*KINDS[kind]), TableOptions(), caplog)


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
    monkeypatch.setattr(converting, "NODES", 10**8)
    convert_tables(tables, folder / "other", TableOptions(), max_memory=10**9)
    assert len(caplog.messages) == 1
    assert "while their columns are prepared: more than 1.0 GB, which edges keep to" in caplog.text
