"""Real small files of every kind that opens directly: the same graph comes out of each."""

import gzip
import io
import json
import sqlite3
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import featprop as fp
from featprop.errors import FeatpropError, FileError
from tests.helpers import raises

NAMES = ["a7", "b", "c", "d", "e"]
PAIRS = [("a7", "b"), ("b", "c"), ("c", "a7"), ("c", "d"), ("d", "e")]
NODES = "id,label,age,city\na7,x,31,Rome\nb,y,45,Oslo\nc,x,22,Rome\nd,y,58,Bonn\ne,,39,Oslo\n"
EDGES = "source,target\n" + "".join(f"{a},{b}\n" for a, b in PAIRS)


def degrees(graph: fp.Graph) -> dict[object, int]:
    return dict(zip(graph.ids.tolist(), np.diff(graph.adjacency.indptr).tolist(), strict=True))


def check_named(graph: fp.Graph) -> None:
    assert degrees(graph) == {"a7": 2, "b": 2, "c": 3, "d": 2, "e": 1}
    assert np.isfinite(graph.features.data).all()
    assert graph.n_features > 0


def check_tables(graph: fp.Graph) -> None:
    check_named(graph)
    assert graph.class_names() == ["x", "y", "x", "y", None]
    assert graph.preprocessor is not None
    assert set(graph.preprocessor.column_names) == {"age", "city"}


def check_numbered(graph: fp.Graph) -> None:
    assert graph.ids.tolist() == [0, 1, 2, 3, 4]
    assert np.diff(graph.adjacency.indptr).tolist() == [2, 2, 3, 2, 1]


def numbered_pairs() -> list[tuple[int, int]]:
    return [(NAMES.index(a), NAMES.index(b)) for a, b in PAIRS]


def a_networkx_graph() -> nx.Graph:
    graph = nx.Graph()
    for name, age, city in zip(NAMES, [31, 45, 22, 58, 39], ["Rome", "Oslo", "Rome", "Bonn", "Oslo"], strict=True):
        graph.add_node(name, age=age, city=city, x=float(age), y=2.0)
    graph.add_edges_from(PAIRS)
    return graph


def an_adjacency() -> sp.csr_array:
    source, target = zip(*numbered_pairs(), strict=True)
    return sp.csr_array((np.ones(5), (source, target)), shape=(5, 5))


def write_folder(folder: Path, nodes: str = NODES, edges: str = EDGES, suffix: str = "csv") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"nodes.{suffix}").write_text(nodes, encoding="utf-8")
    (folder / f"edges.{suffix}").write_text(edges, encoding="utf-8")
    return folder


# ---------------------------------------------------------------------------------------------- tables


def node_link(graph):
    try:
        return nx.node_link_data(graph, edges="links")
    except TypeError:  # NetworkX before 3.4 always writes "links"
        return nx.node_link_data(graph)


def csv_folder(place, change=lambda text: text, suffix="csv"):
    return write_folder(place / "g", change(NODES), change(EDGES), suffix)


def coded(place, suffix, encode):
    """Write the tables as bytes."""
    (place / "g").mkdir()
    for name, text in (("nodes", NODES), ("edges", EDGES)):
        (place / "g" / f"{name}.csv{suffix}").write_bytes(encode(text.encode()))
    return place / "g"


def frames(place, suffix, write):
    """Write the tables as pandas does."""
    (place / "g").mkdir()
    for name, text in (("nodes", NODES), ("edges", EDGES)):
        write(pd.read_csv(io.StringIO(text)), place / "g" / f"{name}.{suffix}")
    return place / "g"


def workbook(place):
    with pd.ExcelWriter(place / "book.xlsx") as book:
        for name, text in (("nodes", NODES), ("edges", EDGES)):
            pd.read_csv(io.StringIO(text)).to_excel(book, sheet_name=name, index=False)
    return place / "book.xlsx"


def sqlite(place):
    with closing(sqlite3.connect(place / "shop.db")) as connection:
        for name, text in (("nodes", NODES), ("edges", EDGES)):
            pd.read_csv(io.StringIO(text)).to_sql(name, connection, index=False)
    return place / "shop.db"


def described(place):
    (place / "people").mkdir()
    (place / "people" / "all.csv").write_text(NODES.replace("id,", "who,"))
    (place / "links-1.csv").write_text("payer,payee\na7,b\nb,c\nc,a7\n")
    (place / "links-2.csv").write_text("payer,payee\nc,d\nd,e\n")
    columns = '[columns]\nid = "who"\nsource = "payer"\ntarget = "payee"\n'
    (place / "graph.toml").write_text(f'nodes = "people/all.csv"\nedges = "links-*.csv"\n{columns}')
    return place / "graph.toml"


def queries(place):
    parquet(place)
    edges = "SELECT source AS a, target AS b FROM 'g/edges.parquet'"
    text = f'nodes = "SELECT * FROM \'g/nodes.parquet\'"\nedges = "{edges}"\n'
    (place / "graph.toml").write_text(f"{text}[columns]\nsource = 'a'\ntarget = 'b'\n")
    return place


