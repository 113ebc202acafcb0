"""Train the model in a separate process and return rankings.

At most one training runs and one is due; labels that arrive during a training are part of the next one. A failed
training is logged and retried with the next labels, and never delays an answer. If training is fast and nothing is due,
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

from featprop import interrupts
from featprop.errors import FeatpropError, quote_error
from featprop.evaluate import Advice, advise
from featprop.graph import Graph
from featprop.web.page.ranking import Ranking

log = logging.getLogger(__name__)

NICENESS = 19
POLL_INTERVAL_S = 0.2
MIN_TIMEOUT_S, TIMEOUT_FACTOR = 60.0, 20
"""A training is stopped after `MIN_TIMEOUT_S` and `TIMEOUT_FACTOR` times the duration of the last one."""
MAX_PAUSE_S = 5.0
"""Pause between two trainings."""
MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH, MAX_TRAINING_S_FOR_ADVICE = 20, 1.1, 1.0
"""Advice is given from `MIN_LABELS_FOR_ADVICE` labels on, again when the labels have grown by `ADVICE_GROWTH`, and only
if the fastest training took at most `MAX_TRAINING_S_FOR_ADVICE`: advice takes more than ten trainings."""


@dataclass(frozen=True)
class Snapshot:
    """Input of a training."""

    labels: Mapping[Hashable, Hashable]  # class of each labelled node, by id
    excluded: tuple[Hashable, ...]  # ids of nodes not to ask for
    wanted: int  # number of nodes to rank


class AdviceRequest(NamedTuple):
    """Labels to give advice on."""

    labels: Mapping[Hashable, Hashable]


class Trainer:
    """Keeps the ranking up to date.

    Parameters
    ----------
    graph
        The graph.
    strategy, model
        Names of the strategy and the model.
    seed
        Seed of both.
    snapshot
        Returns the labels at the moment.
    on_ranking
        Called with each ranking.
    on_advice
        Called with each advice.
    """

    def __init__(
        self,
        graph: Graph,
        strategy: str,
        model: str,
        seed: int,
        snapshot: Callable[[], Snapshot],
        on_ranking: Callable[[Ranking], None],
        on_advice: Callable[[Advice], None],
    ) -> None:
        self._work = (replace(graph.without_labels(), table=None), strategy, model, seed)
        self._snapshot, self._on_ranking, self._on_advice = snapshot, on_ranking, on_advice
        self._advised_labels = 0
        self._due = threading.Condition()
        self._is_due, self._closing = False, False
        self._process: Any = None
        self._pipe: Connection | None = None
        self._thread = threading.Thread(target=self._run, name="featprop-trainer", daemon=True)
        self._last_s, self._fastest_s = 0.0, math.inf
        self.state = "waiting"
        self.failure = ""

    def start(self) -> None:
        """Start; the first ranking is due at once."""
        self.request()
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
        self._stop_process()

    def _run(self) -> None:
        while True:
            with self._due:
                while not (self._is_due or self._closing):
                    self._due.wait()
                if self._closing:
                    return
                self._is_due = False
            self.state, begun, is_new = "training", time.monotonic(), self._process is None
            try:
                snapshot = self._snapshot()
                ranking = self._ask(snapshot)
                if ranking is not None:
                    self._last_s = time.monotonic() - begun
                    self._on_ranking(ranking)
                    self.failure = ""
                    self._advise(snapshot, ranking)
            except Exception as error:  # a failed training must not keep people from answering
                self.failure = _describe(error)
                log.warning("Training failed: %s", self.failure)
                self._stop_process()
            self.state = "waiting"
            if not is_new:
                with self._due:  # leave the machine to people for as long as the training took
                    self._due.wait_for(lambda: self._closing, timeout=min(self._last_s, MAX_PAUSE_S))

    def _advise(self, snapshot: Snapshot, ranking: Ranking) -> None:
        """Request advice if there is time and there are enough new labels."""
        count, before = len(snapshot.labels), self._advised_labels
        is_new = count >= max(MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH * before) or count < before
        if ranking.probabilities is None:
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
        if self._process is None or not self._process.is_alive():
            self._start_process()
        assert self._pipe is not None
        self._pipe.send(question)
        allowed = max(MIN_TIMEOUT_S, TIMEOUT_FACTOR * self._last_s)
        end = time.monotonic() + allowed
        while not self._pipe.poll(POLL_INTERVAL_S):
            if self._closing:
                return None
            if not self._process.is_alive():
                raise _TrainingError(f"The training process ended with exit code {self._process.exitcode}.")
            if time.monotonic() > end:
                raise _TrainingError(f"Training took more than {allowed:.0f} s and was stopped.")
        answer = self._pipe.recv()
        if isinstance(answer, str):
            raise _TrainingError(answer)
        return answer

    def _start_process(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._work), name="featprop-model", daemon=True)
        with interrupts.block_interrupts():
            self._process.start()
        theirs.close()

    def _stop_process(self) -> None:
        if self._process is not None and self._process.is_alive():
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


class _TrainingError(Exception):
    """A training that failed, with the message of the process."""


def _describe(error: Exception) -> str:
    """Return the message of an error, with its type if the error is not meant for people."""
    if isinstance(error, FeatpropError | _TrainingError):
        return str(error)
    return f"{type(error).__name__}: {quote_error(error)}."


def _serve(pipe: Connection, graph: Graph, strategy: str, model: str, seed: int) -> None:
    """Answer each snapshot with a ranking and each advice request with advice; errors are answered as text."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    while True:
        try:
            question = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if isinstance(question, AdviceRequest):
                answer: Ranking | Advice | str | None = compute_advice(graph, model, seed, question.labels)
            else:
                answer = compute_ranking(graph, strategy, model, seed, question)
        except Exception as error:  # the server continues without a new ranking
            answer = _describe(error)
        try:
            pipe.send(answer)
        except OSError:
            return


