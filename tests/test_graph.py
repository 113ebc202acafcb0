"""`Graph`: solved by hand, then invariants on random graphs, then bad arguments."""

import logging
import pickle
import re
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from featprop.errors import GraphError
from featprop.graph import Graph, as_graph
from featprop.matrix import dense
from featprop.sources.native import open_native, write_native
from tests.graphs import edgeless
from tests.helpers import raises

Edges = list[tuple[int, int, float]]


def graph_of(edges: Edges, n: int) -> Graph:
    source, target, weights = (np.array([edge[part] for edge in edges]) for part in range(3))
    return Graph.from_edges(source, target, np.ones((n, 1)), weights=weights)


def test_three_nodes_by_hand() -> None:
    graph = Graph.from_scipy(
        [[0, 2, 0], [0, 0, 0], [0, 0.5, 0]], [[1, 0], [0, 3], [5, 6]], ids=["x", "y", "z"], labels=["b", "a", None]
    )
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    assert graph.features.tolist() == [[1, 0], [0, 3], [5, 6]]
    assert graph.ids.tolist() == ["x", "y", "z"]
    assert graph.classes == ("a", "b")
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, 0, -1]
    assert graph.class_names() == ["b", "a", None]
    assert (graph.n_nodes, graph.n_edges, graph.n_features) == (3, 2, 2)
    assert repr(graph) == "Graph(3 nodes, 2 edges, 2 features, 2 labels of 2 classes)"
    assert "2 (a, b)" in graph._repr_html_()


def test_duplicate_entries_are_summed_as_in_scipy() -> None:
    twice = sp.csr_array((np.ones(3), np.array([1, 1, 2]), np.array([0, 2, 3, 3])), shape=(3, 3))
    for matrix in (twice, twice.tocoo()):
        assert Graph.from_scipy(matrix, np.eye(3)).adjacency.toarray()[0].tolist() == [0, 2, 0]
    assert twice.nnz == 3, "the given matrix is unchanged"


def test_every_repair_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    edges = [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 3.0), (1, 2, 4.0), (1, 2, 2.0), (2, 2, 1.0), (3, 3, 0.0), (0, 3, 0.0)]
    with caplog.at_level(logging.INFO, "featprop"):
        graph = graph_of(edges, 4)
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0, 0], [1, 0, 4, 0], [0, 4, 0, 0], [0, 0, 0, 0]]
    assert tuple(caplog.messages) == graph.repairs
    counts = [re.findall(r"\d+", repair)[0] for repair in graph.repairs]
    assert counts == ["2", "1", "2", "1"], "self-loops, zero weights, duplicates, one-way edges"
    assert {record.levelno for record in caplog.records} == {logging.INFO}


@pytest.mark.parametrize(
    ("labels", "names", "classes"),
    [
        (["b", None, "a"], ["b", None, "a"], ("a", "b")),
        (np.array([2, -1, 10]), [2, None, 10], (2, 10)),
        (np.array([2, -1, 10], object), [2, None, 10], (2, 10)),
        (np.array([np.float32(1), np.float32("nan"), np.float32(0)], object), [1.0, None, 0.0], (0.0, 1.0)),
        ([None, None, None], [None, None, None], ()),
        (["b", 1, 2.5], ["b", 1, 2.5], (2.5, 1, "b")),
    ],
)
def test_labels_where_known(labels: Any, names: list[Hashable], classes: tuple[Hashable, ...]) -> None:
    graph = Graph.from_scipy(np.zeros((3, 3)), np.eye(3), labels=labels)
    assert graph.class_names() == names
    assert graph.classes == classes


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        ({"adjacency": np.zeros((2, 3))}, {"parameter": "adjacency", "value": (2, 3)}),
        ({"features": [1.0, 2.0]}, {"parameter": "features", "value": (2,)}),
        ({"adjacency": np.zeros((0, 0)), "features": np.zeros((0, 2))}, {"parameter": "features"}),
        ({"features": np.zeros((2, 0))}, {"parameter": "features", "value": (2, 0)}),
        ({"features": [["a"], ["b"]]}, {"parameter": "features", "value": "<U1"}),
        (
            {"features": [[1, np.inf], [-np.inf, 4]], "ids": ["p", "q"]},
            {"parameter": "features", "value": np.inf, "node": "p"},
        ),
        ({"ids": ["a"]}, {"parameter": "ids", "value": 1}),
        ({"ids": ["a", "a"]}, {"parameter": "ids", "node": "a"}),
        ({"labels": ["a"]}, {"parameter": "labels", "value": 1}),
        ({"labels": np.eye(2)}, {"parameter": "labels", "value": (2, 2)}),
        ({"adjacency": [[0, -2], [0, 0]]}, {"parameter": "weights", "value": -2.0, "node": 0}),
        ({"adjacency": np.array([[0, 1j], [0, 0]])}, {"parameter": "weights"}),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], fields: dict[str, Any]) -> None:
    with raises(GraphError, **fields):
        Graph.from_scipy(**{"adjacency": np.zeros((2, 2)), "features": np.eye(2), **arguments})


