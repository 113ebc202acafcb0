"""Several people on one node: how far they agree, what counts where they do not, and what is left to settle.

**Krippendorff's alpha** for classes, with any answers missing [1]_: of the nodes u that m_u ≥ 2 people labelled, n_uc
of them with class c; n labels in all, n_c of class c ::

    o = Σ_u Σ_c n_uc (n_uc - 1) / (m_u - 1)        α = 1 - (n - 1) (n - o) / (n² - Σ_c n_c²)

It is 1 where all agree and 0 where they agree as often as chance would have it; from 0.8 on labels are called reliable,
from 0.667 on good for tentative conclusions.

**What counts** for a node is the verdict of somebody who settled it; else what most people say; of several classes with
as many votes, the one the model holds more probable, if there is a model, or else that of the latest answer. Whoever
skips a node does not vote; a node that everybody skipped is skipped.

.. [1] Krippendorff, Content Analysis: An Introduction to Its Methodology, 2004, chapter 11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from featprop.io.agreement import leaders
from featprop.names import name_to_text

if TYPE_CHECKING:
    from featprop.labelling.acts import Act

__all__ = ["Consensus", "Disagreement", "alpha", "consensus", "disagreements", "krippendorff_alpha"]

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
    """

    labels: dict[Hashable, Hashable]
    skips: dict[Hashable, str]


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


def krippendorff_alpha(labels_of_nodes: Iterable[Iterable[Hashable]]) -> float | None:
    """Return Krippendorff's alpha; None where it is not defined: no node has two labels, or all labels are one class.

    Parameters
    ----------
    labels_of_nodes
        The labels that each node got, one of each person who gave one.
    """
    of_class: Counter[Hashable] = Counter()
    observed = 0.0
    for labels in labels_of_nodes:
        counts = Counter(labels)
        if counts.total() > 1:
            of_class.update(counts)
            observed += sum(count * (count - 1) for count in counts.values()) / (counts.total() - 1)
    n = of_class.total()
    apart = n * n - sum(count * count for count in of_class.values())
    return 1 - (n - 1) * (n - observed) / apart if apart else None


def alpha(acts: Iterable[Act]) -> float | None:
    """Return Krippendorff's alpha of answers that hold; skips are no answers, nor are verdicts."""
    named: dict[Hashable, list[str]] = {}
    for act in acts:
        if act.kind not in ("skip", "adjudicate"):
            named.setdefault(act.node, []).append(name_to_text(act.label))
    return krippendorff_alpha(named.values())


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
    for node, held in _by_node(acts).items():
        verdicts = [act for act in held if act.kind == "adjudicate"]
        votes = verdicts or [act for act in held if act.kind != "skip"]
        if votes:
            labels[node] = _winner(votes, probabilities).label
        else:
            skips[node] = max(held, key=lambda act: act.number).text
    return Consensus(labels, skips)


def disagreements(acts: Iterable[Act]) -> list[Disagreement]:
    """Return the nodes that people labelled differently and nobody has settled, in the order they came up."""
    found = []
    for node, held in _by_node(acts).items():
        answers = {act.annotator: act.label for act in held if act.kind not in ("skip", "adjudicate")}
        is_settled = any(act.kind == "adjudicate" for act in held)
        if not is_settled and len(set(map(name_to_text, answers.values()))) > 1:
            found.append(Disagreement(node, answers))
    return found


def _by_node(acts: Iterable[Act]) -> dict[Hashable, list[Act]]:
    of_node: dict[Hashable, list[Act]] = {}
    for act in acts:
        of_node.setdefault(act.node, []).append(act)
    return of_node


def _winner(votes: Sequence[Act], probabilities: Probabilities | None) -> Act:
    """Return an act whose label counts, of one or more."""
    if len(votes) == 1:
        return votes[0]
    by_class: dict[Hashable, list[Act]] = {}
    for act in votes:
        by_class.setdefault(name_to_text(act.label), []).append(act)
    first = leaders(name for name, acts in by_class.items() for _ in acts)
    latest = [max(by_class[name], key=lambda act: act.number) for name in first]
    held = (probabilities(votes[0].node) if probabilities is not None and len(first) > 1 else None) or {}
    return max(latest, key=lambda act: (held.get(act.label, 0.0), act.number))
