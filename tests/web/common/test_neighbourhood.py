"""Choice of neighbours to show, and class counts of all neighbours."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from featprop.graph import UNKNOWN, Graph
from featprop.web.common import neighbourhood
from featprop.web.common.neighbourhood import Count, Neighbour, Neighbourhood, _quotas


def graph_of(edges: list[tuple[int, int]], size: int, weights: list[float] | None = None) -> Graph:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    values = np.ones(len(ends)) if weights is None else np.array(weights)
    return Graph.from_scipy(sp.coo_array((values, (ends[:, 0], ends[:, 1])), shape=(size, size)), np.ones((size, 1)))


def star(size: int) -> Graph:
    """Node 0 joined to all others."""
    return graph_of([(0, other) for other in range(1, size)], size)


def find_neighbourhood(graph: Graph, position: int, *, labels: dict[int, int], **options: Any) -> Neighbourhood:
    """The neighbourhood of a node where these nodes have these labels."""
    codes = np.full(graph.n_nodes, UNKNOWN)
    codes[list(labels)] = list(labels.values())
    return neighbourhood.find_neighbourhood(graph, position, labels=codes, **options)


def shown(found: Neighbourhood) -> list[int]:
    return [neighbour.position for neighbour in found.first]


def test_small_neighbourhood_by_hand() -> None:
    graph = graph_of([(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (4, 5)], 6, [2, 1, 1, 1, 4, 1])
    predictions = np.array([0, 1, 1, 0, 0, UNKNOWN])
    found = find_neighbourhood(graph, 0, labels={2: 1, 4: 0}, predictions=predictions, represented=[3])
    assert found.first == (
        Neighbour(3, 1.0, prediction=0, represented=True),
        Neighbour(2, 1.0, label=1),
        Neighbour(1, 2.0, prediction=1),
    )
    assert found.second == (Neighbour(4, 4.0, label=0, parent=3),)
    assert found.links == ((1, 2),)
    assert found.counts == {1: Count(1, 1), 0: Count(0, 1)}
    assert (found.centre, found.label, found.total, found.shown) == (0, None, 3, "3")
    assert find_neighbourhood(graph, 4, labels={2: 1, 4: 0}).label == 0


@pytest.mark.parametrize("second", [0, 3])
def test_no_neighbour_and_one(second: int) -> None:
    graph = graph_of([(1, 2)], 3)
    lone = find_neighbourhood(graph, 0, labels={}, second=second)
    assert lone == Neighbourhood(0, None, (), (), (), 0, {})
    assert lone.shown == "0"
    one = find_neighbourhood(graph, 1, labels={}, second=second)
    assert one == Neighbourhood(1, None, (Neighbour(2, 1.0),), (), (), 1, {None: Count(0, 1)})


def test_labelled_then_represented_neighbours_come_first() -> None:
    labels = {node: node % 3 for node in range(500, 520)}
    represented = set(range(510, 530))
    found = find_neighbourhood(
        star(1000), 0, labels=labels, predictions=np.zeros(1000, int), represented=represented, limit=40
    )
    assert len(found.first) == 40
    assert set(shown(found)) >= set(range(500, 530))
    assert {each.position for each in found.first if each.represented} == represented
    assert found.shown == "40 of 999"


def test_ring_is_sorted_by_class_labelled_first() -> None:
    predictions = np.arange(100) % 4 - 1
    found = find_neighbourhood(star(100), 0, labels={8: 2, 9: 0, 10: 2}, predictions=predictions)
    order = [(each.code is None, each.code, each.label is None) for each in found.first]
    known = [each for each in order if not each[0]]
    assert known == sorted(known)
    assert [each[0] for each in order] == sorted(each[0] for each in order)
    assert {None, 0, 1, 2} == {each.code for each in found.first}


def test_too_many_labelled_neighbours_are_sampled() -> None:
    labels = {node: int(node > 890) for node in range(1, 901)}
    found = find_neighbourhood(star(1000), 0, labels=labels, limit=40)
    assert Counter(each.label for each in found.first) == {0: 39, 1: 1}


def test_sample_is_proportional_and_has_every_class() -> None:
    predictions = np.repeat([0, 1, 2, 3], [500, 300, 199, 1])
    found = find_neighbourhood(star(1000), 0, labels={}, predictions=predictions)
    counts = Counter(each.prediction for each in found.first)
    assert sum(counts.values()) == 40
    assert counts[3] == 1
    assert abs(counts[0] - 20) <= 1
    assert abs(counts[1] - 12) <= 1


def test_sample_depends_only_on_the_seed() -> None:
    graph, predictions = star(5000), np.arange(5000) % 5
    first = find_neighbourhood(graph, 0, labels={}, predictions=predictions)
    assert find_neighbourhood(graph, 0, labels={}, predictions=predictions) == first
    other = find_neighbourhood(graph, 0, labels={}, predictions=predictions, seed=1)
    assert len(set(shown(first)) & set(shown(other))) < 10
    assert other.counts == first.counts


def test_sample_is_stable_when_a_few_predictions_change() -> None:
    graph, predictions = star(5000), np.arange(5000) % 5
    before = shown(find_neighbourhood(graph, 0, labels={}, predictions=predictions))
    changed = np.where(np.random.default_rng(0).random(5000) < 0.02, 0, predictions)
    after = shown(find_neighbourhood(graph, 0, labels={}, predictions=changed))
    assert len(set(before) & set(after)) >= 34


def test_second_ring_has_no_duplicates_and_labels_first() -> None:
    edges = [(0, 1), (0, 2), (1, 2)] + [(1, other) for other in range(3, 30)] + [(2, other) for other in range(3, 30)]
    found = find_neighbourhood(graph_of(edges, 30), 0, labels={20: 0, 21: 1})
    positions = [each.position for each in found.second]
    assert len(positions) == len(set(positions)) == 6
    assert not {0, 1, 2} & set(positions)
    assert {20, 21} <= {each.position for each in found.second if each.parent == 1}
    assert [each.parent for each in found.second] == [1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("size", [100_001])
def test_hub_counts_all_neighbours(size: int) -> None:
    graph, generator = star(size), np.random.default_rng(0)
    predictions = generator.integers(10, size=size)
    labels = {int(node): int(node) % 10 for node in generator.choice(size, 1000, replace=False)}
    found = find_neighbourhood(graph, 0, labels=labels, predictions=predictions, represented=range(1, 50))
    assert found.shown == "40 of 100,000"
    assert sum(count.labelled + count.predicted for count in found.counts.values()) == 100_000
    leaf = find_neighbourhood(graph, 5, labels=labels, predictions=predictions)
    assert (len(leaf.first), len(leaf.second)) == (1, 3)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12), st.data())
def test_quotas_fill_the_room(counts: list[int], data: st.DataObject) -> None:
    room = data.draw(st.integers(1, sum(counts)))
    quotas = _quotas(np.array(counts), room)
    assert sum(quotas) == room
    assert all(0 <= quota <= count for quota, count in zip(quotas, counts, strict=True))
    if room >= len(counts):
        assert min(quotas) >= 1


@given(st.integers(2, 30), st.integers(0, 10), st.integers(0, 4), st.integers(0, 2**32), st.data())
def test_neighbourhood_invariants(size: int, limit: int, second: int, seed: int, data: st.DataObject) -> None:
    ends = st.integers(0, size - 1)
    graph = graph_of(data.draw(st.lists(st.tuples(ends, ends), max_size=60)), size)
    labels = data.draw(st.dictionaries(ends, st.integers(0, 3)))
    predictions = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size)))
    centre = data.draw(ends)
    found = find_neighbourhood(
        graph, centre, labels=labels, predictions=predictions, limit=limit, second=second, seed=seed
    )
    around = set(graph.adjacency[[centre]].indices.tolist())
    assert found.total == len(around)
    assert len(shown(found)) == len(set(shown(found))) == min(limit, len(around))
    assert set(shown(found)) <= around
    unlabelled = around - labels.keys()
    for code in range(4):
        expected = Count(
            sum(labels.get(node) == code for node in around), sum(predictions[node] == code for node in unlabelled)
        )
        assert found.counts.get(code, Count(0, 0)) == expected
    for each in found.second:
        assert graph.adjacency[each.position, each.parent]
        assert each.parent in shown(found)
    dense = graph.adjacency.toarray()
    pairs = {(a, b) for a in shown(found) for b in shown(found) if a < b and dense[a, b]}
    assert set(found.links) == pairs
