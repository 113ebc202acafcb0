"""Trials: the units of work that one process performs from start to finish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path

from featprop.datasets import find, is_known
from featprop.experiments.results import Cell
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.settings import Settings, Spec
from featprop.strategies import get_strategy, strategy_class

SEEDS_PER_TRIAL = 5
"""Seeds trained as one batch: a fixed number, so adding seeds later does not change the earlier ones."""


@dataclass(frozen=True)
class Trial:
    """One strategy on one data set, over all budgets, for a few seeds.

    A strategy that looks at a model has a trial for each model; any other strategy selects once for all models.

    Attributes
    ----------
    dataset, graph
        Name of the data set, and fingerprint of its graph.
    strategy, models
        With their options and settings.
    budgets
        Ascending.
    seeds
        Seeds to train as one batch.
    """

    dataset: str
    graph: str
    strategy: Spec
    models: tuple[Spec, ...]
    budgets: tuple[int, ...]
    seeds: tuple[int, ...]

    @property
    def looks_at_model(self) -> bool:
        """Whether the strategy looks at a model, so that its pool grows from budget to budget."""
        return strategy_class(self.strategy.name).looks_at_model()

    def schedule(self, budget: int) -> tuple[int, ...]:
        """Return the numbers of labels at which the strategy is asked up to a budget; empty without a model."""
        if not self.looks_at_model:
            return ()
        strategy = get_strategy(self.strategy.name, **self.strategy.options)
        reached = [each for each in self.budgets if each <= budget]
        return tuple(size for before, after in pairwise([0, *reached]) for size in strategy.steps(before, after))

    def cells(self, budget: int | None = None) -> Iterator[Cell]:
        """Yield the cells of one budget or of all budgets."""
        budgets = self.budgets if budget is None else (budget,)
        for amount, seed, model, protocol in product(budgets, self.seeds, self.models, PROTOCOLS):
            specs = (self.strategy.name, self.strategy.key, model.name, model.key)
            yield Cell(self.graph, *specs, self.schedule(amount), amount, seed, protocol)

    def __str__(self) -> str:
        models = " and ".join(map(str, self.models))
        return f"{self.dataset}, {self.strategy}, {models}, seeds {self.seeds[0]} to {self.seeds[-1]}"


def plan_trials(settings: Settings, graphs: dict[str, str]) -> list[Trial]:
    """Return the trials of the settings on the available data sets.

    Parameters
    ----------
    settings
        What to run.
    graphs
        Fingerprint of each available data set, by its name.
    """
    seeds, models = range(settings.seeds), tuple({str(spec): spec for spec in settings.model_specs()}.values())
    batches = [tuple(seeds[start : start + SEEDS_PER_TRIAL]) for start in seeds[::SEEDS_PER_TRIAL]]
    trials = []
    strategies = {str(spec): spec for spec in settings.strategy_specs()}
    for dataset, strategy in product(graphs, strategies.values()):
        places = settings.only.get(strategy.name, settings.datasets)
        if dataset in {
            canonical_name(name) for place in places for name in (place, settings.stand_ins.get(place, place))
        }:
            several = [(model,) for model in models] if strategy_class(strategy.name).looks_at_model() else [models]
            trials += [
                Trial(dataset, graphs[dataset], strategy, specs, tuple(settings.budgets), batch)
                for specs, batch in product(several, batches)
            ]
    return trials


def canonical_name(name: str) -> str:
    """Return the catalogue's spelling of a data set; paths of graphs stay as they are."""
    return find(name).name if not Path(name).exists() and is_known(name) else name
