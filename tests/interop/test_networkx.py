"""NetworkX graphs in and out."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.errors import GraphError
from featprop.graph import Graph
from featprop.matrix import dense


@given(seed=st.integers(0, 10_000), n=st.integers(1, 15), p=st.floats(0, 1), weighted=st.booleans())
@settings(max_examples=60)
def test_the_adjacency_is_that_of_networkx(seed: int, n: int, p: float, weighted: bool) -> None:
    generator = np.random.default_rng(seed)
    outside = nx.gnp_random_graph(n, p, seed=seed)
    nx.set_node_attributes(outside, {node: generator.normal(size=3) for node in outside}, "x")
    if weighted:
        nx.set_edge_attributes(outside, {edge: int(generator.integers(1, 9)) / 4 for edge in outside.edges}, "weight")
    graph = Graph.from_networkx(outside)
    np.testing.assert_array_equal(graph.adjacency.toarray(), nx.to_numpy_array(outside))
    assert graph.n_edges == outside.number_of_edges()


@given(seed=st.integers(0, 10_000), n=st.integers(1, 12))
@settings(max_examples=40)
def test_round_trip(seed: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    outside = nx.relabel_nodes(nx.gnp_random_graph(n, 0.4, seed=seed), lambda node: f"node {node}")
    for node in outside:
        outside.nodes[node]["x"] = generator.integers(0, 3, size=4)
        if generator.random() < 0.5:
            outside.nodes[node]["label"] = str(generator.integers(3))
    for edge in outside.edges:
        outside.edges[edge]["weight"] = float(generator.integers(1, 9)) / 8
    back = Graph.from_networkx(outside).to_networkx()
    assert list(back.nodes) == list(outside.nodes)
    assert nx.utils.edges_equal(back.edges(data=True), outside.edges(data=True))
    for node in outside:
        assert back.nodes[node]["x"].tolist() == outside.nodes[node]["x"].tolist()
        assert back.nodes[node].get("label") == outside.nodes[node].get("label")
        assert ("label" in back.nodes[node]) == ("label" in outside.nodes[node])
    again = Graph.from_networkx(back)
    np.testing.assert_array_equal(again.adjacency.toarray(), nx.to_numpy_array(outside))


def test_from_a_graph_of_ours_and_back(line: Graph) -> None:
    again = Graph.from_networkx(line.to_networkx())
    np.testing.assert_array_equal(again.adjacency.toarray(), line.adjacency.toarray())
    np.testing.assert_array_equal(dense(again.features), dense(line.features))
    assert again.ids.tolist() == line.ids.tolist()
    assert again.class_names() == line.class_names()


@pytest.mark.parametrize("weighted", [False, True])
def test_directed_and_multiple_edges_become_plain_ones(weighted: bool) -> None:
    outside = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "a"), ("b", "c"), ("c", "c")])
    nx.set_node_attributes(outside, 1.0, "x")
    if weighted:
        nx.set_edge_attributes(outside, {("a", "b", 0): 2, ("a", "b", 1): 5}, "weight")
    top = 5 if weighted else 1
    assert Graph.from_networkx(outside).adjacency.toarray().tolist() == [[0, top, 0], [top, 0, 1], [0, 1, 0]]


def test_nodes_of_a_grid_are_pairs() -> None:
    outside = nx.grid_2d_graph(3, 2)
    nx.set_node_attributes(outside, {node: node for node in outside}, "x")
    graph = Graph.from_networkx(outside)
    assert graph.ids.tolist() == list(outside.nodes)
    assert [tuple(row) for row in graph.features.tolist()] == list(outside.nodes)
    assert graph.positions([(2, 1)]).tolist() == [5]


def test_attributes_by_other_names() -> None:
    outside = nx.Graph()
    outside.add_node(1, age=40, height=1.5, party="red")
    outside.add_node(2, age=20, height=1.75)
    outside.add_edge(1, 2, strength=3)
    graph = Graph.from_networkx(outside, features=["height", "age"], label="party", weight="strength")
    assert graph.features.tolist() == [[1.5, 40], [1.75, 20]]
    assert graph.feature_names == ("height", "age")
    assert graph.class_names() == ["red", None]
    assert graph.adjacency.toarray().tolist() == [[0, 3], [3, 0]]


def _pair(first: Any, second: Any, **edge: Any) -> nx.Graph:
    outside = nx.Graph()
    outside.add_node("p", **({} if first is None else {"x": first}))
    outside.add_node("q", x=second)
    outside.add_edge("p", "q", **edge)
    return outside


@pytest.mark.parametrize(
    ("outside", "message"),
    [
        (nx.Graph(), ""),
        (
            _pair(None, [1.0]),
            "Node attribute 'x' must be there for every node; found none at node 'p', which has no attribute: "
            "set it to numbers for every node.",
        ),
        (
            _pair([1.0], [1.0, 2.0]),
            "Features must have one length; found 2 at node 'q' and 1 at node 'p': give every node as many features.",
        ),
        (
            _pair([1.0], "blue"),
            "Node attribute 'x' must be numbers; found 'blue' at node 'q': encode it as numbers, or put the nodes into "
            "a table for Graph.from_pandas, which does.",
        ),
        (
            _pair([1.0], ["1", "2"]),
            "Node attribute 'x' must be numbers; found ['1', '2'] at node 'q': encode it as numbers, or put the nodes "
            "into a table for Graph.from_pandas, which does.",
        ),
        (
            _pair([1.0], None),
            "Node attribute 'x' must be numbers; found None at node 'q': fill it, or leave the attribute out.",
        ),
        (
            _pair([1.0], [[1.0, 2.0], [3.0]]),
            "Node attribute 'x' must be numbers; found [[1.0, 2.0], [3.0]] at node 'q': encode it as numbers, or put "
            "the nodes into a table for Graph.from_pandas, which does.",
        ),
        (
            _pair([1.0], "blue " * 20),
            "Node attribute 'x' must be numbers; found 'blue blue blue blue blue blue blue blu… at node 'q': "
            "encode it as numbers, or put the nodes into a table for Graph.from_pandas, which does.",
        ),
        (
            _pair([1.0], [float("nan")]),
            "node 'q'",
        ),
        (
            _pair([1.0], [1.0], weight=-1),
            "from 'p' to 'q' weighs -1.0",
        ),
        (
            _pair([1.0], [1.0], weight="strong"),
            "<U6",
        ),
    ],
)
def test_bad_graphs(outside: nx.Graph, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_networkx(outside)
    assert message in str(caught.value)


def test_the_numbers_there_are_named_where_the_attribute_is_missing() -> None:
    outside = nx.Graph()
    outside.add_node("p", colour="blue", size=2, age=3.5)
    with pytest.raises(GraphError) as caught:
        Graph.from_networkx(outside)
    assert str(caught.value) == (
        "Node attribute 'x' must be there for every node; found none at node 'p', which has colour, size, age: "
        "call Graph.from_networkx(graph, features=['size', 'age'])."
    )
