"""One tidy table of results, and its means over budgets and seeds.

A cell of a published table is the mean over the budgets, as in the paper. Each seed gives one such mean; tables show
their mean and their standard deviation. Two strategies are compared by a paired t-test over the seeds, because a seed
fixes the initial weights and the initial pool for both.

A strategy may have run with several sets of options, a model with several settings, and one name may stand for several
graphs. Each is a `Variant` with a key such as ``featprop[layers=1]``. The variant without options has the plain name
as its key, and so has an only variant, whatever its options.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import ttest_rel

from featprop.errors import FileError
from featprop.experiments import paper
from featprop.experiments.results import Result

METRICS = {"macro_f1": "Macro-F1", "micro_f1": "Micro-F1", "accuracy": "Accuracy"}
KEYS = ["dataset", "strategy", "model", "protocol"]
COLUMNS = [
    "budget", "seed", *METRICS, "calibration_error", "mean_distance", "max_distance", "seconds_select",
    "seconds_train", "peak_memory", "schedule", "nodes",
]  # fmt: skip
"""Columns of the table next to `KEYS`, as in `Result`."""

Details = tuple[str, ...]
"""What a variant adds to its name, such as ``("layers = 1",)``."""


@dataclass(frozen=True, eq=False)
class Runs:
    """One metric of one strategy in percent: a row per budget, a column per seed."""

    budgets: tuple[int, ...]
    seeds: tuple[int, ...]
    percent: NDArray[np.float64]

    @property
    def by_seed(self) -> NDArray[np.float64]:
        """Mean over the budgets for each seed."""
        return np.asarray(self.percent.mean(axis=0))

    @property
    def mean(self) -> float:
        """Mean over budgets and seeds."""
        return float(self.by_seed.mean())

    @property
    def deviation(self) -> float:
        """Standard deviation over the seeds; 0 if there is only one."""
        return float(self.by_seed.std(ddof=1)) if len(self.seeds) > 1 else 0.0

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean over the seeds for each budget."""
        return np.asarray(self.percent.mean(axis=1))

    @property
    def deviations(self) -> NDArray[np.float64]:
        """Standard deviation over the seeds for each budget; 0 if there is only one seed."""
        return np.asarray(self.percent.std(axis=1, ddof=1)) if len(self.seeds) > 1 else np.zeros(len(self.budgets))

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard error of `means`."""
        return np.asarray(self.deviations / np.sqrt(len(self.seeds)))

    def text(self, places: int) -> str:
        """Return the mean and, with several seeds, the standard deviation."""
        return self._join(self.mean, self.deviation, places)

    def texts(self, places: int) -> list[str]:
        """Return the mean and, with several seeds, the standard deviation for each budget."""
        return [self._join(*pair, places) for pair in zip(self.means, self.deviations, strict=True)]

    def _join(self, mean: float, deviation: float, places: int) -> str:
        return f"{mean:.{places}f} ± {deviation:.{places}f}" if len(self.seeds) > 1 else f"{mean:.{places}f}"


def paired_test(best: Runs, other: Runs) -> float | None:
    """Return the p-value of a paired t-test of the means by seed; None with fewer than two seeds in common."""
    common = sorted(set(best.seeds) & set(other.seeds))
    if len(common) < 2:
        return None
    first, second = (runs.by_seed[[runs.seeds.index(seed) for seed in common]] for runs in (best, other))
    gaps = first - second
    if np.ptp(gaps) < 1e-12:
        return 1.0 if abs(gaps[0]) < 1e-12 else 0.0
    return float(ttest_rel(first, second).pvalue)


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

    `table` has one row per result: the columns `KEYS` and `COLUMNS`. `datasets`, `strategies` and `models` are the
    variants by key, those of the paper first, in its order. Of two lines with the same keys, budget and seed, the first
    counts.
    """

    def __init__(self, lines: Iterable[Result]) -> None:
        self.lines = list(lines)
        self.table = pd.DataFrame(list(map(vars, self.lines)), columns=[*KEYS, *COLUMNS])
        names = {line.dataset for line in self.lines}
        graphs = Counter(name for name, graph in {(line.dataset, line.graph) for line in self.lines} if graph)
        several = [(line.graph[:6],) if line.graph and graphs[line.dataset] > 1 else () for line in self.lines]
        self.datasets = self._name_variants(
            "dataset", several, lambda name: paper.dataset_title(name, names), [*paper.DATASETS, *paper.STAND_INS]
        )
        options = [_details(line.options) for line in self.lines]
        self.strategies = self._name_variants("strategy", options, paper.strategy_title, [*paper.STRATEGIES])
        settings = [_details(line.settings) for line in self.lines]
        self.models = self._name_variants("model", settings, lambda name: paper.MODELS.get(name, name), [*paper.MODELS])
        _check_schedules(self.table)
        self.table = self.table.drop_duplicates([*KEYS, "budget", "seed"])
        self._groups = dict(iter(self.table.groupby(KEYS, sort=False)))
        self._budgets = {
            key: tuple(counts.index[2 * counts > rows.strategy.nunique()].tolist())
            for key, rows in self.table.groupby(["dataset", "model", "protocol"])
            for counts in [rows.groupby("budget").strategy.nunique()]
        }

    def _name_variants(
        self, column: str, details: Sequence[Details], title_of: Callable[[str], str], first: Sequence[str]
    ) -> dict[str, Variant]:
        """Replace the names in a column by the keys of their variants; return these, the names in `first` first."""
        places = {name: place for place, name in enumerate(first)}
        pairs = list(zip(self.table[column].tolist(), details, strict=True))
        ordered = sorted(set(pairs), key=lambda pair: (places.get(pair[0], len(places)), pair))
        counts = Counter(name for name, _ in ordered)
        variants = {}
        for name, added in ordered:
            key, title = name, title_of(name)
            if added and counts[name] > 1:
                key = f"{name}[{','.join(detail.replace(' = ', '=') for detail in added)}]"
                opened = f"{title[:-1]}, " if title.endswith(")") else f"{title} ("
                title = f"{opened}{', '.join(added)})"
            variants[name, added] = Variant(name, added, key, title)
        self.table[column] = [variants[pair].key for pair in pairs]
        return {variant.key: variant for variant in variants.values()}

    def of(self, dataset: str, strategy: str, model: str, protocol: str) -> pd.DataFrame:
        """Return the rows of one strategy on one data set."""
        return self._groups.get((dataset, strategy, model, protocol), self.table[:0])

    def select(self, dataset: str, model: str, protocol: str) -> pd.DataFrame:
        """Return the rows of all strategies on one data set."""
        rows = self.table
        return rows[(rows.dataset == dataset) & (rows.model == model) & (rows.protocol == protocol)]

    def budgets_of(self, dataset: str, model: str, protocol: str) -> tuple[int, ...]:
        """Return the budgets of a mean: those for which more than half of the strategies have results."""
        return self._budgets.get((dataset, model, protocol), ())

    def budgets_text(self, model: str, protocol: str) -> str:
        """Return the budgets of the means as text, by data set if they differ."""
        titles = defaultdict(list)
        for dataset, variant in self.datasets.items():
            if budgets := self.budgets_of(dataset, model, protocol):
                titles[", ".join(map(str, budgets))].append(variant.title)
        if len(titles) == 1:
            return next(iter(titles))
        return "; ".join(f"{text} ({', '.join(names)})" for text, names in titles.items())

    def runs(self, metric: str, dataset: str, strategy: str, model: str, protocol: str) -> Runs | None:
        """Return one metric over `budgets_of`, of the seeds that have a result for each; None if there is no seed."""
        budgets, rows = self.budgets_of(dataset, model, protocol), self.of(dataset, strategy, model, protocol)
        percent = 100 * rows.pivot(index="budget", columns="seed", values=metric).reindex(budgets).dropna(axis=1)
        return None if percent.empty else Runs(budgets, tuple(percent.columns.tolist()), np.array(percent, order="C"))

    def all_runs(self, metric: str, model: str, protocol: str) -> dict[str, dict[str, Runs]]:
        """Return the runs by data set and strategy, without those that have no results."""
        found = {
            dataset: {
                name: runs for name in self.strategies if (runs := self.runs(metric, dataset, name, model, protocol))
            }
            for dataset in self.datasets
        }
        return {dataset: runs for dataset, runs in found.items() if runs}


def _check_schedules(table: pd.DataFrame) -> None:
    """Refuse results in which a strategy reached its budgets through different smaller ones."""
    for (dataset, strategy, _), schedules in table.groupby(["dataset", "strategy", "model"]).schedule:
        longest = max(schedules, key=len)
        if any(each != longest[: len(each)] for each in set(schedules)):
            raise FileError(
                f"The results of {strategy} on {dataset} were made with different lists of budgets.",
                hint="Keep them in separate folders, and make a report of each.",
                value=strategy,
            )


def _details(content: Mapping[str, Any]) -> Details:
    return tuple(f"{name} = {value}" for name, value in sorted(content.items()))
