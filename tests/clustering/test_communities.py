"""Greedy modularity compared with NetworkX, and merging groups by hand."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from featprop.clustering import communities
from featprop.clustering.communities import greedy_modularity, merge_groups
from featprop.graph import Graph


def sets_of(community: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(community == number).tolist()) for number in set(community.tolist())}


@pytest.mark.parametrize("seed", range(8))
def test_communities_equal_networkx_without_ties(seed: int) -> None:
    weights = sp.random_array((70, 70), density=0.05, rng=np.random.default_rng(seed))
    adjacency = Graph.from_scipy(weights, np.ones((70, 1))).adjacency
    other = nx.community.greedy_modularity_communities(nx.from_scipy_sparse_array(adjacency), weight="weight")
    assert sets_of(greedy_modularity(adjacency)) == {frozenset(nodes) for nodes in other}


def test_modularity_of_an_unweighted_graph() -> None:
    club = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(club, weight=None, format="csr").astype(np.float32)
    found = nx.community.modularity(club, sets_of(greedy_modularity(adjacency)), weight=None)
    assert found == pytest.approx(0.3807, abs=1e-4)


def test_isolated_nodes_are_separate_communities() -> None:
    adjacency = sp.csr_array((5, 5), dtype=np.float32)
    assert greedy_modularity(adjacency).tolist() == [0, 1, 2, 3, 4]
    pair = Graph.from_scipy(sp.coo_array(([1.0], ([1], [3])), shape=(5, 5)), np.ones((5, 1))).adjacency
    assert greedy_modularity(pair).tolist() == [0, 1, 2, 1, 3]


def test_merge_groups_by_hand() -> None:
    """Means 0, 1, 10, sizes 2, 2, 1: joining the first two costs 1 · 4/4, 1 and 10 costs 9 · 2/3."""
    features = np.array([[0.0], [0.0], [1.0], [1.0], [10.0]])
    group = np.array([0, 0, 1, 1, 2])
    assert merge_groups(features, group, 2).tolist() == [0, 0, 0, 0, 1]
    assert merge_groups(features, group, 3).tolist() == [0, 0, 1, 1, 2]
    assert merge_groups(features, group, 1).tolist() == [0] * 5
    assert merge_groups(features, group, 9).tolist() == [0, 0, 1, 1, 2]


def test_small_group_is_merged_before_a_near_large_one() -> None:
    """1 · (8·8)/16 = 4 for the two large ones, 3 · (8·1)/9 = 2.7 for the single node: size counts."""
    features = np.repeat([[0.0], [1.0], [4.0]], [8, 8, 1], axis=0)
    assert merge_groups(features, np.repeat([0, 1, 2], [8, 8, 1]), 2).tolist() == [1] * 8 + [0] * 9


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_many_small_groups_join_the_nearest_large_one(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(communities, "MAX_GROUPS", 2)
    features = np.array([[0.0], [0.0], [0.0], [9.0], [9.0], [1.0], [8.0]], dtype=np.float32)
    assert merge_groups(kind(features), np.array([0, 0, 0, 1, 1, 2, 3]), 2).tolist() == [0, 0, 0, 1, 1, 0, 1]
