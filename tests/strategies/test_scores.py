"""Strategies that score, on cases solved by hand, and the choice they share."""

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import percentileofscore

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.strategies import QueryContext, ScoreStrategy, get_strategy
from featprop.strategies.age import AGE
from featprop.strategies.base import best_first
from featprop.strategies.pagerank import page_rank
from featprop.strategies.uncertainty import entropy
from tests.helpers import raises

MakeContext = Callable[..., QueryContext]
STAR = [(0, 1), (0, 2), (0, 3), (3, 4)]


def test_degree_takes_the_hub_then_its_busy_neighbour(make_context: MakeContext) -> None:
    picks = get_strategy("degree").select(make_context(5, STAR), 2, np.random.default_rng(0))
    assert picks.tolist() == [0, 3]


def test_degree_sums_the_weights_as_the_paper_does() -> None:
    graph = Graph.from_scipy(np.array([[0, 1, 1], [1, 0, 5], [1, 5, 0.0]]), np.ones((3, 1)))
    context = QueryContext(graph, np.array([], np.intp), np.arange(3))
    assert get_strategy("degree").scores(context, np.random.default_rng(0)).tolist() == [2, 6, 6]


def test_ties_are_broken_evenly_by_the_seed(make_context: MakeContext) -> None:
    ring = make_context(6, [(i, (i + 1) % 6) for i in range(6)])
    first = [int(get_strategy("degree").select(ring, 1, np.random.default_rng(seed))[0]) for seed in range(300)]
    np.testing.assert_allclose(np.bincount(first, minlength=6), 50, atol=28)


def test_scores_that_differ_by_rounding_are_ties() -> None:
    scores = np.array([0.3, 0.1 + 0.2, 0.2, 0.4])
    orders = {tuple(best_first(scores, np.random.default_rng(seed)).tolist()) for seed in range(20)}
    assert orders == {(3, 0, 1, 2), (3, 1, 0, 2)}


def test_a_score_strategy_needs_scores_only(make_context: MakeContext) -> None:
    class Third(ScoreStrategy):
        def scores(self, context: QueryContext, generator: np.random.Generator) -> np.ndarray:
            return np.array([0.0, 5.0, 9.0, 7.0, 0.0])

    assert Third().select(make_context(5, labelled=[2]), 2, np.random.default_rng(0)).tolist() == [3, 1]


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(odd: float, make_context: MakeContext) -> None:
    class Fourth(ScoreStrategy):
        def scores(self, context: QueryContext, generator: np.random.Generator) -> np.ndarray:
            return np.array([odd, 1.0, odd, 2.0, odd])

    with raises(ParameterError, parameter="strategy", value="Fourth") as caught:
        Fourth().select(make_context(5, labelled=[2]), 2, np.random.default_rng(0))
    assert " 2 " in str(caught.value)
    assert str(odd) in str(caught.value)


@pytest.mark.parametrize("seed", range(3))
def test_pagerank_equals_that_of_networkx(seed: int) -> None:
    linked = sp.random_array((37, 37), density=0.04, rng=np.random.default_rng(seed))
    graph = Graph.from_scipy(sp.block_diag([linked, sp.csr_array((3, 3))]), np.ones((40, 1)))
    expected = nx.pagerank(nx.from_scipy_sparse_array(graph.adjacency), alpha=0.7, tol=1e-12, max_iter=1000)
    np.testing.assert_allclose(page_rank(graph, 0.7), [expected[node] for node in range(40)], atol=1e-9)


P = [[0.5, 0.5, 0.0], [0.4, 0.3, 0.3], [0.9, 0.05, 0.05], [0.6, 0.4, 0.0]]


@pytest.mark.parametrize(
    ("measure", "order"),
    [("entropy", [1, 0, 3, 2]), ("margin", [0, 1, 3, 2]), ("least-confidence", [1, 0, 3, 2])],
)
def test_uncertainty_by_hand(make_context: MakeContext, measure: str, order: list[int]) -> None:
    picks = get_strategy("uncertainty", measure=measure).select(
        make_context(4, probabilities=P), 4, np.random.default_rng(0)
    )
    assert picks.tolist() == order


def test_entropy_by_hand() -> None:
    found = entropy(np.array([[1, 0], [0.5, 0.5], [0.25, 0.75]], dtype=np.float32))
    np.testing.assert_allclose(found, [0, np.log(2), 0.25 * np.log(4) + 0.75 * np.log(4 / 3)], atol=1e-7)


def test_age_by_hand(make_context: MakeContext) -> None:
    """One class, so one K-Means centre: the mean, 4; the scores are percentiles weighed by the draw of γ."""
    context = make_context(
        4,
        [(0, 1), (0, 2), (0, 3)],
        labelled=[3],
        labels=[0],
        probabilities=[[0.5, 0.5], [0.6, 0.4], [0.7, 0.3], [0.9, 0.1]],
        hidden=[[0.0], [3.0], [5.0], [8.0]],
    )
    gamma = np.random.default_rng(9).beta(1.0, 1.005 - 0.995)
    density = 1 / (1 + np.array([4.0, 1.0, 1.0, 4.0]))
    quantities = [(entropy(context.outputs["probabilities"]), (1 - gamma) / 2), (density, (1 - gamma) / 2)]
    expected = gamma * np.array([0.75, 0, 0, 0])
    for values, weight in quantities:
        expected += weight * np.array([percentileofscore(values, value, "strict") / 100 for value in values])
    np.testing.assert_allclose(AGE().scores(context, np.random.default_rng(9)), expected, atol=1e-6)
