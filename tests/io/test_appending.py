"""Nodes and edges added to a converted graph: what converting everything at once would give."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featprop.errors import FeatpropError, ParameterError
from featprop.graph import Graph
from featprop.io import appending, read_graph
from featprop.io.appending import append_tables
from featprop.io.converting import convert_tables, tables_at
from featprop.io.native import open_native, write_native
from featprop.matrix import dense
from featprop.tables import TableOptions

WriteFolder = Callable[..., Path]
NODES = "id,age,country,label\na,30,DE,x\nb,40,FR,\nc,50,DE,y\nd,20,NL,x\n"
EDGES = "source,target,weight\na,b,2\nb,c,4\nc,d,6\n"
MORE_NODES = "id,age,country,label\ne,35,FR,w\nf,45,NL,\n"
MORE_EDGES = "source,target,weight\ne,a,8\nf,e,3\nb,a,10\nd,d,1\n"


def converted(folder: Path, out: Path, **said: Any) -> Path:
    tables = tables_at(folder)
    assert tables is not None
    convert_tables(tables, out, TableOptions(**said), max_memory=10**9)
    return out


def append(folder: Path, out: Path, **said: Any) -> appending.Appended:
    tables = tables_at(folder, both=False)
    assert tables is not None
    return append_tables(tables, out, TableOptions(**said), max_memory=10**9)


def at_once(first: Graph, folder: Path, **said: Any) -> Graph:
    """Read all tables with the preparation of the first."""
    return read_graph(folder, options=TableOptions(**said), preparation=first.preparation)


@pytest.mark.parametrize("repeated", ["max", "sum", "count"])
@pytest.mark.parametrize("weights", ["mean", "raw", "none"])
@pytest.mark.parametrize("block", [1, 1 << 22])
def test_the_graph_that_converting_everything_gives(
    repeated: str, weights: str, block: int, write_folder: WriteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "BLOCK", block)
    said = {"repeated": repeated, "weights": weights}
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g", **said)
    first = read_graph(tmp_path / "first", options=TableOptions(**said))
    made = append(write_folder(MORE_NODES, MORE_EDGES, name="more"), out)
    rows = [text.split("\n", 1)[1] for text in (MORE_NODES, MORE_EDGES)]
    whole = at_once(
        first,
        write_folder(NODES + rows[0], EDGES + rows[1], name="whole"),
        weights="raw" if weights == "mean" else weights,
        repeated=repeated,
    )
    graph = open_native(out)
    assert first.weight_scale is not None
    expected = whole.adjacency.toarray() / first.weight_scale
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, rtol=1e-6)
    np.testing.assert_array_equal(dense(graph.features), dense(whole.features))
    assert graph.ids.tolist() == whole.ids.tolist() == list("abcdef")
    assert graph.class_names() == whole.class_names()
    assert graph.classes == ("w", "x", "y")
    assert graph.table is not None
    assert graph.table.to_pylist() == whole.table.to_pylist()
    assert graph.weight_scale == first.weight_scale
    assert made == (2, 2, 6, 5, graph.n_features)
    assert "added: dropped 1 self-loop" in graph.repairs
    if repeated == "max":
        np.testing.assert_array_equal(
            graph.adjacency.toarray(), (whole.adjacency.toarray() / np.float32(first.weight_scale))
        )


def test_nodes_alone_edges_alone_and_again(write_folder: WriteFolder, tmp_path: Path) -> None:
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g")
    before = open_native(out)
    first = before.adjacency.toarray()
    assert append(write_folder(MORE_NODES, None, name="nodes"), out)[:2] == (2, 0)
    assert append(write_folder(None, MORE_EDGES, name="edges"), out)[:2] == (0, 2)
    graph = open_native(out)
    assert graph.ids.tolist() == list("abcdef")
    np.testing.assert_array_equal(graph.adjacency.toarray()[2:4, :4], first[2:4])
    assert graph.adjacency[4, 0] == pytest.approx(2)
    assert graph.adjacency[0, 1] == pytest.approx(2.5)
    both = converted(tmp_path / "first", tmp_path / "both")
    append(write_folder(MORE_NODES, MORE_EDGES, name="together"), both)
    assert open_native(both).fingerprint == graph.fingerprint
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_the_first_edges_of_all_tell_the_scale(write_folder: WriteFolder, tmp_path: Path) -> None:
    out = converted(write_folder(NODES, "source,target,weight\n", name="first"), tmp_path / "g")
    assert open_native(out).weight_scale is None
    append(write_folder(None, EDGES, name="edges"), out)
    graph = read_graph(converted(write_folder(NODES, EDGES, name="whole"), tmp_path / "whole.fp"))
    assert open_native(out).weight_scale == graph.weight_scale == 4
    assert open_native(out).fingerprint == graph.fingerprint


def as_csv(table: pa.Table) -> str:
    rows = [table.column_names, *(row.values() for row in table.to_pylist())]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize("ids", ["counted", "numbers", "text"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_ids_keep_their_kind(ids: str, kind: str, write_folder: WriteFolder, tmp_path: Path) -> None:
    names: list[Any] = {"counted": [0, 1, 2, 3], "numbers": [9, 5, 70, 8], "text": ["x", "y", "7", "8"]}[ids]
    tables: list[Any] = []
    for part in (slice(0, 2), slice(2, 4)):
        nodes = pa.table({"id": names[part], "w": [1.0, 2.0]})
        edges = pa.table({"u": [names[1], names[part][1]], "v": [names[0], names[part][0]]})
        tables.append((nodes, edges) if kind == "parquet" else [as_csv(table) for table in (nodes, edges)])
    out = converted(write_folder(*tables[0], name="first"), tmp_path / "g")
    append(write_folder(*tables[1], name="more"), out)
    graph = open_native(out)
    assert graph.ids.tolist() == names
    assert json.loads((out / "graph.json").read_text())["ids"] == (
        "range" if ids == "counted" else "integers" if ids == "numbers" else "text"
    )
    assert graph.adjacency.toarray().astype(int).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


def test_a_graph_without_tables(write_folder: WriteFolder, tmp_path: Path) -> None:
    """Features as they are: edges can be added, and nodes if features have names."""
    adjacency = sp.coo_array((np.array([2.0]), ([0], [1])), shape=(3, 3))
    write_native(Graph.from_scipy(adjacency, np.eye(3)), tmp_path / "plain")
    append(write_folder(None, "u,v,weight\n0,2,5\n", name="edges"), tmp_path / "plain")
    assert open_native(tmp_path / "plain").adjacency.toarray().tolist() == [[0, 2, 5], [2, 0, 0], [5, 0, 0]]
    with pytest.raises(FeatpropError, match="must have features with names for nodes to be added; found none"):
        append(write_folder("id,w\n3,1\n", None, name="nodes"), tmp_path / "plain")
    words = sp.random_array((4, 200), density=0.01, rng=np.random.default_rng(0))
    raw = Graph.from_scipy(sp.coo_array((4, 4)), words)
    object.__setattr__(raw, "feature_names", tuple(f"w{i}" for i in range(200)))
    write_native(raw, tmp_path / "words")
    append(write_folder("id,w3,w7\n4,0.5,2\n", None, name="node"), tmp_path / "words")
    graph = open_native(tmp_path / "words")
    assert sp.issparse(graph.features)
    assert graph.features[[4], :].toarray().nonzero()[1].tolist() == [3, 7]
    np.testing.assert_array_equal(graph.features[:4].toarray(), words.toarray().astype(np.float32))


def test_values_of_two_types_become_text_in_the_table(write_folder: WriteFolder, tmp_path: Path) -> None:
    out = converted(write_folder("id,w,note\na,1,5\nb,2,6\nc,3,5\n", "u,v\na,b\n", name="first"), tmp_path / "g")
    append(write_folder("id,w,note,other\nd,4,many,1\n", None, name="more"), out)
    table = open_native(out).table
    assert table is not None
    assert table.column("note").to_pylist() == ["5", "6", "5", "many"]
    assert table.column_names == ["id", "w", "note"]


@pytest.mark.parametrize(
    ("nodes", "edges", "facts"),
    [
        ("id,age,country\nb,1,DE\ne,2,FR\na,3,FR\n", None, ["nodes.csv", "../g", "2", "'b', 'a'"]),
        ("id,age\ne,1\ne,2\n", None, ["nodes.csv", "'e'"]),
        ("id,age\ne,1\n,2\n", None, ["nodes.csv", "row 2", "id"]),
        ("id,age\ne,1\n", "source,target\ne,z\n", ["edges.csv", "'z'"]),
        (None, "source,target,weight\na,c,-1\n", ["'a'", "'c'", "-1"]),
        (None, "source,target\na,c\n", ["edges.csv", "../g", "weight"]),
        ("id,height\ne,1\n", None, ["age, country"]),
    ],
)
def test_what_cannot_be_added(
    nodes: str | None,
    edges: str | None,
    facts: list[str],
    write_folder: WriteFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.chdir(write_folder(nodes, edges, name="more"))
    with pytest.raises(FeatpropError) as caught:
        append(Path(), Path("../g"))
    assert not [fact for fact in facts if fact not in str(caught.value)], caught.value
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


PLAIN_EDGES = "source,target\na,b\nb,c\na,b\n"


@pytest.mark.parametrize("weights", ["mean", "raw"])
def test_weights_are_not_added_to_edges_without(weights: str, write_folder: WriteFolder, tmp_path: Path) -> None:
    out = converted(write_folder(NODES, PLAIN_EDGES, name="first"), tmp_path / "g", weights=weights)
    assert append(write_folder(None, "source,target,weight\na,c,1\n", name="ones"), out).new_edges == 1
    with pytest.raises(FeatpropError, match=r"must have no weights, as all edges of .* weigh 1; found the column 'kg'"):
        append(write_folder(None, "source,target,kg\na,d,30\n", name="more"), out, weight="kg")


def test_edges_without_weights_beside_weights_that_are_the_same_everywhere(
    write_folder: WriteFolder, tmp_path: Path
) -> None:
    out = converted(write_folder(NODES, "source,target,weight\na,b,5\nb,c,5\n", name="first"), tmp_path / "g")
    with pytest.raises(FeatpropError, match="must have weights, as those of"):
        append(write_folder(None, "source,target\na,d\n", name="more"), out)
    assert append(write_folder(None, "source,target\n", name="none"), out).new_edges == 0


def test_sums_of_weights_that_may_be_counts_are_said(
    write_folder: WriteFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = converted(write_folder(NODES, PLAIN_EDGES, name="first"), tmp_path / "g", repeated="sum")
    append(write_folder(None, "source,target\na,d\na,d\n", name="more"), out)
    assert "must have weights, as those of" in caplog.text
    assert "have, unless these are counts of edges; found no column of weights: name it" in caplog.text
    caplog.clear()
    counted = converted(tmp_path / "first", tmp_path / "counted", repeated="count")
    append(tmp_path / "more", counted)
    append(write_folder(None, EDGES, name="weighted"), counted)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    weighted = converted(write_folder(NODES, EDGES.replace("6", "6.5"), name="w"), tmp_path / "w.fp", repeated="sum")
    with pytest.raises(FeatpropError, match="must have weights"):
        append(tmp_path / "more", weighted)


def test_columns_that_are_new_are_said(
    write_folder: WriteFolder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g")
    append(write_folder("Id,AGE,country,label\ne,35,FR,w\n", None, name="more"), out)
    assert "are left out" not in caplog.text
    append(write_folder("id,age,country,city,note\nf,35,FR,Lyon,x\n", None, name="wider"), out)
    assert "does not have are left out: 2 (city, note); to use them, convert all tables together" in caplog.text


@pytest.mark.parametrize(
    ("name", "said", "found"),
    [
        ("weights", "raw", "'raw'"),
        ("repeated", "sum", "'sum'"),
        ("raw", True, "True"),
        ("features", ["age"], "('age',)"),
        ("columns", {"age": "category"}, "{'age': 'category'}"),
    ],
)
def test_what_is_settled_cannot_be_said_anew(
    name: str, said: Any, found: str, write_folder: WriteFolder, tmp_path: Path
) -> None:
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g")
    more = write_folder(MORE_NODES, MORE_EDGES, name="more")
    with pytest.raises(ParameterError) as caught:
        append(more, out, **{name: said})
    cure = "leave it out, or convert all tables together"
    assert str(caught.value) == f"{name} must be what the graph was converted with; found {found}: {cure}."
    same = converted(tmp_path / "first", tmp_path / "same", **{name: said})
    assert append(more, same, **{name: said}).new_nodes == 2


def test_names_beside_numbers(write_folder: WriteFolder, tmp_path: Path) -> None:
    out = converted(write_folder("id,w\n1,1\n2,2\n", "u,v\n1,2\n", name="first"), tmp_path / "g")
    with pytest.raises(FeatpropError, match=r"must be whole numbers, as those of the graph; found 1 \('x3'\)"):
        append(write_folder("id,w\nx3,1\n4,1\n", None, name="more"), out)


def test_a_graph_that_changed_meanwhile_is_left_alone(
    write_folder: WriteFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g")
    write = appending._write_edges
    monkeypatch.setattr(appending, "_write_edges", lambda *a: (append_again(), write(*a))[1])

    def append_again() -> None:
        monkeypatch.setattr(appending, "_write_edges", write)
        append(write_folder("id,age\nz,1\n", None, name="other"), out)

    with pytest.raises(FeatpropError, match="must be added to by one run at a time"):
        append(write_folder(MORE_NODES, None, name="more"), out)
    assert open_native(out).ids.tolist() == [*"abcd", "z"]


ADD_SLOWLY = """
import sys
from pathlib import Path
from featprop.errors import FileError
from featprop.io import atomic
from featprop.io.appending import append_tables
from featprop.io.converting import tables_at
from featprop.tables import TableOptions