def compute_advice(graph: Graph, model: str, seed: int, labels: Mapping[Hashable, Hashable]) -> Advice | None:
    """Return advice on a model of these labels; None if every node is labelled."""
    from featprop.models import seeded_model

    if len(labels) == graph.n_nodes:
        return None
    return advise(graph, seeded_model(seed, model).fit(graph, list(labels), list(labels.values())))


def compute_ranking(graph: Graph, strategy: str, model: str, seed: int, snapshot: Snapshot) -> Ranking:
    """Fit the model to the labels, if there are two classes, and rank the next nodes."""
    from featprop.active import select
    from featprop.models import seeded_model
    from featprop.propagation import coverage
    from featprop.strategies import DEFAULT_STRATEGY, strategy_class

    nodes, labels = list(snapshot.labels), list(snapshot.labels.values())
    several = len(set(labels)) > 1
    fitted = seeded_model(seed, model).fit(graph, nodes, labels) if several else None
    chooser = DEFAULT_STRATEGY if strategy_class(strategy).needs and fitted is None else strategy
    looks = fitted is not None and strategy_class(chooser).looks_at_model()
    left = graph.n_nodes - len(set(graph.positions([*nodes, *snapshot.excluded]).tolist()))
    positions = graph.positions(nodes)
    distances = coverage(graph, positions).mean_distance if nodes else float("nan")
    probabilities = None if fitted is None else fitted.predict_proba(graph)
    classes = () if fitted is None else fitted.class_names_
    held_out = None if fitted is None else fitted.held_out_proba_
    if left == 0:
        empty = np.empty(0, dtype=np.intp)
        nearest = np.full(graph.n_nodes, -1, dtype=np.intp)
        return Ranking(
            empty, empty.astype(np.int64), nearest, len(nodes), distances, classes, probabilities, positions, held_out
        )
    picks = select(
        graph,
        min(snapshot.wanted, left),
        strategy=chooser,
        labelled=nodes,
        labels=labels if looks else None,
        exclude=snapshot.excluded,
        model=fitted if looks else None,
        random_state=seed,
    )
    return Ranking(
        picks.positions,
        picks.represents,
        picks.nearest,
        len(nodes),
        distances,
        classes,
        probabilities,
        positions,
        held_out,
    )
