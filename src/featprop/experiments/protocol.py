"""The paper's protocol, for a few seeds of one strategy on one graph.

A budget is the number of labelled nodes a model is trained on. A strategy that does not look at a model chooses all
of them at once, anew at each budget. A strategy that looks at a model starts from 5 nodes drawn at random, which
count: at budget 10 it adds 5, at budget 20 it adds 10 to those, and so on, each time with the model trained on the
pool of the budget before ("if the current budget is 40, the model trained from 20 examples selected by the same AL
method is used"). So every strategy trains on exactly as many labels. The paper does not say whether its 5 count.

At each budget a fresh model is trained with the seed of the run. Only nodes whose label is known can be asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.bounds import BOUND_LAYERS, Coverage, coverage
from featprop.errors import LabelError, ParameterError
from featprop.experiments.lines import Cell, Line
from featprop.experiments.measuring import Stopwatch, forget_peak, peak_memory, versions
from featprop.experiments.scoring import PROTOCOLS, score
from featprop.experiments.settings import INITIAL_POOL, MODELS
from featprop.experiments.tasks import Task
from featprop.experiments.training import Trained, train_seeds
from featprop.graph import UNKNOWN, Graph
from featprop.models.prepared import PreparedGraph
from featprop.strategies import Situation, get_strategy, strategy_class
from featprop.strategies.propagated import Propagated

__all__ = ["Bench", "initial_pool"]


@dataclass(frozen=True, eq=False)
class Choice:
    """A pool: the nodes labelled at a budget, and how they were chosen."""

    pool: NDArray[np.intp]
    seconds: float = 0.0
    state: dict[str, Any] = dataclasses.field(default_factory=dict)
    drew: bool = True
    """Whether chance had a part in it; if not, every seed would choose the same."""


def initial_pool(graph: Graph, seed: int) -> NDArray[np.intp]:
    """Return the 5 nodes that a strategy with a model starts from, uniform over the nodes with a known label."""
    known = np.flatnonzero(_truth(graph) != UNKNOWN)
    return np.random.default_rng([seed, 0]).choice(known, size=INITIAL_POOL, replace=False)


class Bench:
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
        self.prepared = PreparedGraph(graph)
        self.truth = _truth(graph)
        self.bare = dataclasses.replace(graph, labels=None, classes=())
        self.versions = versions() | ({"data": form} if form else {})
        self._propagated = Propagated(self.bare, {BOUND_LAYERS: self.prepared.propagated(BOUND_LAYERS)})
        self._points = self._propagated.points(BOUND_LAYERS)

    def walk(self, task: Task, known: Iterable[Line] = ()) -> Iterator[list[Line]]:
        """Do the cells of a task that are not among the known lines; yield those of one budget at a time.

        The pools of known lines are taken over, not chosen again, so what follows is what would have followed.
        """
        done = {line.cell: line for line in known}
        most = int(np.count_nonzero(self.truth != UNKNOWN))
        if task.budgets[-1] >= most:
            rule = f"must be below {most:,}, the nodes of {task.dataset} with a label"
            raise ParameterError("budgets", rule, task.budgets[-1], "leave the large ones out")
        iterative = bool(strategy_class(task.strategy).needs)
        if iterative:
            self._check_history(task, done)
        before = 0
        earlier: dict[int, Trained] = {}
        for budget in task.budgets:
            if all(cell in done for cell in task.cells(budget)):
                before, earlier = budget, {}
                continue
            forget_peak()
            choices = self._choices(task, budget, before, done, earlier, iterative)
            lines: list[Line] = []
            for model in task.models:
                earlier = train_seeds(model, self.prepared, {s: c.pool for s, c in choices.items()}, task.epochs)
                lines += self._lines(task, budget, model, choices, earlier)
            before = budget
            yield [line for line in lines if line.cell not in done]

    def _choices(
        self,
        task: Task,
        budget: int,
        before: int,
        done: Mapping[Cell, Line],
        earlier: Mapping[int, Trained],
        iterative: bool,
    ) -> dict[int, Choice]:
        """Return the choice of every seed: the recorded one, or a new one."""
        choices = {seed: self._recorded(task, budget, seed, done) for seed in task.seeds}
        missing = [seed for seed, choice in choices.items() if choice is None]
        if not missing:
            return {seed: choice for seed, choice in choices.items() if choice}
        start: dict[int, Choice] = {}
        if iterative:
            start = {
                seed: self._recorded(task, before, seed, done) or Choice(initial_pool(self.graph, seed))
                for seed in task.seeds
            }
            for seed, trained in earlier.items():
                start[seed] = Choice(trained.pool, state=trained.state)
            if not earlier:
                pools = {seed: choice.pool for seed, choice in start.items()}
                earlier = train_seeds(task.models[0], self.prepared, pools, task.epochs)
        same: Choice | None = None
        for seed in missing:
            choice = same or self._choose(task, budget, seed, start.get(seed), earlier.get(seed))
            same = choice if not iterative and not choice.drew else None
            choices[seed] = choice
        return {seed: choice for seed, choice in choices.items() if choice}

    def _check_history(self, task: Task, done: Mapping[Cell, Line]) -> None:
        """Refuse lines whose pool grew out of other budgets than those of the task."""
        for seed in task.seeds:
            pool: NDArray[np.intp] | None = initial_pool(self.graph, seed)
            for budget in task.budgets:
                found = self._recorded(task, budget, seed, done)
                if found and (pool is None or found.pool[: len(pool)].tolist() != pool.tolist()):
                    rule = f"must have been made with the budgets {', '.join(map(str, task.budgets))}"
                    cure = "choose another --out, or the budgets of those results"
                    raise ParameterError(f"Results of {task}", rule, f"{budget} reached by others", cure)
                pool = found.pool if found else None

    def _recorded(self, task: Task, budget: int, seed: int, done: Mapping[Cell, Line]) -> Choice | None:
        """Return the choice a line tells of; one that looked at no model is the same for every model."""
        models = task.models if strategy_class(task.strategy).needs else MODELS
        for model, protocol in product(models, PROTOCOLS):
            line = done.get(Cell(task.dataset, task.strategy, budget, seed, model, protocol))
            if line and dict(line.options) == dict(task.options):
                return Choice(self.graph.positions(line.nodes), line.seconds_select, line.state)
        return None

    def _choose(self, task: Task, budget: int, seed: int, start: Choice | None, trained: Trained | None) -> Choice:
        strategy = get_strategy(task.strategy, **task.options)
        if start and start.state:
            strategy.restore(start.state)
        labelled = start.pool if start else np.empty(0, dtype=np.intp)
        codes, labels = np.unique(self.truth[labelled], return_inverse=True)
        candidates = np.setdiff1d(np.flatnonzero(self.truth != UNKNOWN), labelled)
        generator = np.random.default_rng([seed, budget])
        fresh = generator.bit_generator.state
        watch = Stopwatch()
        situation = Situation(
            graph=self.bare,
            labelled=labelled,
            candidates=candidates,
            labels=labels.astype(np.int64),
            classes=tuple(self.graph.classes[code] for code in codes),
            outputs=trained.outputs(strategy.needs) if trained else {},
            _propagated=self._propagated,
        )
        picks = strategy.select(situation, budget - len(labelled), generator)
        drew = generator.bit_generator.state != fresh
        return Choice(np.concatenate([labelled, picks]), watch.lap(), strategy.state(), drew)

    def _lines(
        self,
        task: Task,
        budget: int,
        model: str,
        choices: Mapping[int, Choice],
        trained: Mapping[int, Trained],
    ) -> Iterator[Line]:
        covers: dict[tuple[Hashable, ...], Coverage] = {}
        for seed, choice in choices.items():
            pool = tuple(self.graph.ids[choice.pool].tolist())
            if pool not in covers:
                covers[pool] = coverage(self._points, choice.pool)
            trained[seed].state = choice.state
            for protocol in PROTOCOLS:
                scores = score(self.truth, trained[seed].predicted(), choice.pool, protocol)
                yield Line(
                    dataset=task.dataset,
                    strategy=task.strategy,
                    budget=budget,
                    seed=seed,
                    model=model,
                    protocol=protocol,
                    nodes=pool,
                    macro_f1=scores.macro_f1,
                    micro_f1=scores.micro_f1,
                    accuracy=scores.accuracy,
                    seconds_select=round(choice.seconds, 4),
                    seconds_train=round(trained[seed].seconds, 4),
                    peak_memory=peak_memory(),
                    mean_distance=covers[pool].mean_distance,
                    max_distance=covers[pool].max_distance,
                    epochs=task.epochs,
                    options=dict(task.options),
                    state=choice.state,
                    versions=self.versions,
                )


def _truth(graph: Graph) -> NDArray[np.int64]:
    if graph.labels is None:
        raise LabelError("The graph", "must have labels to score against", "none", "take a data set with labels")
    return graph.labels
