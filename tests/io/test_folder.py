"""Graphs as two tables in a folder."""

import csv
import io
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from featprop.errors import FeatpropError
from featprop.graph import Graph
from featprop.io import read_graph
from featprop.matrix import dense
from featprop.tables import TableOptions

WriteFolder = Callable[..., Path]
PAIR = "source,target\na,b\n"
RAW = TableOptions(raw=True, weights="raw")


def same(one: Graph, other: Graph) -> None:
    np.testing.assert_array_equal(one.adjacency.toarray(), other.adjacency.toarray())
    np.testing.assert_array_equal(dense(one.features), dense(other.features))
    assert one.ids.tolist() == other.ids.tolist()
    assert one.class_names() == other.class_names()


def test_the_line_by_hand(write_folder: WriteFolder, line: Graph) -> None:
    graph = read_graph(write_folder(), options=RAW)
    same(graph, line)
    assert graph.feature_names == ("w1", "w2")
    assert graph.classes == ("left", "right")


def test_parquet_reads_as_csv_does(write_folder: WriteFolder, line: Graph) -> None:
    nodes = pa.table(
        {
            "id": list("abcde"),
            "w1": [1, 1, 0, 0, 1],
            "w2": [0, 0.5, 1, 2, 1],
            "label": ["left", None, "right", None, None],
        }
    )
    edges = pa.table({"source": list("abcd"), "target": list("bcde")})
    same(read_graph(write_folder(nodes, edges), options=RAW), line)
    same(read_graph(write_folder(nodes, name="mixed"), options=RAW), line)


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_as_a_spreadsheet_saves_it(write_folder: WriteFolder, line: Graph, delimiter: str) -> None:
    plain = write_folder()
    nodes, edges = ((plain / f"{stem}.csv").read_text() for stem in ("nodes", "edges"))
    saved = ["\ufeff" + text.replace(",", delimiter).replace("\n", "\r\n") for text in (nodes, edges)]
    same(read_graph(write_folder(*saved, name="saved"), options=RAW), line)


@pytest.mark.parametrize(
    "edges",
    [
        "source,target\na,b\nb,c\n",
        "from,to\na,b\nb,c\n",
        "since,target,source\n1999,a,b\n2001,b,c\n",
        "a name,another\na,b\nb,c\n",
    ],
)
def test_edges_by_name_or_else_the_only_two_columns(write_folder: WriteFolder, edges: str) -> None:
    graph = read_graph(write_folder("id,w\na,1\nb,1\nc,1\n", edges))
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_weights_and_repairs(write_folder: WriteFolder, caplog: pytest.LogCaptureFixture) -> None:
    edges = "source,target,weight\na,b,0.5\na,b,0.25\nb,a,2\nb,c,1e-3\nc,c,1\na,c,0\n"
    with caplog.at_level(logging.INFO, "featprop"):
        graph = read_graph(write_folder("id,w\na,1\nb,1\nc,1\n", edges), options=RAW)
    thousandth = np.float32(1e-3)
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 2, 0], [2, 0, thousandth], [0, thousandth, 0]])
    assert tuple(caplog.messages[1:]) == graph.repairs
    assert len(graph.repairs) == 5


