"""Tables: ids keep their text, columns are found, edges are joined and merged, and bad input is one clear error."""

import logging
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import FeatpropError, FileError, GraphError, ModelError, ParameterError
from featprop.matrix import as_dense
from featprop.sources import GraphDescription, reading
from featprop.sources.building import convert_tables
from featprop.sources.inferring import infer_description
from featprop.sources.reading import describe
from featprop.sources.tables import read_table
from tests.graphs import class_graph
from tests.helpers import raises

NODES = "id,age\n007,1\n8,2\n9,3\n10,5\n"
EDGES = "source,target,weight\n007,8,1\n8,9,3\n9,007,2\n9,10,2\n"


def folder(place: Path, nodes: str = NODES, edges: str = EDGES, toml: str | None = None) -> Path:
    (place / "nodes.csv").write_text(nodes, encoding="utf-8")
    (place / "edges.csv").write_text(edges, encoding="utf-8")
    if toml is not None:
        (place / "graph.toml").write_text(f'nodes = "nodes.csv"\nedges = "edges.csv"\n{toml}')
    return place


def weights(graph: fp.Graph) -> dict[tuple[object, object], float]:
    entries = graph.adjacency.tocoo()
    names = graph.ids.tolist()
    return {(names[a], names[b]): float(w) for a, b, w in zip(*entries.coords, entries.data, strict=True) if a < b}


def test_ids_keep_their_text(tmp_path: Path) -> None:
    assert fp.read_graph(folder(tmp_path)).ids.tolist() == ["007", "8", "9", "10"]
    numbers = folder(tmp_path, NODES.replace("007", "7"), EDGES.replace("007", "7"))
    assert fp.read_graph(numbers).ids.tolist() == [7, 8, 9, 10]
    with raises(GraphError, parameter="unknown", node="007"):
        fp.read_graph(folder(tmp_path, NODES.replace("007", "7")))


def test_weights_are_divided_by_their_mean_unless_told_otherwise(tmp_path: Path) -> None:
    graph = fp.read_graph(folder(tmp_path))
    assert graph.weight_scale == pytest.approx(2.0)
    assert weights(graph)[("8", "9")] == pytest.approx(1.5)
    raw = fp.read_graph(folder(tmp_path, toml='[graph]\nweights = "raw"\n'))
    assert weights(raw)[("8", "9")] == pytest.approx(3.0)
    none = fp.read_graph(folder(tmp_path, toml='[graph]\nweights = "none"\n'))
    assert set(weights(none).values()) == {1.0}


@pytest.mark.parametrize(("rule", "expected"), [("max", 5.0), ("sum", 8.0), ("count", 3.0)])
def test_duplicates_are_combined_both_ways(rule: str, expected: float, tmp_path: Path) -> None:
    edges = "source,target,weight\n007,8,1\n8,007,5\n007,8,2\n8,8,9\n8,9,0\n9,10,1\n"
    toml = f'[graph]\nduplicates = "{rule}"\nweights = "raw"\n'
    graph = fp.read_graph(folder(tmp_path, edges=edges, toml=toml))
    assert weights(graph)[("007", "8")] == expected
    assert (("8", "9") in weights(graph)) == (rule == "none")
    assert [repair.split()[:2] for repair in graph.repairs[:2]] == [["dropped", "1"]] * 2


def test_sql_and_numpy_normalise_edges_alike() -> None:
    generator = np.random.default_rng(0)
    ends = generator.integers(0, 40, size=(400, 2))
    values = generator.integers(0, 4, size=400).astype(float)
    nodes = pa.table({"id": np.arange(40), "x": np.arange(40.0)})
    edges = pa.table({"source": ends[:, 0], "target": ends[:, 1], "weight": values})
    one = fp.Graph.from_tables(nodes, edges, weights="raw")
    other = fp.Graph.from_edges(ends[:, 0], ends[:, 1], np.eye(40), weights=values)
    assert (one.adjacency != other.adjacency).nnz == 0
    assert one.repairs == other.repairs


