"""Several people on one node: how far they agree, what counts where they do not, and what is left to settle.

**Krippendorff's alpha** for classes, with any answers missing [1]_: of the nodes u that m_u ≥ 2 people labelled, n_uc
of them with class c; n labels in all, n_c of class c ::

    o = Σ_u Σ_c n_uc (n_uc - 1) / (m_u - 1)        α = 1 - (n - 1) (n - o) / (n² - Σ_c n_c²)

It is 1 where all agree and 0 where they agree as often as chance would have it; from 0.8 on labels are called reliable,
from 0.667 on good for tentative conclusions.

**What counts** for a node is the verdict of somebody who settled it; else what most people say; of several classes with
as many votes, the one the model holds more probable, if there is a model, or else that of the latest answer. The model
has not learnt from such a tie. Whoever skips a node does not vote; a node that everybody skipped is skipped.

.. [1] Krippendorff, Content Analysis: An Introduction to Its Methodology, 2004, chapter 11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from featprop.ids import name_to_text
from featprop.io.agreement import leaders

if TYPE_CHECKING:
    from featprop.labels.acts import Act

__all__ = [
    "AlphaSums",
    "Consensus",
    "Decision",
    "Disagreement",
    "alpha",
    "consensus",
    "decided",
    "disagreements",
    "krippendorff_alpha",
]

Probabilities = Callable[[Hashable], Mapping[Hashable, float] | None]
"""What a model holds of a node: the probability of each class; None if it does not know."""


@dataclass(frozen=True)
class Consensus:
    """What counts of all that was said.

    Attributes
    ----------
    labels
        The label of each node that has one.
    skips
        The nodes that cannot be labelled, and why.
    ties
        The nodes with a label for which as many people say something else. No model learns from them: it would learn
        what it has decided itself, or what was said last.
    """

    labels: dict[Hashable, Hashable]
    skips: dict[Hashable, str]
    ties: frozenset[Hashable] = frozenset()

    @property
    def sure(self) -> dict[Hashable, Hashable]:
        """The labels but for ties: what a model learns from."""
        return {node: label for node, label in self.labels.items() if node not in self.ties}


@dataclass(frozen=True)
class Decision:
    """What counts for one node.

    Attributes
    ----------
    label
        The class; None if nobody could say.
    reason
        Why nobody could, if somebody wrote that.
    is_tie
        Whether as many people say something else.
    """

    label: Hashable | None
    reason: str = ""
    is_tie: bool = False


@dataclass(frozen=True)
class Disagreement:
    """A node that people labelled differently and nobody has settled.

    Attributes
    ----------
    node
        Its id.
    answers
        The label that each annotator gave it.
    """

    node: Hashable
    answers: dict[str, Hashable]

    @property
    def is_one(self) -> bool:
        """Whether the answers differ at all."""
        return len(self.answers) > 1 and len(set(map(name_to_text, self.answers.values()))) > 1


class AlphaSums:
    """The sums that Krippendorff's alpha is made of; a node can be added and taken away again."""

    def __init__(self) -> None:
        self._of_class: Counter[str] = Counter()
        self._observed = 0.0

    def add(self, labels: Iterable[Hashable], times: int = 1) -> None:
        """Add a node by the labels that people gave it."""
        counts = Counter(map(name_to_text, labels))
        people = counts.total()
        if people > 1:
            for name, count in counts.items():
                self._of_class[name] += times * count
            self._observed += times * sum(count * (count - 1) for count in counts.values()) / (people - 1)

    def remove(self, labels: Iterable[Hashable]) -> None:
        """Take away a node that was added with these labels."""
        self.add(labels, -1)

    @property
    def alpha(self) -> float | None:
        """Krippendorff's alpha; None where it is not defined."""
        n = self._of_class.total()
        apart = n * n - sum(count * count for count in self._of_class.values())
        return 1 - (n - 1) * (n - self._observed) / apart if apart else None


def krippendorff_alpha(labels_of_nodes: Iterable[Iterable[Hashable]]) -> float | None:
    """Return Krippendorff's alpha; None where it is not defined: no node has two labels, or all labels are one class.

    Parameters
    ----------
    labels_of_nodes
        The labels that each node got, one of each person who gave one.
    """
    sums = AlphaSums()
    for labels in labels_of_nodes:
        sums.add(labels)
    return sums.alpha


def alpha(acts: Iterable[Act]) -> float | None:
    """Return Krippendorff's alpha of answers that hold; skips are no answers, nor are verdicts."""
    given: dict[Hashable, list[Hashable]] = {}
    for act in acts:
        if act.kind not in ("skip", "adjudicate"):
            given.setdefault(act.node, []).append(act.label)
    return krippendorff_alpha(given.values())


def consensus(acts: Iterable[Act], probabilities: Probabilities | None = None) -> Consensus:
    """Return what counts for each node.

    Parameters
    ----------
    acts
        The answers and verdicts that hold (`LabelLog.holding`).
    probabilities
        What the model holds of a node, to decide where as many people say one thing as another.
    """
    labels: dict[Hashable, Hashable] = {}
    skips: dict[Hashable, str] = {}
    ties = set()
    for node, held in _by_node(acts).items():
        decision = decided(held, probabilities)
        if decision.label is not None:
            labels[node] = decision.label
        else:
            skips[node] = decision.reason
        if decision.is_tie:
            ties.add(node)
    return Consensus(labels, skips, frozenset(ties))


def decided(held: Sequence[Act], probabilities: Probabilities | None = None) -> Decision:
    """Return what counts for a node of which these acts hold, one at least; the rest is as in `consensus`."""
    verdicts = [act for act in held if act.kind == "adjudicate"]
    votes = verdicts or [act for act in held if act.kind != "skip"]
    if not votes:
        return Decision(None, max(held, key=lambda act: act.number).text)
    if len(votes) == 1:
        return Decision(votes[0].label)
    by_class: dict[Hashable, list[Act]] = {}
    for act in votes:
        by_class.setdefault(name_to_text(act.label), []).append(act)
    first = leaders(name for name, acts in by_class.items() for _ in acts)
    latest = [max(by_class[name], key=lambda act: act.number) for name in first]
    likely = (probabilities(votes[0].node) if probabilities is not None and len(first) > 1 else None) or {}
    winner = max(latest, key=lambda act: (likely.get(act.label, 0.0), act.number))
    return Decision(winner.label, is_tie=len(first) > 1)


def disagreements(acts: Iterable[Act]) -> list[Disagreement]:
    """Return the nodes that people labelled differently and nobody has settled, in the order they came up."""
    found = []
    for node, held in _by_node(acts).items():
        answers = {act.annotator: act.label for act in held if act.kind not in ("skip", "adjudicate")}
        disagreement = Disagreement(node, answers)
        if disagreement.is_one and all(act.kind != "adjudicate" for act in held):
            found.append(disagreement)
    return found


def _by_node(acts: Iterable[Act]) -> dict[Hashable, list[Act]]:
    of_node: dict[Hashable, list[Act]] = {}
    for act in acts:
        of_node.setdefault(act.node, []).append(act)
    return of_node
