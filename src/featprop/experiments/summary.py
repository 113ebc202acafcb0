"""From lines to the numbers of a table: over budgets, over seeds, against each other.

A cell of a table is the mean over the budgets, as in the paper. Each seed gives one such mean; the table shows their
mean and their standard deviation. Two strategies are compared by a paired t-test over the seeds, as a seed fixes the
initial weights and the initial pool for both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from featprop.experiments.lines import Line
from featprop.experiments.paper import DATASETS, STAND_INS, STRATEGIES, title_of

__all__ = ["METRICS", "Results", "Runs", "paired_test"]

METRICS = {"macro_f1": "Macro-F1", "micro_f1": "Micro-F1", "accuracy": "Accuracy"}


@dataclass(frozen=True, eq=False)
class Runs:
    """One metric of one strategy in percent: one row a budget, one column a seed; NaN where no line is."""

    budgets: tuple[int, ...]
    seeds: tuple[int, ...]
    percent: NDArray[np.float64]

    @property
    def by_seed(self) -> NDArray[np.float64]:
        """The mean over the budgets, one a seed; NaN for a seed that is not complete."""
        return np.asarray(self.percent.mean(axis=0))

    @property
    def complete(self) -> NDArray[np.float64]:
        """Those means of the seeds that have every budget."""
        return self.by_seed[~np.isnan(self.by_seed)]

    @property
    def mean(self) -> float:
        """The mean over budgets and complete seeds; NaN if there is none."""
        return float(self.complete.mean()) if self.complete.size else float("nan")

    @property
    def deviation(self) -> float:
        """The standard deviation over the complete seeds; 0 if there is one only."""
        return float(self.complete.std(ddof=1)) if self.complete.size > 1 else 0.0

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the mean and the standard error of each budget, over the complete seeds."""
        kept = self.percent[:, ~np.isnan(self.by_seed)]
        spread = kept.std(axis=1, ddof=1) / np.sqrt(kept.shape[1]) if kept.shape[1] > 1 else np.zeros(len(kept))
        return np.asarray(kept.mean(axis=1)), np.asarray(spread)


def paired_test(best: Runs, other: Runs) -> float | None:
    """Return the p-value of a paired t-test of the means by seed; None with fewer than two seeds in common."""
    common = sorted(set(best.seeds) & set(other.seeds))
    pairs = np.array([[runs.by_seed[runs.seeds.index(seed)] for seed in common] for runs in (best, other)])
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)] if common else np.empty((2, 0))
    if pairs.shape[1] < 2:
        return None
    gaps = pairs[0] - pairs[1]
    if np.ptp(gaps) < 1e-12:
        return 1.0 if abs(gaps[0]) < 1e-12 else 0.0
    return float(ttest_rel(pairs[0], pairs[1]).pvalue)


class Results:
    """The lines of a folder, ready to be looked up.

    Parameters
    ----------
    lines
        As `read_lines` returns them.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.lines = list(lines)

    @cached_property
    def datasets(self) -> list[str]:
        """Those of the paper first, in its order, a stand-in at the place of what it stands for."""
        order = [*DATASETS]
        return _ordered({line.dataset for line in self.lines}, order, lambda name: STAND_INS.get(name, name))

    @cached_property
    def strategies(self) -> list[str]:
        """Those of the paper first, in its order."""
        return _ordered({line.strategy for line in self.lines}, [*STRATEGIES], lambda name: name)

    @cached_property
    def models(self) -> list[str]:
        """The models that occur."""
        return sorted({line.model for line in self.lines})

    @cached_property
    def budgets(self) -> tuple[int, ...]:
        """All budgets that occur."""
        return tuple(sorted({line.budget for line in self.lines}))

    @cached_property
    def _groups(self) -> dict[tuple[str, str, str, str], list[Line]]:
        groups: dict[tuple[str, str, str, str], list[Line]] = {}
        for line in self.lines:
            groups.setdefault((line.dataset, line.strategy, line.model, line.protocol), []).append(line)
        return groups

    def of(self, dataset: str, strategy: str, model: str, protocol: str) -> list[Line]:
        """Return the lines of one strategy on one data set."""
        return self._groups.get((dataset, strategy, model, protocol), [])

    def budgets_of(self, dataset: str, model: str, protocol: str) -> tuple[int, ...]:
        """Return the budgets to take the mean over: those that more than half of the strategies have lines of."""
        each = [{line.budget for line in self.of(dataset, name, model, protocol)} for name in self.strategies]
        counts = Counter(budget for budgets in each for budget in budgets)
        return tuple(sorted(budget for budget, count in counts.items() if 2 * count > sum(map(bool, each))))

    def budgets_text(self, model: str, protocol: str) -> str:
        """Return the budgets that means are taken over in words, by data set if they differ."""
        by_budgets: dict[tuple[int, ...], list[str]] = {}
        for dataset in self.datasets:
            if budgets := self.budgets_of(dataset, model, protocol):
                by_budgets.setdefault(budgets, []).append(title_of(dataset))
        texts = {", ".join(map(str, budgets)): names for budgets, names in by_budgets.items()}
        if len(texts) == 1:
            return next(iter(texts))
        return "; ".join(f"{text} ({', '.join(names)})" for text, names in texts.items())

    def runs(self, metric: str, dataset: str, strategy: str, model: str, protocol: str) -> Runs | None:
        """Return one metric of one strategy on one data set, over `budgets_of` it; None without lines."""
        budgets = self.budgets_of(dataset, model, protocol)
        lines = [line for line in self.of(dataset, strategy, model, protocol) if line.budget in budgets]
        if not lines:
            return None
        seeds = tuple(sorted({line.seed for line in lines}))
        percent = np.full((len(budgets), len(seeds)), np.nan)
        for line in lines:
            percent[budgets.index(line.budget), seeds.index(line.seed)] = 100 * getattr(line, metric)
        return Runs(budgets, seeds, percent)


def _ordered(names: set[str], order: Sequence[str], place: object) -> list[str]:
    assert callable(place)
    return sorted(names, key=lambda name: (order.index(place(name)) if place(name) in order else len(order), name))
