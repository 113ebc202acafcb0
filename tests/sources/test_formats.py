"""Real small files of every kind that opens directly: the same graph comes out of each."""

import gzip
import json
import sqlite3
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import featprop as fp
from featprop.errors import FileError, GraphError, LabelError
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


def csv_folder(place):
    return write_folder(place / "g")


def tsv_folder(place):
    return write_folder(place / "g", NODES.replace(",", "\t"), EDGES.replace(",", "\t"), "tsv")


def semicolons(place):
    return write_folder(place / "g", NODES.replace(",", ";"), EDGES.replace(",", ";"))


def windows_lines_and_mark(place):
    return write_folder(place / "g", "\ufeff" + NODES.replace("\n", "\r\n"), EDGES.replace("\n", "\r\n"))


def gzipped(place):
    folder = place / "g"
    folder.mkdir()
    (folder / "nodes.csv.gz").write_bytes(gzip.compress(NODES.encode()))
    (folder / "edges.csv.gz").write_bytes(gzip.compress(EDGES.encode()))
    return folder


def zstandard(place):
    folder = place / "g"
    folder.mkdir()
    for name, text in (("nodes", NODES), ("edges", EDGES)):
        with pa.CompressedOutputStream(str(folder / f"{name}.csv.zst"), "zstd") as file:
            file.write(text.encode())
    return folder


def utf16(place):
    folder = place / "g"
    folder.mkdir()
    (folder / "nodes.csv").write_text(NODES, encoding="utf-16")
    (folder / "edges.csv").write_text(EDGES, encoding="utf-16")
    return folder


def frames(place):
    folder = write_folder(place / "csv")
    return pd.read_csv(folder / "nodes.csv"), pd.read_csv(folder / "edges.csv")


def parquet(place):
    folder = place / "g"
    folder.mkdir()
    for name, frame in zip(("nodes", "edges"), frames(place), strict=True):
        pq.write_table(pa.Table.from_pandas(frame), folder / f"{name}.parquet")
    return folder


def json_lines(place):
    folder = place / "g"
    folder.mkdir()
    for name, frame in zip(("nodes", "edges"), frames(place), strict=True):
        frame.to_json(folder / f"{name}.jsonl", orient="records", lines=True)
    return folder


def json_records(place):
    folder = place / "g"
    folder.mkdir()
    for name, frame in zip(("nodes", "edges"), frames(place), strict=True):
        frame.to_json(folder / f"{name}.json", orient="records")
    return folder


def workbook(place):
    with pd.ExcelWriter(place / "book.xlsx") as book:
        for name, frame in zip(("nodes", "edges"), frames(place), strict=True):
            frame.to_excel(book, sheet_name=name, index=False)
    return place / "book.xlsx"


def sqlite(place):
    with sqlite3.connect(place / "shop.db") as connection:
        for name, frame in zip(("nodes", "edges"), frames(place), strict=True):
            frame.to_sql(name, connection, index=False)
    connection.close()
    return place / "shop.db"


def zipped(place):
    write_folder(place / "g")
    with zipfile.ZipFile(place / "g.zip", "w") as archive:
        for name in ("nodes.csv", "edges.csv"):
            archive.write(place / "g" / name, f"export/{name}")
    return place / "g.zip"


def described(place):
    (place / "people").mkdir()
    (place / "people" / "all.csv").write_text(NODES.replace("id,", "who,"))
    (place / "links-1.csv").write_text("payer,payee\na7,b\nb,c\nc,a7\n")
    (place / "links-2.csv").write_text("payer,payee\nc,d\nd,e\n")
    text = (
        'nodes = "people/all.csv"\nedges = "links-*.csv"\n[columns]\nid = "who"\nsource = "payer"\ntarget = "payee"\n'
    )
    (place / "graph.toml").write_text(text)
    return place / "graph.toml"


def queries(place):
    parquet(place)
    text = "nodes = \"SELECT * FROM 'g/nodes.parquet'\"\n"
    text += (
        "edges = \"SELECT source AS a, target AS b FROM 'g/edges.parquet'\"\n[columns]\nsource = 'a'\ntarget = 'b'\n"
    )
    (place / "graph.toml").write_text(text)
    return place


def neo4j(place):
    nodes = "id:ID,label,age:int,city\n" + NODES.partition("\n")[2]
    return write_folder(place / "g", nodes, ":START_ID,:END_ID\n" + EDGES.partition("\n")[2])


def graph_data_science(place):
    nodes = NODES.replace("id,", "nodeId,", 1)
    return write_folder(place / "g", nodes, "sourceNodeId,targetNodeId\n" + EDGES.partition("\n")[2])


