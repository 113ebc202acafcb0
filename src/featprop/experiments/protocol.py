"""The paper's protocol, for a few seeds of one strategy on one graph.

A budget is the number of labelled nodes a model is trained on. A strategy that does not look at a model selects all
of them at once, independently for each budget. A strategy that needs a model starts from 5 random nodes, which
count: at budget 10 it adds 5, at budget 20 it adds 10 to those, and so on, each time with the model trained on the
pool of the previous budget ("if the current budget is 40, the model trained from 20 examples selected by the same AL
method is used"). So every strategy trains on the same number of labels. The paper does not say whether its 5 count.

A strategy that uses a model as soon as there is one starts from its own first picks, and may be asked more often than
once per budget (its `steps`), each time with the model trained on all labels so far.

Nodes are selected as `featprop.select` selects them, with the seed of the run. At each budget a new model is trained
with that seed. Only nodes with a known label can be selected.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.active import build_context, choose
from featprop.errors import GraphError, LabelError, ParameterError
from featprop.experiments.results import Result
from featprop.experiments.settings import INITIAL_POOL_SIZE, PROTOCOLS, Spec, Trial
from featprop.experiments.training import TrainedModel, train_seeds
from featprop.graph import UNKNOWN, Graph
from featprop.memory import peak_memory
from featprop.propagation import Coverage, coverage
from featprop.strategies import get_strategy, strategy_class

CALIBRATION_BINS = 15
PACKAGES = ("featprop", "numba", "numpy", "scikit-learn", "scipy", "torch")
"""Packages on whose versions a result may depend."""
NO_NODES = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Pool:
    """The nodes labelled at a budget, and how they were selected."""

    nodes: NDArray[np.intp]
    seconds: float = 0.0
    state: dict[str, Any] = field(default_factory=dict)
    is_random: bool = True
    """Whether the selection used random numbers; if not, every seed selects the same nodes."""


def draw_initial_pool(graph: Graph, seed: int) -> NDArray[np.intp]:
    """Return 5 random nodes with a known label, from which a strategy that needs a model starts."""
    known = np.flatnonzero(_true_labels(graph) != UNKNOWN)
    return np.random.default_rng([seed, 0]).choice(known, size=INITIAL_POOL_SIZE, replace=False)


class Protocol:
    """The protocol on one graph.

    Parameters
    ----------
    graph
        A graph with labels.
    form
        Public form of the data, for the record.
    """

    def __init__(self, graph: Graph, form: str | None = None) -> None:
        self.graph = graph
        self.truth = _true_labels(graph)
        self.versions = _package_versions() | ({"data": form} if form else {})

    def run(self, trial: Trial, known: Iterable[Result] = ()) -> Iterator[list[Result]]:
        """Run the cells of a trial that have no known result; yield the results of one budget at a time.

        Pools of known results are taken over, so the results are those of an uninterrupted run.
        """
        if trial.graph != self.graph.fingerprint:
            raise GraphError(f"The data set {trial.dataset} changed during the run.", hint="Run again.")
        n_labels = int(np.count_nonzero(self.truth != UNKNOWN))
        if trial.budgets[-1] >= n_labels:
            message = f"`budgets` must be below {n_labels:,}, the number of labels of {trial.dataset}."
            raise ParameterError(message, parameter="budgets", value=trial.budgets[-1])
        done = {result.cell: result for result in known}
        pools = _recorded_pools(done.values(), trial)
        before = 0
        trained: dict[int, TrainedModel] = {}
        for budget in trial.budgets:
            if all(cell in done for cell in trial.cells(budget)):
                before, trained = budget, {}
                continue
            with suppress(OSError):  # measure the peak from here, where the system allows it
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            chosen = self._select_pools(trial, budget, before, pools, trained)
            results: list[Result] = []
            for model in trial.models:
                trained = train_seeds(model, self.graph, {seed: pool.nodes for seed, pool in chosen.items()})
                results += self._score(trial, budget, model, chosen, trained)
            before = budget
            yield [result for result in results if result.cell not in done]

    def _select_pools(
        self,
        trial: Trial,
        budget: int,
        before: int,
        known: Mapping[tuple[int, int], Result],
        trained: Mapping[int, TrainedModel],
    ) -> dict[int, Pool]:
        """Return the pool of every seed: the recorded one or a new one."""
        recorded = {seed: self._recorded_pool(budget, seed, known) for seed in trial.seeds}
        missing = [seed for seed, pool in recorded.items() if pool is None]
        new: dict[int, Pool] = {}
        if missing and trial.looks_at_model:
            start = {}
            for seed in trial.seeds:
                if seed in trained:
                    start[seed] = Pool(trained[seed].pool, state=trained[seed].state)
                else:
                    needs_model = strategy_class(trial.strategy.name).needs
                    first = Pool(draw_initial_pool(self.graph, seed) if needs_model else NO_NODES)
                    start[seed] = self._recorded_pool(before, seed, known) or first
            new = self._grow_pools(trial, budget, missing, start, trained)
        else:
            same: Pool | None = None
            for seed in missing:
                new[seed] = same or self._select_pool(trial, budget, seed)
                same = None if new[seed].is_random else new[seed]
        return {seed: pool for seed in trial.seeds if (pool := recorded[seed] or new[seed])}

    def _grow_pools(
        self,
        trial: Trial,
        budget: int,
        missing: list[int],
        pools: dict[int, Pool],
        trained: Mapping[int, TrainedModel],
    ) -> dict[int, Pool]:
        """Return larger pools of the missing seeds, selected step by step with models trained in between.

        The other seeds grow along until the last step: models of all seeds are trained as one batch, which decides
        how they are rounded.
        """
        strategy = get_strategy(trial.strategy.name, **trial.strategy.options)
        seconds = dict.fromkeys(pools, 0.0)
        for turn, size in enumerate(strategy.steps(len(next(iter(pools.values())).nodes), budget)):
            started = time.perf_counter()
            if not trained and all(pool.nodes.size for pool in pools.values()):
                trained = train_seeds(trial.models[0], self.graph, {seed: pool.nodes for seed, pool in pools.items()})
            training = (time.perf_counter() - started) / len(pools) if turn else 0.0
            growing = missing if size == budget else list(pools)
            pools = {seed: self._select_pool(trial, size, seed, pools[seed], trained.get(seed)) for seed in growing}
            seconds = {seed: seconds[seed] + training + pool.seconds for seed, pool in pools.items()}
            trained = {}
        return {seed: replace(pool, seconds=seconds[seed]) for seed, pool in pools.items()}

    def _recorded_pool(self, budget: int, seed: int, known: Mapping[tuple[int, int], Result]) -> Pool | None:
        if (budget, seed) not in known:
            return None
        result = known[budget, seed]
        return Pool(self.graph.positions(result.nodes), result.seconds_select, result.state)

    def _select_pool(
        self, trial: Trial, budget: int, seed: int, start: Pool | None = None, trained: TrainedModel | None = None
    ) -> Pool:
        strategy = get_strategy(trial.strategy.name, **trial.strategy.options)
        if start and start.state:
            strategy.load_state_dict(start.state)
        labelled = start.nodes if start else NO_NODES
        names = [self.graph.classes[code] for code in self.truth[labelled]]
        known = self.graph.ids[self.truth != UNKNOWN].tolist()
        model = trained.model if trained else None
        started = time.perf_counter()
        context = build_context(self.graph, strategy, self.graph.ids[labelled].tolist(), names, (), known, model, seed)
        choice = choose(strategy, context, budget - len(labelled), seed)
        seconds = time.perf_counter() - started
        return Pool(np.concatenate([labelled, choice.picks]), seconds, strategy.state_dict(), choice.drew)

    def _score(
        self, trial: Trial, budget: int, model: Spec, pools: Mapping[int, Pool], trained: Mapping[int, TrainedModel]
    ) -> Iterator[Result]:
        covers: dict[tuple[Hashable, ...], Coverage] = {}
        for seed, pool in pools.items():
            nodes = tuple(self.graph.ids[pool.nodes].tolist())
            if nodes not in covers:
                covers[nodes] = coverage(self.graph, pool.nodes)
            found = trained[seed]
            found.state = pool.state
            for protocol in PROTOCOLS:
                yield Result(
                    dataset=trial.dataset,
                    strategy=trial.strategy.name,
                    budget=budget,
                    seed=seed,
                    model=model.name,
                    protocol=protocol,
                    nodes=nodes,
                    **score(self.truth, found.predicted, pool.nodes, protocol)._asdict(),
                    seconds_select=round(pool.seconds, 4),
                    seconds_train=round(found.seconds, 4),
                    peak_memory=peak_memory(),
                    mean_distance=covers[nodes].mean_distance,
                    max_distance=covers[nodes].max_distance,
                    calibration_error=calibration_error(
                        self.truth, found.predicted, found.confidence, pool.nodes, protocol
                    ),
                    graph=trial.graph,
                    settings=dict(model.options),
                    schedule=trial.schedule(budget),
                    options=dict(trial.strategy.options),
                    state=pool.state,
                    versions=self.versions,
                )


def _recorded_pools(known: Iterable[Result], trial: Trial) -> dict[tuple[int, int], Result]:
    """Return, by budget and seed, a result whose pool is that of the trial.

    A selection that looked at no model is the same for every model; any other belongs to its model and schedule.
    """
    found: dict[tuple[int, int], Result] = {}
    models = {(model.name, model.key) for model in trial.models}
    for result in known:
        cell = result.cell
        is_same = (cell.graph, cell.strategy, cell.options) == (trial.graph, trial.strategy.name, trial.strategy.key)
        is_same_way = (cell.model, cell.settings) in models and cell.schedule == trial.schedule(cell.budget)
        if is_same and (is_same_way or not trial.looks_at_model):
            found.setdefault((cell.budget, cell.seed), result)
    return found


def _true_labels(graph: Graph) -> NDArray[np.int64]:
    if graph.labels is None:
        raise LabelError("The graph has no labels to score predictions against.")
    return graph.labels


def _package_versions() -> dict[str, str]:
    found = {"python": python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


class Scores(NamedTuple):
    """From 0 to 1. With one class per node, every false positive is a false negative: Micro-F1 is the accuracy."""

    macro_f1: float
    micro_f1: float
    accuracy: float


def score(truth: NDArray[np.int64], predicted: NDArray[np.int64], pool: NDArray[np.intp], protocol: str) -> Scores:
    """Score the predicted class of every node on the nodes of a protocol; nodes without a known class never count.

    The F1 of a class is 2 · agreed / (true + predicted); Macro-F1 is its mean over the classes that occur in either.
    scikit-learn computes the same, with checks that took a tenth of the time of an experiment on Cora.
    """
    scored = _scored(truth, pool, protocol)
    right, answer = truth[scored], predicted[scored]
    size = int(max(right.max(initial=0), answer.max(initial=0))) + 1
    agreed = np.bincount(right[right == answer], minlength=size)
    either = np.bincount(right, minlength=size) + np.bincount(answer, minlength=size)
    macro = float(np.mean(2 * agreed[either > 0] / either[either > 0]))
    accuracy = float(np.mean(right == answer))
    return Scores(macro, accuracy, accuracy)


def calibration_error(
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    confidence: NDArray[np.float32],
    pool: NDArray[np.intp],
    protocol: str,
) -> float:
    """Return the expected calibration error (Guo et al. 2017) in 15 bins of equal width; 0 is best.

    `confidence` is the probability of the predicted class of every node; the other arguments are those of `score`.
    """
    scored = _scored(truth, pool, protocol)
    sure = confidence[scored].astype(np.float64)
    right = truth[scored] == predicted[scored]
    bins = np.minimum((sure * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = np.bincount(bins, weights=right - sure, minlength=CALIBRATION_BINS)
    return float(np.abs(gaps).sum() / max(len(sure), 1))


def _scored(truth: NDArray[np.int64], pool: NDArray[np.intp], protocol: str) -> NDArray[np.bool_]:
    scored: NDArray[np.bool_] = truth != UNKNOWN
    if protocol == "unlabelled":
        scored[pool] = False
    return scored
