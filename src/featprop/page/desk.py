"""What the page does, without HTTP: who is asked what next, and what becomes of an answer.

An answer is on the disk before the call returns. The next question comes from the last ranking that was finished, so
it is there at once; the model learns meanwhile (`featprop.page.trainer`).
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError, ParameterError, unknown_choice
from featprop.estimates.audit import add_to_audit
from featprop.estimates.unsure import contradiction, neighbours_say, unsureness_of
from featprop.graph import Graph
from featprop.interop.plain import is_missing
from featprop.labelling import Act, LabelLog
from featprop.labelling.agreement import Consensus, Disagreement, alpha, consensus, disagreements
from featprop.models import DEFAULT_MODEL
from featprop.names import name_to_text
from featprop.page.answers import Answers
from featprop.page.auditing import Auditing, is_turn_of_audit
from featprop.page.leases import Leases
from featprop.page.reports import Prediction, Progress, Question
from featprop.page.trainer import Ranking, Snapshot, Trainer
from featprop.strategies import DEFAULT_STRATEGY, strategy_class
from featprop.tables.naming import name_of

__all__ = ["Desk"]

AHEAD = 10
"""Nodes ranked at least, and for each person four more: whoever is quick never waits."""
MOST = 100
"""Nodes ranked at most for few people."""
SHARED = 0.2
"""The share of the nodes that several people are asked for, where they are to overlap."""
CLASSES = 1000
"""How many classes there may be."""


class Desk:
    """The desk at which people label a graph.

    Parameters
    ----------
    graph
        The graph.
    log
        Where every act is kept.
    classes
        The classes there may be, in the order of their keys; those of the log are added.
    annotators
        Who may answer.
    overlap
        How many people are asked for each of the shared nodes, a fifth of all.
    budget
        How many labels are wanted, without those of the audit; nobody is asked any more when they are there.
    audit
        How many nodes are drawn for checking the model, if they are not in the log already: every fifth question.
    blind
        Whether what the model thinks is hidden until somebody asks for it.
    open_classes
        Whether people may add classes.
    seed
        Decides which nodes are shared, and whatever chance has a part in.
    strategy, model
        The names of what chooses and what is trained.
    clock
        The clock of the leases.
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
            rule = f"must be from 1 to {max(1, len(annotators))}, the number of annotators"
            raise ParameterError("overlap", rule, overlap, "name more people with --annotator")
        if budget is not None and budget < 1:
            raise ParameterError("budget", "must be at least 1", budget, "pass another number")
        strategy_class(strategy)
        self.graph, self.log = graph, log
        self.annotators, self.overlap, self.budget = tuple(annotators), overlap, budget
        self.blind, self.open_classes, self.seed = blind, open_classes, seed
        self.ranking: Ranking | None = None
        self.round = 0
        self._lock = threading.RLock()
        self._leases = Leases(clock)
        if audit > len(log.audit()):
            add_to_audit(log, graph, audit - len(log.audit()), seed=seed)
        self._answers = Answers(log)
        self._auditing = Auditing(graph, self._answers)
        self._ids({*self._answers.nodes, *self._answers.audit})
        self._others = np.random.default_rng(seed).permutation(graph.n_nodes)
        self._passed = 0
        self._coverage: list[tuple[int, float]] = []
        self._first = threading.Event()
        used = [*self.standing().labels.values(), *self._answers.audited.values()]
        known = [*classes, *(label for label in used if label not in classes)]
        self.classes: list[Hashable] = list(dict.fromkeys(known))
        self._trainer = Trainer(graph, strategy, model, seed, self._snapshot, self._take)

    def start(self, patience: float | None = None) -> None:
        """Have the model begin, and wait for the first ranking: `patience` seconds at most, if that is given."""
        self._trainer.start()
        waited = 0.0
        while not self._first.wait(0.1) and not self._trainer.failure and (patience is None or waited < patience):
            waited += 0.1

    def close(self) -> None:
        """End the training; everything that was said is in the log."""
        self._trainer.close()

    def next(self, annotator: str) -> Question | None:
        """Return what somebody is asked for, the same until they answer; None if nothing is left for them."""
        self._check(annotator)
        with self._lock:
            node = self._leases.of(annotator)
            if node is not None and not self._is_answered(node, annotator):
                return self._question(node)
            is_full = self.budget is not None and len(self._answers.standing.labels) >= self.budget
            node = self._next_node(annotator, is_full=is_full)
            if node is None:
                self._leases.give_back(annotator)
                return None
            self._leases.take(annotator, node)
            return self._question(node)

    def label(self, annotator: str, node: Hashable, label: Hashable, key: str) -> None:
        """Take a label, or another label for a node that they have answered before."""
        self._check(annotator)
        (node,) = self._ids([node])
        label = self._class(label)
        with self._lock:
            if not self.log.has(key):
                before = self._answers.of(node).get(annotator)
                if before is not None and before.kind != "skip" and before.label != label:
                    self.log.correct(node, label, annotator=annotator, turn=self.round, key=key)
                else:
                    self.log.tell({node: label}, annotator=annotator, turn=self.round, keys={node: key})
            self._answered(annotator, node)

    def skip(self, annotator: str, node: Hashable, reason: str, key: str) -> None:
        """Take that somebody cannot label a node, and why."""
        self._check(annotator)
        (node,) = self._ids([node])
        with self._lock:
            if not self.log.has(key):
                self.log.skip(node, reason, annotator=annotator, turn=self.round, key=key)
            self._answered(annotator, node)

    def undo(self, annotator: str, key: str) -> Hashable | None:
        """Take back somebody's last answer: its node becomes their question again; None if there is none."""
        self._check(annotator)
        with self._lock:
            act = self.log.undo(annotator=annotator, turn=self.round, key=key)
            if act is None:
                return None
            self._answers.reload(act.node)
            if annotator not in self._answers.of(act.node):
                self._leases.take(annotator, act.node)
            self._trainer.call()
            return act.node

    def note(self, annotator: str, node: Hashable, text: str, key: str) -> None:
        """Write something down about a node."""
        self._check(annotator)
        (node,) = self._ids([node])
        if not self.log.has(key):
            self.log.note(node, text, annotator=annotator, turn=self.round, key=key)

    def adjudicate(self, annotator: str, node: Hashable, label: Hashable, key: str) -> None:
        """Settle what a node is where people disagree."""
        self._check(annotator)
        (node,) = self._ids([node])
        label = self._class(label)
        with self._lock:
            if not self.log.has(key):
                self.log.adjudicate(node, label, annotator=annotator, turn=self.round, key=key)
            self._answered(annotator, node)

    def heartbeat(self, annotator: str, node: Hashable) -> bool:
        """Keep a question in somebody's hand; False if it is no longer theirs."""
        self._check(annotator)
        with self._lock:
            return self._leases.renew(annotator, self._ids([node])[0])

    def add_class(self, name: str) -> Hashable:
        """Add a class and return it as it is kept: a number if it is written as one."""
        if not self.open_classes:
            rule, cure = "must be among those that were named at the start", "ask for it to be added with --classes"
            raise ParameterError("class", rule, repr(name), cure)
        text = " ".join(name.split())
        if is_missing(text):
            raise ParameterError("class", "must have a name", repr(name), "type one")
        with self._lock:
            alike = [known for known in self.classes if str(known).casefold() == text.casefold()]
            if not alike and len(self.classes) >= CLASSES:
                raise ParameterError("classes", f"must be at most {CLASSES:,}", len(self.classes) + 1, "use fewer")
            if not alike:
                self.classes.append(name_of(text))
            return alike[0] if alike else self.classes[-1]

    def history(self, annotator: str, limit: int = 50) -> list[Act]:
        """Return somebody's answers that stand, the newest first."""
        self._check(annotator)
        with self._lock:
            mine = [act for act in self._answers.given if act.annotator == annotator]
        return sorted(mine, key=lambda act: act.number, reverse=True)[:limit]

    def disagreements(self) -> list[Disagreement]:
        """Return the nodes that people answered differently and nobody has settled."""
        with self._lock:
            return disagreements(self._answers.acts)

    def standing(self) -> Consensus:
        """Return what counts of all answers."""
        with self._lock:
            return self._answers.standing

    def answer(self, annotator: str, node: Hashable) -> Act | None:
        """Return somebody's answer to a node, if they gave one."""
        with self._lock:
            return self._answers.of(node).get(annotator)

    def progress(self) -> Progress:
        """Say how far the labelling is."""
        standing = self.standing()
        labels = standing.labels
        with self._lock:
            answers = self._answers.given
            ranking, audited = self.ranking, self._answers.audited
        hours = Counter(act.time.replace(minute=0, second=0, microsecond=0) for act in answers)
        counts = Counter(labels.values())
        return Progress(
            labelled=len(labels),
            skipped=len(standing.skips),
            nodes=self.graph.n_nodes,
            budget=self.budget,
            classes={name: counts[name] for name in self.classes},
            annotators={name: sum(act.annotator == name for act in answers) for name in self.annotators},
            hours=dict(sorted(hours.items())),
            seen=0 if ranking is None else min(ranking.n_labels, len(labels)),
            alpha=alpha(answers) if len(self.annotators) > 1 else None,
            coverage=list(self._coverage),
            audit=self._auditing.progress(ranking, labels, audited),
            training=self._trainer.state,
            failure=self._trainer.failure,
        )

    def prediction(self, node: Hashable) -> Prediction | None:
        """Return what the model thinks of a node; None as long as it knows nothing, and of one that checks it."""
        ranking = self.ranking
        if ranking is None or ranking.probabilities is None or self.is_audit(node):
            return None
        row = ranking.probabilities[self.graph.positions([node])[0]].tolist()
        best = int(np.argmax(row))
        return Prediction(ranking.classes[best], row[best], dict(zip(ranking.classes, row, strict=True)))

    def is_audit(self, node: Hashable) -> bool:
        """Say whether a node was drawn for checking."""
        return node in self._answers.audit

    @property
    def audit(self) -> Collection[Hashable]:
        """The nodes that were drawn for checking."""
        return self._answers.audit.keys()

    def doubtful(self, limit: int = 20) -> list[tuple[Hashable, Prediction]]:
        """Return the nodes without an answer that the model is least sure of."""
        ranking = self.ranking
        if ranking is None or ranking.probabilities is None:
            return []
        return self._predicted(np.argsort(-unsureness_of(ranking.probabilities), kind="stable"), limit)

    def contradicted(self, limit: int = 20) -> list[tuple[Hashable, Prediction]]:
        """Return the nodes without an answer whose neighbours most say that they are something else."""
        ranking = self.ranking
        if ranking is None or ranking.probabilities is None:
            return []
        scores = contradiction(neighbours_say(self.graph.adjacency, ranking.probabilities), ranking.probabilities)
        order = np.argsort(-scores, kind="stable")
        return self._predicted(order[scores[order] > 0], limit)

    def represented(self, node: Hashable) -> NDArray[np.intp]:
        """Return the positions of the nodes that a node in the ranking stands for; none for any other."""
        ranking = self.ranking
        if ranking is None:
            return np.empty(0, dtype=np.intp)
        place = np.flatnonzero(ranking.nodes == self.graph.positions([node])[0])
        return np.flatnonzero(ranking.nearest == place[0]) if place.size else np.empty(0, dtype=np.intp)

    def _predicted(self, order: NDArray[np.intp], limit: int) -> list[tuple[Hashable, Prediction]]:
        found: list[tuple[Hashable, Prediction]] = []
        for position in order.tolist():
            node = self._id(position)
            if self._answers.of(node):
                continue
            prediction = self.prediction(node)
            if prediction is not None:
                found.append((node, prediction))
            if len(found) == limit:
                break
        return found

    def _answered(self, annotator: str, node: Hashable) -> None:
        self._answers.reload(node)
        if self._leases.of(annotator) == node:
            self._leases.give_back(annotator)
        self._trainer.call()

    def _is_answered(self, node: Hashable, annotator: str) -> bool:
        return annotator in self._answers.of(node)

    def _wanted(self, node: Hashable) -> int:
        """Return how many people are to answer a node: by a hash, so that it does not change from day to day."""
        if self.overlap == 1:
            return 1
        digest = hashlib.blake2b(f"{self.seed};{name_to_text(node)}".encode(), digest_size=4).digest()
        return self.overlap if int.from_bytes(digest) < SHARED * 2**32 else 1

    def _next_node(self, annotator: str, *, is_full: bool) -> Hashable | None:
        """Return the first node that this person may be asked for: of the audit when it is its turn, or of the others.

        Where there are labels enough, or no other node is left, only the audit remains.
        """
        drawn, others = self._answers.audit, () if is_full else self._in_order()
        in_hand = self._leases.nodes()
        for node in chain(drawn, others) if is_turn_of_audit(self._answers.count(annotator)) else chain(others, drawn):
            acts = self._answers.of(node)
            if annotator not in acts and len(acts) + in_hand.get(node, 0) < self._wanted(node):
                return node
        return None

    def _in_order(self) -> Iterator[Hashable]:
        """Yield nodes that others were to answer too, then those of the ranking, then all others in a fixed order."""
        if self.overlap > 1:
            yield from [node for node in self._answers.nodes if not self._is_done(node)]
        for position in [] if self.ranking is None else self.ranking.nodes.tolist():
            if not self.is_audit(node := self._id(position)):
                yield node
        while self._passed < len(self._others) and self._is_done(self._id(self._others[self._passed])):
            self._passed += 1
        for place in range(self._passed, len(self._others)):
            if not self.is_audit(node := self._id(self._others[place])):
                yield node

    def _is_done(self, node: Hashable) -> bool:
        """Say whether nobody is to be asked for a node any more, but for the audit."""
        return self.is_audit(node) or len(self._answers.of(node)) >= self._wanted(node)

    def _id(self, position: int) -> Hashable:
        name = self.graph.ids[position]
        found: Hashable = name.item() if hasattr(name, "item") else name
        return found

    def _question(self, node: Hashable) -> Question:
        ranking = self.ranking
        if self.is_audit(node):
            why = f"One of {len(self.audit):,} nodes drawn at random to check the model."
            return Question(node, 0, None, why, is_audit=True)
        if ranking is not None:
            place = np.flatnonzero(ranking.nodes == self.graph.positions([node])[0])
            if place.size:
                rank, stands = int(place[0]) + 1, int(ranking.represents[place[0]])
                known = "of those the model is unsure of" if ranking.classes else "of all nodes"
                others = f"{stands:,} nodes {known} are nearest to it" if stands > 1 else "no other is like it"
                return Question(node, rank, stands, f"Number {rank} in the ranking: {others}.")
        if len(self._answers.of(node)) > 0:
            return Question(node, 0, None, "Somebody else has answered it too: answers are compared.")
        return Question(node, 0, None, "The next ranking is not ready yet: this is any node without an answer.")

    def _snapshot(self) -> Snapshot:
        with self._lock:
            labels = consensus(self._answers.learnable, self._held).labels
            out = tuple(
                node for node in {**dict.fromkeys(self._answers.nodes), **self._answers.audit} if node not in labels
            )
        wanted = max(AHEAD + 4 * len(self.annotators), min(MOST, len(labels) // 2))
        return Snapshot(labels, out, wanted)

    def _held(self, node: Hashable) -> dict[Hashable, float] | None:
        """Return what the model holds of a node, which decides where as many people say one thing as another."""
        prediction = self.prediction(node)
        return None if prediction is None else prediction.probabilities

    def _take(self, ranking: Ranking) -> None:
        with self._lock:
            self.ranking = ranking
            self.round += 1
            if ranking.n_labels:
                self._coverage.append((ranking.n_labels, ranking.mean_distance))
        self._first.set()

    def _check(self, annotator: str) -> None:
        if annotator not in self.annotators:
            raise unknown_choice("annotator", annotator, self.annotators)

    def _class(self, label: Hashable) -> Hashable:
        for known in self.classes:
            if known == label or str(known) == str(label):
                return known
        choices = ", ".join(map(str, self.classes[:10])) or "none yet"
        raise LabelError("label", f"must be one of the classes ({choices})", repr(label), "add the class first")

    def _ids(self, nodes: Collection[Hashable] | Iterator[Hashable]) -> list[Hashable]:
        ids: list[Hashable] = self.graph.ids[self.graph.positions(nodes)].tolist()
        return ids
