"""A labelling session without HTTP: it asks questions and takes answers.

An answer is on disk before the call returns, together with the choice of the next question. Questions come from the
last finished ranking, so they are ready at once, while the model trains in the background
(`featprop.web.page.trainer`). What holds now is a query (`featprop.web.page.state`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import GraphError, ParameterError, first_five, unknown_choice
from featprop.evaluate import Advice, AuditScore
from featprop.evaluate.audit import add_to_audit
from featprop.evaluate.audit_scoring import score_predictions
from featprop.graph import UNKNOWN, Graph
from featprop.ids import name_to_text
from featprop.labels import Annotation, Kind, LabelLog
from featprop.labels.agreement import Disagreement
from featprop.labels.classes import match_known_classes
from featprop.labels.log import ClassEntry
from featprop.models import DEFAULT_MODEL
from featprop.strategies import DEFAULT_STRATEGY, strategy_class
from featprop.web.page.classes import Classes, class_keys, typed_name
from featprop.web.page.ranking import Ranking
from featprop.web.page.state import State
from featprop.web.page.trainer import Setup, Snapshot, Trainer, Worker
from featprop.web.page.types import AuditProgress, Prediction, Progress, Question, Status

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
        Whether annotators may add classes.
    guide
        Instructions for annotators, in Markdown.
    seed
        Seed of all random choices.
    strategy, model
        Names of the strategy and the model.
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
        seed: int = 0,
        strategy: str = DEFAULT_STRATEGY,
        model: str = DEFAULT_MODEL,
        worker: Worker | None = None,
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
        self.annotators, self.owner, self.budget = tuple(annotators), annotators[0], budget
        self.blind, self.open_classes, self.guide, self.seed = blind, open_classes, guide, seed
        self.round = 0
        if audit > len(log.audit()):
            add_to_audit(log, graph, audit - len(log.audit()), random_state=seed)
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
        self._state = State(
            graph, log, overlap=overlap, budget=budget, n_annotators=len(annotators), seed=seed, clock=clock
        )
        self._advice: Advice | None = None
        self._audit_score: tuple[object, AuditScore | None] = (None, None)
        setup = Setup(graph, strategy, model, seed)
        self._trainer = Trainer(setup, self._snapshot, self._take, self._take_advice, worker)

    def start(self) -> None:
        """Compute the first ranking, then train in the background."""
        self._trainer.start()

    def close(self) -> None:
        """Stop the trainer; all answers are in the log."""
        self._trainer.close()

    # Questions and answers

    def next(self, annotator: str) -> Question | None:
        """Return the question of an annotator, the same until they answer; None if nothing is left for them."""
        found = self.questions(annotator, ahead=0)
        return found[0] if found else None

    def questions(self, annotator: str, ahead: int = AHEAD) -> list[Question]:
        """Return the question of an annotator and up to `ahead` more that are reserved in advance."""
        self._check(annotator)
        with self.log.locked():
            self._state.follow()
            return self._state.questions(annotator, ahead)

    def label(self, annotator: str, node: Hashable, label: Hashable, key: str) -> Annotation | None:
        """Store a label and return the annotator's earlier answer to the node, if any."""
        return self._answer(annotator, node, Kind.LABEL, self.classes.meant(label), key)

    def skip(self, annotator: str, node: Hashable, reason: str, key: str) -> Annotation | None:
        """Store a skip with its reason and return the annotator's earlier answer, if any."""
        return self._answer(annotator, node, Kind.SKIP, None, key, reason)

    def adjudicate(self, annotator: str, node: Hashable, label: Hashable, key: str) -> Annotation | None:
        """Settle the label of a node people disagree on and return the earlier verdict, if any."""
        return self._answer(annotator, node, Kind.VERDICT, self.classes.meant(label), key)

    def undo(self, annotator: str, key: str) -> Annotation | None:
        """Undo an annotator's last answer and return it; None if there is none.

        Its node becomes their question again. Undoing a verdict reopens the disagreement.
        """
        self._check(annotator)

        def work() -> Annotation | None:
            act = self.log.undo(annotator=annotator, round=self.round, key=key)
            if act is not None:
                self._state.refresh(act.node)
                if act.kind != "adjudicate" and self.answer(annotator, act.node) is None:
                    self._state.ask_again(annotator, act.node)
            return act

        act = self.log.write_together(work)
        self._trainer.request()
        return act

    def note(self, annotator: str, node: Hashable, text: str, key: str) -> None:
        """Add a note to a node."""
        self.log.note(self._about(annotator, node), text, annotator=annotator, round=self.round, key=key)

    def heartbeat(self, annotator: str, node: Hashable) -> bool:
        """Keep a node reserved for an annotator; False if it is no longer theirs."""
        node = self._about(annotator, node)
        with self.log.locked():
            return self._state.renew(annotator, node)

    def _answer(
        self, annotator: str, node: Hashable, kind: Kind, label: Hashable | None, key: str, text: str = ""
    ) -> Annotation | None:
        """Write an answer, and reserve the next questions in the same transaction."""
        node = self._about(annotator, node)
        new = Annotation(node, label, kind, annotator, round=self.round, key=key, text=text)

        def work() -> Annotation | None:
            before = self.log.append(new)
            self._state.follow()
            self._state.refresh(node)
            self._state.release(annotator, node)
            self._state.questions(annotator, AHEAD)
            return before

        before = self.log.write_together(work)
        self._trainer.request()
        return before

    # Classes

    @property
    def classes(self) -> Classes:
        """The classes in the order of their keys."""
        return Classes(self._state.class_entries())

    def add_class(self, name: str, annotator: str = "") -> tuple[Hashable, bool]:
        """Add a class; return it as stored (a number if it looks like one) and whether it is new."""
        if not self.open_classes:
            raise ParameterError(
                "This session has a fixed set of classes.",
                hint="Ask whoever started featprop to add it to `classes`.",
                parameter="classes",
                value=name,
            )
        with self.log.locked():
            found = self.classes.find(name)
            if found is None:
                added = typed_name(name)
                self._change_classes(lambda: self.log.name_classes([*self.classes, added], annotator=annotator))
                return added, True
            return found, False

    def rename_class(self, old: Hashable, name: str, annotator: str = "") -> Hashable:
        """Rename a class in all answers, or merge it into the class with the new name, and return that class."""
        with self.log.locked():
            classes = self.classes
            old = classes.meant(old)
            others = Classes(each for each in classes.entries if name_to_text(each.name) != name_to_text(old))
            found = others.find(name)
            new = typed_name(name) if found is None else found
            if name_to_text(new) != name_to_text(old):
                self._change_classes(lambda: self.log.rename_class(old, new, annotator=annotator))
                if self.ranking is not None:
                    self._state.ranking = self.ranking.renamed(old, new)
        self._trainer.request()
        return new

    def remove_class(self, name: Hashable, annotator: str = "") -> None:
        """Remove a class without labels."""
        name = self.classes.meant(name)
        self._change_classes(lambda: self.log.remove_class(name, annotator=annotator))

    def describe_class(self, name: Hashable, description: str, annotator: str = "") -> None:
        """Describe a class for the annotators."""
        classes = self.classes
        entry = classes.entries[classes.code(classes.meant(name))]
        self._change_classes(
            lambda: self.log.describe_class(entry.name, key=entry.key, description=description, annotator=annotator)
        )

    def _change_classes(self, change: Callable[[], None]) -> None:
        with self.log.locked():
            change()
            self._state.rebuild()

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
        old = {name_to_text(each.name): key for each, key in zip(before, class_keys(before), strict=True)}
        shown = {name_to_text(each.name): str(each.name) for each in before}
        return {shown[text]: (key, new[text]) for text, key in old.items() if new[text] != key}

    # What holds now

    @property
    def is_shared(self) -> bool:
        """Whether several people label this graph or have labelled it."""
        return len({*self.annotators, *self._state.people()}) > 1

    @property
    def can_train(self) -> bool:
        """Whether there are labels of two classes."""
        return len(self._state.class_counts()) > 1

    @property
    def ranking(self) -> Ranking | None:
        """The last finished ranking."""
        return self._state.ranking

    def history(self, annotator: str, limit: int = 50) -> list[Annotation]:
        """Return an annotator's current answers and verdicts, newest first. Undo removes the first one."""
        self._check(annotator)
        return self.log.numbered(self._state.history(annotator, limit))

    def notes(self, annotator: str, node: Hashable) -> list[str]:
        """Return an annotator's notes on a node."""
        return [act.text for act in self.log.notes_of(node) if act.annotator == annotator]

    def disagreements(self, annotator: str | None = None) -> list[Disagreement]:
        """Return the open disagreements, except nodes the annotator may still be asked for; only the owner sees any."""
        if annotator not in (None, self.owner):
            return []
        hidden = [] if annotator is None else self._state.hidden(annotator)
        return [Disagreement(node, answers) for node, answers in self._state.apart(hidden).items()]

    def settled(self) -> list[Annotation]:
        """Return the current verdicts."""
        return self.log.numbered(self._state.verdicts())

    def labels(self) -> dict[Hashable, Hashable]:
        """Return the label of each labelled node."""
        return self._state.labels()

    def answer(self, annotator: str, node: Hashable) -> Annotation | None:
        """Return an annotator's answer to a node, if any."""
        held = [each for each in self.log.holding_of(node) if each.kind != "adjudicate"]
        return next((each for each in held if each.annotator == annotator), None)

    def codes(self, annotator: str) -> NDArray[np.intp]:
        """Return the class code of each node as an annotator may see it; -1 without a label.

        Nodes that they may still be asked for have none, so that answers stay independent.
        """
        codes = self._state.codes()
        codes[self._state.hidden(annotator)] = UNKNOWN
        return codes

    def status(self) -> Status:
        """Return what every question page shows of the progress."""
        return Status(**self._status())

    def progress(self, annotator: str | None = None) -> Progress:
        """Return the progress of the labelling; an annotator who is not the owner sees only their own count."""
        with self.log.locked():
            state, counts = self._state, self._state.class_counts()
            people = {**dict.fromkeys(self.annotators, 0), **state.people()}
            if annotator is not None and annotator != self.owner:
                people = {annotator: people[annotator]}
            return Progress(
                **self._status(),
                skipped=state.n_skipped(),
                classes=[(name, counts.get(name_to_text(name), 0)) for name in self.classes],
                annotators=people,
                hours=state.hours(),
                alpha=state.alpha(),
                coverage=state.coverage(),
                audit=self._audit_progress(),
                advice=self._advice,
            )

    def prediction(self, node: Hashable) -> Prediction | None:
        """Return the prediction of a node; None without a model and for audit nodes."""
        ranking = self.ranking
        return None if ranking is None or self.is_audit(node) else ranking.prediction(self._position(node))

    @property
    def audit(self) -> Collection[Hashable]:
        """Nodes of the audit."""
        return self._state.audit()

    def is_audit(self, node: Hashable) -> bool:
        """Return whether a node belongs to the audit."""
        return self._state.is_audit(self._position(node))

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
            prediction = None if self._state.is_answered(position) else ranking.prediction(position)
            if prediction is not None:
                found.append((self._state.id_of(position), prediction))
            if len(found) == limit:
                break
        return found

    def _status(self) -> dict[str, Any]:
        labelled, ranking = self._state.labelled(), self.ranking
        return {
            "labelled": labelled,
            "nodes": self.graph.n_nodes,
            "budget": self.budget,
            "seen": 0 if ranking is None else min(ranking.n_labels, labelled),
            "disagreements": self._state.n_apart(),
            "training": self._trainer.state,
            "failure": self._trainer.failure,
        }

    def _audit_progress(self) -> AuditProgress | None:
        """Return the progress of the audit; a score is computed once for a model and its audit labels."""
        weights = self.log.audit()
        if not weights:
            return None
        ranking, audited = self.ranking, self._state.labels(audit=True)
        if self._audit_score[0] != (basis := (id(ranking), tuple(audited.items()))):
            score = None
            if ranking is not None and ranking.best is not None and len(audited) >= MIN_AUDIT_LABELS:
                learnt = self.labels()
                score = score_predictions(self.graph, ranking.classes, ranking.best, learnt, audited, weights)
            self._audit_score = basis, score
        return AuditProgress(len(weights), len(audited), self._audit_score[1])

    # Training

    def _snapshot(self) -> Snapshot:
        with self.log.locked():
            labels = self._state.labels(ties=False)
            excluded = tuple(node for node in self._state.answered() if node not in labels)
            left = MAX_RANKED if self.budget is None else self.budget - self._state.labelled()
        return Snapshot(labels, excluded, min(max(left, MIN_RANKED), MAX_RANKED))

    def _take(self, ranking: Ranking) -> None:
        with self.log.locked():
            self._state.use(ranking)
            self.round += 1

    def _take_advice(self, advice: Advice) -> None:
        self._advice = advice

    def _check(self, annotator: str) -> None:
        if annotator not in self.annotators:
            raise unknown_choice("annotator", annotator, self.annotators)

    def _about(self, annotator: str, node: Hashable) -> Hashable:
        """Check the annotator and return the id of the node as the graph has it."""
        self._check(annotator)
        return self._state.id_of(self._position(node))

    def _position(self, node: Hashable) -> int:
        return int(self.graph.positions([node])[0])
