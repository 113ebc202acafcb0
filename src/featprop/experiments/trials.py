"""From settings to pieces of work that one process does from beginning to end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from featprop.datasets import find, is_known
from featprop.experiments.entrants import Entrant
from featprop.experiments.results import Cell
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.settings import Settings
from featprop.strategies import get_strategy, strategy_class

__all__ = ["Trial", "canonical", "merged", "trials_of"]

SEEDS_AT_ONCE = 5
"""Seeds trained as one model. A fixed number, so that more seeds later leave the earlier ones as they are."""


@dataclass(frozen=True)
class Trial:
    """One strategy on one data set, over all budgets, for a few seeds.

    Attributes
    ----------
    dataset
        Its name.
    graph
        The fingerprint of the graph it is.
    strategy
        With its options.
    models
        With their settings. A strategy that looks at the model is run for one model; another chooses once for all.
    budgets
        Ascending.
    seeds
        Those to train as one.
    """

    dataset: str
    graph: str
    strategy: Entrant
    models: tuple[Entrant, ...]
    budgets: tuple[int, ...]
    seeds: tuple[int, ...]

    @property
    def looks_at_model(self) -> bool:
        """Whether the strategy looks at a model, and so grows its pool from budget to budget."""
        return strategy_class(self.strategy.name).looks_at_model()

    def schedule(self, budget: int) -> tuple[int, ...]:
        """Return the numbers of labels at which a strategy with a model is asked, up to this budget.

        Those are the budgets, and those between that the strategy goes over; none for a strategy without a model.
        """
        if not self.looks_at_model:
            return ()
        strategy = get_strategy(self.strategy.name, **self.strategy.options)
        reached = [each for each in self.budgets if each <= budget]
        return tuple(size for before, after in pairwise([0, *reached]) for size in strategy.steps(before, after))

    def cell(self, budget: int, seed: int, model: Entrant, protocol: str) -> Cell:
        """Return one cell."""
        inside = (self.strategy.name, self.strategy.key, model.name, model.key, self.schedule(budget))
        return Cell(self.graph, *inside, budget, seed, protocol)

    def cells(self, budget: int | None = None) -> Iterator[Cell]:
        """Yield the cells, of one budget or of all."""
        budgets = self.budgets if budget is None else (budget,)
        for amount, seed, model, protocol in product(budgets, self.seeds, self.models, PROTOCOLS):
            yield self.cell(amount, seed, model, protocol)

    def __str__(self) -> str:
        models = " and ".join(map(str, self.models))
        return f"{self.dataset}, {self.strategy}, {models}, seeds {self.seeds[0]} to {self.seeds[-1]}"


def trials_of(settings: Settings, graphs: dict[str, str]) -> list[Trial]:
    """Return the work of the settings on those of their data sets that are here, as the settings order it.

    Parameters
    ----------
    graphs
        The fingerprint of each data set that is here, by its name.
    """
    seeds = range(settings.seeds)
    blocks = [tuple(seeds[start : start + SEEDS_AT_ONCE]) for start in seeds[::SEEDS_AT_ONCE]]
    trials = []
    for dataset, strategy in product(graphs, settings.entrants()):
        places = settings.only.get(strategy.name, settings.datasets)
        if dataset not in {
            canonical(name) for place in places for name in (place, settings.stand_ins.get(place, place))
        }:
            continue
        models = tuple(settings.trained())
        apart = [(model,) for model in models] if strategy_class(strategy.name).looks_at_model() else [models]
        trials += [
            Trial(dataset, graphs[dataset], strategy, kinds, tuple(settings.budgets), block)
            for kinds, block in product(apart, blocks)
        ]
    return trials


def canonical(name: str) -> str:
    """Return the name of a data set as the catalogue has it, that of a graph on disk as it is."""
    return find(name).name if not Path(name).exists() and is_known(name) else name


def merged(trials: list[Trial]) -> list[Trial]:
    """Return the trials without repeats; a strategy that looks at no model chooses once for the models of all."""
    by_choice: dict[Any, Trial] = {}
    for trial in trials:
        shape = (trial.graph, trial.strategy.name, trial.strategy.key, trial.budgets, trial.seeds)
        choice = (*shape, tuple(map(str, trial.models)) if trial.looks_at_model else ())
        models = by_choice[choice].models if choice in by_choice else ()
        new = [model for model in trial.models if model not in models]
        by_choice[choice] = replace(trial, models=(*models, *new))
    return list(by_choice.values())
