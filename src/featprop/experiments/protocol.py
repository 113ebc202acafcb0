"""The paper's protocol, for a few seeds of one strategy on one graph.

A budget is the number of labelled nodes a model is trained on. A strategy that does not look at a model chooses all
of them at once, anew at each budget. A strategy that needs a model starts from 5 nodes drawn at random, which
count: at budget 10 it adds 5, at budget 20 it adds 10 to those, and so on, each time with the model trained on the
pool of the budget before ("if the current budget is 40, the model trained from 20 examples selected by the same AL
method is used"). So every strategy trains on exactly as many labels. The paper does not say whether its 5 count.

A strategy that uses a model as soon as there is one starts from its own first picks, and may be asked more often than
once a budget (its `steps`), each time with the model trained on what is labelled by then.

Nodes are chosen as `featprop.select` chooses them, with the seed of the run. At each budget a fresh model is trained
with that seed. Only nodes whose label is known can be asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.active import build_context, choose
from featprop.errors import LabelError, ParameterError
from featprop.experiments.measuring import Stopwatch, forget_peak, peak_memory, versions
from featprop.experiments.results import Cell, Result
from featprop.experiments.scoring import PROTOCOLS, calibration_error, score
from featprop.experiments.settings import INITIAL_POOL
from featprop.experiments.trained import Trained, train_seeds
from featprop.experiments.trials import Trial
from featprop.graph import UNKNOWN, Graph
from featprop.propagation import Coverage, coverage
from featprop.strategies import get_strategy, strategy_class

__all__ = ["Protocol", "initial_pool"]


@dataclass(frozen=True, eq=False)
class Pool:
    """The nodes labelled at a budget, and how they were chosen."""

    nodes: NDArray[np.intp]
    seconds: float = 0.0
    state: dict[str, Any] = dataclasses.field(default_factory=dict)
    drew: bool = True
    """Whether chance had a part in it; if not, every seed would choose the same."""


def initial_pool(graph: Graph, seed: int) -> NDArray[np.intp]:
    """Return the 5 nodes that a strategy with a model starts from, uniform over the nodes with a known label."""
    known = np.flatnonzero(_truth(graph) != UNKNOWN)
    return np.random.default_rng([seed, 0]).choice(known, size=INITIAL_POOL, replace=False)


class Protocol:
    """One graph, and what the experiments on it share.

    Parameters
    ----------
    graph
        With labels.
    form
        The public form of the data, for the record.
    """

    def __init__(self, graph: Graph, form: str | None = None) -> None:
        self.graph = graph
        self.truth = _truth(graph)
        self.versions = versions() | ({"data": form} if form else {})

    def walk(self, trial: Trial, known: Iterable[Result] = ()) -> Iterator[list[Result]]:
        """Do the cells of a trial that are not among the known results; yield those of one budget at a time.

        The pools of known results are taken over, not chosen again, so what follows is what would have followed.
        """
        if trial.graph != self.graph.fingerprint:
            found = "another graph: it changed while the run was at work"
            raise ParameterError(f"The data set {trial.dataset}", "must stay as it is", found, "run again")
        done = {result.cell: result for result in known}
        pools = _pools_by_choice(done.values(), trial)
        most = int(np.count_nonzero(self.truth != UNKNOWN))
        if trial.budgets[-1] >= most:
            rule = f"must be below {most:,}, the nodes of {trial.dataset} with a label"
            raise ParameterError("budgets", rule, trial.budgets[-1], "name smaller ones with --budgets")
        before = 0
        earlier: dict[int, Trained] = {}
        for budget in trial.budgets:
            if all(cell in done for cell in trial.cells(budget)):
                before, earlier = budget, {}
                continue
            forget_peak()
            chosen = self._pools(trial, budget, before, pools, earlier)
            results: list[Result] = []
            for model in trial.models:
                earlier = train_seeds(model, self.graph, {seed: pool.nodes for seed, pool in chosen.items()})
                results += self._results(trial, budget, model.name, dict(model.options), chosen, earlier)
            before = budget
            yield [result for result in results if result.cell not in done]

    def _pools(
        self,
        trial: Trial,
        budget: int,
        before: int,
        known: Mapping[tuple[int, int], Result],
        earlier: Mapping[int, Trained],
    ) -> dict[int, Pool]:
        """Return the pool of every seed: the recorded one, or a new one."""
        pools = {seed: self._recorded(budget, seed, known) for seed in trial.seeds}
        missing = [seed for seed, pool in pools.items() if pool is None]
        if missing and trial.looks_at_model:
            start = {seed: self._recorded(before, seed, known) or self._first(trial, seed) for seed in trial.seeds}
            for seed, trained in earlier.items():
                start[seed] = Pool(trained.pool, state=trained.state)
            pools |= self._grown(trial, budget, missing, start, earlier)
            return {seed: pool for seed, pool in pools.items() if pool}
        same: Pool | None = None
        for seed in missing:
            pool = same or self._chosen(trial, budget, seed)
            same = None if pool.drew else pool
            pools[seed] = pool
        return {seed: pool for seed, pool in pools.items() if pool}

    def _first(self, trial: Trial, seed: int) -> Pool:
        """Return what a strategy with a model starts from."""
        needed = strategy_class(trial.strategy.name).needs
        return Pool(initial_pool(self.graph, seed) if needed else np.empty(0, dtype=np.intp))

    def _grown(
        self,
        trial: Trial,
        budget: int,
        missing: list[int],
        pools: dict[int, Pool],
        trained: Mapping[int, Trained],
    ) -> dict[int, Pool]:
        """Return larger pools of the missing seeds, chosen step by step with models trained in between.

        The others grow along until the last step: models of all seeds are trained side by side, which decides how
        they are rounded.
        """
        strategy = get_strategy(trial.strategy.name, **trial.strategy.options)
        seconds = dict.fromkeys(pools, 0.0)
        for turn, size in enumerate(strategy.steps(len(next(iter(pools.values())).nodes), budget)):
            watch = Stopwatch()
            if not trained and all(pool.nodes.size for pool in pools.values()):
                trained = train_seeds(trial.models[0], self.graph, {seed: pool.nodes for seed, pool in pools.items()})
            between = watch.lap() / len(pools) if turn else 0.0
            growing = missing if size == budget else list(pools)
            pools = {seed: self._chosen(trial, size, seed, pools[seed], trained.get(seed)) for seed in growing}
            seconds = {seed: seconds[seed] + between + pool.seconds for seed, pool in pools.items()}
            trained = {}
        return {seed: dataclasses.replace(pool, seconds=seconds[seed]) for seed, pool in pools.items()}

    def _recorded(self, budget: int, seed: int, known: Mapping[tuple[int, int], Result]) -> Pool | None:
        if (budget, seed) not in known:
            return None
        result = known[budget, seed]
        return Pool(self.graph.positions(result.nodes), result.seconds_select, result.state)

    def _chosen(
        self, trial: Trial, budget: int, seed: int, start: Pool | None = None, trained: Trained | None = None
    ) -> Pool:
        strategy = get_strategy(trial.strategy.name, **trial.strategy.options)
        if start and start.state:
            strategy.load_state_dict(start.state)
        labelled = start.nodes if start else np.empty(0, dtype=np.intp)
        names = [self.graph.classes[code] for code in self.truth[labelled]]
        known = self.graph.ids[self.truth != UNKNOWN].tolist()
        model = trained.model if trained else None
        watch = Stopwatch()
        context = build_context(self.graph, strategy, self.graph.ids[labelled].tolist(), names, (), known, model, seed)
        choice = choose(strategy, context, budget - len(labelled), seed)
        return Pool(np.concatenate([labelled, choice.picks]), watch.lap(), strategy.state_dict(), choice.drew)

    def _results(
        self,
        trial: Trial,
        budget: int,
        model: str,
        settings: dict[str, Any],
        pools: Mapping[int, Pool],
        trained: Mapping[int, Trained],
    ) -> Iterator[Result]:
        covers: dict[tuple[Hashable, ...], Coverage] = {}
        for seed, pool in pools.items():
            nodes = tuple(self.graph.ids[pool.nodes].tolist())
            if nodes not in covers:
                covers[nodes] = coverage(self.graph, pool.nodes)
            trained[seed].state = pool.state
            for protocol in PROTOCOLS:
                predicted = trained[seed].predicted()
                scores = score(self.truth, predicted, pool.nodes, protocol)
                error = calibration_error(self.truth, predicted, trained[seed].confidence, pool.nodes, protocol)
                yield Result(
                    dataset=trial.dataset,
                    strategy=trial.strategy.name,
                    budget=budget,
                    seed=seed,
                    model=model,
                    protocol=protocol,
                    nodes=nodes,
                    macro_f1=scores.macro_f1,
                    micro_f1=scores.micro_f1,
                    accuracy=scores.accuracy,
                    seconds_select=round(pool.seconds, 4),
                    seconds_train=round(trained[seed].seconds, 4),
                    peak_memory=peak_memory(),
                    mean_distance=covers[nodes].mean_distance,
                    max_distance=covers[nodes].max_distance,
                    calibration_error=error,
                    graph=trial.graph,
                    settings=settings,
                    schedule=trial.schedule(budget),
                    options=dict(trial.strategy.options),
                    state=pool.state,
                    versions=self.versions,
                )


def _pools_by_choice(known: Iterable[Result], trial: Trial) -> dict[tuple[int, int], Result]:
    """Return, by budget and seed, a result whose pool is that of the trial.

    A choice that looked at no model is the same for every model; one that did belongs to its model and its schedule.
    """
    found: dict[tuple[int, int], Result] = {}
    models = {(model.name, model.key) for model in trial.models}
    for result in known:
        cell: Cell = result.cell
        alike = (cell.graph, cell.strategy, cell.options) == (trial.graph, trial.strategy.name, trial.strategy.key)
        followed = (cell.model, cell.settings) in models and cell.schedule == trial.schedule(cell.budget)
        if alike and (followed or not trial.looks_at_model):
            found.setdefault((cell.budget, cell.seed), result)
    return found


def _truth(graph: Graph) -> NDArray[np.int64]:
    if graph.labels is None:
        raise LabelError("The graph", "must have labels to score against", "none", "take a data set with labels")
    return graph.labels
