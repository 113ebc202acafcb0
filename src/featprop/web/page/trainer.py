"""Train the model in one separate process, which lives as long as the server and keeps the propagated features.

A training goes from the labels to the predictions of all nodes and the nodes to ask for next (`Ranking`).

The first ranking is ready before the first question. After that at most one training runs and one is due; labels that
arrive during a training are part of the next one. Nothing stops a training: until it ends, questions come from the last
ranking. A failed training is logged and retried, and never delays an answer. If the graph is small and no training is
due, the process also estimates the accuracy and whether more labels are worth it.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop import progress, resources
from featprop.errors import FeatpropError, ModelError, quote_error
from featprop.evaluate import Advice
from featprop.evaluate.diagnostics import contradiction, neighbour_shares, uncertainty
from featprop.graph import Graph

log = logging.getLogger(__name__)

NICENESS = 10
"""Niceness of the process after the first ranking."""
POLL_INTERVAL_S, PROGRESS_INTERVAL_S = 0.2, 0.1
MAX_PAUSE_S, RETRY_S = 5.0, 10.0
"""Longest pause between two trainings, and the pause after a failed one."""
MIN_LABELS_FOR_ADVICE, ADVICE_GROWTH, MAX_NODES_FOR_ADVICE = 20, 1.1, 25_000
"""Advice is given from `MIN_LABELS_FOR_ADVICE` labels on, again when the labels have grown by `ADVICE_GROWTH`, and only
for graphs of up to `MAX_NODES_FOR_ADVICE` nodes: advice takes more than ten trainings."""
SEED = 0
"""Seed of all random choices."""


class Snapshot(NamedTuple):
    """Input of a training."""

    labels: Mapping[Hashable, Hashable]  # class of each labelled node, by id
    excluded: tuple[Hashable, ...]  # ids of nodes not to ask for
    wanted: int  # number of nodes to rank


@dataclass(frozen=True)
class Prediction:
    """Prediction of a node."""

    label: Hashable
    confidence: float
    probabilities: dict[Hashable, float]


@dataclass(frozen=True)
class Ranking:
    """Result of one training. Nodes are positions in the graph."""

    labelled: NDArray[np.intp]  # nodes with a label
    nodes: NDArray[np.intp]  # nodes to ask for, most useful first
    represents: NDArray[np.int64]  # number of nodes that each of them represents
    spares: NDArray[np.intp]  # all other nodes to ask for, if the ranking runs out
    least_certain: NDArray[np.intp]  # all nodes, least certain predictions first; none without a model
    contradicted: NDArray[np.intp]  # nodes whose predictions the neighbours contradict, strongest contradiction first
    classes: tuple[Hashable, ...] = ()  # classes of the model; empty before there are labels of two classes
    probabilities: NDArray[np.float32] | None = None  # class probabilities, one row per node; None without a model
    held_out: NDArray[np.float32] | None = None  # class probabilities of labelled nodes without their label, if known

    @cached_property
    def best(self) -> NDArray[np.intp] | None:
        """Code of the likeliest class of each node; None without a model."""
        return None if self.probabilities is None else self.probabilities.argmax(axis=1)

    def renamed(self, old: Hashable, new: Hashable) -> Ranking:
        """Return the ranking with a class renamed, or merged: the probabilities of two classes of one name add up."""
        names = [new if name == old else name for name in self.classes]
        classes = tuple(dict.fromkeys(names))
        if len(classes) == len(names):
            return replace(self, classes=classes)
        columns = np.eye(len(classes), dtype=np.float32)[[classes.index(name) for name in names]]
        return replace(
            self,
            classes=classes,
            probabilities=None if self.probabilities is None else self.probabilities @ columns,
            held_out=None if self.held_out is None else self.held_out @ columns,
        )

    def prediction(self, node: int) -> Prediction | None:
        """Return the prediction of a node; None without a model."""
        return None if self.probabilities is None else self._prediction(self.probabilities[node])

    def suspects(self, labels: Mapping[int, Hashable]) -> dict[int, Prediction]:
        """Return the labelled nodes for which the model predicts another class without their label.

        The most suspicious one comes first: the one whose label is the least probable.
        """
        if self.held_out is None:
            return {}
        doubted = []
        for node, row in zip(self.labelled.tolist(), self.held_out, strict=True):
            prediction, label = self._prediction(row), labels.get(node)
            if label in prediction.probabilities and prediction.label != label:
                doubted.append((prediction.probabilities[label], node, prediction))
        return {node: prediction for _, node, prediction in sorted(doubted, key=lambda each: each[0])}

    def _prediction(self, shares: NDArray[np.float32]) -> Prediction:
        probabilities: dict[Hashable, float] = dict(zip(self.classes, shares.tolist(), strict=True))
        label = max(probabilities, key=lambda name: probabilities[name])
        return Prediction(label, probabilities[label], probabilities)


_NONE = np.empty(0, dtype=np.intp)
NO_RANKING = Ranking(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE)
"""What there is before the first training."""


class Worker:
    """The process that trains. Start it early: it imports its libraries while the graph is read."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="featprop-model", daemon=True)
        with resources.block_interrupts():
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
            self._pipe.send((function, None if self._graph is graph else graph, given))
            self._graph = graph
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
    """Keeps the ranking up to date: trains on what `snapshot` returns, and calls `on_ranking` and `on_advice`."""

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
            begun = time.monotonic()
            try:
                self._train()
                pause = min(time.monotonic() - begun, MAX_PAUSE_S)  # leave the machine to people for as long as it took
                self._advise()
            except Exception as error:  # a failed training must not keep people from answering
                self.failure, pause = _describe(error), RETRY_S
                log.warning("Training failed: %s", self.failure)
                self.request()
            self._closing.wait(pause)

    def _train(self) -> None:
        self.is_training = True
        try:
            ranking = self._compute(compute_ranking, self._snapshot())
        finally:
            self.is_training = False
        if ranking is not None:
            self._on_ranking(ranking)
            self.failure = ""

    def _advise(self) -> None:
        """Request advice if no training is due and there are enough new labels of several classes."""
        labels = self._snapshot().labels
        are_enough = len(labels) >= MIN_LABELS_FOR_ADVICE and len(set(labels.values())) > 1
        are_advised = self._advised_labels <= len(labels) < ADVICE_GROWTH * self._advised_labels
        is_large = self._graph.n_nodes > MAX_NODES_FOR_ADVICE
        if self._is_due.is_set() or is_large or are_advised or not are_enough:
            return
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
            function, new_graph, given = pipe.recv()
            graph = new_graph or graph
            try:
                answer = ("answer", function(graph, given))
            except Exception as error:  # the server continues with the last ranking
                answer = ("failure", _describe(error))
            pipe.send(answer)
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)