def test_weights_of_parquet(write_folder: WriteFolder) -> None:
    edges = pa.table({"source": ["a"], "target": ["b"], "weight": pa.array([3], pa.int32())})
    graph = read_graph(write_folder("id,w\na,1\nb,1\n", edges), options=RAW)
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize(
    ("ids", "edges", "read"),
    [
        (["007", "8", "9"], ["007", "9"], ["007", "8", "9"]),
        (["7", "8", "9"], ["7", "9"], [7, 8, 9]),
        (["a", "8", "9"], ["8", "9"], ["a", "8", "9"]),
        (["a,b", "c\nd", 'e"f'], ["c\nd", 'e"f'], ["a,b", "c\nd", 'e"f']),
        (["NA", "null", "nan"], ["NA", "nan"], ["NA", "null", "nan"]),
        (["é", "日本", "🙂"], ["日本", "🙂"], ["é", "日本", "🙂"]),
    ],
)
def test_ids_come_back_unchanged(write_folder: WriteFolder, ids: list[str], edges: list[str], read: list[Any]) -> None:
    nodes_text, edges_text = io.StringIO(), io.StringIO()
    csv.writer(nodes_text).writerows([["id", "w"], *([name, 1] for name in ids)])
    csv.writer(edges_text).writerows([["source", "target"], edges])
    graph = read_graph(write_folder(nodes_text.getvalue(), edges_text.getvalue()))
    assert graph.ids.tolist() == read
    assert graph.n_edges == 1


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.int64(), pa.int8(), pa.uint64()])
@pytest.mark.parametrize("kind_of_ends", [pa.string(), pa.int32()])
def test_ids_of_parquet_keep_their_type(
    write_folder: WriteFolder, kind: pa.DataType, kind_of_ends: pa.DataType
) -> None:
    ids = pa.array([7, 8]).cast(kind)
    ends = [pa.array([number]).cast(kind_of_ends) for number in (7, 8)]
    graph = read_graph(write_folder(pa.table({"id": ids, "w": [1, 2]}), pa.table({"from": ends[0], "to": ends[1]})))
    assert graph.ids.tolist() == ids.to_pylist()
    assert graph.n_edges == 1


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@given(ids=st.lists(TEXT, min_size=2, max_size=6, unique=True), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_text_is_an_id(tmp_path: Path, ids: list[str], data: st.DataObject) -> None:
    edges = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=5))
    for name, rows in [("nodes", [["id", "w"], *([name, 1] for name in ids)]), ("edges", [["a", "b"], *edges])]:
        with (tmp_path / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    graph = read_graph(tmp_path)
    assert [str(name) for name in graph.ids.tolist()] == ids
    assert graph.n_edges == len({frozenset(edge) for edge in edges if edge[0] != edge[1]})


@pytest.mark.parametrize("layout", ["csv", "parquet"])
def test_three_thousand_thin_columns_stay_sparse(write_folder: WriteFolder, layout: str) -> None:
    features = sp.random_array((50, 3_000), density=0.01, rng=np.random.default_rng(0)).toarray().round(3)
    columns = {f"w_{index}": features[:, index] for index in range(3_000)}
    nodes: Any = pa.table({"id": [f"n{row}" for row in range(50)], **columns})
    if layout == "csv":
        sink = pa.BufferOutputStream()
        pa_csv.write_csv(nodes, sink)
        nodes = sink.getvalue().to_pybytes()
    graph = read_graph(write_folder(nodes, "source,target\nn0,n1\n"))
    assert isinstance(graph.features, sp.csr_array)
    assert graph.feature_names == tuple(columns)
    np.testing.assert_array_equal(graph.features.toarray(), features.astype(np.float32))


@pytest.mark.parametrize(
    "cells",
    [
        ["[1, 0.5]", "[0, 2]"],
        ["[1 0.5]", " [0 2] "],
        ["[1;0.5]", "[0;2]"],
        ["[1.0,  5e-1]", "[0.,2]"],
        ["[1,\n 0.5]", "[0,\n 2]"],
    ],
)
def test_a_list_column_of_csv(write_folder: WriteFolder, cells: list[str]) -> None:
    nodes = f'id,x,label\na,"{cells[0]}",u\nb,"{cells[1]}",v\n'
    graph = read_graph(write_folder(nodes, PAIR))
    assert graph.features.tolist() == [[1, 0.5], [0, 2]]
    assert graph.feature_names is None
    assert graph.class_names() == ["u", "v"]


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.float32()), pa.large_list(pa.int64()), pa.list_(pa.float64(), 2), pa.list_(pa.float16())]
)
def test_a_list_column_of_parquet(write_folder: WriteFolder, kind: pa.DataType) -> None:
    vectors = pa.array([[1, 0], [0, 2]], pa.list_(pa.int64())).cast(kind)
    graph = read_graph(write_folder(pa.table({"id": ["a", "b"], "x": vectors}), PAIR))
    assert graph.features.tolist() == [[1, 0], [0, 2]]


def test_raw_ignores_other_columns(write_folder: WriteFolder) -> None:
    nodes = 'name,id,w,day,tags,empty,flag\nAnn,a,1,2020-01-01,[red],,true\nBob,b,2,2020-01-02,"[blue, red]",,false\n'
    graph = read_graph(write_folder(nodes, PAIR), options=RAW)
    assert graph.feature_names == ("w", "flag")
    assert graph.features.tolist() == [[1, 1], [2, 0]]
    assert graph.labels is None


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (["w_1"], ("w_1",)),
        (["w_*"], ("w_1", "w_2")),
        (["w_2", "year"], ("year", "w_2")),
        (["w_?", "w_1"], ("w_1", "w_2")),
    ],
)
def test_features_by_name_or_pattern(write_folder: WriteFolder, wanted: list[str], names: tuple[str, ...]) -> None:
    nodes = "id,w_1,year,w_2,name,x\na,1,1990,2,Ann,[1]\nb,3,1991,4,Bob,[2]\n"
    graph = read_graph(write_folder(nodes, PAIR), features=wanted, options=RAW)
    assert graph.feature_names == names
    columns = {"w_1": [1, 3], "w_2": [2, 4], "year": [1990, 1991]}
    assert graph.features.T.tolist() == [columns[name] for name in names]


def test_one_of_several_list_columns_by_name(write_folder: WriteFolder) -> None:
    graph = read_graph(write_folder('id,w,x,y\na,1,[1],"[2,3]"\nb,1,[1],"[4,5]"\n', PAIR), features=["y"])
    assert graph.features.tolist() == [[2, 3], [4, 5]]