def parquet(place):
    return frames(place, "parquet", lambda frame, path: frame.to_parquet(path, index=False))


def with_headers(place, nodes, edges):
    return write_folder(
        place / "g", f"{nodes}\n{NODES.partition(chr(10))[2]}", f"{edges}\n{EDGES.partition(chr(10))[2]}"
    )


TABLES = {
    "csv": csv_folder,
    "tsv": lambda place: csv_folder(place, lambda text: text.replace(",", "\t"), "tsv"),
    "semicolons": lambda place: csv_folder(place, lambda text: text.replace(",", ";")),
    "windows": lambda place: csv_folder(place, lambda text: "\ufeff" + text.replace("\n", "\r\n")),
    "gzip": lambda place: coded(place, ".gz", gzip.compress),
    "zstandard": lambda place: coded(place, ".zst", lambda text: pa.compress(text, "zstd", asbytes=True)),
    "utf-16": lambda place: coded(place, "", lambda text: text.decode().encode("utf-16")),
    "parquet": parquet,
    "json lines": lambda place: frames(place, "jsonl", lambda f, path: f.to_json(path, orient="records", lines=True)),
    "json": lambda place: frames(place, "json", lambda frame, path: frame.to_json(path, orient="records")),
    "workbook": workbook,
    "sqlite": sqlite,
    "described": described,
    "queries": queries,
    "neo4j": lambda place: with_headers(place, "id:ID,label,age:int,city", ":START_ID,:END_ID"),
    "gds": lambda place: with_headers(place, "nodeId,label,age,city", "sourceNodeId,targetNodeId"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_kind_open(kind: str, tmp_path: Path) -> None:
    check_tables(fp.read_graph(TABLES[kind](tmp_path)))


# ---------------------------------------------------------------------------------------- graph files


def written(place, name, content):
    """Write a file: text, JSON, or what a function writes to a path."""
    if callable(content):
        content(place / name)
    else:
        (place / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return place / name


def with_networkx(write):
    return lambda path: write(a_networkx_graph(), path)


ATTRIBUTED = {
    "graphml": ("g.graphml", with_networkx(nx.write_graphml)),
    "graphml.gz": ("g.graphml.gz", with_networkx(nx.write_graphml)),
    "gexf": ("g.gexf", with_networkx(nx.write_gexf)),
    "gml": ("g.gml", with_networkx(nx.write_gml)),
    "node-link": ("g.json", node_link(a_networkx_graph())),
    "cytoscape": ("g.json", nx.cytoscape_data(a_networkx_graph())),
}


@pytest.mark.parametrize("kind", ATTRIBUTED)
def test_graph_files_with_attributes_open_and_drawing_coordinates_are_not_features(kind: str, tmp_path: Path) -> None:
    graph = fp.read_graph(written(tmp_path, *ATTRIBUTED[kind]))
    check_named(graph)
    assert graph.preprocessor is not None
    assert not {"x", "y"} & set(graph.preprocessor.column_names)
    assert {"age", "city"} <= set(graph.preprocessor.column_names)


def pairs(form: str, start: str = "") -> str:
    return start + "".join(form.format(a, b) for a, b in PAIRS)


D3 = {
    "nodes": [{"name": name} for name in NAMES],
    "links": [{"source": NAMES.index(a), "target": NAMES.index(b)} for a, b in PAIRS],
}
D3_DRAWN = {
    "nodes": [{"id": name, "value": name} for name in NAMES],
    "links": [{"source": {"id": a}, "target": {"id": b}} for a, b in PAIRS],
}
BARE = {
    "spaces": ("g.txt", pairs("{} {}\n", "# SNAP\n# From To\n")),
    "percents": ("g.edges", pairs("{}\t{}\n", "% sym unweighted\n")),
    "ragged spaces": ("g.edgelist", pairs(" {}   {} \n")),
    "commas": ("g.txt", pairs("{},{}\n")),
    "gzip": ("g.txt.gz", lambda path: path.write_bytes(gzip.compress(pairs("{} {}\n").encode()))),
    "header below comments": ("g.txt", "\n" + EDGES.replace(",", "\t")),
    "edges alone": ("edges.csv", EDGES),
    "networkx edge list": ("g.edgelist", with_networkx(nx.write_edgelist)),
    "adjacency list": ("g.adjlist", with_networkx(nx.write_adjlist)),
    "pajek": ("g.net", lambda path: nx.write_pajek(nx.Graph(PAIRS), path)),
    "d3": ("g.json", D3),
    "d3 after drawing": ("g.json", D3_DRAWN),
}


@pytest.mark.parametrize("kind", BARE)
def test_graph_files_without_attributes_open_with_structural_features(kind: str, tmp_path: Path) -> None:
    graph = fp.read_graph(written(tmp_path, *BARE[kind]))
    check_named(graph)
    assert graph.feature_names is not None
    assert graph.feature_names[-1] == "degree"


def save_tensors(path, *, as_data):
    torch = pytest.importorskip("torch")
    content = {"x": torch.eye(5), "edge_index": torch.tensor(numbered_pairs()).T, "y": torch.tensor([0, 1, 0, 1, 0])}
    torch.save(pytest.importorskip("torch_geometric.data").Data(**content) if as_data else content, path)


ARRAYS = {
    "matrix market": ("g.mtx", lambda path: mmwrite(path, an_adjacency())),
    "scipy csr": ("g.npz", lambda path: sp.save_npz(path, an_adjacency())),
    "scipy coo": ("g.npz", lambda path: sp.save_npz(path, an_adjacency().tocoo())),
    "npz": ("g.npz", lambda path: np.savez(path, edge_index=np.array(numbered_pairs()).T, x=np.eye(5))),
    "pyg": ("g.pt", partial(save_tensors, as_data=True)),
    "tensors": ("g.pt", partial(save_tensors, as_data=False)),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_files_of_arrays_open(kind: str, tmp_path: Path) -> None:
    check_numbered(fp.read_graph(written(tmp_path, *ARRAYS[kind])))


# ----------------------------------------------------------------------------------------- details


def test_weights_of_edge_lists_are_read(tmp_path: Path) -> None:
    graph = fp.read_graph(written(tmp_path, "g.txt", "1 2 0.5\n2 3 1.5\n"))
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.adjacency.toarray()[0, 1] == pytest.approx(0.5)
    assert graph.weight_scale == pytest.approx(1.0)


def test_gephis_label_is_a_name(tmp_path: Path) -> None:
    graph = nx.path_graph(30)
    for node in graph:
        graph.nodes[node]["label"] = f"Person {node}"
        graph.nodes[node]["age"] = node % 7
    nx.write_gexf(graph, tmp_path / "g.gexf")
    assert fp.read_graph(tmp_path / "g.gexf").labels is None


@pytest.mark.parametrize("suffix", ["zip", "xls", "pkl", "mat", "unknown"])
def test_other_files_are_refused_with_a_way_in(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"g.{suffix}").write_bytes(b"something")
    with raises(FileError, path=tmp_path / f"g.{suffix}") as caught:
        fp.read_graph(tmp_path / f"g.{suffix}")
    assert caught.value.hint


@pytest.mark.parametrize("made", [*ATTRIBUTED.values(), *ARRAYS.values(), workbook, parquet])
def test_a_damaged_file_is_one_clear_error(made, tmp_path: Path) -> None:
    place = made(tmp_path) if callable(made) else written(tmp_path, *made)
    file = place if place.is_file() else place / "nodes.parquet"
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], b"", content[:20] + b"\xff" * 20 + content[40:], b"\x00" * 100):
        file.write_bytes(damaged)
        must_fail = damaged in (b"", b"\x00" * 100)
        with pytest.raises(FeatpropError) if must_fail else suppress(FeatpropError):
            fp.read_graph(place)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.json", '{"nodes": [{"id": 1}, {"id": 1}], "links": []}'),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 7}]}'),
        ("g.txt", "# nothing"),
        ("g.txt", "one\ntwo\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n"),
        ("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n1.0\n"),
        ("g.db", "no database"),
        ("g.duckdb", "no database"),
        ("g.jsonl", '{"source": 1\n'),
        ("g.csv.gz", "no gzip"),
        ("features.json", "["),
        ("features.json", '{"a": [["nested"]]}'),
        ("features.json", '{"a": {"item": "text"}}'),
        ("features.json", '{"other": ["item"]}'),
    ],
)
def test_bad_content_is_one_clear_error(name: str, content: str, tmp_path: Path) -> None:
    place = tmp_path / name
    if name.startswith("features"):
        write_folder(tmp_path, "id\na\nb\n", "source,target\na,b\n")
        place = tmp_path
    (tmp_path / name).write_text(content)
    with pytest.raises(FileError):
        fp.read_graph(place)


