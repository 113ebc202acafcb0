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
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.active import build_context, choose
from featprop.errors import GraphError, LabelError, ParameterError
from featprop.experiments.results import Result
from featprop.experiments.settings import INITIAL_POOL_SIZE, PROTOCOLS, Spec, Trial
from featprop.experiments.training import TrainedModel, train_seeds
from featprop.graph import UNKNOWN, Graph
from featprop.propagation import Coverage, coverage
from featprop.resources import peak_memory
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
    """The protocol on one graph with labels; `form` is the public form of the data, for the record."""

    def __init__(self, graph: Graph, form: str | None = None) -> None:
        self.graph = graph
        self.truth = _true_labels(graph)
        self.versions = _package_versions() | ({"data": form} if form else {})

    def run(self, trial: Trial) -> Iterator[Result]:
        """Run a trial and yield its results."""
        if trial.graph != self.graph.fingerprint:
            raise GraphError(f"The data set {trial.dataset} changed during the run.", hint="Run again.")
        n_labels = int(np.count_nonzero(self.truth != UNKNOWN))
        if trial.budgets[-1] >= n_labels:
            message = f"`budgets` must be below {n_labels:,}, the number of labels of {trial.dataset}."
            raise ParameterError(message, parameter="budgets", value=trial.budgets[-1])
        needs_model = strategy_class(trial.strategy.name).needs
        pools = {seed: Pool(draw_initial_pool(self.graph, seed) if needs_model else NO_NODES) for seed in trial.seeds}
        trained: dict[int, TrainedModel] = {}
        for budget in trial.budgets:
            with suppress(OSError):  # measure the peak from here, where the system allows it
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
            if trial.looks_at_model:
                pools = self._grow_pools(trial, budget, pools, trained)
            else:
                pools = self._select_pools(trial, budget)
            for model in trial.models:
                trained = train_seeds(model, self.graph, {seed: pool.nodes for seed, pool in pools.items()})
                yield from self._score(trial, budget, model, pools, trained)

    def _select_pools(self, trial: Trial, budget: int) -> dict[int, Pool]:
        """Select without a model; a selection without random numbers serves every seed."""
        pools: dict[int, Pool] = {}
        same: Pool | None = None
        for seed in trial.seeds:
            pools[seed] = same or self._select_pool(trial, budget, seed)
            same = None if pools[seed].is_random else pools[seed]
        return pools

    def _grow_pools(
        self, trial: Trial, budget: int, pools: dict[int, Pool], trained: Mapping[int, TrainedModel]
    ) -> dict[int, Pool]:
        """Return larger pools, selected step by step with models trained in between, all seeds as one batch."""
        strategy = get_strategy(trial.strategy.name, **trial.strategy.options)
        seconds = dict.fromkeys(pools, 0.0)
        for turn, size in enumerate(strategy.steps(len(next(iter(pools.values())).nodes), budget)):
            started = time.perf_counter()
            if not trained and all(pool.nodes.size for pool in pools.values()):
                trained = train_seeds(trial.models[0], self.graph, {seed: pool.nodes for seed, pool in pools.items()})
            training = (time.perf_counter() - started) / len(pools) if turn else 0.0
            pools = {seed: self._select_pool(trial, size, seed, pools[seed], trained.get(seed)) for seed in pools}
            seconds = {seed: seconds[seed] + training + pool.seconds for seed, pool in pools.items()}
            trained = {}
        return {seed: replace(pool, seconds=seconds[seed]) for seed, pool in pools.items()}

    def _select_pool(
        self, trial: Trial, size: int, seed: int, start: Pool | None = None, trained: TrainedModel | None = None
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
        choice = choose(strategy, context, size - len(labelled), seed)
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
            for protocol in PROTOCOLS:
                yield Result(
                    dataset=trial.dataset,
                    strategy=trial.strategy.name,
                    budget=budget,
                    seed=seed,
                    model=model.name,
                    protocol=protocol,
                    nodes=nodes,
                    **score(self.truth, found.predicted, found.confidence, pool.nodes, protocol),
                    seconds_select=round(pool.seconds, 4),
                    seconds_train=round(found.seconds, 4),
                    peak_memory=peak_memory(),
                    mean_distance=covers[nodes].mean_distance,
                    max_distance=covers[nodes].max_distance,
                    graph=trial.graph,
                    settings=dict(model.options),
                    schedule=trial.schedule(budget),
                    options=dict(trial.strategy.options),
                    versions=self.versions,
                )


def score(
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    confidence: NDArray[np.float32],
    pool: NDArray[np.intp],
    protocol: str,
) -> dict[str, float]:
    """Score predictions on the nodes of a protocol; nodes without a known class never count.

    The F1 of a class is 2 · agreed / (true + predicted); Macro-F1 is its mean over the classes that occur in either.
    With one class per node, every false positive is a false negative: Micro-F1 is the accuracy. scikit-learn computes
    the same, with checks that took a tenth of the time of an experiment on Cora. The expected calibration error
    (Guo et al. 2017) has 15 bins of equal width.
    """
    scored = truth != UNKNOWN
    if protocol == "unlabelled":
        scored[pool] = False
    right, answer, sure = truth[scored], predicted[scored], confidence[scored].astype(np.float64)
    size = int(max(right.max(initial=0), answer.max(initial=0))) + 1
    agreed = np.bincount(right[right == answer], minlength=size)
    either = np.bincount(right, minlength=size) + np.bincount(answer, minlength=size)
    accuracy = float(np.mean(right == answer))
    bins = np.minimum((sure * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
    gaps = np.bincount(bins, weights=(right == answer) - sure)
    return {
        "macro_f1": float(np.mean(2 * agreed[either > 0] / either[either > 0])),
        "micro_f1": accuracy,
        "accuracy": accuracy,
        "calibration_error": float(np.abs(gaps).sum() / max(len(sure), 1)),
    }


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