def test_positions_outside_the_graph() -> None:
    for end in (4, -1):
        with raises(GraphError, value=end):
            graph_of([(0, 1, 1.0), (end, 2, 1.0)], 3)
    with raises(GraphError, parameter="ids"):
        Graph.from_edges([0], [1])
    assert Graph.from_edges([0], [1], ids=range(3)).n_nodes == 3


@pytest.mark.parametrize("ends", [([0], [1, 2]), ([0.5], [1]), (["a"], ["b"]), ([[0]], [[1]])])
def test_ends_that_are_no_positions_are_refused(ends: tuple[list[Any], list[Any]]) -> None:
    with raises(GraphError, parameter="source"):
        Graph.from_edges(*ends, np.eye(3))


def test_weights_need_one_entry_per_edge() -> None:
    with raises(GraphError, parameter="weights", value=1):
        Graph.from_edges([0, 1], [1, 2], np.eye(3), weights=[1.0])
    with raises(GraphError, parameter="candidates", value=3):
        edgeless(2).positions([True, False, True], "candidates")


@pytest.mark.parametrize(
    ("ids", "wanted", "node", "suggested"),
    [
        (["a", "b"], ["a", "q"], "q", "'a'"),
        ([7, 8], ["7"], "7", "7"),
        ([7, 8], np.arange(6), 0, "7"),
        (["alpha", "beta"], ["BETA "], "BETA ", "'beta'"),
        (["alpha", "beta"], ["alhpa"], "alhpa", "'alpha'"),
    ],
)
def test_unknown_id(ids: list[Hashable], wanted: Any, node: Hashable, suggested: str) -> None:
    graph = Graph.from_scipy(np.zeros((2, 2)), np.eye(2), ids=ids)
    with raises(GraphError, parameter="nodes", node=node) as caught:
        graph.positions(wanted)
    assert suggested in caught.value.hint


def test_every_form_of_one_graph(line: Graph, write_folder: Callable[..., Path]) -> None:
    folder = write_folder()
    assert as_graph(line) is line
    outside = line.to_networkx()
    for form in (folder, str(folder), outside, line.to_pyg()):
        np.testing.assert_array_equal(as_graph(form).adjacency.toarray(), line.adjacency.toarray())
    assert as_graph(outside).ids.tolist() == line.ids.tolist()


@pytest.mark.parametrize("source", [None, pd.DataFrame({"id": [1]}), (np.eye(2), np.eye(2))])
def test_other_objects_are_no_graph(source: Any) -> None:
    with raises(GraphError, parameter="graph", value=type(source).__name__) as caught:
        as_graph(source)
    assert "from_tables" in caught.value.hint


def test_threads_wait_for_one_computation(line: Graph) -> None:
    entered, done = threading.Event(), threading.Event()

    def wait() -> bool:
        entered.set()
        return done.wait(30)

    thread = threading.Thread(target=line.cache.get, args=("slow", wait))
    thread.start()
    assert entered.wait(30)
    done.set()
    assert line.without_labels().cache.get("slow", lambda: False), "copies share the value, which is computed once"
    thread.join()


def test_a_pickled_graph_has_an_empty_cache(line: Graph) -> None:
    line.cache.get("key", lambda: 1)
    again = pickle.loads(pickle.dumps(line))
    assert again.fingerprint == line.fingerprint
    assert again.cache.get("key", lambda: 2) == 2


NODE_COUNT = 7
NODE = st.integers(0, NODE_COUNT - 1)
WEIGHT = st.sampled_from([0.0, 0.25, 1.0, 3.0])
EDGES = st.lists(st.tuples(NODE, NODE, WEIGHT), max_size=25)


