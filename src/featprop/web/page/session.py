"""A labelling session without HTTP: it asks questions and takes answers.

An answer is on disk before the call returns. The next question comes from the last finished ranking, so it is ready at
once, while the model trains in the background (`featprop.web.page.trainer`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from featprop.errors import GraphError, ParameterError, first_five, unknown_choice
from featprop.evaluate import Advice
from featprop.evaluate.audit import add_to_audit
from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.labels import Annotation, LabelLog
from featprop.labels.agreement import Disagreement
from featprop.labels.classes import match_known_classes
from featprop.labels.log import Outcome
from featprop.models import DEFAULT_MODEL
from featprop.strategies import DEFAULT_STRATEGY, strategy_class
from featprop.web.page.answers import Answers
from featprop.web.page.auditing import Auditing
from featprop.web.page.classes import Classes
from featprop.web.page.questions import Questions, wanted_of
from featprop.web.page.ranking import Ranking
from featprop.web.page.trainer import Snapshot, Trainer
from featprop.web.page.types import Prediction, Progress, Question

MIN_RANKED = 10
"""Minimum number of ranked nodes, plus four per annotator."""
MAX_RANKED = 100
"""Maximum number of ranked nodes for few annotators."""
UNKNOWN = -1
"""Class code of a node without a label."""


class Session:
    """A session in which people label a graph.

    Parameters
    ----------
    graph
        The graph.
    log
        Label log that stores every answer.
    classes
        Classes in the order of their keys; classes of the log with another spelling are the same class.
    annotators
        Names of the annotators.
    overlap
        Number of people who label each shared node; a fifth of the nodes are shared.
    budget
        Number of labels wanted, not counting the audit. Questions end when it is reached.
    audit
        Number of audit nodes to draw, unless the log has them already. Every fifth question is one.
    blind
        Whether predictions stay hidden until an annotator asks for them.
    open_classes
        Whether annotators may add classes.
    seed
        Seed of all random choices.
    strategy, model
        Names of the strategy and the model.
    clock
        Monotonic clock of the leases.
    """

    def __init__(
        self,
        graph: Graph,
        log: LabelLog,
        *,
        classes: Sequence[Hashable] = (),
        annotators: Sequence[str] = ("",),
        overlap: int = 1,
        budget: int | None = None,
        audit: int = 0,
        blind: bool = False,
        open_classes: bool = True,
        seed: int = 0,
        strategy: str = DEFAULT_STRATEGY,
        model: str = DEFAULT_MODEL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if overlap < 1 or overlap > max(1, len(annotators)):
            raise ParameterError(
                f"`overlap` must be from 1 to {max(1, len(annotators))}, the number of annotators, not {overlap}.",
                parameter="overlap",
                value=overlap,
            )
        if budget is not None and budget < 1:
            raise ParameterError(f"`budget` must be at least 1, not {budget}.", parameter="budget", value=budget)
        strategy_class(strategy)
        self.graph, self.log = graph, log
        self.annotators, self.overlap, self.budget = tuple(annotators), overlap, budget
        self.blind, self.open_classes, self.seed = blind, open_classes, seed
        self.round = 0
        self._lock = threading.RLock()
        if audit > len(log.audit()):
            add_to_audit(log, graph, audit - len(log.audit()), random_state=seed)
        self._answers = Answers(log.holding(), wanted_of(overlap, seed), log.audit())
        strange = [repr(node) for node in (*self._answers.nodes, *self._answers.audit) if not graph.has(node)]
        if strange:
            raise GraphError(
                f"{log.path or 'The label log'} belongs to another graph: this one lacks {first_five(strange)}.",
                hint="Choose another file with `labels`, or use the graph with the ids of the log.",
                path=log.path,
            )
        self._auditing = Auditing(graph, self._answers)
        self._notes: dict[Hashable, list[Annotation]] = {}
        for act in log.events():
            if act.kind == "note":
                self._notes.setdefault(act.node, []).append(act)
        self._questions = Questions(graph, self._answers, wanted_of(overlap, seed), budget, seed, clock)
        self._coverage: dict[int, float] = {}
        self._advice: Advice | None = None
        self._first = threading.Event()
        known = log.classes()
        self.classes = Classes([*match_known_classes(classes, known), *known])
        self._codes = np.full(graph.n_nodes, UNKNOWN, dtype=np.intp)
        self._code(self._answers.labels)
        self._trainer = Trainer(graph, strategy, model, seed, self._snapshot, self._take, self._take_advice)

    @property
    def is_shared(self) -> bool:
        """Whether several people label this graph or have labelled it."""
        with self._lock:
            return len({*self.annotators, *(name for name, count in self._answers.people.items() if count)}) > 1

    @property
    def ranking(self) -> Ranking | None:
        """The last finished ranking."""
        return self._questions.ranking

    def start(self, patience: float | None = None) -> None:
        """Store the classes, start the trainer, and wait up to `patience` seconds for the first ranking."""
        self.log.name_classes(self.classes)
        self._trainer.start()
        waited = 0.0
        while not self._first.wait(0.1) and not self._trainer.failure and (patience is None or waited < patience):
            waited += 0.1

    def close(self) -> None:
        """Stop the trainer; all answers are in the log."""
        self._trainer.close()

    def next(self, annotator: str) -> Question | None:
        """Return the question of an annotator, the same until they answer; None if nothing is left for them."""
        self._check(annotator)
        with self._lock:
            return self._questions.of(annotator)

    def label(self, annotator: str, node: Hashable, label: Hashable, key: str) -> Annotation | None:
        """Store a label and return the annotator's earlier answer to the node, if any."""
        node, label = self._about(annotator, node), self.classes.meant(label)
        return self._answered(annotator, self.log.answer(node, label, annotator=annotator, round=self.round, key=key))

    def skip(self, annotator: str, node: Hashable, reason: str, key: str) -> Annotation | None:
        """Store a skip with its reason and return the annotator's earlier answer, if any."""
        node = self._about(annotator, node)
        return self._answered(annotator, self.log.skip(node, reason, annotator=annotator, round=self.round, key=key))

    def adjudicate(self, annotator: str, node: Hashable, label: Hashable, key: str) -> Annotation | None:
        """Settle the label of a node people disagree on and return the earlier verdict, if any."""
        node, label = self._about(annotator, node), self.classes.meant(label)
        done = self.log.adjudicate(node, label, annotator=annotator, round=self.round, key=key)
        return self._answered(annotator, done)

    def undo(self, annotator: str, key: str) -> Annotation | None:
        """Undo an annotator's last answer and return it; None if there is none.

        Its node becomes their question again. Undoing a verdict reopens the disagreement.
        """
        self._check(annotator)
        act = self.log.undo(annotator=annotator, round=self.round, key=key)
        if act is None:
            return None
        outcome = self.log.outcome(act.node)
        with self._lock:
            self._keep(outcome)
            if act.kind != "adjudicate" and annotator not in self._answers.of(act.node):
                self._questions.ask_again(annotator, act.node)
        self._trainer.request()
        return act

    def note(self, annotator: str, node: Hashable, text: str, key: str) -> None:
        """Add a note to a node."""
        node = self._about(annotator, node)
        act = self.log.note(node, text, annotator=annotator, round=self.round, key=key)
        if act is not None:
            with self._lock:
                self._notes.setdefault(node, []).append(act)

    def heartbeat(self, annotator: str, node: Hashable) -> bool:
        """Keep a node reserved for an annotator; False if it is no longer theirs."""
        node = self._about(annotator, node)
        with self._lock:
            return self._questions.leases.renew(annotator, node)

    def add_class(self, name: str, annotator: str = "") -> tuple[Hashable, bool]:
        """Add a class; return it as stored (a number if it looks like one) and whether it is new."""
        if not self.open_classes:
            raise ParameterError(
                "This session has a fixed set of classes.",
                hint="Ask whoever started featprop to add it to `classes`.",
                parameter="classes",
                value=name,
            )
        with self._lock:
            added, is_new = self.classes.add(name)
            if is_new:
                self.log.name_classes(self.classes, annotator=annotator)
            return added, is_new

    def history(self, annotator: str, limit: int = 50) -> list[Annotation]:
        """Return an annotator's current answers and verdicts, newest first. Undo removes the first one."""
        self._check(annotator)
        with self._lock:
            return self._answers.by(annotator, limit)

    def notes(self, annotator: str, node: Hashable) -> list[str]:
        """Return an annotator's notes on a node."""
        with self._lock:
            return [act.text for act in self._notes.get(node, []) if act.annotator == annotator]

    def disagreements(self, annotator: str | None = None) -> list[Disagreement]:
        """Return the open disagreements, except nodes the annotator may still be asked for."""
        with self._lock:
            hidden = set() if annotator is None else set(self._questions.may_be_asked(annotator))
            return [self._answers.disagreement(node) for node in self._answers.apart if node not in hidden]

    def settled(self) -> list[Annotation]:
        """Return the current verdicts."""
        with self._lock:
            return self._answers.verdicts

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label of each labelled node."""
        with self._lock:
            return dict(self._answers.labels)

    def answer(self, annotator: str, node: Hashable) -> Annotation | None:
        """Return an annotator's answer to a node, if any."""
        with self._lock:
            return self._answers.of(node).get(annotator)

    def codes(self, annotator: str) -> NDArray[np.intp]:
        """Return the class code of each node as an annotator may see it; -1 without a label.

        Nodes that they may still be asked for have none, so that answers stay independent.
        """
        with self._lock:
            hidden = self.graph.positions(self._questions.may_be_asked(annotator))
            codes = self._codes.copy()
        codes[hidden] = UNKNOWN
        return codes

    def progress(self) -> Progress:
        """Return the progress of the labelling."""
        with self._lock:
            audited, learnt = self._answers.audited, dict(self._answers.labels) if self.audit else {}
        audit = self._auditing.progress(self.ranking, learnt, audited)
        with self._lock:
            answers, ranking = self._answers, self.ranking
            people = {**dict.fromkeys(self.annotators, 0), **{name: n for name, n in answers.people.items() if n}}
            return Progress(
                labelled=len(answers.labels),
                skipped=len(answers.skips),
                nodes=self.graph.n_nodes,
                budget=self.budget,
                classes=[(name, answers.classes[name_to_text(name)]) for name in self.classes],
                annotators=people,
                hours={hour: n for hour, n in sorted(answers.hours.items()) if n},
                seen=0 if ranking is None else min(ranking.n_labels, len(answers.labels)),
                disagreements=len(answers.apart),
                alpha=answers.agreement.alpha,
                coverage=sorted(self._coverage.items()),
                audit=audit,
                advice=self._advice,
                training=self._trainer.state,
                failure=self._trainer.failure,
            )

    def prediction(self, node: Hashable) -> Prediction | None:
        """Return the prediction of a node; None without a model and for audit nodes."""
        ranking = self.ranking
        return None if ranking is None or self.is_audit(node) else ranking.prediction(self._position(node))

    @property
    def audit(self) -> Collection[Hashable]:
        """Nodes of the audit."""
        return self._answers.audit.keys()

    def is_audit(self, node: Hashable) -> bool:
        """Return whether a node belongs to the audit."""
        return node in self._answers.audit

    def least_certain(self, limit: int = 20) -> list[tuple[Hashable, Prediction]]:
        """Return the unanswered nodes with the least certain predictions."""
        return [] if self.ranking is None else self._predicted(self.ranking, self.ranking.least_certain(), limit)

    def contradicted(self, limit: int = 20) -> list[tuple[Hashable, Prediction]]:
        """Return the unanswered nodes whose predictions the neighbours contradict most."""
        ranking = self.ranking
        return [] if ranking is None else self._predicted(ranking, ranking.contradicted(self.graph), limit)

    def represented(self, node: Hashable) -> NDArray[np.intp]:
        """Return the positions of the nodes that a ranked node represents; none for other nodes."""
        nothing = np.empty(0, dtype=np.intp)
        return nothing if self.ranking is None else self.ranking.represented(self._position(node))

    def _predicted(self, ranking: Ranking, order: NDArray[np.intp], limit: int) -> list[tuple[Hashable, Prediction]]:
        found: list[tuple[Hashable, Prediction]] = []
        for position in order.tolist():
            (node,) = self.graph.ids[[position]].tolist()
            prediction = None if self._answers.of(node) or self.is_audit(node) else ranking.prediction(position)
            if prediction is not None:
                found.append((node, prediction))
            if len(found) == limit:
                break
        return found

    def _answered(self, annotator: str, outcome: Outcome) -> Annotation | None:
        with self._lock:
            self._keep(outcome)
            self._questions.answered(annotator, outcome.node)
        self._trainer.request()
        return outcome.before

    def _keep(self, outcome: Outcome) -> None:
        self._answers.put(outcome)
        self._code([outcome.node])

    def _code(self, nodes: Collection[Hashable]) -> None:
        """Update the class codes of nodes."""
        labels = self._answers.labels
        for position, node in zip(self.graph.positions(nodes, "nodes in the label log").tolist(), nodes, strict=True):
            self._codes[position] = self.classes.code(labels[node]) if node in labels else UNKNOWN

    def _snapshot(self) -> Snapshot:
        with self._lock:
            answers = self._answers
            labels = {node: label for node, label in answers.labels.items() if node not in answers.ties}
            excluded = (*(node for node in dict.fromkeys([*answers.nodes, *answers.audit]) if node not in labels),)
        wanted = max(MIN_RANKED + 4 * len(self.annotators), min(MAX_RANKED, len(labels) // 2))
        return Snapshot(labels, excluded, wanted)

    def _take(self, ranking: Ranking) -> None:
        with self._lock:
            self._questions.ranking = ranking
            self.round += 1
            if ranking.n_labels:
                self._coverage[ranking.n_labels] = ranking.mean_distance
        self._first.set()

    def _take_advice(self, advice: Advice) -> None:
        with self._lock:
            self._advice = advice

    def _check(self, annotator: str) -> None:
        if annotator not in self.annotators:
            raise unknown_choice("annotator", annotator, self.annotators)

    def _about(self, annotator: str, node: Hashable) -> Hashable:
        """Check the annotator and return the id of the node as the graph has it."""
        self._check(annotator)
        found: Hashable = self.graph.ids[[self._position(node)]].tolist()[0]
        return found

    def _position(self, node: Hashable) -> int:
        return int(self.graph.positions([node])[0])
