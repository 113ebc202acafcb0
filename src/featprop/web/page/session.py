"""A labelling session without HTTP: it asks questions and takes answers.

An answer is on disk before the call returns, together with the choice of the next question. Questions come from the
last finished ranking, so they are ready at once, while the model trains in the background
(`featprop.web.page.trainer`). What holds now is a query (`featprop.web.page.state`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import GraphError, ParameterError, first_five, shorten, unknown_choice
from featprop.evaluate import Advice, AuditScore
from featprop.evaluate.audit import add_to_audit
from featprop.evaluate.audit_scoring import score_predictions
from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.labels import Annotation, Kind, LabelLog
from featprop.labels.agreement import Disagreement
from featprop.labels.classes import match_known_classes
from featprop.labels.log import ClassEntry
from featprop.web.page.classes import Classes, class_keys, typed_name
from featprop.web.page.state import Question, State
from featprop.web.page.trainer import SEED, Prediction, Ranking, Snapshot, Trainer, Worker

MIN_RANKED, MAX_RANKED = 10, 100
"""Number of ranked nodes: as many as the budget leaves, within these limits."""
MIN_AUDIT_LABELS = 10
"""Audit labels needed for a score."""
AHEAD = 1
"""Questions reserved in advance for an annotator."""


class Session:
    """A session in which people label a graph.

    Parameters
    ----------
    graph
        The graph.
    log
        Label log that stores every answer.
    classes
        Classes in the order of their keys, by name or as entries with keys and descriptions; classes of the log with
        another spelling are the same class.
    annotators
        Names of the annotators. The first one is the owner, who manages classes, settles disagreements and downloads.
    overlap
        Number of people who label each shared node; a fifth of the nodes are shared.
    budget
        Number of labels wanted, not counting the audit. Questions end when it is reached.
    audit
        Number of audit nodes to draw, unless the log has them already. Every fifth question is one.
    blind
        Whether predictions stay hidden until an annotator asks for them.
    open_classes
        Whether all annotators may add classes; otherwise only the owner may.
    guide
        Instructions for annotators, in Markdown.
    worker
        Process that trains; a new one by default.
    clock
        Monotonic clock of the leases.
    """

    def __init__(
        self,
        graph: Graph,
        log: LabelLog,
        *,
        classes: Sequence[Hashable | ClassEntry] = (),
        annotators: Sequence[str] = ("",),
        overlap: int = 1,
        budget: int | None = None,
        audit: int = 0,
        blind: bool = False,
        open_classes: bool = True,
        guide: str = "",
        worker: Worker | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        people = len(annotators)
        if overlap < 1 or overlap > people:
            message = f"`overlap` must be from 1 to {people}, the number of annotators, not {overlap}."
            raise ParameterError(message, parameter="overlap", value=overlap)
        if budget is not None and budget < 1:
            raise ParameterError(f"`budget` must be at least 1, not {budget}.", parameter="budget", value=budget)
        self.graph, self.log = graph, log
        self.annotators, self.owner, self.budget = tuple(annotators), annotators[0], budget
        self.may_add = set(annotators) if open_classes else {self.owner}
        self.blind, self.guide = blind, guide
        self.round = 0
        if audit > len(log.audit()):
            add_to_audit(log, graph, audit - len(log.audit()), random_state=SEED)
        known = {each.node for each in log.holding()} | log.audit().keys()
        strange = [repr(node) for node in known if not graph.has(node)]
        if strange:
            raise GraphError(
                f"{log.path or 'The label log'} belongs to another graph: this one lacks {first_five(strange)}.",
                hint="Choose another file with `labels`, or use the graph with the ids of the log.",
                path=log.path,
            )
        entries = [each if isinstance(each, ClassEntry) else ClassEntry(each) for each in classes]
        self.moved_keys = self._name_classes(entries)
        self.state = State(graph, log, overlap=overlap, budget=budget, n_annotators=people, clock=clock)
        self.is_shared = len({*annotators, *self.state.people()}) > 1
        """Whether several people label this graph or have labelled it."""
        self.advice: Advice | None = None
        self._coverage: dict[int, float] = {}
        self._audit_score: tuple[object, AuditScore | None] = (None, None)
        self.trainer = Trainer(graph, self.snapshot, self.take_ranking, self._take_advice, worker)

    def start(self) -> None:
        """Compute the first ranking, then train in the background."""
        self.trainer.start()

    def close(self) -> None:
        """Stop the trainer; all answers are in the log."""
        self.trainer.close()

    # Questions and answers

    def next(self, annotator: str) -> Question | None:
        """Return the question of an annotator, the same until they answer; None if nothing is left for them."""
        return next(iter(self.questions(annotator, ahead=0)), None)

    def questions(self, annotator: str, ahead: int = AHEAD) -> list[Question]:
        """Return the question of an annotator and up to `ahead` more that are reserved in advance."""
        self._check(annotator)
        with self.log.locked():
            return self.state.questions(annotator, ahead)

    def label(self, annotator: str, node: Hashable, label: Hashable, key: str) -> Annotation | None:
        """Store a label and return the annotator's earlier answer to the node, if any."""
        return self._answer(Annotation(node, self.classes.meant(label), Kind.LABEL, annotator, key=key))

    def skip(self, annotator: str, node: Hashable, reason: str, key: str) -> Annotation | None:
        """Store a skip with its reason and return the annotator's earlier answer, if any."""
        return self._answer(Annotation(node, None, Kind.SKIP, annotator, key=key, text=reason))

    def adjudicate(self, annotator: str, node: Hashable, label: Hashable, key: str) -> Annotation | None:
        """Settle the label of a node people disagree on and return the earlier verdict, if any."""
        return self._answer(Annotation(node, self.classes.meant(label), Kind.VERDICT, annotator, key=key))

    def undo(self, annotator: str, key: str) -> Annotation | None:
        """Undo an annotator's last answer and return it; None if there is none.

        Its node becomes their question again. Undoing a verdict reopens the disagreement.
        """
        self._check(annotator)

        def work() -> Annotation | None:
            undone = self.log.undo(annotator=annotator, round=self.round, key=key)
            if undone is not None and undone.kind is not Kind.VERDICT and self.answer(annotator, undone.node) is None:
                self.state.ask_again(annotator, undone.node)
            return undone

        undone = self.log.write_together(work)
        self.trainer.request()
        return undone

    def note(self, annotator: str, node: Hashable, text: str, key: str) -> None:
        """Add a note to a node."""
        self.log.note(self._about(annotator, node), text, annotator=annotator, round=self.round, key=key)

    def heartbeat(self, annotator: str, node: Hashable) -> bool:
        """Keep a node reserved for an annotator; False if it is no longer theirs."""
        node = self._about(annotator, node)
        with self.log.locked():
            return self.state.renew(annotator, node)

    def _answer(self, answer: Annotation) -> Annotation | None:
        """Write an answer, and reserve the next questions in the same transaction."""
        answer = replace(answer, node=self._about(answer.annotator, answer.node), round=self.round)

        def work() -> Annotation | None:
            before = self.log.append(answer)
            self.state.release(answer.annotator, answer.node)
            self.state.questions(answer.annotator, AHEAD)
            return before

        before = self.log.write_together(work)
        self.trainer.request()
        return before

    # Classes

    @property
    def classes(self) -> Classes:
        """The classes in the order of their keys."""
        return Classes(self.log.class_entries())

    def add_class(self, name: str, annotator: str = "") -> tuple[Hashable, bool]:
        """Add a class; return it as stored (a number if it looks like one) and whether it is new."""
        with self.log.locked():
            classes = self.classes
            found = classes.find(name)
            if found is not None:
                return found, False
            added = typed_name(name)
            self.log.name_classes([*classes, added], annotator=annotator)
            return added, True

    def rename_class(self, old: Hashable, name: str, annotator: str = "") -> Hashable:
        """Rename a class in all answers, or merge it into the class with the new name, and return that class."""
        with self.log.locked():
            classes = self.classes
            old = classes.meant(old)
            others = Classes(each for each in classes.entries if name_to_text(each.name) != name_to_text(old))
            found = others.find(name)
            new = typed_name(name) if found is None else found
            if name_to_text(new) != name_to_text(old):
                self.log.rename_class(old, new, annotator=annotator)
                self.state.ranking = self.ranking and self.ranking.renamed(old, new)
        self.trainer.request()
        return new

    def remove_class(self, name: Hashable, annotator: str = "") -> None:
        """Remove a class without labels."""
        self.log.remove_class(self.classes.meant(name), annotator=annotator)

    def describe_class(self, name: Hashable, description: str, annotator: str = "") -> None:
        """Describe a class for the annotators."""
        classes = self.classes
        entry = classes.entries[classes.codes[name_to_text(classes.meant(name))]]
        self.log.describe_class(entry.name, key=entry.key, description=description, annotator=annotator)

    def _name_classes(self, given: Sequence[ClassEntry]) -> dict[str, tuple[str, str]]:
        """Store the classes of the session, and return the old and new keys of classes whose key moved."""
        before = self.log.class_entries()
        names = match_known_classes([each.name for each in given], [each.name for each in before])
        for name in names:
            Classes(ClassEntry(other) for other in names if str(other) != str(name)).find(str(name))
        self.log.name_classes(list({name_to_text(name): name for name in [*names, *self.log.classes()]}.values()))
        for name, each in zip(names, given, strict=True):
            if each.key or each.description:
                self.log.describe_class(name, key=each.key, description=each.description)
        now = self.log.class_entries()
        new = dict(zip([name_to_text(each.name) for each in now], class_keys(now), strict=True))
        old = [
            (each.name, key, new[name_to_text(each.name)]) for each, key in zip(before, class_keys(before), strict=True)
        ]
        return {str(name): (key, moved) for name, key, moved in old if key != moved}

    # What holds now

    @property
    def ranking(self) -> Ranking | None:
        """The last finished ranking."""
        return self.state.ranking

    def history(self, annotator: str, limit: int = 50) -> list[Annotation]:
        """Return an annotator's current answers and verdicts, newest first. Undo removes the first one."""
        self._check(annotator)
        return self.log.numbered(self.state.history(annotator, limit))

    def notes(self, annotator: str, node: Hashable) -> list[str]:
        """Return an annotator's notes on a node."""
        return [each.text for each in self.log.notes_of(node) if each.annotator == annotator]

    def disagreements(self, annotator: str | None = None) -> list[Disagreement]:
        """Return the open disagreements, except nodes the annotator may still be asked for; only the owner sees any."""
        return self.state.apart(annotator) if annotator in (None, self.owner) else []

    def settled(self) -> list[Annotation]:
        """Return the current verdicts."""
        return self.log.numbered(self.state.verdicts())

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label of each labelled node."""
        return self.state.labels()

    def answer(self, annotator: str, node: Hashable) -> Annotation | None:
        """Return an annotator's answer to a node, if any."""
        held = [each for each in self.log.holding_of(node) if each.kind is not Kind.VERDICT]
        return next((each for each in held if each.annotator == annotator), None)

    def visible_labels(self, annotator: str, nodes: Sequence[Hashable] | None = None) -> dict[Hashable, Hashable]:
        """Return the labels, or those of some nodes, that an annotator may see.

        They may not see those of nodes that they may still be asked for, so that answers stay independent.
        """
        found, hidden = self.state.decisions(nodes), self.state.hidden(annotator)
        return {node: each.label for node, each in found.items() if each.label is not None and node not in hidden}

    def status(self) -> dict[str, Any]:
        """Return what every page shows of the progress."""
        labelled = self.state.n_labelled()
        return {
            "nodes": self.graph.n_nodes,
            "labelled": labelled,
            "budget": self.budget,
            "seen": 0 if self.ranking is None else min(self.ranking.n_labels, labelled),
            "disagreements": self.state.n_apart() if self.is_shared else 0,
            "training": "training" if self.trainer.is_training else "waiting",
            "failure": self.trainer.failure,
        }

    def progress(self, annotator: str | None = None) -> dict[str, Any]:
        """Return the progress of the labelling; an annotator who is not the owner sees only their own count."""
        with self.log.locked():
            drawn, decisions = self.log.audit(), self.state.decisions()
            counts = Counter(name_to_text(each.label) for node, each in decisions.items() if node not in drawn)
            people = {**dict.fromkeys(self.annotators, 0), **self.state.people()}
            if annotator is not None and annotator != self.owner:
                people = {annotator: people[annotator]}
            return {
                **self.status(),
                "skipped": counts[name_to_text(None)],
                "classes": [(name, counts[name_to_text(name)]) for name in self.classes],
                "annotators": people,
                "hours": self.state.hours(),
                "alpha": self.state.alpha(),
                "coverage": sorted(self._coverage.items()),
                "audit": self._audit_progress(),
                "advice": self.advice,
            }

    def prediction(self, node: Hashable) -> Prediction | None:
        """Return the prediction of a node; None without a model and for audit nodes."""
        if self.ranking is None or self.state.is_audit(node):
            return None
        return self.ranking.prediction(self.position(node))

    @property
    def audit(self) -> list[Hashable]:
        """Nodes of the audit."""
        return list(self.log.audit())

    def least_certain(self, limit: int = 20) -> dict[Hashable, Prediction]:
        """Return the unanswered nodes with the least certain predictions."""
        return {} if self.ranking is None else self._unanswered(self.ranking.least_certain(), limit)

    def contradicted(self, limit: int = 20) -> dict[Hashable, Prediction]:
        """Return the unanswered nodes whose predictions the neighbours contradict most."""
        return {} if self.ranking is None else self._unanswered(self.ranking.contradicted(self.graph), limit)

    def suspects(self, annotator: str, limit: int = 20) -> dict[Hashable, Prediction]:
        """Return the labelled nodes for which the model predicts another class without their label.

        The most suspicious one comes first. The owner sees all of them, other annotators those they labelled.
        """
        if self.ranking is None:
            return {}
        visible = {self.position(node): label for node, label in self.visible_labels(annotator).items()}
        found = {self.node_at(position): each for position, each in self.ranking.suspects(visible).items()}
        shown = (node for node in found if annotator == self.owner or self.answer(annotator, node) is not None)
        return {node: found[node] for node in islice(shown, limit)}

    def position(self, node: Hashable) -> int:
        """Return the position of a node."""
        if not self.graph.has(node):
            raise unknown_node(node)
        return int(self.graph.positions([node])[0])

    def node_at(self, position: int) -> Hashable:
        """Return the id of the node at a position."""
        node: Hashable = self.graph.ids[[position]].tolist()[0]
        return node

    def _unanswered(self, order: NDArray[np.intp], limit: int) -> dict[Hashable, Prediction]:
        """Return the predictions of the first unanswered nodes in an order."""
        answered = set(self.state.answered())
        nodes = (node for node in map(self.node_at, order.tolist()) if node not in answered)
        predictions = {node: self.prediction(node) for node in islice(nodes, limit)}
        return {node: each for node, each in predictions.items() if each is not None}

    def _audit_progress(self) -> dict[str, Any] | None:
        """Return the progress of the audit; a score is computed once for a model and its audit labels."""
        weights = self.log.audit()
        if not weights:
            return None
        ranking, audited = self.ranking, self.state.labels(audit=True)
        if self._audit_score[0] != (basis := (id(ranking), tuple(audited.items()))):
            score = None
            if ranking is not None and ranking.probabilities is not None and len(audited) >= MIN_AUDIT_LABELS:
                best = ranking.probabilities.argmax(axis=1)
                score = score_predictions(self.graph, ranking.classes, best, self.labels(), audited, weights)
            self._audit_score = basis, score
        return {"size": len(weights), "answered": len(audited), "score": self._audit_score[1]}

    # Training

    def snapshot(self) -> Snapshot:
        """Return the input of a training on the current labels."""
        with self.log.locked():
            labels, answered = self.state.labels(ties=False), self.state.answered()
            left = MAX_RANKED if self.budget is None else self.budget - self.state.n_labelled()
        excluded = tuple(node for node in answered if node not in labels)
        return Snapshot(labels, excluded, min(max(left, MIN_RANKED), MAX_RANKED))

    def take_ranking(self, ranking: Ranking) -> None:
        """Use the result of a training."""
        with self.log.locked():
            self.state.use(ranking)
            self.round += 1
            if ranking.n_labels:
                self._coverage[ranking.n_labels] = ranking.mean_distance

    def _take_advice(self, advice: Advice) -> None:
        self.advice = advice

    def _check(self, annotator: str) -> None:
        if annotator not in self.annotators:
            raise unknown_choice("annotator", annotator, self.annotators)

    def _about(self, annotator: str, node: Hashable) -> Hashable:
        """Check the annotator and return the id of the node as the graph has it."""
        self._check(annotator)
        return self.node_at(self.position(node))


def unknown_node(name: Any) -> GraphError:
    """Return the error about a node that the graph does not have."""
    shown = f'"{shorten(name, 100)}"' if isinstance(name, str) else shorten(repr(name), 100)
    return GraphError(f"There is no node {shown} in this graph.", node=name)