TABLES = [
    csv_folder, tsv_folder, semicolons, windows_lines_and_mark, gzipped, zstandard, utf16, parquet, json_lines,
    json_records, workbook, sqlite, zipped, described, queries, neo4j, graph_data_science,
]  # fmt: skip


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_tables_of_every_kind_open(make, tmp_path: Path) -> None:
    check_tables(fp.read_graph(make(tmp_path)))


# ---------------------------------------------------------------------------------------- graph files


def graphml(place):
    nx.write_graphml(a_networkx_graph(), place / "g.graphml")
    return place / "g.graphml"


def gexf(place):
    nx.write_gexf(a_networkx_graph(), place / "g.gexf")
    return place / "g.gexf"


def gml(place):
    nx.write_gml(a_networkx_graph(), place / "g.gml")
    return place / "g.gml"


def zipped_graphml(place):
    (place / "g.graphml.gz").write_bytes(gzip.compress(graphml(place).read_bytes()))
    return place / "g.graphml.gz"


def node_link(place):
    content = nx.node_link_data(a_networkx_graph(), edges="links")
    (place / "g.json").write_text(json.dumps(content))
    return place / "g.json"


def cytoscape(place):
    (place / "g.json").write_text(json.dumps(nx.cytoscape_data(a_networkx_graph())))
    return place / "g.json"


ATTRIBUTED = [graphml, zipped_graphml, gexf, gml, node_link, cytoscape]


@pytest.mark.parametrize("make", ATTRIBUTED, ids=lambda make: make.__name__)
def test_graph_files_with_attributes_open_and_drawing_coordinates_are_not_features(make, tmp_path: Path) -> None:
    graph = fp.read_graph(make(tmp_path))
    check_named(graph)
    assert graph.preprocessor is not None
    assert not {"x", "y"} & set(graph.preprocessor.column_names)
    assert {"age", "city"} <= set(graph.preprocessor.column_names)


def lines(place, text: str, name: str = "g.txt"):
    (place / name).write_text(text)
    return place / name


def spaces(place):
    return lines(place, "# SNAP\n# From To\n" + "".join(f"{a} {b}\n" for a, b in PAIRS))


def percents(place):
    return lines(place, "% sym unweighted\n" + "".join(f"{a}\t{b}\n" for a, b in PAIRS), "g.edges")


def ragged_spaces(place):
    return lines(place, "".join(f" {a}   {b} \n" for a, b in PAIRS), "g.edgelist")


def commas(place):
    return lines(place, "".join(f"{a},{b}\n" for a, b in PAIRS))


def compressed_list(place):
    (place / "g.txt.gz").write_bytes(gzip.compress("".join(f"{a} {b}\n" for a, b in PAIRS).encode()))
    return place / "g.txt.gz"


def networkx_edge_list(place):
    nx.write_edgelist(a_networkx_graph(), place / "g.edgelist")
    return place / "g.edgelist"


def adjacency_list(place):
    nx.write_adjlist(a_networkx_graph(), place / "g.adjlist")
    return place / "g.adjlist"


def pajek(place):
    graph = nx.Graph(PAIRS)
    nx.write_pajek(graph, place / "g.net")
    return place / "g.net"


def d3(place):
    content = {
        "nodes": [{"name": name} for name in NAMES],
        "links": [{"source": a, "target": b} for a, b in numbered_pairs()],
    }
    return lines(place, json.dumps(content), "g.json")


def d3_with_nodes_as_ends(place):
    content = {"links": [{"source": {"id": a}, "target": {"id": b}} for a, b in PAIRS]}
    content["nodes"] = [{"id": name, "value": name} for name in NAMES]
    return lines(place, json.dumps(content), "g.json")


def header_below_comments(place):
    return lines(place, "\n" + EDGES.replace(",", "\t"))


def edges_alone(place):
    return lines(place, EDGES, "edges.csv")


BARE = [
    spaces, percents, ragged_spaces, commas, compressed_list, networkx_edge_list, adjacency_list, pajek, d3,
    d3_with_nodes_as_ends, header_below_comments,
    edges_alone,
]  # fmt: skip


@pytest.mark.parametrize("make", BARE, ids=lambda make: make.__name__)
def test_graph_files_without_attributes_open_with_structural_features(make, tmp_path: Path) -> None:
    graph = fp.read_graph(make(tmp_path))
    check_named(graph)
    assert graph.feature_names is not None
    assert graph.feature_names[-1] == "degree"