@given(edges=EDGES)
def test_adjacency_is_symmetric_and_keeps_the_largest_weight(edges: Edges) -> None:
    expected = np.zeros((NODE_COUNT, NODE_COUNT))
    for a, b, weight in edges:
        if a != b:
            expected[a, b] = expected[b, a] = max(expected[a, b], weight)
    adjacency = graph_of(edges, NODE_COUNT).adjacency
    np.testing.assert_array_equal(adjacency.toarray(), expected)
    assert adjacency.nnz == np.count_nonzero(expected)
    assert adjacency.has_canonical_format


MATRICES = hnp.arrays(
    np.float32,
    st.tuples(st.just(NODE_COUNT), st.integers(1, 30)),
    elements=st.floats(-1e3, 1e3, width=32),
    fill=st.just(0.0),
)


@given(edges=EDGES, features=MATRICES, layout=st.sampled_from(["csr", "csc", "coo", "lil", "bsr"]))
def test_sparse_equals_dense(edges: Edges, features: np.ndarray, layout: str) -> None:
    adjacency = graph_of(edges, NODE_COUNT).adjacency
    thin = Graph.from_scipy(adjacency, sp.coo_array(features).asformat(layout))
    full = Graph.from_scipy(adjacency.toarray(), features)
    np.testing.assert_array_equal(thin.adjacency.toarray(), full.adjacency.toarray())
    np.testing.assert_array_equal(dense(thin.features), dense(full.features))
    np.testing.assert_array_equal(dense(full.features), features)
    assert type(thin.features) is type(full.features)


SIMPLE = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False) | st.binary()
CLASS_NAMES = SIMPLE | st.tuples(SIMPLE, SIMPLE) | st.frozensets(st.integers())


@given(names=st.lists(CLASS_NAMES, min_size=1, max_size=8))
def test_any_hashable_is_a_class_name(names: list[Hashable]) -> None:
    n = len(names)
    graph = Graph.from_edges([], [], np.ones((n, 1)), labels=names)
    assert graph.class_names() == [None if name == "" else name for name in names]
    assert len(set(graph.classes)) == len(graph.classes)
    assert graph.labels is not None
    assert set(graph.labels.tolist()) - {-1} == set(range(len(graph.classes)))


@given(ids=st.lists(CLASS_NAMES, min_size=1, max_size=8, unique=True))
def test_any_hashable_is_an_id(ids: list[Hashable]) -> None:
    graph = Graph.from_scipy(np.zeros((len(ids), len(ids))), np.ones((len(ids), 1)), ids=ids)
    assert graph.ids.tolist() == ids
    assert [type(name) for name in graph.ids.tolist()] == [type(name) for name in ids]
    assert graph.positions(reversed(ids)).tolist() == list(range(len(ids)))[::-1]


@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_fingerprint_identifies_the_content(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    generator = np.random.default_rng(seed)
    adjacency = sp.random_array((8, 8), density=0.3, rng=generator).toarray()
    features = generator.normal(size=(8, 3)) * (generator.random((8, 3)) < 0.3)
    parts = {"adjacency": adjacency, "features": features, "ids": list("stuvwxyz"), "labels": list("aabbccdd")}
    graph = Graph.from_scipy(**parts)
    assert graph.fingerprint == Graph.from_scipy(**parts).fingerprint
    assert len(graph.fingerprint) == 32
    folder = tmp_path_factory.mktemp("graph") / "graph"
    write_native(graph, folder)
    assert open_native(folder).fingerprint == graph.fingerprint
    others = [
        {"adjacency": adjacency + np.eye(8, k=1)},
        {"features": features + 1},
        {"ids": list("STUVWXYZ")},
        {"ids": list(range(1, 9))},
        {"labels": list("aabbccda")},
        {"labels": list("aabbccde")},
        {"labels": None},
    ]
    prints = {Graph.from_scipy(**{**parts, **other}).fingerprint for other in others}
    assert len(prints | {graph.fingerprint}) == len(others) + 1


def test_numbered_nodes_are_found_without_a_lookup_table() -> None:
    graph = edgeless(np.ones((4, 1)))
    named = edgeless(np.ones((4, 1)), ids=[3, 2, 1, 0])
    assert (graph.is_counted, named.is_counted) == (True, False)
    assert graph.positions([2, 2.0, np.int64(0), True]).tolist() == [2, 2, 0, 1]
    assert named.positions([2, 2.0, np.int64(0), True]).tolist() == [1, 1, 3, 2]
    for strange in (4, -1, 0.5, "1", None, (1,), float("nan"), float("inf")):
        assert not graph.has(strange)
        assert not named.has(strange)
