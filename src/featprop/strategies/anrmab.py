"""ANRMAB: learn the weights of uncertainty, density and centrality with a bandit.

Gao, Yang, Zhou, Wu, Pan, Hu, "Active Discriminative Network Representation Learning" (2018). The three are arms, each
with a distribution q_k over the candidates. With the weights w_k of the arms,

    p_k = (1 - 3 p_min) w_k / Σ w + p_min,    φ = Σ_k p_k q_k

the batch is drawn from φ without replacement. Once they are labelled, the m nodes of the batch give an
importance-weighted reward that updates the weights,

    r = 1/(m n) Σ_i [prediction_i = label_i] / φ_i
    r̂_k = r Σ_{i new} q_k,i / φ_i,    w_k ← w_k exp(p_min / 2 · (r̂_k + 1 / p_k · sqrt(ln(n / δ) / (3 T))))

where T is the number of rounds (the EXP4.P of Beygelzimer et al., 2011).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from featprop.matrix import as_dense
from featprop.options import AtLeast, Between
from featprop.strategies.age import information_density
from featprop.strategies.base import QueryContext, Strategy, register_strategy
from featprop.strategies.pagerank import page_rank
from featprop.strategies.uncertainty import entropy

ARMS = ("entropy", "density", "centrality")


@register_strategy("anrmab")
@dataclass(eq=False)
class ANRMAB(Strategy):
    """Entropy, density and PageRank as arms of a bandit that learns from the labels of each round.

    The object keeps the weights; `state_dict` and `load_state_dict` carry them over, and `featprop.ActiveLearner` saves
    them. Choices the paper leaves open: p_min = sqrt(ln 3 / (3 T)), at most 1/3; nodes that this strategy did not draw
    earn no reward, as they have no φ; a drawn node earns its reward when its label arrives; the weights are scaled to
    sum to 3, which has no effect because only their ratios count.

    Parameters
    ----------
    rounds
        T, the planned number of rounds.
    delta
        δ: the bound of the bandit holds with probability 1 - δ.
    clusters
        Number of K-Means centres for the density; by default, the number of known classes.
    """

    needs = frozenset({"probabilities", "hidden"})
    reference = "Gao et al., IJCAI 2018"
    cost = "a trained model; PageRank, K-Means on the hidden layer, O(n)"

    rounds: Annotated[int, AtLeast(1)] = 10
    delta: Annotated[float, Between(1e-6, 1)] = 0.1
    clusters: Annotated[int | None, AtLeast(1)] = None

    def __post_init__(self) -> None:
        self.load_state_dict({})

    def state_dict(self) -> dict[str, Any]:
        """Return the weights of the arms, the mixture of the last draw, and the probability of each drawn node."""
        return {
            "weights": self._weights.tolist(),
            "mixture": self._mixture.tolist(),
            "odds": [[node, odds] for node, odds in self._odds.items()],
            "waiting": [[node, *shares.tolist()] for node, shares in self._waiting.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Load an earlier state, empty before the first round; raise a `ValueError` if it is invalid."""
        self._weights = _positive(state.get("weights", [1.0] * len(ARMS)))
        self._mixture = _positive(state.get("mixture", [1.0 / len(ARMS)] * len(ARMS)))
        self._odds = {int(node): float(odds) for node, odds in state.get("odds", [])}
        self._waiting = {int(node): _positive(shares) for node, *shares in state.get("waiting", [])}
        if not self._waiting.keys() <= self._odds.keys():
            raise ValueError("a drawn node has no odds")

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> NDArray[np.intp]:
        self._learn(context)
        minimum = self._min_share()
        self._mixture = (1 - len(ARMS) * minimum) * self._weights / self._weights.sum() + minimum
        shares = self._arms(context, generator)
        odds = self._mixture @ shares
        drawn = _race(odds, generator)[:budget]
        nodes = context.candidates[drawn]
        self._odds.update(zip(nodes.tolist(), odds[drawn].tolist(), strict=True))
        self._waiting.update(zip(nodes.tolist(), shares[:, drawn].T, strict=True))
        return nodes

    def _min_share(self) -> float:
        return min(1 / len(ARMS), math.sqrt(math.log(len(ARMS)) / (len(ARMS) * self.rounds)))

    def _arms(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        """Return the three distributions over the candidates, one per row."""
        values = np.stack(
            [
                entropy(context.outputs["probabilities"]),
                information_density(context, self.clusters, generator),
                page_rank(context.graph),
            ]
        )[:, context.candidates]
        totals = values.sum(axis=1, keepdims=True)
        flat = np.full_like(values, 1.0 / values.shape[1])
        return np.asarray(np.divide(values, totals, out=flat, where=totals > 0))

    def _learn(self, context: QueryContext) -> None:
        """Reward the arms for drawn nodes that have new labels."""
        label_of = dict(zip(context.labelled.tolist(), context.labels.tolist(), strict=False))
        new = [node for node in self._waiting if node in label_of]
        if not new:
            return
        drawn = np.array([node for node in self._odds if node in label_of])
        odds = np.array([self._odds[node] for node in drawn.tolist()])
        labels = np.array([label_of[node] for node in drawn.tolist()])
        predicted = as_dense(context.outputs["probabilities"])[drawn].argmax(axis=1)
        n = context.graph.n_nodes
        reward = float(((predicted == labels) / odds).sum()) / (len(drawn) * n)
        shares = np.array([self._waiting.pop(node) for node in new])
        rewards = reward * (shares / np.array([[self._odds[node]] for node in new])).sum(axis=0)
        bonus = math.sqrt(math.log(n / self.delta) / (len(ARMS) * self.rounds)) / self._mixture
        growth = self._min_share() / 2 * (rewards + bonus)
        weights = self._weights * np.exp(growth - growth.max())
        self._weights = len(ARMS) * weights / weights.sum()


def _positive(values: Any) -> NDArray[np.float64]:
    """Return one finite number of at least 0 per arm."""
    found = np.array(values, dtype=np.float64)
    if found.shape != (len(ARMS),) or not np.isfinite(found).all() or found.min() < 0 or not found.any():
        raise ValueError(f"{values} are not the weights of {len(ARMS)} arms")
    return found


def _race(odds: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.intp]:
    """Return a random order, drawn without replacement with these odds; items with odds of 0 come last.

    The order is that of exponential random times whose rates are the odds (Efraimidis and Spirakis, 2006).
    """
    runs = generator.exponential(size=len(odds))
    times = np.divide(runs, odds, out=np.full(len(odds), np.inf), where=odds > 0)
    return np.lexsort([runs, times])
