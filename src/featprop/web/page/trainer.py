"""The model behind the page: it learns in a process of its own, from a snapshot, and hands back a ranking.

When nothing else is due, and learning is quick, it also says how good it is and whether more labels are worth it.

At most one training is at work and one is due: labels that come while it works are in the next one. A training that
fails, or a process that dies or takes far too long, is told and tried again with the next labels; it never holds up an
answer.
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

__all__ = ["Snapshot", "Trainer", "ranked"]

log = logging.getLogger(__name__)

POLITE = 19
"""How much the process gives way to the one that answers people."""
LOOK = 0.2
"""Seconds between two looks at a process that works."""
LONGEST, LONGER = 60.0, 20
"""A training ends that takes more seconds than these, and than so many times as long as the last one."""

LONGEST_REST = 5.0
"""Seconds between two trainings, at most."""
ENOUGH, GROWN, QUICK = 20, 1.1, 1.0
"""It is judged how good the model is from so many labels on, with each so many times as many, if the quickest
training took at most so many seconds, as others are slow when the machine is busy: a judgement takes more than ten."""


@dataclass(frozen=True)
class Snapshot:
    """What there is to learn from.

    Attributes
    ----------
    labels
        The class of each node to learn from, by id.
    out
        Ids of nodes that are not to be asked for.
    wanted
        How many nodes to rank.
    """

    labels: Mapping[Hashable, Hashable]
    out: tuple[Hashable, ...]
    wanted: int


class Judging(NamedTuple):
    """Labels to judge the model by."""

    labels: Mapping[Hashable, Hashable]


class Trainer:
    """Keeps a ranking up to date.

    Parameters
    ----------
    graph
        The graph.
    strategy, model
        The names of what chooses and what is trained.
    seed
        The same seed and labels give the same ranking.
    snapshot
        Returns what there is to learn from now.
    finished
        Is handed each ranking.
    judged
        Is handed what is said of the model now and then.
    """

    def __init__(
        self,
        graph: Graph,
        strategy: str,
        model: str,
        seed: int,
        snapshot: Callable[[], Snapshot],
        finished: Callable[[Ranking], None],
        judged: Callable[[Advice], None],
    ) -> None:
        self._work = (replace(graph.without_labels(), table=None), strategy, model, seed)
        self._snapshot, self._finished, self._judged = snapshot, finished, judged
        self._judged_by = 0
        self._due = threading.Condition()
        self._is_due, self._closing = False, False
        self._process: Any = None
        self._pipe: Connection | None = None
        self._thread = threading.Thread(target=self._tend, name="featprop-trainer", daemon=True)
        self._last, self._quickest = 0.0, math.inf
        self.state = "waiting"
        self.failure = ""

    def start(self) -> None:
        """Begin; the first ranking is due at once."""
        self.call()
        self._thread.start()

    def call(self) -> None:
        """Say that there is something new to learn from."""
        with self._due:
            self._is_due = True
            self._due.notify()

    def close(self) -> None:
        """End the process, whatever it is at."""
        with self._due:
            self._closing = True
            self._due.notify()
        if self._thread.is_alive():
            self._thread.join()
        self._end()

    def _tend(self) -> None:
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
                    self._last = time.monotonic() - begun
                    self._finished(ranking)
                    self.failure = ""
                    self._judge(snapshot, ranking)
            except Exception as error:  # whatever goes wrong here must not stop the answers of people
                self.failure = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {error}"
                log.warning("The model could not be trained on the last labels: %s", self.failure)
                self._end()
            self.state = "waiting"
            if not is_new:
                with self._due:  # people have the machine as long as the model had it
                    self._due.wait_for(lambda: self._closing, timeout=min(self._last, LONGEST_REST))

    def _judge(self, snapshot: Snapshot, ranking: Ranking) -> None:
        """Have it said how good the model is, where there is time for that and enough is new."""
        count = len(snapshot.labels)
        is_new = count >= max(ENOUGH, GROWN * self._judged_by) or count < self._judged_by
        if ranking.probabilities is None:
            return
        self._quickest = min(self._quickest, self._last)
        if self._is_due or not is_new or self._quickest > QUICK:
            return
        advice = self._ask(Judging(snapshot.labels))
        if advice is not None:
            self._judged_by = count
            self._judged(advice)

    def _ask(self, question: Snapshot | Judging) -> Any:
        """Have the process answer; None if the page closes meanwhile. One that takes far too long is ended."""
        if self._process is None or not self._process.is_alive():
            self._begin()
        assert self._pipe is not None
        self._pipe.send(question)
        allowed = max(LONGEST, LONGER * self._last)
        end = time.monotonic() + allowed
        while not self._pipe.poll(LOOK):
            if self._closing:
                return None
            if not self._process.is_alive():
                raise RuntimeError(f"the process ended with {self._process.exitcode}")
            if time.monotonic() > end:
                raise RuntimeError(f"it took more than {allowed:.0f} s and was ended")
        answer = self._pipe.recv()
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_learn, args=(theirs, *self._work), name="featprop-model", daemon=True)
        with interrupts.block_interrupts():
            self._process.start()
        theirs.close()

    def _end(self) -> None:
        if self._process is not None and self._process.is_alive():
            self._process.kill()
            self._process.join()
        if self._pipe is not None:
            self._pipe.close()
        self._process = self._pipe = None


def _learn(pipe: Connection, graph: Graph, strategy: str, model: str, seed: int) -> None:
    """Answer each snapshot with a ranking, labels with advice, until nobody asks any more.

    Where something goes wrong the answer is a sentence about that.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        os.nice(POLITE)
    while True:
        try:
            question = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if isinstance(question, Judging):
                answer: Ranking | Advice | str | None = judged(graph, model, seed, question.labels)
            else:
                answer = ranked(graph, strategy, model, seed, question)
        except Exception as error:  # told to the process that answers people, which goes on
            answer = str(error) if isinstance(error, FeatpropError) else f"{type(error).__name__}: {quote_error(error)}"
        try:
            pipe.send(answer)
        except OSError:
            return