def test_unknown_ends_are_refused_dropped_or_added(tmp_path: Path) -> None:
    edges = EDGES + "9,stranger,2\n"
    with raises(GraphError, parameter="unknown", node="stranger", value=1):
        fp.read_graph(folder(tmp_path, edges=edges))
    dropped = fp.read_graph(folder(tmp_path, edges=edges, toml='[graph]\nunknown = "drop"\n'))
    assert (dropped.n_nodes, dropped.n_edges) == (4, 4)
    added = fp.read_graph(folder(tmp_path, edges=edges, toml='[graph]\nunknown = "add"\n'))
    assert added.ids.tolist() == ["007", "8", "9", "10", "stranger"]
    assert added.n_edges == 5


def test_init_finds_the_column_that_has_every_end(tmp_path: Path) -> None:
    nodes = "id,new_id,age\na,007,1\nb,8,2\nc,9,3\nd,10,4\n"
    with raises(GraphError, parameter="unknown", node="007"):
        fp.read_graph(folder(tmp_path, nodes))
    with raises(FileError, parameter="id"):
        fp.read_graph(folder(tmp_path, nodes.replace("id,new_id", "old,new_id")))
    found, lines = infer_description(describe(tmp_path))
    assert (found.id, found.source, found.target, found.weight) == ("new_id", "source", "target", "weight")
    assert any("new_id" in line for line in lines)


def test_only_some_nodes_are_selected_and_audited(tmp_path: Path) -> None:
    nodes = "id,type,age\n" + "".join(f"{i},{'film' if i % 3 else 'actor'},{i % 7}\n" for i in range(60))
    edges = "source,target\n" + "".join(f"{i},{(i * 7 + 1) % 60}\n" for i in range(60))
    graph = fp.read_graph(folder(tmp_path, nodes, edges, "[graph]\nonly = \"type = 'film'\"\n"))
    assert graph.candidates is not None
    assert int(graph.candidates.sum()) == 40
    picks = fp.select(graph, budget=10)
    assert all(node % 3 for node in picks.nodes)
    assert all(node % 3 for node in fp.evaluate.draw_audit(graph, 10).nodes)
    by_text = fp.read_graph(folder(tmp_path, nodes, edges, "[graph]\nonly = \"id < '2'\"\n"))
    convert_tables(describe(tmp_path), tmp_path / "converted")
    assert fp.read_graph(tmp_path / "converted").candidate_positions.tolist() == by_text.candidate_positions.tolist()
    with raises(GraphError, parameter="only"):
        fp.read_graph(folder(tmp_path, nodes, edges, "[graph]\nonly = \"type = 'play'\"\n"))
    with pytest.raises(FileError):
        fp.read_graph(folder(tmp_path, nodes, edges, '[graph]\nonly = "nonsense = 1"\n'))
    with raises(FileError) as caught:
        fp.read_graph(folder(tmp_path, nodes, edges, '[graph]\nonly = "age > 1"\n'))
    assert "CAST" in str(caught.value)
    with pytest.raises((FileError, ParameterError)):
        fp.read_graph(folder(tmp_path, nodes, edges, '[graph]\nonly = "true) FROM nodes; SELECT (1"\n'))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("id,größe\nä,1\nü,2\n„x“,3\n".encode(encoding))
    table = read_table(tmp_path / "t.csv")
    assert table.column_names == ["id", "größe"]
    assert table.column("id").to_pylist() == ["ä", "ü", "„x“"]


def test_quotes_newlines_and_empty_columns(tmp_path: Path) -> None:
    text = 'id,"a, b",,note\n1,"x, y",,"two\nlines"\n2,"say ""hi""",,\n'
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv")
    assert table.column_names == ["id", "a, b", "Unnamed: 2", "note"]
    assert table.to_pylist() == [
        {"id": "1", "a, b": "x, y", "Unnamed: 2": None, "note": "two\nlines"},
        {"id": "2", "a, b": 'say "hi"', "Unnamed: 2": None, "note": None},
    ]