def test_what_is_unusual_but_right(write_folder: WriteFolder) -> None:
    lonely = read_graph(write_folder("id,w,v\na,0,0\nb,0,0\nc,0,0\nd,0,0\n", "source,target\n"))
    assert (lonely.n_nodes, lonely.n_edges, dense(lonely.features).sum()) == (4, 0, 0)
    one = read_graph(write_folder("id,w\nonly,3\n", "source,target\n", name="one"), options=RAW)
    assert (one.ids.tolist(), one.features.tolist()) == (["only"], [[3]])
    empty = pa.table({"source": pa.array([], pa.string()), "target": pa.array([], pa.string())})
    assert read_graph(write_folder("id,w\n1,3\n", empty, name="no edges")).n_edges == 0
    apart = read_graph(write_folder("id,w\na,1\nb,2\nc,3\nd,4\n", "x,y\na,b\nc,d\n", name="apart"))
    assert apart.adjacency.sum(axis=1).tolist() == [1, 1, 1, 1]


def test_the_order_of_the_edges_does_not_matter(write_folder: WriteFolder) -> None:
    rows = ["a,b,1", "b,c,2", "c,b,3", "d,a,1", "a,b,4"]
    nodes = "id,w\na,1\nb,2\nc,3\nd,4\n"
    one, other = (
        read_graph(write_folder(nodes, "\n".join(["source,target,weight", *order]), name=name))
        for name, order in [("one", rows), ("other", rows[::-1])]
    )
    same(one, other)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            'id,x\na,[1]\nb,"[1,2]"\n',
            "Feature column 'x' of nodes.csv must be usable as it is; found x holds lists of several lengths: "
            "give every node as many features.",
        ),
        (
            "id,w,x\na,1,[1]\nb,1,[2]\n",
            "Features of nodes.csv must be numeric columns or one list column with --raw; found x, w: "
            "name the ones to use with --features.",
        ),
        (
            "id,w\na,1\nb,\n",
            "Feature 'w' of nodes.csv must be finite numbers with --raw; found NaN or an empty cell in row 2 "
            "(1 in all): fill or drop them, or leave --raw out.",
        ),
        (
            "id,w\na,1\n,2\nb,3\n",
            "nodes.csv must have an id in every row; found 1 empty, the first in row 2: fill the column 'id'.",
        ),
    ],
)
def test_bad_nodes(write_folder: WriteFolder, monkeypatch: pytest.MonkeyPatch, nodes: str, message: str) -> None:
    monkeypatch.chdir(write_folder(nodes, PAIR))
    with pytest.raises(FeatpropError) as caught:
        read_graph("", options=RAW)
    assert str(caught.value) == message


def test_a_file_that_is_no_graph(tmp_path: Path, write_folder: WriteFolder) -> None:
    path = write_folder() / "nodes.csv"
    with pytest.raises(FeatpropError) as caught:
        read_graph(path)
    assert str(caught.value) == (
        f"{path} must be a folder that featprop convert wrote, a sparse-graph .npz file, a folder with nodes.csv and "
        "edges.csv (or .parquet, .xlsx) or an .xlsx workbook with the sheets nodes and edges; found another kind of "
        "file: put nodes.csv and edges.csv into a folder and pass the folder."
    )


def test_far_larger_numbers_do_not_outweigh_the_others(write_folder: Any) -> None:
    nodes = "id,w1,w2,w3,income\na,1,0,1,90000\nb,0,1,1,20000\nc,1,1,0,50000\nd,0,1,0,1\ne,1,0,0,2\n"
    graph = read_graph(write_folder(nodes=nodes))
    np.testing.assert_allclose(graph.features.var(axis=0), 1, rtol=1e-4)


def test_ignored_columns_are_named(write_folder: Any, caplog: pytest.LogCaptureFixture) -> None:
    nodes = "id,w1,title\na,1,x\nb,0,y\nc,1,z\nd,0,u\ne,1,v\n"
    with caplog.at_level("INFO", logger="featprop"):
        read_graph(write_folder(nodes=nodes, edges="source,target,wieght\na,b,2\n"), options=RAW)
    assert "columns that are not numeric ignored: 1 (title)" in caplog.text
    assert "'source' and 'target'; ignored: 1 (wieght)" in caplog.text


def test_what_programs_write_for_nothing_is_no_label(
    write_folder: WriteFolder, caplog: pytest.LogCaptureFixture
) -> None:
    words = ["x", "NULL", "nan", "NULL", "None", "#N/A", "y", "none", ""]
    folder = write_folder("id,w,label\n" + "".join(f"{n},{n},{word}\n" for n, word in enumerate(words)), "u,v\n0,1\n")
    graph = read_graph(folder)
    assert graph.class_names() == ["x", None, None, None, None, None, "y", "none", None]
    assert caplog.messages == [
        f"Column 'label' of {folder}/nodes.csv: cells that count as no label: 5, 'NULL' (2), 'nan' (1), 'None' (1), "
        "'#N/A' (1): write another word for what is a class"
    ]
    pq.write_table(pa.table({"id": list(range(9)), "w": list(range(9)), "label": words}), folder / "nodes.parquet")
    (folder / "nodes.csv").unlink()
    assert read_graph(folder).class_names() == graph.class_names()
