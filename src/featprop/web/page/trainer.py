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
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

from featprop import interrupts, progress
from featprop.errors import FeatpropError, ModelError, quote_error
from featprop.evaluate import Advice
from featprop.graph import Graph
from featprop.web.page.ranking import Ranking, Snapshot, compute_advice, compute_ranking

log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of the process after the first ranking."""
POLL_INTERVAL_S, PROGRESS_INTERVAL_S = 0.2, 0.1
MAX_PAUSE_S, RETRY_S = 5.0, 10.0
"""Longest pause between two trainings, and the pause after a failed one."""
MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH, MAX_TRAINING_S_FOR_ADVICE = 20, 1.1, 1.0
"""Advice is given from `MIN_LABELS_FOR_ADVICE` labels on, again when the labels have grown by `ADVICE_GROWTH`, and only
if the fastest training took at most `MAX_TRAINING_S_FOR_ADVICE`: advice takes more than ten trainings."""


class Worker:
    """The process that trains. Start it early: it imports its libraries while the graph is read."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="featprop-model", daemon=True)
        with interrupts.block_interrupts():
            self._process.start()
        theirs.close()
        self._graph: Graph | None = None

    @property
    def is_alive(self) -> bool:
        """Whether the process can compute."""
        return self._process.is_alive()

    def compute(self, function: Callable[[Graph, Any], Any], graph: Graph, given: Any, until: threading.Event) -> Any:
        """Return ``function(graph, given)``; None if `until` is set before. An error there is a `ModelError` here."""
        try:
            if self._graph is not graph:
                self._pipe.send(graph)
                self._graph = graph
            self._pipe.send((function, given))
            while not until.is_set():
                if not self._pipe.poll(POLL_INTERVAL_S):
                    continue
                kind, answer = self._pipe.recv()
                if kind == "answer":
                    return answer
                if kind == "failure":
                    raise ModelError(answer)
                progress.report(*answer)
        except (OSError, EOFError) as error:
            self._process.join()
            message = f"The training process ended with exit code {self._process.exitcode}."
            raise ModelError(message) from error

    def close(self) -> None:
        """Stop the process at once."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


class Trainer:
    """Keeps the ranking up to date.

    Parameters
    ----------
    graph
        The graph.
    snapshot
        Returns the labels at the moment.
    on_ranking, on_advice
        Called with each ranking and each advice.
    worker
        Process to use; a new one by default.
    """

    def __init__(
        self,
        graph: Graph,
        snapshot: Callable[[], Snapshot],
        on_ranking: Callable[[Ranking], None],
        on_advice: Callable[[Advice], None],
        worker: Worker | None = None,
    ) -> None:
        self._graph = replace(graph.without_labels(), table=None)
        self._snapshot, self._on_ranking, self._on_advice = snapshot, on_ranking, on_advice
        self._worker = worker
        self._advised_labels = 0
        self._is_due, self._closing = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="featprop-trainer", daemon=True)
        self._last_s, self._fastest_s = 0.0, math.inf
        self.is_training = False
        self.failure = ""

    def start(self) -> None:
        """Compute the first ranking, which may take a while, and then follow the labels in the background."""
        try:
            self._train()
        except ModelError as error:
            raise ModelError(f"The first nodes cannot be selected. {error}") from error
        self._thread.start()

    def request(self) -> None:
        """Request a training on the current labels."""
        self._is_due.set()

    def close(self) -> None:
        """Stop the process at once."""
        self._closing.set()
        self._is_due.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._worker is not None:
            self._worker.close()

    def _run(self) -> None:
        while self._is_due.wait() and not self._closing.is_set():
            self._is_due.clear()
            try:
                self._train()
                self._advise()
                pause = min(self._last_s, MAX_PAUSE_S)  # leave the machine to people for as long as the training took
            except Exception as error:  # a failed training must not keep people from answering
                self.failure, pause = _describe(error), RETRY_S
                log.warning("Training failed: %s", self.failure)
                self.request()
            self._closing.wait(pause)

    def _train(self) -> None:
        begun = time.monotonic()
        self.is_training = True
        try:
            ranking = self._compute(compute_ranking, self._snapshot())
        finally:
            self.is_training = False
        if ranking is not None:
            self._last_s = time.monotonic() - begun
            self._on_ranking(ranking)
            self.failure = ""

    def _advise(self) -> None:
        """Request advice if there is time and there are enough new labels of several classes."""
        labels = self._snapshot().labels
        self._fastest_s = min(self._fastest_s, self._last_s)
        is_new = len(labels) >= max(MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH * self._advised_labels)
        is_new |= MIN_LABELS_FOR_ADVICE <= len(labels) < self._advised_labels
        if self._is_due.is_set() or not is_new or self._fastest_s > MAX_TRAINING_S_FOR_ADVICE:
            return
        if len(set(labels.values())) > 1:
            advice = self._compute(compute_advice, labels)
            if advice is not None:
                self._advised_labels = len(labels)
                self._on_advice(advice)

    def _compute(self, function: Callable[[Graph, Any], Any], given: Any) -> Any:
        if self._worker is None or not self._worker.is_alive:
            if self._worker is not None:
                self._worker.close()
            self._worker = Worker()
        return self._worker.compute(function, self._graph, given, self._closing)


def _describe(error: Exception) -> str:
    """Return the message of an error, with its type if the error is not meant for people."""
    return str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {quote_error(error)}."


def _serve(pipe: Connection) -> None:
    """Compute what the server asks for, and report progress not more often than a person can see."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import featprop.active
    import featprop.models
    import featprop.strategies  # noqa: F401  (while the server reads the graph)

    next_report = 0.0

    def report(stage: str, done: int, total: int) -> None:
        nonlocal next_report
        if done == 0 or time.monotonic() >= next_report:
            pipe.send(("progress", (stage, done, total)))
            next_report = time.monotonic() + PROGRESS_INTERVAL_S

    graph = None
    with contextlib.suppress(EOFError, OSError), progress.listening(report):
        while True:
            message = pipe.recv()
            if isinstance(message, Graph):
                graph = message
                continue
            function, given = message
            try:
                answer = ("answer", function(graph, given))
            except Exception as error:  # the server continues with the last ranking
                answer = ("failure", _describe(error))
            pipe.send(answer)
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