def judged(graph: Graph, model: str, seed: int, labels: Mapping[Hashable, Hashable]) -> Advice | None:
    """Say how good a model of these labels is, and whether more are worth it; None where no other node is left."""
    from featprop.models import seeded_model

    if len(labels) == graph.n_nodes:
        return None
    return advise(graph, seeded_model(seed, model).fit(graph, list(labels), list(labels.values())))


def ranked(graph: Graph, strategy: str, model: str, seed: int, snapshot: Snapshot) -> Ranking:
    """Fit the model to the labels of a snapshot, where there are two classes, and rank the next nodes."""
    from featprop.active import select
    from featprop.models import seeded_model
    from featprop.propagation import coverage
    from featprop.strategies import DEFAULT_STRATEGY, strategy_class

    nodes, labels = list(snapshot.labels), list(snapshot.labels.values())
    several = len(set(labels)) > 1
    fitted = seeded_model(seed, model).fit(graph, nodes, labels) if several else None
    chooser = DEFAULT_STRATEGY if strategy_class(strategy).needs and fitted is None else strategy
    looks = fitted is not None and strategy_class(chooser).looks_at_model()
    left = graph.n_nodes - len(set(graph.positions([*nodes, *snapshot.out]).tolist()))
    positions = graph.positions(nodes)
    distances = coverage(graph, positions).mean_distance if nodes else float("nan")
    probabilities = None if fitted is None else fitted.predict_proba(graph)
    classes = () if fitted is None else fitted.class_names_
    if left == 0:
        empty = np.empty(0, dtype=np.intp)
        nearest = np.full(graph.n_nodes, -1, dtype=np.intp)
        return Ranking(empty, empty.astype(np.int64), nearest, len(nodes), distances, classes, probabilities)
    picks = select(
        graph,
        min(snapshot.wanted, left),
        strategy=chooser,
        labelled=nodes,
        labels=labels if looks else None,
        exclude=snapshot.out,
        model=fitted if looks else None,
        random_state=seed,
    )
    return Ranking(picks.positions, picks.represents, picks.nearest, len(nodes), distances, classes, probabilities)
