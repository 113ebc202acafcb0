"""Train the model in one separate process, which lives as long as the server and keeps the propagated features.

The first ranking is ready before the first question. After that at most one training runs and one is due; labels that
arrive during a training are part of the next one. Nothing stops a training: until it ends, questions come from the last
ranking. A failed training is logged and retried, and never delays an answer. If training is fast and nothing is due,
the process also estimates the accuracy and whether more labels are worth it.
"""

from __future__ import annotations

import contextlib
import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop import interrupts, progress
from featprop.errors import FeatpropError, ModelError, quote_error
from featprop.evaluate import Advice
from featprop.graph import Graph
from featprop.web.page.ranking import Ranking

log = logging.getLogger(__name__)

NICENESS = 10
"""Added to the niceness of the process after the first ranking."""
POLL_INTERVAL_S = 0.2
PROGRESS_INTERVAL_S = 0.1
MAX_PAUSE_S = 5.0
"""Pause between two trainings."""
RETRY_S = 10.0
"""Pause after a failed training."""
MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH, MAX_TRAINING_S_FOR_ADVICE = 20, 1.1, 1.0
"""Advice is given from `MIN_LABELS_FOR_ADVICE` labels on, again when the labels have grown by `ADVICE_GROWTH`, and only
if the fastest training took at most `MAX_TRAINING_S_FOR_ADVICE`: advice takes more than ten trainings."""


class Setup(NamedTuple):
    """What all trainings of a session have in common."""

    graph: Graph
    strategy: str
    model: str
    seed: int


@dataclass(frozen=True)
class Snapshot:
    """Input of a training."""

    labels: Mapping[Hashable, Hashable]  # class of each labelled node, by id
    excluded: tuple[Hashable, ...]  # ids of nodes not to ask for
    wanted: int  # number of nodes to rank


class AdviceRequest(NamedTuple):
    """Labels to give advice on."""

    labels: Mapping[Hashable, Hashable]


class Worker:
    """The process that trains. Start it early: it imports its libraries while the graph is read."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="featprop-model", daemon=True)
        with interrupts.block_interrupts():
            self._process.start()
        theirs.close()

    def failure(self) -> str:
        """Return why the process cannot answer; empty if it is alive."""
        code = self._process.exitcode
        return "" if code is None else f"The training process ended with exit code {code}."

    def close(self) -> None:
        """Stop the process at once."""
        self._process.kill()
        self._process.join()
        self.pipe.close()


class Trainer:
    """Keeps the ranking up to date.

    Parameters
    ----------
    setup
        Graph, strategy, model and seed.
    snapshot
        Returns the labels at the moment.
    on_ranking
        Called with each ranking.
    on_advice
        Called with each advice.
    worker
        Process to use; a new one by default.
    """

    def __init__(
        self,
        setup: Setup,
        snapshot: Callable[[], Snapshot],
        on_ranking: Callable[[Ranking], None],
        on_advice: Callable[[Advice], None],
        worker: Worker | None = None,
    ) -> None:
        self._setup = setup._replace(graph=replace(setup.graph.without_labels(), table=None))
        self._snapshot, self._on_ranking, self._on_advice = snapshot, on_ranking, on_advice
        self._worker, self._is_set_up = worker, False
        self._advised_labels = 0
        self._due = threading.Condition()
        self._is_due, self._closing = False, False
        self._thread = threading.Thread(target=self._run, name="featprop-trainer", daemon=True)
        self._last_s, self._fastest_s = 0.0, math.inf
        self.state = "waiting"
        self.failure = ""

    def start(self) -> None:
        """Compute the first ranking, which may take a while, and then follow the labels in the background."""
        try:
            self._train()
        except TrainingError as error:
            raise ModelError(f"The first nodes cannot be selected. {error}") from error
        self._thread.start()

    def request(self) -> None:
        """Request a training on the current labels."""
        with self._due:
            self._is_due = True
            self._due.notify()

    def close(self) -> None:
        """Stop the process at once."""
        with self._due:
            self._closing = True
            self._due.notify()
        if self._thread.is_alive():
            self._thread.join()
        self._stop_worker()

    def _run(self) -> None:
        while True:
            with self._due:
                self._due.wait_for(lambda: self._is_due or self._closing)
                if self._closing:
                    return
                self._is_due = False
            pause = 0.0
            try:
                self._train()
                pause = min(self._last_s, MAX_PAUSE_S)  # leave the machine to people for as long as the training took
            except Exception as error:  # a failed training must not keep people from answering
                self.failure, pause = _describe(error), RETRY_S
                log.warning("Training failed: %s", self.failure)
                self.request()
            with self._due:
                self._due.wait_for(lambda: self._closing, timeout=pause)

    def _train(self) -> None:
        begun, snapshot = time.monotonic(), self._snapshot()
        self.state = "training"
        try:
            ranking = self._ask(snapshot)
            if ranking is not None:
                self._last_s = time.monotonic() - begun
                self._on_ranking(ranking)
                self.failure = ""
                self._advise(snapshot, ranking)
        finally:
            self.state = "waiting"

    def _advise(self, snapshot: Snapshot, ranking: Ranking) -> None:
        """Request advice if there is time and there are enough new labels."""
        count, before = len(snapshot.labels), self._advised_labels
        is_new = count >= max(MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH * before) or count < before
        if ranking.probabilities is None or not self._thread.is_alive():
            return
        self._fastest_s = min(self._fastest_s, self._last_s)
        if self._is_due or not is_new or self._fastest_s > MAX_TRAINING_S_FOR_ADVICE:
            return
        advice = self._ask(AdviceRequest(snapshot.labels))
        if advice is not None:
            self._advised_labels = count
            self._on_advice(advice)

    def _ask(self, question: Snapshot | AdviceRequest) -> Any:
        """Return the answer of the process; None if the session closes meanwhile."""
        if self._worker is None or self._worker.failure():
            self._stop_worker()
            self._worker = Worker()
        pipe = self._worker.pipe
        try:
            if not self._is_set_up:
                pipe.send(self._setup)
                self._is_set_up = True
            pipe.send(question)
            while True:
                while not pipe.poll(POLL_INTERVAL_S):
                    if self._closing:
                        return None
                kind, answer = pipe.recv()
                if kind == "progress":
                    progress.report(*answer)
                elif kind == "failure":
                    raise TrainingError(answer)
                else:
                    return answer
        except (OSError, EOFError) as error:
            self._worker._process.join()
            raise TrainingError(self._worker.failure()) from error

    def _stop_worker(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker, self._is_set_up = None, False


class TrainingError(Exception):
    """A training that failed, with the message of the process."""


def _describe(error: Exception) -> str:
    """Return the message of an error, with its type if the error is not meant for people."""
    if isinstance(error, FeatpropError | TrainingError):
        return str(error)
    return f"{type(error).__name__}: {quote_error(error)}."


def _serve(pipe: Connection) -> None:
    """Answer each snapshot with a ranking and each advice request with advice; errors are answered as text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import featprop.active
    import featprop.models
    import featprop.strategies  # noqa: F401  (while the server reads the graph)

    is_nice, setup = False, None
    with contextlib.suppress(EOFError, OSError), progress.listening(_Reporter(pipe)):
        while True:
            question = pipe.recv()
            if isinstance(question, Setup):
                setup = question
                continue
            assert setup is not None
            compute: Callable[..., Any] = compute_advice if isinstance(question, AdviceRequest) else compute_ranking
            try:
                answer = ("answer", compute(setup, question))
            except Exception as error:  # the server continues with the last ranking
                answer = ("failure", _describe(error))
            pipe.send(answer)
            if not is_nice:
                with contextlib.suppress(OSError, AttributeError):
                    os.nice(NICENESS)
                is_nice = True


