"""From settings to pieces of work that one process does from beginning to end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from featprop.datasets import find, is_known
from featprop.experiments.lines import Cell
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.settings import Settings
from featprop.strategies import strategy_class

__all__ = ["Task", "canonical", "merged", "tasks_of"]

TOGETHER = 5
"""Seeds trained as one model. A fixed number, so that more seeds later leave the earlier ones as they are."""


@dataclass(frozen=True)
class Task:
    """One strategy on one data set, over all budgets, for a few seeds.

    Attributes
    ----------
    dataset, strategy
        Their names.
    models
        A strategy that looks at the model is run for one model; another chooses once for all of them.
    budgets
        Ascending.
    seeds
        Those to train together.
    epochs
        Of every training.
    options
        Of the strategy.
    """

    dataset: str
    strategy: str
    models: tuple[str, ...]
    budgets: tuple[int, ...]
    seeds: tuple[int, ...]
    epochs: int = 200
    options: Mapping[str, Any] = field(default_factory=dict)

    def cells(self, budget: int | None = None) -> Iterator[Cell]:
        """Yield the cells, of one budget or of all."""
        budgets = self.budgets if budget is None else (budget,)
        for amount, seed, model, protocol in product(budgets, self.seeds, self.models, PROTOCOLS):
            yield Cell(self.dataset, self.strategy, amount, seed, model, protocol)

    def __str__(self) -> str:
        models = " and ".join(self.models)
        return f"{self.dataset}, {self.strategy}, {models}, seeds {self.seeds[0]} to {self.seeds[-1]}"


def tasks_of(settings: Settings, datasets: list[str]) -> list[Task]:
    """Return the work of the settings on those of their data sets that are here, as the settings order it."""
    seeds = range(settings.seeds)
    blocks = [tuple(seeds[start : start + TOGETHER]) for start in seeds[::TOGETHER]]
    tasks = []
    for dataset, strategy in product(datasets, settings.strategies):
        places = settings.only.get(strategy, settings.datasets)
        if dataset not in {
            canonical(name) for place in places for name in (place, settings.stand_ins.get(place, place))
        }:
            continue
        models = tuple(settings.models)
        apart = [(model,) for model in models] if strategy_class(strategy).needs else [models]
        options = dict(settings.options.get(strategy, {}))
        tasks += [
            Task(dataset, strategy, kinds, tuple(settings.budgets), block, settings.epochs, options)
            for kinds, block in product(apart, blocks)
        ]
    return tasks


def canonical(name: str) -> str:
    """Return the name of a data set as the catalogue has it, that of a graph on disk as it is."""
    return find(name).name if not Path(name).exists() and is_known(name) else name


def merged(tasks: list[Task]) -> list[Task]:
    """Return the tasks without repeats; a strategy that looks at no model chooses once for the models of all."""
    by_choice: dict[Any, Task] = {}
    for task in tasks:
        shape = (task.dataset, task.strategy, task.budgets, task.seeds, task.epochs, repr(sorted(task.options.items())))
        choice = (*shape, task.models if strategy_class(task.strategy).needs else ())
        models = by_choice[choice].models if choice in by_choice else ()
        by_choice[choice] = replace(task, models=tuple(dict.fromkeys(models + task.models)))
    return list(by_choice.values())
