"""The experiment: choose nodes by FeatProp and at random, train a GCN on their labels, score it on all other nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from featprop.graph import Graph
from featprop.models import GCN
from featprop.progress import listening, tracked
from featprop.selection import Selection, select

__all__ = ["Comparison", "Scores", "compare"]


@dataclass(frozen=True, eq=False)
class Scores:
    """One metric of one strategy in percent, one row a budget and one column a seed."""

    percent: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over the seeds, one a budget."""
        return np.asarray(self.percent.mean(axis=1))

    @property
    def deviation(self) -> NDArray[np.float64]:
        """The standard deviation over the seeds, one a budget; 0 where there is one seed only."""
        seeds = self.percent.shape[1]
        return np.asarray(self.percent.std(axis=1, ddof=1)) if seeds > 1 else np.zeros(len(self.percent))

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard error of the mean, one a budget."""
        return np.asarray(self.deviation / np.sqrt(self.percent.shape[1]))


@dataclass(frozen=True, eq=False)
class Comparison:
    """The scores by strategy (``featprop``, ``random``) and by metric.

    Attributes
    ----------
    budgets
        The numbers of labels, ascending: the rows of the scores.
    n_seeds
        The number of runs: the columns of the scores.
    accuracy, macro_f1
        The scores of each strategy.
    """

    budgets: tuple[int, ...]
    n_seeds: int
    accuracy: dict[str, Scores]
    macro_f1: dict[str, Scores]


def compare(graph: Graph, budgets: Sequence[int], seeds: int) -> Comparison:
    """Run every strategy at every budget with the seeds 0 to `seeds` - 1.

    A seed fixes the initial weights, the dropout and, for random choice, the nodes. FeatProp's nodes do not depend
    on it. One thread does the work: at this size a second one gains nothing, and on a busy machine the two would
    spend minutes waiting for each other.
    """
    strategies = ("featprop", "random")
    chosen = {budget: select(graph, budget) for budget in budgets}
    trials = list(product(strategies, range(len(budgets)), range(seeds)))
    scored = {strategy: np.empty((2, len(budgets), seeds)) for strategy in strategies}
    for strategy, row, seed in tracked(trials, "comparing FeatProp with random choice", len(trials)):
        with listening(_nobody), threadpool_limits(limits=1):
            budget = budgets[row]
            picks = chosen[budget] if strategy == "featprop" else select(graph, budget, strategy=strategy, seed=seed)
            scored[strategy][:, row, seed] = _score(graph, picks, seed)
    accuracy, macro_f1 = ({name: Scores(100 * scored[name][metric]) for name in strategies} for metric in (0, 1))
    return Comparison(tuple(budgets), seeds, accuracy, macro_f1)


def _score(graph: Graph, picks: Selection, seed: int) -> tuple[float, float]:
    """Train on the labels of the picks; return accuracy and Macro-F1 over all other nodes."""
    names = np.array(graph.class_names())
    predicted = GCN(seed=seed).fit(graph, picks.nodes, names[picks.positions]).predict(graph)
    rest = np.setdiff1d(np.arange(graph.n_nodes), picks.positions)
    truth, answer = names[rest], predicted[rest]
    return accuracy_score(truth, answer), f1_score(truth, answer, average="macro", zero_division=0)


def _nobody(stage: str, done: int, total: int) -> None:
    """Listen to the stages of one trial, so that the experiment shows as one."""
