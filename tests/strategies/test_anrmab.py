"""ANRMAB's bandit: draws, rewards and memory, by hand."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from featprop.strategies import QueryContext, get_strategy
from featprop.strategies.anrmab import ANRMAB, _race
from featprop.strategies.pagerank import page_rank
from featprop.strategies.uncertainty import entropy

MakeContext = Callable[..., QueryContext]
EDGES = [(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)]
P = [[0.5, 0.5], [0.6, 0.4], [0.7, 0.3], [0.9, 0.1], [0.2, 0.8], [0.3, 0.7]]
HIDDEN = [[0.0], [1.0], [2.0], [4.0], [7.0], [9.0]]


@pytest.fixture
def start(make_context: MakeContext) -> QueryContext:
    return make_context(6, EDGES, labelled=[5], labels=[0], probabilities=P, hidden=HIDDEN)


def test_odds_are_a_mixture_of_the_three_arms(start: QueryContext) -> None:
    bandit = ANRMAB(rounds=5)
    picks = bandit.select(start, 2, np.random.default_rng(0))
    state = bandit.state_dict()
    density = 1 / (1 + np.abs(np.array(HIDDEN).ravel() - np.mean(HIDDEN)))
    arms = np.stack(
        [values[:5] / values[:5].sum() for values in (entropy(np.array(P)), density, page_rank(start.graph))]
    )
    assert state["mixture"] == pytest.approx([1 / 3] * 3)
    odds = arms.mean(axis=0)
    assert dict(state["odds"]) == pytest.approx({int(node): odds[node] for node in picks}, abs=1e-6)
    assert {node: shares for node, *shares in state["waiting"]} == {
        int(node): pytest.approx(arms[:, node].tolist(), abs=1e-6) for node in picks
    }


def test_reward_by_hand(make_context: MakeContext) -> None:
    """Two drawn nodes are labelled, one of them predicted rightly; the third is waited for."""
    bandit = ANRMAB(rounds=5, delta=0.1)
    bandit.load_state_dict(
        {
            "weights": [1.0, 1.0, 1.0],
            "mixture": [0.5, 0.3, 0.2],
            "odds": [[0, 0.25], [1, 0.125], [2, 0.5]],
            "waiting": [[0, 0.4, 0.1, 0.1], [1, 0.1, 0.2, 0.1], [2, 0.3, 0.3, 0.3]],
        }
    )
    bandit.select(
        make_context(6, EDGES, labelled=[0, 1, 5], labels=[0, 1, 0], probabilities=P, hidden=HIDDEN),
        1,
        np.random.default_rng(0),
    )
    reward = (1 / 0.25) / (2 * 6)
    rewards = reward * np.array([0.4 / 0.25 + 0.1 / 0.125, 0.1 / 0.25 + 0.2 / 0.125, 0.1 / 0.25 + 0.1 / 0.125])
    least = math.sqrt(math.log(3) / 15)
    weights = np.exp(least / 2 * (rewards + math.sqrt(math.log(6 / 0.1) / 15) / np.array([0.5, 0.3, 0.2])))
    state = bandit.state_dict()
    assert state["weights"] == pytest.approx((3 * weights / weights.sum()).tolist())
    expected = (1 - 3 * least) * weights / weights.sum() + least
    assert state["mixture"] == pytest.approx(expected.tolist())
    waiting = [node for node, *_ in state["waiting"]]
    assert waiting[0] == 2
    assert 0 not in waiting
    assert 1 not in waiting


def test_weights_are_kept_and_change_only_with_new_labels(start: QueryContext, make_context: MakeContext) -> None:
    bandit = get_strategy("anrmab")
    first = bandit.select(start, 2, np.random.default_rng(0)).tolist()
    assert bandit.state_dict()["weights"] == [1, 1, 1]
    predicted = [int(np.argmax(P[node])) for node in first]
    later = make_context(6, EDGES, labelled=[5, *first], labels=[0, *predicted], probabilities=P, hidden=HIDDEN)
    bandit.select(later, 1, np.random.default_rng(1))
    learnt = bandit.state_dict()["weights"]
    assert learnt != [1, 1, 1]
    assert sum(learnt) == pytest.approx(3)
    bandit.select(later, 1, np.random.default_rng(2))
    assert bandit.state_dict()["weights"] == learnt


@pytest.mark.parametrize(
    "change",
    [
        {"weights": [1.0, 1.0]},
        {"weights": [1.0, 1.0, -1.0]},
        {"mixture": [0.5, 0.5, math.nan]},
        {"odds": []},
        {"waiting": [[0, 0.5]]},
    ],
)
def test_invalid_state_is_refused(change: dict[str, list[float]]) -> None:
    state = {"weights": [1.0, 1.0, 1.0], "odds": [[0, 0.5]], "waiting": [[0, 0.5, 0.25, 0.25]]}
    ANRMAB().load_state_dict(state)
    with pytest.raises(ValueError):
        ANRMAB().load_state_dict(state | change)


def test_no_arm_falls_below_the_minimum_share(start: QueryContext) -> None:
    bandit = ANRMAB(rounds=100)
    bandit.load_state_dict({"weights": [3.0, 0.0, 0.0]})
    bandit.select(start, 1, np.random.default_rng(0))
    assert bandit.state_dict()["mixture"][1:] == pytest.approx([math.sqrt(math.log(3) / 300)] * 2)
    assert sum(bandit.state_dict()["mixture"]) == pytest.approx(1)


def test_race_draws_all_candidates_by_their_odds() -> None:
    odds = np.array([0.5, 0.3, 0.2, 0.0])
    generator = np.random.default_rng(0)
    orders = np.array([_race(odds, generator) for _ in range(6000)])
    np.testing.assert_allclose(np.bincount(orders[:, 0], minlength=4) / 6000, odds, atol=0.02)
    second = np.bincount(orders[orders[:, 0] == 0, 1], minlength=4) / np.count_nonzero(orders[:, 0] == 0)
    np.testing.assert_allclose(second, [0, 0.6, 0.4, 0], atol=0.03)
    assert (orders[:, 3] == 3).all()