def matrix_market(place):
    mmwrite(place / "g.mtx", an_adjacency())
    return place / "g.mtx"


def scipy_npz(place):
    sp.save_npz(place / "g.npz", an_adjacency())
    return place / "g.npz"


def scipy_coo_npz(place):
    sp.save_npz(place / "g.npz", an_adjacency().tocoo())
    return place / "g.npz"


def arrays_npz(place):
    np.savez(place / "g.npz", edge_index=np.array(numbered_pairs()).T, x=np.eye(5), y=np.array([0, 1, 0, 1, -1]))
    return place / "g.npz"


def pyg_file(place):
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    edges = torch.tensor(numbered_pairs()).T
    torch.save(data(x=torch.eye(5), edge_index=edges, y=torch.tensor([0, 1, 0, 1, 0])), place / "g.pt")
    return place / "g.pt"


def tensors(place):
    torch = pytest.importorskip("torch")
    torch.save({"x": torch.eye(5), "edge_index": torch.tensor(numbered_pairs()).T}, place / "g.pt")
    return place / "g.pt"


ARRAYS = [matrix_market, scipy_npz, scipy_coo_npz, arrays_npz, pyg_file, tensors]


@pytest.mark.parametrize("make", ARRAYS, ids=lambda make: make.__name__)
def test_files_of_arrays_open(make, tmp_path: Path) -> None:
    check_numbered(fp.read_graph(make(tmp_path)))


def test_reading_pyg_leaves_its_own_files_readable(tmp_path: Path) -> None:
    from torch.serialization import get_safe_globals

    path = pyg_file(tmp_path)
    before = set(get_safe_globals())
    fp.read_graph(path)
    assert set(get_safe_globals()) == before


# ----------------------------------------------------------------------------------------- details


def test_weights_of_edge_lists_are_read(tmp_path: Path) -> None:
    graph = fp.read_graph(lines(tmp_path, "1 2 0.5\n2 3 1.5\n"))
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.adjacency.toarray()[0, 1] == pytest.approx(0.5)
    assert graph.weight_scale == pytest.approx(1.0)


def test_gephis_label_is_a_name(tmp_path: Path) -> None:
    graph = nx.Graph(PAIRS)
    for node in graph:
        graph.nodes[node]["label"] = f"Person {node}"
        graph.nodes[node]["age"] = len(node)
    nx.write_gexf(graph, tmp_path / "g.gexf")
    assert fp.read_graph(tmp_path / "g.gexf").labels is None


@pytest.mark.parametrize("suffix", ["xls", "pkl", "mat", "dot", "unknown"])
def test_other_files_are_refused_with_a_way_in(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"g.{suffix}").write_bytes(b"something")
    with raises(FileError, path=tmp_path / f"g.{suffix}") as caught:
        fp.read_graph(tmp_path / f"g.{suffix}")
    assert caught.value.hint


@pytest.mark.parametrize("make", [*ATTRIBUTED, *ARRAYS, workbook, zipped, parquet], ids=lambda make: make.__name__)
def test_a_damaged_file_is_one_clear_error(make, tmp_path: Path) -> None:
    place = make(tmp_path)
    file = place if place.is_file() else place / "nodes.parquet"
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], b"", content[:20] + b"\xff" * 20 + content[40:], b"\x00" * 100):
        file.write_bytes(damaged)
        with pytest.raises((FileError, GraphError, LabelError)) if damaged in (b"", b"\x00" * 100) else _maybe():
            fp.read_graph(place)


class _maybe:  # noqa: N801
    """A damaged file may still be readable; any other error than ours fails the test."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind, error, trace) -> bool:
        return kind is None or issubclass(kind, (FileError, GraphError, LabelError))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.json", '{"nodes": [{"id": 1}, {"id": 1}], "links": []}'),
        ("g.json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 7}]}'),
        ("g.txt", "# nothing"),
        ("g.txt", "one\ntwo\n"),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n"),
        ("g.mtx", "%%MatrixMarket matrix array real general\n1 1\n1.0\n"),
        ("g.zip", "PK"),
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


def test_zips_of_several_graphs_and_paths_that_are_missing(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        archive.writestr("a/nodes.csv", NODES)
        archive.writestr("b/nodes.csv", NODES)
    with raises(FileError, path=tmp_path / "g.zip"):
        fp.read_graph(tmp_path / "g.zip")
    with pytest.raises(FileError) as caught:
        fp.read_graph(tmp_path / "h.zip")
    assert "g.zip" in str(caught.value)


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