class _Reporter:
    """Sends progress to the server, not more often than a person can see."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._next = pipe, 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if done == 0 or now >= self._next:
            self._pipe.send(("progress", (stage, done, total)))
            self._next = now + PROGRESS_INTERVAL_S


def compute_advice(setup: Setup, request: AdviceRequest) -> Advice | None:
    """Return advice on a model of these labels; None if every node is labelled."""
    from featprop.evaluate import advise
    from featprop.models import seeded_model

    labels, graph = request.labels, setup.graph
    if len(labels) == graph.n_nodes:
        return None
    return advise(graph, seeded_model(setup.seed, setup.model).fit(graph, list(labels), list(labels.values())))


def compute_ranking(setup: Setup, snapshot: Snapshot) -> Ranking:
    """Fit the model to the labels, if there are two classes, and rank the next nodes."""
    from featprop.active import select
    from featprop.models import seeded_model
    from featprop.propagation import coverage
    from featprop.strategies import DEFAULT_STRATEGY, strategy_class

    graph, strategy = setup.graph, setup.strategy
    nodes, labels = list(snapshot.labels), list(snapshot.labels.values())
    fitted = seeded_model(setup.seed, setup.model).fit(graph, nodes, labels) if len(set(labels)) > 1 else None
    chooser = DEFAULT_STRATEGY if strategy_class(strategy).needs and fitted is None else strategy
    looks = fitted is not None and strategy_class(chooser).looks_at_model()
    is_open = np.ones(graph.n_nodes, dtype=bool)
    is_open[graph.positions([*nodes, *snapshot.excluded])] = False
    distance = coverage(graph, graph.positions(nodes)).mean_distance if nodes else float("nan")
    model: tuple[Any, ...] = ()
    if fitted is not None:
        model = (fitted.class_names_, fitted.predict_proba(graph), graph.positions(nodes), fitted.held_out_proba_)
    wanted = min(snapshot.wanted, int(is_open.sum()))
    if wanted == 0:
        empty = np.empty(0, dtype=np.intp)
        nearest = np.full(graph.n_nodes, -1, dtype=np.intp)
        return Ranking(empty, empty.astype(np.int64), nearest, empty, len(nodes), distance, *model)
    picks = select(
        graph,
        wanted,
        strategy=chooser,
        labelled=nodes,
        labels=labels if looks else None,
        exclude=snapshot.excluded,
        model=fitted if looks else None,
        random_state=setup.seed,
    )
    found = (picks.positions, picks.represents, picks.nearest, picks.positions[:0])
    ranking = Ranking(*found, len(nodes), distance, *model)
    is_open[picks.positions] = False
    if fitted is None:
        return replace(ranking, spares=_similar(graph, picks.nearest, np.flatnonzero(is_open)))
    order = ranking.least_certain()
    return replace(ranking, spares=order[is_open[order]])


def _similar(graph: Graph, nearest: NDArray[np.intp], nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return nodes in turns: of each selected node the similar one with the most neighbours, then the second ones …."""
    degree = np.diff(graph.adjacency.indptr)
    ordered = nodes[np.lexsort((-degree[nodes], nearest[nodes]))]
    _, starts = np.unique(nearest[ordered], return_index=True)
    turn = np.arange(len(ordered)) - np.repeat(starts, np.diff([*starts, len(ordered)]))
    return ordered[np.argsort(turn, kind="stable")]
