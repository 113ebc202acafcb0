"""From lines to the numbers of a table: over budgets, over seeds, against each other.

A cell of a table is the mean over the budgets, as in the paper. Each seed gives one such mean; the table shows their
mean and their standard deviation. Two strategies are compared by a paired t-test over the seeds, as a seed fixes the
initial weights and the initial pool for both. What goes by one name and differs in content is kept apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from featprop.experiments import paper
from featprop.experiments.results import Result
from featprop.experiments.variants import graphs_apart, strategies_apart, told, told_apart

__all__ = ["METRICS", "Curve", "Results", "Runs", "paired_test"]

METRICS = {"macro_f1": "Macro-F1", "micro_f1": "Micro-F1", "accuracy": "Accuracy"}


class Curve(NamedTuple):
    """The mean of each budget over the seeds, the standard deviation and the standard error of the mean."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    error: NDArray[np.float64]


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

    def at(self, place: int) -> str:
        """Return mean ± standard deviation of one budget as text, the mean alone if there is one seed only."""
        mean, deviation, _ = (values[place] for values in self.curve())
        return f"{mean:.1f} ± {deviation:.1f}" if len(self.complete) > 1 else f"{mean:.1f}"

    def curve(self) -> Curve:
        """Return the mean and the spread of each budget, over the complete seeds; no spread if there is one only."""
        kept = self.percent[:, ~np.isnan(self.by_seed)]
        spread = kept.std(axis=1, ddof=1) if kept.shape[1] > 1 else np.zeros(len(kept))
        return Curve(np.asarray(kept.mean(axis=1)), np.asarray(spread), np.asarray(spread / np.sqrt(kept.shape[1])))


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
        As `read_results` returns them; of two of one budget and seed that nothing tells apart, the first counts.

    Attributes
    ----------
    datasets, strategies, models
        Those that occur by their keys (see `featprop.experiments.variants`), those of the paper first, in its order.
    """

    def __init__(self, lines: Iterable[Result]) -> None:
        self.lines = list(lines)
        graphs, ways = graphs_apart(self.lines), strategies_apart(self.lines)
        names = {line.dataset for line in self.lines}
        datasets = told_apart(
            ((line.dataset, graph) for line, graph in zip(self.lines, graphs, strict=True)),
            lambda name: paper.title_of(name, names),
            [*paper.DATASETS, *paper.STAND_INS],
        )
        strategies = told_apart(
            ((line.strategy, way) for line, taken in zip(self.lines, ways, strict=True) for way in taken),
            paper.strategy_title,
            [*paper.STRATEGIES],
        )
        models = told_apart(
            ((line.model, told(line.settings)) for line in self.lines), paper.model_title, [*paper.MODELS]
        )
        self.datasets, self.strategies, self.models = (
            {variant.key: variant for variant in kind.values()} for kind in (datasets, strategies, models)
        )
        groups: dict[tuple[str, ...], dict[tuple[int, int], Result]] = {}
        for line, graph, taken in zip(self.lines, graphs, ways, strict=True):
            dataset, model = datasets[line.dataset, graph].key, models[line.model, told(line.settings)].key
            for way in taken:
                group = groups.setdefault((dataset, strategies[line.strategy, way].key, model, line.protocol), {})
                group.setdefault((line.budget, line.seed), line)
        self._groups = {key: list(group.values()) for key, group in groups.items()}

    def of(self, dataset: str, strategy: str, model: str, protocol: str) -> list[Result]:
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
                by_budgets.setdefault(budgets, []).append(self.datasets[dataset].title)
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
