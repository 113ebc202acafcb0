"""Current answers in memory, with the counts that a page shows.

Each answer updates the counts incrementally, so the cost does not grow with the number of labels.
"""

from __future__ import annotations

import bisect
import datetime as dt
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType

from featprop.ids import name_to_text
from featprop.labels import Annotation
from featprop.labels.agreement import AlphaSums, Decision, Disagreement, decide
from featprop.labels.log import Outcome


class Answers:
    """Current answers by node; not thread-safe.

    Parameters
    ----------
    holding
        Current answers and verdicts (`featprop.labels.LabelLog.holding`).
    wanted
        Returns how many people are to label a node.
    audit
        Audit nodes and their weights; their labels count nowhere else.

    Attributes
    ----------
    labels, skips
        Label of each labelled node, and reason of each skipped one.
    ties
        Labelled nodes with equally many votes for another class.
    audited
        Label of each labelled audit node; a new object whenever it changes.
    open
        Nodes with an answer that more people are to label.
    apart
        Nodes with different answers that no one has settled.
    classes, people, hours
        Number of labels of each class (by its name as text), and of answers of each person and hour.
    agreement
        Agreement between people.
    """

    def __init__(
        self,
        holding: Iterable[Annotation],
        wanted: Callable[[Hashable], int],
        audit: Mapping[Hashable, float] = MappingProxyType({}),
    ) -> None:
        self._wanted, self.audit = wanted, audit
        self._of: dict[Hashable, dict[str, Annotation]] = {}
        self._verdicts: dict[Hashable, Annotation] = {}
        self._turns: dict[Hashable, int] = {}
        self._acts: dict[int, Annotation] = {}
        self._numbers: dict[str, list[int]] = {}
        self.labels: dict[Hashable, Hashable] = {}
        self.skips: dict[Hashable, str] = {}
        self.audited: dict[Hashable, Hashable] = {}
        self.ties: dict[Hashable, None] = {}
        self.open: dict[Hashable, None] = {}
        self.apart: dict[Hashable, None] = {}
        self.classes: Counter[str] = Counter()
        self.people: Counter[str] = Counter()
        self.hours: Counter[dt.datetime] = Counter()
        self.agreement = AlphaSums()
        of_node: dict[Hashable, list[Annotation]] = {}
        for act in holding:
            of_node.setdefault(act.node, []).append(act)
        for node, acts in of_node.items():
            self._keep(node, acts)

    def of(self, node: Hashable) -> dict[str, Annotation]:
        """Return the answers to a node, by annotator."""
        return self._of.get(node, {})

    def is_done(self, node: Hashable) -> bool:
        """Return whether a node needs no more answers: it is settled, or enough people have labelled it."""
        return node in self._verdicts or len(self.of(node)) >= self._wanted(node)

    def by(self, annotator: str, limit: int) -> list[Annotation]:
        """Return the last current answers and verdicts of a person, newest first."""
        return [self._acts[number] for number in reversed(self._numbers.get(annotator, [])[-limit:])]

    @property
    def nodes(self) -> Iterable[Hashable]:
        """Nodes with an answer, in order of their first one."""
        return self._of.keys()

    @property
    def verdicts(self) -> list[Annotation]:
        """Verdicts in order of time."""
        return sorted(self._verdicts.values(), key=lambda act: act.number)

    def disagreement(self, node: Hashable) -> Disagreement:
        """Return the label each person gave a node."""
        return Disagreement(node, {name: act.label for name, act in self.of(node).items() if act.kind != "skip"})

    def put(self, outcome: Outcome) -> None:
        """Replace the answers of a node, unless newer ones are known already."""
        if outcome.turn > self._turns.get(outcome.node, 0):
            self._turns[outcome.node] = outcome.turn
            self._let_go(outcome.node)
            self._keep(outcome.node, outcome.held)

    def _keep(self, node: Hashable, acts: Iterable[Annotation]) -> None:
        for act in acts:
            if act.kind == "adjudicate":
                self._verdicts[node] = act
            else:
                self._of.setdefault(node, {})[act.annotator] = act
                self.people[act.annotator] += 1
                self.hours[_hour(act)] += 1
            self._acts[act.number] = act
            bisect.insort(self._numbers.setdefault(act.annotator, []), act.number)
        self._count(node, 1)
        said = self.disagreement(node)
        self.agreement.add(said.answers.values())
        _set(self.open, node, holds=bool(self.of(node)) and not self.is_done(node))
        _set(self.apart, node, holds=node not in self._verdicts and said.is_one)

    def _let_go(self, node: Hashable) -> None:
        """Remove a node from the counts."""
        self._count(node, -1)
        self.agreement.remove(self.disagreement(node).answers.values())
        for act in self._held(node):
            if act.kind != "adjudicate":
                self.people[act.annotator] -= 1
                self.hours[_hour(act)] -= 1
            del self._acts[act.number]
            numbers = self._numbers[act.annotator]
            del numbers[bisect.bisect_left(numbers, act.number)]
        self._of.pop(node, None)
        self._verdicts.pop(node, None)

    def _count(self, node: Hashable, by: int) -> None:
        """Add the label of a node to the counts, or remove it."""
        if node in self.audit:
            self._count_audit(node)
            return
        if by < 0:
            if node in self.labels:
                self.classes[name_to_text(self.labels.pop(node))] -= 1
            self.skips.pop(node, None)
            self.ties.pop(node, None)
            return
        held = self._held(node)
        decision = decide(held) if held else Decision(None)
        if decision.label is not None:
            self.labels[node] = decision.label
            self.classes[name_to_text(decision.label)] += 1
        elif held:
            self.skips[node] = decision.reason
        _set(self.ties, node, holds=decision.is_tie)

    def _count_audit(self, node: Hashable) -> None:
        """Update the label of an audit node; a model never breaks its ties."""
        held = self._held(node)
        label = decide(held).label if held else None
        others = {known: said for known, said in self.audited.items() if known != node}
        self.audited = others if label is None else {**others, node: label}

    def _held(self, node: Hashable) -> list[Annotation]:
        verdict = self._verdicts.get(node)
        return [*self.of(node).values(), *([] if verdict is None else [verdict])]


def _hour(act: Annotation) -> dt.datetime:
    assert act.time is not None
    return act.time.replace(minute=0, second=0, microsecond=0)


def _set(nodes: dict[Hashable, None], node: Hashable, *, holds: bool) -> None:
    """Add or remove a node."""
    if holds:
        nodes[node] = None
    else:
        nodes.pop(node, None)