flush = atomic.flush

def wait_at_the_disk(path):
    atomic.flush = flush
    print("at the disk", flush=True)
    sys.stdin.readline()
    flush(path)

atomic.flush = wait_at_the_disk
try:
    append_tables(tables_at(Path(sys.argv[1]), both=False), Path(sys.argv[2]), TableOptions(), max_memory=10**9)
    print("added")
except FileError as error:
    print(error)
"""


@pytest.mark.parametrize("other", ["append", "convert"])
def test_a_run_that_waits_for_the_disk_does_not_undo_another(
    other: str, write_folder: WriteFolder, tmp_path: Path
) -> None:
    out = converted(write_folder(NODES, EDGES, name="first"), tmp_path / "g")
    more = write_folder(MORE_NODES, None, name="more")
    command = [sys.executable, "-c", ADD_SLOWLY, str(more), str(out)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as slow:
        assert slow.stdout is not None
        assert slow.stdout.readline() == "at the disk\n"
        if other == "append":
            append(write_folder("id,age\nz,1\n", None, name="other"), out)
        else:
            whole = read_graph(write_folder("id,age\ny,1\nz,2\n", "source,target\ny,z\n", name="other"))
            write_native(whole, out, force=True)
        told, _ = slow.communicate("\n", timeout=60)
    assert str(out) in told
    assert "added\n" not in told
    assert open_native(out).ids.tolist() == ([*"abcd", "z"] if other == "append" else ["y", "z"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first", "g", "more", "other"]
    append(more, out)
    assert open_native(out).ids.tolist()[-2:] == ["e", "f"]
