"""Graphs from data frames and Arrow tables, the whole way to predictions."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import FeatpropError, GraphError, ParameterError
from tests.helpers import raises

NODES = pd.DataFrame(
    {
        "id": ["a", "b", "c", "d", "e"],
        "w1": [1.0, 1.0, 0.0, 0.0, 1.0],
        "w2": [0.0, 0.5, 1.0, 2.0, 1.0],
        "label": ["left", None, "right", None, None],
    }
)
EDGES = pd.DataFrame({"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "e"]})


def same(graph: fp.Graph, other: fp.Graph) -> None:
    assert graph.ids.tolist() == other.ids.tolist()
    assert graph.class_names() == other.class_names()
    np.testing.assert_array_equal(graph.adjacency.toarray(), other.adjacency.toarray())


def test_frames_are_the_graph_of_the_files(line: fp.Graph, write_folder: Any) -> None:
    graph = fp.Graph.from_pandas(NODES, EDGES, raw=True)
    same(graph, line)
    same(graph, fp.read_graph(write_folder()))
    np.testing.assert_array_equal(graph.features, line.features)
    assert graph.feature_names == ("w1", "w2")
    assert graph.table is not None
    assert graph.table.column_names == [name for name in NODES.columns if name != "label"]


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        pytest.param(NODES.set_index("id"), EDGES, id="ids as index"),
        pytest.param(NODES.set_index("id").rename_axis(None), EDGES, id="ids as index without a name"),
        pytest.param(NODES.set_index("id").rename_axis("customer"), EDGES, id="ids as index of another name"),
        pytest.param(NODES.set_axis([9, 8, 7, 6, 5]), EDGES.set_axis([3, 1, 4, 1]), id="rows in another order"),
        pytest.param(NODES, EDGES.set_index("source"), id="an end as index"),
        pytest.param(
            pa.Table.from_pandas(NODES, preserve_index=True),
            pa.Table.from_pandas(EDGES, preserve_index=True),
            id="Arrow",
        ),
        pytest.param(NODES.astype({"id": "category", "label": "category"}), EDGES.astype("category"), id="categories"),
    ],
)
def test_whatever_the_index_the_graph_is_one(line: fp.Graph, nodes: Any, edges: Any) -> None:
    graph = fp.Graph.from_pandas(nodes, edges, raw=True)
    same(graph, line)
    assert graph.feature_names == ("w1", "w2")


def test_rows_that_are_numbered_are_ids_only_if_named() -> None:
    nodes, edges = NODES.drop(columns="id"), pd.DataFrame({"u": [0, 1], "v": [1, 4]})
    with pytest.raises(GraphError, match=r"or nodes\.rename_axis\('id'\) where the ids are 0, 1, 2"):
        fp.Graph.from_pandas(nodes, edges)
    graph = fp.Graph.from_pandas(nodes.rename_axis("id"), edges)
    assert graph.ids.tolist() == [0, 1, 2, 3, 4]
    assert graph.n_edges == 2


def test_columns_of_every_kind_become_features() -> None:
    generator = np.random.default_rng(0)
    nodes = pd.DataFrame(
        {
            "age": pd.array([20, None, *range(30, 68)], dtype="Int64"),
            "country": pd.Categorical(generator.choice(["de", "fr", "it"], 40)),
            "joined": pd.date_range("2026-01-01", periods=40, freq="11h"),
            "vip": pd.array(generator.choice([True, False], 40), dtype="boolean"),
        },
        index=[f"n{number}" for number in range(40)],
    )
    edges = pd.DataFrame({"from": nodes.index[:-1], "to": nodes.index[1:]})
    graph = fp.Graph.from_pandas(nodes, edges)
    assert graph.n_nodes == 40
    assert graph.feature_names is not None
    for column in nodes.columns:
        assert any(column in name for name in graph.feature_names), column
    assert np.isfinite(graph.features if isinstance(graph.features, np.ndarray) else graph.features.data).all()


def test_options_are_those_of_the_tables() -> None:
    nodes = NODES.rename(columns={"id": "customer", "label": "party"}).set_index("customer")
    edges = EDGES.rename(columns={"source": "payer", "target": "payee"}).assign(amount=1)
    graph = fp.Graph.from_pandas(
        nodes, edges, id="customer", label="party", source="payer", target="payee", features=["w1"], raw=True
    )
    assert graph.ids.tolist() == NODES["id"].tolist()
    assert graph.classes == ("left", "right")
    assert graph.feature_names == ("w1",)
    with raises(ParameterError, parameter="sorce"):
        fp.Graph.from_pandas(nodes, edges, sorce="payer")


def test_from_frames_to_predictions_in_a_frame() -> None:
    graph = fp.Graph.from_pandas(NODES, EDGES)
    picks = fp.select(graph, 3)
    answers = picks.to_frame().assign(label=["x", "y", "x"])
    model = fp.GraphRidge().fit(graph, picks, answers["label"])
    predicted = pd.Series(model.predict(graph), index=graph.ids)
    assert predicted.index.tolist() == NODES["id"].tolist()


@pytest.mark.parametrize(
    ("edges", "options", "cure"),
    [
        ({"a": ["p"], "b": ["q"], "c": ["r"]}, {}, "say with source and target which two join the nodes."),
        ({"u": ["p"], "v": ["q"], "weight": ["strong"]}, {}, 'write a number in every row, or pass weights="none".'),
        (
            {"u": ["p"], "v": ["q"]},
            {"source": "u"},
            "must be read with source and target; found only source: name both",
        ),
        (
            {"u": ["p"], "v": ["q"]},
            {"id": "x", "columns": {"id": "out"}},
            'say what one is with columns={"NAME": "KIND"}.',
        ),
    ],
)
def test_errors_name_arguments_not_options(edges: dict[str, list[str]], options: dict[str, Any], cure: str) -> None:
    nodes = pd.DataFrame({"id": ["p", "q", "r"], "x": [1, 2, 4]})
    with pytest.raises(FeatpropError) as caught:
        fp.Graph.from_pandas(nodes, pd.DataFrame(edges), **options)
    assert cure in str(caught.value)
    assert "--" not in str(caught.value)