@pytest.mark.parametrize(
    "content", [b"", b"\x00\x01\x02" * 50, b"id,x\n1,2,3\n", b"id,id\n1,2\n", b"\n\n\n", b'id,x\n1,"open\n2,3\n']
)
def test_a_bad_table_is_one_clear_error(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with raises(FileError, path=tmp_path / "t.csv"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("nodes", "edges", "fields"),
    [
        ("id,x\na,1\na,2\n", "source,target\na,a\n", {"node": "a"}),
        ("id,x\na,1\n,2\n", "source,target\na,a\n", {"row": 2, "column": "id"}),
        ("id,x\n", "source,target\n", {}),
        ("who,x,y\na,1,2\nb,1,3\n", "source,target\na,b\n", {"parameter": "id"}),
        (NODES, "p,q,r,s,t\n1,2,3,4,5\n", {"parameter": "source"}),
        (NODES, "source,target,weight\n007,8,1\n8,9,1,1\n", {"row": 2}),
        (NODES, "source,target,weight\n007,,1\n", {"parameter": "unknown", "node": None}),
        (NODES, "source,target,weight\n007,8,1e39\n", {"column": "weight", "value": "1e39"}),
        (NODES, "source,target,weight\n007,8,\n", {"column": "weight", "value": None}),
        (NODES, "source,target,weight\n007,8,-1\n", {"column": "weight", "value": "-1"}),
    ],
)
def test_bad_graphs_name_what_is_wrong(nodes: str, edges: str, fields: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises((FileError, GraphError)) as caught:
        fp.read_graph(folder(tmp_path, nodes, edges))
    assert {name: getattr(caught.value, name) for name in fields} == fields


@pytest.mark.parametrize(
    ("texts", "decimal", "expected"),
    [
        (("1,5", "1.000,5"), ",", (1.5, 1000.5)),
        (("1,5", "2"), None, (1.5, 2.0)),
        (("1,000", "2.5"), ".", (1000.0, 2.5)),
    ],
)
def test_weights_are_read_as_people_write_them(
    texts: tuple[str, str], decimal: str | None, expected: tuple[float, float], tmp_path: Path
) -> None:
    edges = f"source;target;weight\n007;8;{texts[0]}\n8;9;{texts[1]}\n"
    mark = "" if decimal is None else f'decimal = "{decimal}"\n'
    graph = fp.read_graph(folder(tmp_path, edges=edges, toml=f'[columns]\n{mark}[graph]\nweights = "raw"\n'))
    assert tuple(weights(graph).values()) == expected


def features_of(place: Path, name: str, content: str) -> fp.Graph:
    folder(place, nodes="id\n007\n8\n9\n10\n")
    (place / name).write_text(content)
    graph = fp.read_graph(place)
    (place / name).unlink()
    return graph


def test_features_of_their_own_file_join(tmp_path: Path) -> None:
    items = features_of(tmp_path, "features.json", '{"007": ["p", "q"], "8": ["q"], "9": ["p"], "10": ["q", "r"]}')
    rows = "007,p,1\n007,q,1\n8,q,1\n9,p,1\n10,q,1\n10,r,1\n"
    triples = features_of(tmp_path, "features.csv", f"node,feature,value\n{rows}")
    assert items.n_features == 3
    assert np.array_equal(as_dense(items.features), as_dense(triples.features))
    rows = "007,p,2.5\n8,q,-1\n9,p,1\n10,q,3\n10,r,4\n"
    valued = features_of(tmp_path, "features.csv", f"node,feature,value\n{rows}")
    content = '{"007": {"p": 2.5}, "8": {"q": -1}, "9": {"p": 1}, "10": {"q": 3, "r": 4}}'
    assert np.array_equal(as_dense(valued.features), as_dense(features_of(tmp_path, "features.json", content).features))
    assert sorted(set(np.sign(as_dense(valued.features)[:, -2]))) == [-1, 0, 1]
    pairs = features_of(tmp_path, "features.csv", "who,what\n007,p\n007,q\n8,q\n9,p\n")
    assert pairs.feature_names == ("features: p", "features: q")
    columns = features_of(tmp_path, "features.csv", "id,height,width\n007,1,2\n8,2,3\n9,5,1\n10,4,4\n")
    assert columns.feature_names == ("height", "width")
    with pytest.raises(FileError):
        features_of(tmp_path, "features.csv", "node,feature,value\nx,p,1\n")


def test_structural_features_are_of_one_graph(tmp_path: Path) -> None:
    lines = [f"{a} {a + 1}" for a in range(9)]
    (tmp_path / "small.txt").write_text("\n".join(lines))
    (tmp_path / "large.txt").write_text("\n".join([*lines, "9 10"]))
    small = fp.read_graph(tmp_path / "small.txt")
    model = fp.GraphRidge().fit(small, {0: "low", 1: "low", 8: "high", 9: "high"})
    path = tmp_path / "model.safetensors"
    fp.models.save_model(model, path)
    assert fp.load_model(path).predict(small).tolist() == model.predict(small).tolist()
    with raises(ModelError):
        fp.load_model(path).predict(tmp_path / "large.txt")


def test_structural_features_tell_communities_apart() -> None:
    given = class_graph(302, within=0.2, between=0.02)
    adjacency = given.adjacency.toarray()
    adjacency[300:] = adjacency[:, 300:] = 0
    features = as_dense(fp.Graph.from_scipy(adjacency).features)
    assert features.shape == (302, 65)
    assert not features[300:, :64].any()
    means = np.array([features[place:300:3, :2].mean(axis=0) for place in range(3)])
    spread = features[:300, :2].std()
    assert min(np.linalg.norm(means[a] - means[b]) for a, b in ((0, 1), (0, 2), (1, 2))) > spread


def test_data_frames_of_any_library() -> None:
    nodes = pd.DataFrame({"age": [1, 2, 3], "city": ["a", "b", "a"]}, index=["x", "y", "z"])
    edges = pd.DataFrame({"source": ["x", "y"], "target": ["y", "z"]})
    graph = fp.Graph.from_tables(nodes, edges)
    assert graph.ids.tolist() == ["x", "y", "z"]
    arrow = fp.Graph.from_tables(pa.table(nodes.rename_axis("id").reset_index()), pa.table(edges))
    assert np.array_equal(as_dense(graph.features), as_dense(arrow.features))
    with raises(ParameterError, parameter="settings", value="lable"):
        fp.Graph.from_tables(nodes, edges, lable="city")
    with raises(GraphError, parameter="nodes"):
        fp.Graph.from_tables([1, 2], edges)


@pytest.mark.parametrize("prefix", ["n", ""])
def test_convert_writes_the_graph_that_read_graph_returns(prefix: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    nodes = "id,label,age,city\n" + "".join(
        f"{prefix}{i},{'ab'[i % 2] if i % 5 else ''},{generator.normal():.3f},{'pqr'[i % 3]}\n" for i in range(300)
    )
    edges = "source,target,weight\n" + "".join(
        f"{prefix}{a},{prefix}{b},{generator.random():.2f}\n" for a, b in generator.integers(300, size=(1000, 2))
    )
    place = folder(tmp_path, nodes, edges)
    one = fp.read_graph(place)
    made = convert_tables(describe(place), tmp_path / "out", max_memory=10**9)
    other = fp.read_graph(tmp_path / "out")
    assert (made.n_nodes, made.n_edges) == (one.n_nodes, one.n_edges)
    assert one.fingerprint == other.fingerprint
    assert (one.feature_names, one.repairs) == (other.feature_names, other.repairs)
    assert one.weight_scale == other.weight_scale
    assert one.table is not None
    assert one.table.equals(other.table)


@pytest.mark.parametrize(
    ("columns", "toml"),
    [
        ("words", ""),
        ("", ""),
        ("age", '[graph]\nunknown = "add"\n'),
        ("age", '[graph]\nonly = "CAST(age AS DOUBLE) > 1"\n'),
    ],
)
def test_convert_of_sparse_structural_and_described_graphs(columns: str, toml: str, tmp_path: Path) -> None:
    cells = {"words": lambda i: f"word{i} other{i % 7} third{i % 11} fourth{i % 3}", "": lambda i: "", "age": str}
    nodes = "".join(f"n{i},{cells[columns](i)}".rstrip(",") + "\n" for i in range(60))
    edges = "source,target\n" + "".join(f"n{i},n{i * 7 % 60}\n" for i in range(60))
    if "add" in toml:
        edges += "n1,stranger\n"
    place = folder(tmp_path, f"id,{columns}".rstrip(",") + f"\n{nodes}", edges, toml)
    convert_tables(describe(place), tmp_path / "out")
    one, other = fp.read_graph(place), fp.read_graph(tmp_path / "out")
    assert one.fingerprint == other.fingerprint
    assert one.candidate_positions.tolist() == other.candidate_positions.tolist()


def test_init_finds_columns(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("key,class,v\na,x,1\nb,y,1\nc,x,1\n")
    found, lines = infer_description(GraphDescription(nodes="nodes.csv", folder=tmp_path))
    assert (found.id, found.label, len(lines)) == ("key", "class", 2)


def test_init_needs_a_column_of_distinct_ids(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("key,other\na,1\nb,2\n")
    with raises(FileError, parameter="id", choices=("key", "other")):
        infer_description(GraphDescription(nodes="nodes.csv", folder=tmp_path))


@pytest.mark.parametrize(
    ("attach", "error"),
    [
        ("shop.xyz", ParameterError),
        ("sqlite:missing.db", FileError),
        ("mysql:host=127.0.0.1 port=1", FeatpropError),
    ],
)
def test_databases_that_cannot_be_attached(attach: str, error: type[FeatpropError], tmp_path: Path) -> None:
    (tmp_path / "graph.toml").write_text(f'edges = "SELECT 1 AS source, 2 AS target"\n[attach]\nshop = "{attach}"\n')
    with pytest.raises(error):
        fp.read_graph(tmp_path)


def test_ends_saved_as_decimals_are_explained(tmp_path: Path) -> None:
    nodes, edges = "id,x\n1,3\n2,4\n", "source,target\n1.0,2.0\n"
    with raises(GraphError, parameter="unknown") as caught:
        fp.read_graph(folder(tmp_path, nodes, edges))
    assert "write 1 for 1.0" in str(caught.value)
    numbers = pa.table({"source": [1.0], "target": [2.0]})
    assert fp.Graph.from_tables(pa.table({"id": [1, 2], "x": [3, 4]}), numbers).n_edges == 1


def test_typed_ids_and_labels() -> None:
    nodes = pa.table({"id": pa.array(["a", "b", "c"]).dictionary_encode(), "x": [1, 2, 4], "label": [1, None, 0]})
    edges = pa.table({"source": ["a"], "target": ["b"]})
    graph = fp.Graph.from_tables(nodes, edges)
    assert (graph.ids.tolist(), graph.class_names()) == (["a", "b", "c"], [1, None, 0])
    whole = fp.Graph.from_tables(pa.table({"id": [1.0, 2.0], "x": [3, 4]}), None)
    assert (whole.ids.tolist(), whole.n_edges) == ([1, 2], 0)
    halves = fp.Graph.from_tables(pa.table({"id": [0.5, 2.0], "x": [3, 4]}), None)
    assert halves.ids.tolist() == ["0.5", "2"]
    with raises(FileError, column="id"):
        fp.Graph.from_tables(pa.table({"id": [True, False], "x": [3, 4]}), None)
    with raises(FileError, column="id"):
        fp.Graph.from_tables(
            pa.table({"id": [1, 2], "ID ": [3, 4], "Id": [1, 2]}).rename_columns(["x", "ID ", "Id"]), None
        )


@pytest.mark.parametrize("names", [["notes.txt"], ["nodes.csv", "nodes.parquet"], []])
def test_folders_without_one_table_of_each_kind(names: list[str], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_text("id\n1\n")
    with raises(FileError, path=tmp_path):
        fp.read_graph(tmp_path)


def test_globs_of_tables(tmp_path: Path) -> None:
    toml = 'nodes = "nodes.csv"\nedges = "part-*.csv"\n'
    folder(tmp_path)
    (tmp_path / "graph.toml").write_text(toml)
    with raises(FileError, path=tmp_path / "part-*.csv"):
        fp.read_graph(tmp_path)
    (tmp_path / "part-1.csv").write_text("source,target\n007,8\n")
    (tmp_path / "part-2.csv").write_text("source,target\n9,10\n")
    assert fp.read_graph(tmp_path).n_edges == 2
    (tmp_path / "part-2.csv").write_text("a,b\n9,10\n")
    with raises(FileError, path=tmp_path / "part-2.csv"):
        fp.read_graph(tmp_path)


def test_columns_that_may_hold_labels_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nodes = "id,age,class,label\n" + "".join(f"{i},{i % 5},{'ab'[i % 2]},Person {i}\n" for i in range(30))
    for column, text in (("label", nodes), ("class", nodes.replace("label", "called"))):
        with caplog.at_level(logging.WARNING, "featprop.sources"):
            graph = fp.read_graph(folder(tmp_path, text, "source,target\n1,2\n"))
        assert graph.labels is None
        assert repr(column) in caplog.messages[-1]


def test_description_survives_its_toml(tmp_path: Path) -> None:
    description = GraphDescription(
        nodes="a b.csv", edges="SELECT 1", features="f.json", folder=tmp_path, attach={"shop": "sqlite:s.db"},
        id='the "id"', label="class", ignore=("w_*",), kinds={"post code": "category"}, decimal=",", vocabulary=50,
        unknown="drop", only="x > 1",
    )  # fmt: skip
    (tmp_path / "graph.toml").write_text(description.to_toml(), encoding="utf-8")
    assert GraphDescription.from_toml(tmp_path / "graph.toml") == description


@pytest.mark.parametrize(
    "text",
    [
        "", "nodes = 3", "nodes = 'a'\nedgs = 'b'", "nodes = 'a'\n[graph]\nweights = 'heavy'",
        "nodes = 'a'\n[graph]\nx = 1",
        "nodes = 'a'\n[columns]\nage = 'numbr'", "nodes = 'a'\ncolumns = 3", "nodes = [",
        "nodes = 'a'\n[columns]\nignore = 3",
        "nodes = 'a'\n[columns]\ndecimal = 'x'",
    ],
)  # fmt: skip
def test_a_bad_description_is_one_clear_error(text: str, tmp_path: Path) -> None:
    (tmp_path / "graph.toml").write_text(text)
    with raises(FileError, path=tmp_path / "graph.toml"):
        fp.read_graph(tmp_path)


def test_graphs_of_large_tables_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(reading, "MIN_BYTES", 1)
    place = tmp_path / "graph"
    place.mkdir()
    folder(place)
    for file in place.iterdir():
        os.utime(file, ns=(10**18, 10**18))
    first = fp.read_graph(place)
    monkeypatch.setattr(reading, "build_graph", None)
    again = fp.read_graph(place)
    assert (again.adjacency != first.adjacency).nnz == 0
    assert again.repairs == first.repairs
    assert np.array_equal(fp.read_graph(place, preprocessor=first.preprocessor).features, first.features)
    (place / "edges.csv").write_text(EDGES + "007,10,1\n")
    monkeypatch.undo()
    assert fp.read_graph(place).n_edges == first.n_edges + 1
