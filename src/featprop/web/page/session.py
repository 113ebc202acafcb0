"""A labelling session without HTTP: it asks questions and takes answers.

An answer is on disk before the call returns, together with the choice of the next question. Questions come from the
last finished ranking, so they are ready at once, while the model trains in the background
(`featprop.web.page.trainer`). What holds now is in SQL: in the label log, and in `featprop.web.page.questions`.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import GraphError, ParameterError, first_five, shorten
from featprop.evaluate import Advice
from featprop.evaluate.audit import add_to_audit
from featprop.evaluate.audit_scoring import score_predictions
from featprop.graph import Graph
from featprop.ids import name_to_text
from featprop.labels import Annotation, Kind, LabelLog
from featprop.labels.agreement import Decision, Disagreement, alpha, consensus, decide
from featprop.labels.classes import match_known_classes
from featprop.labels.log import ClassEntry, parse_label
from featprop.web.page.classes import Classes, typed_name
from featprop.web.page.fields import Description, Key, Label, Name, Node, Note, Reason, node_address
from featprop.web.page.questions import Question, Questions
from featprop.web.page.trainer import NO_RANKING, SEED, Prediction, Ranking, Snapshot, Trainer, Worker

MIN_RANKED, MAX_RANKED = 10, 100
"""Number of ranked nodes: as many as the budget leaves, within these limits."""
MIN_AUDIT_LABELS = 10
"""Audit labels needed for a score."""
AHEAD = 1
"""Questions reserved in advance for an annotator."""
MAX_LOOKUPS = 1000
"""Nodes looked up one by one; for more, all answers are read."""
REVIEW_LISTS = ("least_certain", "contradicted", "wrong_labels", "disagreements")
APART = "SELECT node FROM answers WHERE holds GROUP BY node HAVING max(is_verdict) = 0 AND min(label) < max(label)"
"""Nodes with different labels that no one has settled."""


class NotAllowedError(ParameterError):
    """An annotator may not do this."""


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
        self.graph, self.log = graph, log
        self.annotators, self.owner, self.budget = tuple(annotators), annotators[0], budget
        self.may_add = set(annotators) if open_classes else {self.owner}
        self.blind, self.guide = blind, guide
        self.round = 0
        self.ranking = NO_RANKING
        """The last finished ranking."""
        holding = log.holding()
        known = {each.node for each in holding} | log.audit().keys()
        strange = [repr(node) for node in known if not graph.has(node)]
        if strange:
            raise GraphError(
                f"{log.path or 'The label log'} belongs to another graph: this one lacks {first_five(strange)}.",
                hint="Choose another file with `labels`, or use the graph with the ids of the log.",
                path=log.path,
            )
        if audit > len(log.audit()):
            add_to_audit(log, graph, audit - len(log.audit()), random_state=SEED)
        entries = [each if isinstance(each, ClassEntry) else ClassEntry(each) for each in classes]
        self.moved_keys = self._name_classes(entries)
        self._questions = Questions(graph, log, overlap=overlap, budget=budget, n_annotators=people, clock=clock)
        self.is_shared = len({*annotators, *(each.annotator for each in holding)}) > 1
        """Whether several people label this graph or have labelled it."""
        self.advice: Advice | None = None
        self.trainer = Trainer(graph, self.snapshot, self.take_ranking, self._take_advice, worker)

    def start(self) -> None:
        """Compute the first ranking, then train in the background."""
        self.trainer.start()

    def close(self) -> None:
        """Stop the trainer; all answers are in the log."""
        self.trainer.close()

    # Questions

    def next(self, annotator: str) -> Question | None:
        """Return the question of an annotator, the same until they answer; None if nothing is left for them."""
        return next(iter(self.questions(annotator, ahead=0)), None)

    def questions(self, annotator: str, ahead: int = AHEAD) -> list[Question]:
        """Return the question of an annotator and up to `ahead` more that are reserved in advance."""
        with self.log.locked():
            return self._questions.of(annotator, ahead)

    def describe_question(self, annotator: str) -> dict[str, Any]:
        """Return the question of an annotator for a program; the node is None if nothing is left."""
        question, classes = self.next(annotator), self.classes
        if question is None:
            return {"node": None, "classes": classes}
        prediction = None if self.blind else self.prediction(question.node)
        return {
            **vars(question),
            "address": node_address(question.node),
            "audit": question.is_audit,
            "prediction": prediction,
            "classes": classes,
        }

    # Actions: the parameters are the fields of requests, and the results are the responses

    def label(self, annotator: str, node: Node, label: Label, key: Key) -> dict[str, Any]:
        """Label a node, or change your label; `next` is your next question. A repeated key changes nothing."""
        return self._answer(Annotation(node, self.classes.resolve(label), Kind.LABEL, annotator, key=key))

    def skip(self, annotator: str, node: Node, reason: Reason, key: Key) -> dict[str, Any]:
        """Skip a node you cannot label, with a reason. A repeated key changes nothing."""
        return self._answer(Annotation(node, None, Kind.SKIP, annotator, key=key, text=reason))

    def adjudicate(self, annotator: str, node: Node, label: Label, key: Key) -> dict[str, Any]:
        """Settle the label of a node people disagree on. For the owner. A repeated key changes nothing."""
        self.check_owner(annotator)
        return self._answer(Annotation(node, self.classes.resolve(label), Kind.VERDICT, annotator, key=key))

    def undo(self, annotator: str, key: Key) -> dict[str, Any]:
        """Undo your last answer and get its node again; null if there is none. Undoing a verdict reopens it."""
        with self.log.transaction():
            undone = self.log.undo(annotator=annotator, round=self.round, key=key)
            if undone is not None and undone.kind is not Kind.VERDICT and self.answer(annotator, undone.node) is None:
                self._questions.ask_again(annotator, undone.node)
        self.trainer.request()
        return {"saved": Kind.UNDO, "node": undone and undone.node, "next": self.describe_question(annotator)}

    def note(self, annotator: str, node: Node, text: Note, key: Key) -> dict[str, Any]:
        """Add a note to a node. A repeated key changes nothing."""
        self.log.note(self.find_node(node), text, annotator=annotator, round=self.round, key=key)
        return {"saved": Kind.NOTE, "node": node}

    def heartbeat(self, annotator: str, node: Node) -> dict[str, bool]:
        """Keep your question. `held` is false if the node may have gone to someone else; a late answer counts."""
        node = self.find_node(node)
        with self.log.locked():
            return {"held": self._questions.renew(annotator, node)}

    def add_class(self, annotator: str, name: Name) -> dict[str, Any]:
        """Add a class, if you may; `new` is false if it already exists. A name that looks like a number is one."""
        if annotator not in self.may_add:
            hint = "Ask whoever started featprop, or skip the node and give the class as the reason."
            raise NotAllowedError("You may not add classes.", hint=hint, parameter="annotator", value=annotator)
        with self.log.locked():
            classes = self.classes
            found = classes.find(name)
            added = typed_name(name) if found is None else found
            if found is None:
                self.log.set_classes([*classes.entries, ClassEntry(added)], annotator=annotator)
        return {"class": added, "new": found is None, "classes": self.classes}

    def rename_class(self, annotator: str, label: Label, name: Name) -> dict[str, Any]:
        """Rename a class, or merge it into an existing one. For the owner."""
        self.check_owner(annotator)
        with self.log.locked():
            classes = self.classes
            old = classes.resolve(label)
            found = classes.without(old).find(name)
            new = typed_name(name) if found is None else found
            if name_to_text(new) != name_to_text(old):
                self.log.rename_class(old, new, annotator=annotator)
                self.ranking = self.ranking.renamed(old, new)
        self.trainer.request()
        return {"class": new, "classes": self.classes}

    def describe_class(self, annotator: str, label: Label, description: Description) -> dict[str, Any]:
        """Describe a class. For the owner."""
        self.check_owner(annotator)
        with self.log.locked():
            classes = self.classes
            code = classes.codes[name_to_text(classes.resolve(label))]
            classes.entries[code] = classes.entries[code]._replace(description=description)
            self.log.set_classes(classes.entries, annotator=annotator)
        return {"class": label, "classes": classes}

    def remove_class(self, annotator: str, label: Label) -> dict[str, Any]:
        """Remove a class without labels. For the owner."""
        self.check_owner(annotator)
        with self.log.locked():
            kept = self.classes.without(self.classes.resolve(label))
            self.log.set_classes(kept.entries, annotator=annotator)
        return {"classes": kept}

    def check_owner(self, annotator: str) -> None:
        """Refuse what only the owner may do."""
        if annotator != self.owner:
            message = "Only the person who started featprop may do this."
            raise NotAllowedError(message, parameter="annotator", value=annotator)

    def _answer(self, answer: Annotation) -> dict[str, Any]:
        """Write an answer, and reserve the next questions in the same transaction."""
        answer = replace(answer, node=self.find_node(answer.node), round=self.round)
        with self.log.transaction():
            before = self.log.append(answer)
            self._questions.release(answer.annotator, answer.node)
            self._questions.of(answer.annotator, AHEAD)
        self.trainer.request()
        changed = before and before.label
        return {
            "saved": answer.kind,
            "node": answer.node,
            "before": changed,
            "next": self.describe_question(answer.annotator),
        }

    # Classes

    @property
    def classes(self) -> Classes:
        """The classes in the order of their keys."""
        return Classes(self.log.class_entries())

    def _name_classes(self, given: Sequence[ClassEntry]) -> dict[str, tuple[str, str]]:
        """Store the classes of the session, and return the old and new keys of classes whose key moved."""
        before = self.classes
        names = match_known_classes([each.name for each in given], list(before))
        for name in names:
            Classes(ClassEntry(other) for other in names if str(other) != str(name)).find(str(name))
        known = {name_to_text(each.name): each for each in before.entries}
        entries = []
        for name, each in zip(names, given, strict=True):
            old = known.pop(name_to_text(name), each)
            entries.append(ClassEntry(name, each.key or old.key, each.description or old.description))
        self.log.set_classes([*entries, *known.values()])
        now = self.classes
        new = dict(zip(now.codes, now.shortcuts(), strict=True))
        shown = zip(before, before.codes, before.shortcuts(), strict=True)
        return {str(name): (key, new[text]) for name, text, key in shown if key != new[text]}

    # What holds now

    def disagreements(self, annotator: str | None = None) -> list[Disagreement]:
        """Return the open disagreements, except nodes the annotator may still be asked for; only the owner sees any."""
        if annotator not in (None, self.owner):
            return []
        rows = self.log.query(
            f"SELECT node, annotator, label FROM answers WHERE holds AND label IS NOT NULL AND node IN ({APART}) "
            "ORDER BY number"
        )
        hidden = set() if annotator is None else self._questions.hidden(annotator)
        found: dict[Hashable, dict[str, Hashable]] = {}
        for node, person, label in rows:
            found.setdefault(parse_label(node), {})[person] = parse_label(label)
        return [Disagreement(node, answers) for node, answers in found.items() if node not in hidden]

    def answer(self, annotator: str, node: Hashable) -> Annotation | None:
        """Return an annotator's answer to a node, if any."""
        held = [each for each in self.log.holding_of(node) if each.kind is not Kind.VERDICT]
        return next((each for each in held if each.annotator == annotator), None)

    def visible_labels(self, annotator: str, nodes: Sequence[Hashable] | None = None) -> dict[Hashable, Hashable]:
        """Return the labels, or those of some nodes, that an annotator may see.

        They may not see those of nodes that they may still be asked for, so that answers stay independent.
        """
        found, hidden = self._decisions(nodes), self._questions.hidden(annotator)
        return {node: each.label for node, each in found.items() if each.label is not None and node not in hidden}

    def visible_votes(self, annotator: str, node: Hashable) -> list[Annotation]:
        """Return the labels and the verdict of a node that an annotator may see: the owner those of all people."""
        if not self.visible_labels(annotator, [node]):
            return []
        held = [each for each in self.log.holding_of(node) if each.label is not None]
        return [each for each in held if annotator in (self.owner, each.annotator)]

    def can_train(self) -> bool:
        """Return whether there are labels of two classes."""
        return bool(self.log.query("SELECT min(label) < max(label) FROM answers WHERE holds")[0][0])

    def status(self) -> dict[str, Any]:
        """Return what every page shows of the progress."""
        labelled = self._questions.n_labelled()
        return {
            "nodes": self.graph.n_nodes,
            "labelled": labelled,
            "budget": self.budget,
            "seen": min(len(self.ranking.labelled), labelled),
            "disagreements": self.log.query(f"SELECT count(*) FROM ({APART})")[0][0] if self.is_shared else 0,
            "training": "training" if self.trainer.is_training else "waiting",
            "failure": self.trainer.failure,
        }

    def progress(self, annotator: str | None = None) -> dict[str, Any]:
        """Return the progress of the labelling; an annotator who is not the owner sees only their own count."""
        with self.log.locked():
            holding, drawn = self.log.holding(), self.log.audit()
            found = consensus(holding)
            counts = Counter(name_to_text(label) for node, label in found.labels.items() if node not in drawn)
            given = Counter(each.annotator for each in holding if each.kind is not Kind.VERDICT)
            people = {**dict.fromkeys(self.annotators, 0), **given}
            if annotator is not None and annotator != self.owner:
                people = {annotator: people[annotator]}
            audit = self._audit_progress()
            best = (audit and audit["score"]) or (self.advice and self.advice.curve.now)
            return {
                **self.status(),
                "accuracy": best and best.accuracy,
                "skipped": len(found.skips.keys() - drawn.keys()),
                "classes": [(name, counts[name_to_text(name)]) for name in self.classes],
                "annotators": people,
                "alpha": alpha(holding),
                "audit": audit,
                "advice": self.advice,
            }

    def prediction(self, node: Hashable) -> Prediction | None:
        """Return the prediction of a node; None without a model and for audit nodes."""
        return None if self.is_audit(node) else self.ranking.prediction(self.position(node))

    def is_audit(self, node: Hashable) -> bool:
        """Return whether a node belongs to the audit."""
        return self._questions.is_audit(node)

    def predictions(self, annotator: str, limit: int = 20) -> dict[str, dict[Hashable, Prediction]]:
        """Return lists of predictions to review, the most doubtful first.

        The lists are the least certain and the most contradicted predictions of unanswered nodes, and the labels that
        look wrong: without them, the model predicts another class. The owner sees all of these, other annotators those
        they gave.
        """
        visible = {self.position(node): label for node, label in self.visible_labels(annotator).items()}
        doubted = {self.node_at(position): each for position, each in self.ranking.suspects(visible).items()}
        wrong = (node for node in doubted if annotator == self.owner or self.answer(annotator, node) is not None)
        return {
            "least_certain": self._unanswered(self.ranking.least_certain, limit),
            "contradicted": self._unanswered(self.ranking.contradicted, limit),
            "wrong_labels": {node: doubted[node] for node in islice(wrong, limit)},
        }

    def position(self, node: Hashable) -> int:
        """Return the position of a node."""
        if not self.graph.has(node):
            raise unknown_node(node)
        return int(self.graph.positions([node])[0])

    def node_at(self, position: int) -> Hashable:
        """Return the id of the node at a position."""
        node: Hashable = self.graph.ids[[position]].tolist()[0]
        return node

    def find_node(self, node: Hashable) -> Hashable:
        """Return the id of a node as the graph has it; refuse others."""
        return self.node_at(self.position(node))

    def _unanswered(self, order: NDArray[np.intp], limit: int) -> dict[Hashable, Prediction]:
        """Return the predictions of the first unanswered nodes in an order."""
        answered = {
            text for (text,) in self.log.query("SELECT node FROM answers WHERE holds UNION SELECT node FROM audit")
        }
        nodes = (node for node in map(self.node_at, order.tolist()) if name_to_text(node) not in answered)
        predictions = {node: self.prediction(node) for node in islice(nodes, limit)}
        return {node: each for node, each in predictions.items() if each is not None}

    def _decisions(self, nodes: Sequence[Hashable] | None = None) -> dict[Hashable, Decision]:
        """Return what counts for each node that has an answer, or for those of some nodes that have one."""
        query, wanted = "SELECT node, min(label), max(label) FROM answers WHERE holds", []
        if nodes is not None and len(nodes) <= MAX_LOOKUPS:
            query += " AND node IN (SELECT value FROM json_each(?))"
            wanted = [json.dumps([name_to_text(node) for node in nodes])]
        rows = self.log.query(f"{query} GROUP BY node ORDER BY min(number)", *wanted)
        found = [(parse_label(node), least, greatest) for node, least, greatest in rows]
        return {
            node: Decision(parse_label(least or "null")) if least == greatest else decide(self.log.holding_of(node))
            for node, least, greatest in found
        }

    def _audit_progress(self) -> dict[str, Any] | None:
        """Return the progress of the audit; None without one."""
        weights, audited, score = self.log.audit(), self.log.audited(), None
        if not weights:
            return None
        ranking = self.ranking
        if ranking.best is not None and len(audited) >= MIN_AUDIT_LABELS:
            score = score_predictions(self.graph, ranking.classes, ranking.best, self.log.labels(), audited, weights)
        return {"size": len(weights), "answered": len(audited), "score": score}

    # Training

    def snapshot(self) -> Snapshot:
        """Return the input of a training on the current labels."""
        with self.log.locked():
            decisions, drawn = self._decisions(), self.log.audit()
            left = MAX_RANKED if self.budget is None else self.budget - self._questions.n_labelled()
        labels = {
            node: each.label
            for node, each in decisions.items()
            if each.label is not None and not each.is_tie and node not in drawn
        }
        excluded = tuple(node for node in {**decisions, **drawn} if node not in labels)
        return Snapshot(labels, excluded, min(max(left, MIN_RANKED), MAX_RANKED))

    def take_ranking(self, ranking: Ranking) -> None:
        """Use the result of a training."""
        with self.log.locked():
            self._questions.use(ranking)
            self.ranking = ranking
            self.round += 1

    def _take_advice(self, advice: Advice) -> None:
        self.advice = advice


def unknown_node(name: Any) -> GraphError:
    """Return the error about a node that the graph does not have."""
    shown = f'"{shorten(name, 100)}"' if isinstance(name, str) else shorten(repr(name), 100)
    return GraphError(f"There is no node {shown} in this graph.", node=name)
