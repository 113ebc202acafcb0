"""One tidy table of results, and its means over budgets and seeds.

A cell of a published table is the mean over the budgets, as in the paper. Each seed gives one such mean; tables show
their mean and their standard deviation. Two strategies are compared by a paired t-test over the seeds, because a seed
fixes the initial weights and the initial pool for both.

A strategy may have run with several sets of options, a model with several settings, and one name may stand for several
graphs. Each is a `Variant` with a key such as ``featprop[layers=1]``. The variant without options has the plain name
as its key, and so has an only variant, whatever its options.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from featprop.experiments import paper
from featprop.experiments.results import Result

METRICS = {"macro_f1": "Macro-F1", "micro_f1": "Micro-F1", "accuracy": "Accuracy"}
KEYS = ["dataset", "strategy", "model", "protocol"]
COLUMNS = [
    "budget", "seed", *METRICS, "calibration_error", "mean_distance", "max_distance", "seconds_select",
    "seconds_train", "peak_memory", "schedule",
]  # fmt: skip
"""Columns of the table next to `KEYS`, as in `Result`."""

Details = tuple[str, ...]
"""What a variant adds to its name, such as ``("layers = 1",)``."""


class Curve(NamedTuple):
    """Mean over the seeds for each budget, its standard deviation, and the standard error of the mean."""

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]
    error: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Runs:
    """One metric of one strategy in percent: a row per budget, a column per seed, NaN where there is no result."""

    budgets: tuple[int, ...]
    seeds: tuple[int, ...]
    percent: NDArray[np.float64]

    @property
    def by_seed(self) -> NDArray[np.float64]:
        """Mean over the budgets for each seed; NaN for an incomplete seed."""
        return np.asarray(self.percent.mean(axis=0))

    @property
    def complete(self) -> NDArray[np.float64]:
        """Means of the seeds that have every budget."""
        return self.by_seed[~np.isnan(self.by_seed)]

    @property
    def mean(self) -> float:
        """Mean over budgets and complete seeds; NaN if there is none."""
        return float(self.complete.mean()) if self.complete.size else float("nan")

    @property
    def deviation(self) -> float:
        """Standard deviation over the complete seeds; 0 if there is only one."""
        return float(self.complete.std(ddof=1)) if self.complete.size > 1 else 0.0

    def text(self, place: int) -> str:
        """Return mean ± standard deviation of one budget, or the mean alone if there is only one seed."""
        mean, deviation, _ = (values[place] for values in self.curve())
        return f"{mean:.1f} ± {deviation:.1f}" if len(self.complete) > 1 else f"{mean:.1f}"

    def curve(self) -> Curve:
        """Return the mean and the spread of each budget over the complete seeds; no spread if there is only one."""
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


@dataclass(frozen=True)
class Variant:
    """A data set, strategy or model of the table: its name, what it adds to it, its key, and its title in tables."""

    name: str
    details: Details
    key: str
    title: str

    @property
    def file(self) -> str:
        """The key as a part of a file name."""
        return quote(self.key, safe="[]=,")

    @property
    def note(self) -> str:
        """The details that the title does not show, empty if there are none."""
        return ", ".join(self.details) if self.key == self.name else ""


class Results:
    """The tidy table of results, and lookups in it.

    Parameters
    ----------
    lines
        As `read_results` returns them; of two lines with the same keys, budget and seed, the first counts.

    Attributes
    ----------
    table
        One row per result: the columns `KEYS` and `COLUMNS`.
    datasets, strategies, models
        The variants by key, those of the paper first, in its order.
    """

    def __init__(self, lines: Iterable[Result]) -> None:
        self.lines = list(lines)
        graphs = _graph_details(self.lines)
        schedules = _strategy_details(self.lines)
        names = {line.dataset for line in self.lines}
        datasets = _name_variants(
            zip((line.dataset for line in self.lines), graphs, strict=True),
            lambda name: paper.dataset_title(name, names),
            [*paper.DATASETS, *paper.STAND_INS],
        )
        strategies = _name_variants(
            (
                (line.strategy, details)
                for line, several in zip(self.lines, schedules, strict=True)
                for details in several
            ),
            paper.strategy_title,
            [*paper.STRATEGIES],
        )
        models = _name_variants(
            ((line.model, _details(line.settings)) for line in self.lines), paper.model_title, [*paper.MODELS]
        )
        self.datasets, self.strategies, self.models = (
            {variant.key: variant for variant in kind.values()} for kind in (datasets, strategies, models)
        )
        rows = [
            (
                datasets[line.dataset, graph].key,
                strategies[line.strategy, details].key,
                models[line.model, _details(line.settings)].key,
                line.protocol,
                *(getattr(line, column) for column in COLUMNS),
                number,
            )
            for number, (line, graph, several) in enumerate(zip(self.lines, graphs, schedules, strict=True))
            for details in several
        ]
        whole = pd.DataFrame(rows, columns=[*KEYS, *COLUMNS, "line"])
        self.table = whole.drop_duplicates([*KEYS, "budget", "seed"])
        self._no_rows = self.table[:0]
        self._groups = dict(iter(self.table.groupby(KEYS, sort=False)))
        self.budgets_of = lru_cache(maxsize=None)(self._budgets_of)

    def of(self, dataset: str, strategy: str, model: str, protocol: str) -> pd.DataFrame:
        """Return the rows of one strategy on one data set."""
        return self._groups.get((dataset, strategy, model, protocol), self._no_rows)

    def _budgets_of(self, dataset: str, model: str, protocol: str) -> tuple[int, ...]:
        """Return the budgets of a mean: those for which more than half of the strategies have results."""
        each = [set(self.of(dataset, name, model, protocol).budget) for name in self.strategies]
        counts = Counter(budget for budgets in each for budget in budgets)
        return tuple(sorted(int(budget) for budget, count in counts.items() if 2 * count > sum(map(bool, each))))

    def budgets_text(self, model: str, protocol: str) -> str:
        """Return the budgets of the means as text, by data set if they differ."""
        by_budgets: dict[tuple[int, ...], list[str]] = {}
        for dataset, variant in self.datasets.items():
            if budgets := self.budgets_of(dataset, model, protocol):
                by_budgets.setdefault(budgets, []).append(variant.title)
        texts = {", ".join(map(str, budgets)): names for budgets, names in by_budgets.items()}
        if len(texts) == 1:
            return next(iter(texts))
        return "; ".join(f"{text} ({', '.join(names)})" for text, names in texts.items())

    def runs(self, metric: str, dataset: str, strategy: str, model: str, protocol: str) -> Runs | None:
        """Return one metric of one strategy on one data set over `budgets_of` it; None without results."""
        budgets, rows = self.budgets_of(dataset, model, protocol), self.of(dataset, strategy, model, protocol)
        is_counted = np.isin(rows.budget, budgets)
        if not is_counted.any():
            return None
        seeds, places = np.unique(rows.seed[is_counted], return_inverse=True)
        percent = np.full((len(budgets), len(seeds)), np.nan)
        percent[np.searchsorted(budgets, rows.budget[is_counted]), places] = 100 * rows[metric][is_counted]
        return Runs(budgets, tuple(seeds.tolist()), percent)


def _name_variants(
    found: Iterable[tuple[str, Details]], title_of: Callable[[str], str], first: Sequence[str]
) -> dict[tuple[str, Details], Variant]:
    """Return a variant for each name with each of its details; the names in `first` come first, in its order."""
    places = {name: place for place, name in enumerate(first)}
    pairs = sorted(set(found), key=lambda pair: (places.get(pair[0], len(places)), pair))
    counts = Counter(name for name, _ in pairs)
    variants = {}
    for name, details in pairs:
        key, title = name, title_of(name)
        if details and counts[name] > 1:
            key = f"{name}[{','.join(detail.replace(' = ', '=') for detail in details)}]"
            opened = f"{title[:-1]}, " if title.endswith(")") else f"{title} ("
            title = f"{opened}{', '.join(details)})"
        variants[name, details] = Variant(name, details, key, title)
    return variants


def _details(content: Mapping[str, Any]) -> Details:
    return tuple(f"{name} = {value}" for name, value in sorted(content.items()))


def _graph_details(lines: Sequence[Result]) -> list[Details]:
    """Return the start of each line's fingerprint where its data set has several graphs."""
    counts = Counter(name for name, graph in {(line.dataset, line.graph) for line in lines} if graph)
    return [(line.graph[:6],) if line.graph and counts[line.dataset] > 1 else () for line in lines]


def _strategy_details(lines: Sequence[Result]) -> list[list[Details]]:
    """Return the options of each line's strategy, and its schedule where one graph has several.

    A strategy that looks at a model reaches a budget through smaller ones. Two schedules on one graph are two variants;
    a line that both have in common belongs to both. The paper's schedule is not spelled out.
    """
    places = [
        (line.strategy, _details(line.options), line.dataset, line.graph, line.model, _details(line.settings))
        for line in lines
    ]
    found: dict[Any, set[tuple[int, ...]]] = {}
    for line, place in zip(lines, places, strict=True):
        found.setdefault(place, set()).add(tuple(line.schedule))
    full = {
        place: [one for one in several if not any(other != one and other[: len(one)] == one for other in several)]
        for place, several in found.items()
    }
    split = {place[:2] for place, several in full.items() if len(several) > 1}
    details: list[list[Details]] = []
    for line, place in zip(lines, places, strict=True):
        options = place[1]
        shown = [
            one if place[:2] in split and one != paper.BUDGETS[: len(one)] else ()
            for one in full[place]
            if one[: len(line.schedule)] == tuple(line.schedule)
        ]
        details.append([(*options, f"budgets = {'-'.join(map(str, one))}") if one else options for one in shown])
    return details