def compute_ranking(graph: Graph, snapshot: Snapshot) -> Ranking:
    """Fit the model to the labels, if there are two classes, and rank the next nodes."""
    from featprop.active import select
    from featprop.models import seeded_model
    from featprop.strategies import DEFAULT_STRATEGY, strategy_class

    nodes, labels = list(snapshot.labels), list(snapshot.labels.values())
    labelled = graph.positions(nodes)
    fitted = seeded_model(SEED).fit(graph, nodes, labels) if len(set(labels)) > 1 else None
    is_open = np.ones(graph.n_nodes, dtype=bool)
    is_open[labelled] = is_open[graph.positions(snapshot.excluded)] = False
    wanted = min(snapshot.wanted, int(is_open.sum()))
    ranking = replace(NO_RANKING, labelled=labelled)
    if fitted is not None:
        probabilities, held_out = fitted.predict_proba(graph), fitted.held_out_proba_
        ranking = replace(ranking, classes=fitted.class_names_, held_out=held_out)
        ranking = with_predictions(ranking, graph, probabilities)
    if wanted == 0:
        return ranking
    looks = fitted is not None and strategy_class(DEFAULT_STRATEGY).looks_at_model()
    picks = select(
        graph,
        wanted,
        labelled=nodes,
        labels=labels if looks else None,
        exclude=snapshot.excluded,
        model=fitted if looks else None,
        random_state=SEED,
    )
    is_open[picks.positions] = False
    spares = ranking.least_certain if fitted else _similar(graph, picks.nearest, np.flatnonzero(is_open))
    return replace(ranking, nodes=picks.positions, represents=picks.represents, spares=spares[is_open[spares]])


def with_predictions(ranking: Ranking, graph: Graph, probabilities: NDArray[np.float32]) -> Ranking:
    """Return a ranking with these class probabilities, and the nodes to review because of them."""
    against = contradiction(*neighbour_shares(graph.adjacency, probabilities), probabilities)
    contradicted = np.argsort(-against, kind="stable")
    return replace(
        ranking,
        probabilities=probabilities,
        least_certain=np.argsort(-uncertainty(probabilities), kind="stable"),
        contradicted=contradicted[against[contradicted] > 0],
    )


def compute_advice(graph: Graph, labels: Mapping[Hashable, Hashable]) -> Advice | None:
    """Return advice on a model of these labels; None if every node is labelled."""
    from featprop.evaluate import advise
    from featprop.models import seeded_model

    if len(labels) == graph.n_nodes:
        return None
    return advise(graph, seeded_model(SEED).fit(graph, list(labels), list(labels.values())))


def _similar(graph: Graph, nearest: NDArray[np.intp], nodes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return nodes in turns: of each selected node the similar one with the most neighbours, then the second ones …."""
    degree = np.diff(graph.adjacency.indptr)
    ordered = nodes[np.lexsort((-degree[nodes], nearest[nodes]))]
    _, starts = np.unique(nearest[ordered], return_index=True)
    turn = np.arange(len(ordered)) - np.repeat(starts, np.diff([*starts, len(ordered)]))
    return ordered[np.argsort(turn, kind="stable")]