def test_a_path_that_is_missing_suggests_a_similar_one(tmp_path: Path) -> None:
    written(tmp_path, "g.txt", "a b\n")
    with pytest.raises(FileError) as caught:
        fp.read_graph(tmp_path / "h.txt")
    assert "g.txt" in caught.value.hint


def test_xml_that_declares_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaa">]><graphml>&a;</graphml>'
    (tmp_path / "g.graphml").write_text(bomb)
    with raises(FileError, path=tmp_path / "g.graphml"):
        fp.read_graph(tmp_path / "g.graphml")


def test_a_pt_file_that_runs_code_is_refused(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    torch.save(Evil(), tmp_path / "g.pt")
    with raises(FileError, path=tmp_path / "g.pt"):
        fp.read_graph(tmp_path / "g.pt")
    assert not (tmp_path / "ran").exists()


def test_a_title_above_the_header_of_a_sheet_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame([["Report", None, None], ["id", "age", "label"], [1, 2, "a"], [2, 3, "b"]])
    with pd.ExcelWriter(tmp_path / "g.xlsx") as book:
        frame.to_excel(book, sheet_name="nodes", index=False, header=False)
        pd.DataFrame({"source": [1], "target": [2]}).to_excel(book, sheet_name="edges", index=False)
    with pytest.raises(FileError) as caught:
        fp.read_graph(tmp_path / "g.xlsx")
    assert "Report" in str(caught.value)
