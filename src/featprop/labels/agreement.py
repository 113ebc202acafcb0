"""Several people and one node: how far they agree, and which label counts.

**The rule.** A verdict (an adjudicated label) counts. Without one, the label of most people counts. If as many
people say one thing as another, the latest answer counts, and the node is a *tie*: no model learns from it. A skip is
no vote; a node that every annotator skipped is skipped.

**Krippendorff's alpha** for nominal data with missing answers [1]_: over nodes u with m_u ≥ 2 labels, n_uc of them of
class c; n labels in total, n_c of class c ::

    o = Σ_u Σ_c n_uc (n_uc - 1) / (m_u - 1)        α = 1 - (n - 1) (n - o) / (n² - Σ_c n_c²)

1 means perfect agreement, 0 agreement by chance. Labels are called reliable from 0.8, and good for tentative
conclusions from 0.667.

.. [1] Krippendorff, Content Analysis: An Introduction to Its Methodology, 2004, chapter 11.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from featprop.ids import name_to_text
from featprop.labels.annotation import VOTES, Annotation, Kind

label_to_text = lru_cache(maxsize=10_000, typed=True)(name_to_text)
"""Text that differs for labels of different types."""


@dataclass(frozen=True)
class Consensus:
    """What counts of all annotations.

    Attributes
    ----------
    labels
        Label of each node that has one.
    skips
        Skipped nodes, and the reason.
    ties
        Nodes whose label only the tie rule decides: no model learns from them.
    """

    labels: dict[Hashable, Hashable]
    skips: dict[Hashable, str]
    ties: frozenset[Hashable] = frozenset()

    @property
    def sure(self) -> dict[Hashable, Hashable]:
        """The labels without ties, which a model learns from."""
        return {node: label for node, label in self.labels.items() if node not in self.ties}


class Decision(NamedTuple):
    """What counts for one node."""

    label: Hashable | None  # the class; None if the node was skipped
    reason: str = ""  # reason of the skip, if one was given
    is_tie: bool = False  # whether as many people say something else


class Disagreement(NamedTuple):
    """A node that people labelled differently, and the label of each annotator."""

    node: Hashable
    answers: dict[str, Hashable]


def krippendorff_alpha(labels_of_nodes: Iterable[Iterable[Hashable]]) -> float | None:
    """Return Krippendorff's alpha; None if no node has two labels, or all labels are one class.

    Parameters
    ----------
    labels_of_nodes
        For each node, one label per person who gave one.
    """
    of_class: Counter[str] = Counter()
    observed = 0.0
    for labels in labels_of_nodes:
        counts = Counter(map(label_to_text, labels))
        if counts.total() > 1:
            of_class += counts
            observed += sum(count * (count - 1) for count in counts.values()) / (counts.total() - 1)
    n = of_class.total()
    apart = n * n - sum(count * count for count in of_class.values())
    return 1 - (n - 1) * (n - observed) / apart if apart else None


def alpha(annotations: Iterable[Annotation]) -> float | None:
    """Return Krippendorff's alpha of the current answers; skips and verdicts do not count."""
    given: dict[Hashable, list[Hashable]] = {}
    for each in annotations:
        if each.kind is Kind.LABEL:
            given.setdefault(each.node, []).append(each.label)
    return krippendorff_alpha(given.values())


def consensus(annotations: Iterable[Annotation]) -> Consensus:
    """Return what counts for each node, given current answers and verdicts, later ones last."""
    labels: dict[Hashable, Hashable] = {}
    skips: dict[Hashable, str] = {}
    ties = set()
    for node, held in group_by_node(annotations).items():
        decision = decide(held)
        if decision.label is not None:
            labels[node] = decision.label
        else:
            skips[node] = decision.reason
        if decision.is_tie:
            ties.add(node)
    return Consensus(labels, skips, frozenset(ties))


def decide(held: Sequence[Annotation]) -> Decision:
    """Return what counts for a node with these answers and verdicts, at least one, later ones last."""
    votes = votes_of(held)
    if len(votes) == 1:
        return Decision(votes[0].label)
    if not votes:
        return Decision(None, max(held, key=lambda each: each.number).text)
    votes.sort(key=lambda each: each.number)
    last = {label_to_text(each.label): each for each in votes}
    counts = Counter(name for _, name in {(each.who, label_to_text(each.label)) for each in votes})
    most = max(counts.values())
    leaders = [each for name, each in last.items() if counts[name] == most]
    winner = max(leaders, key=votes.index)
    return Decision(winner.label, is_tie=len(leaders) > 1)


def votes_of(held: Sequence[Annotation]) -> list[Annotation]:
    """Return the verdicts among the answers to a node or, if there are none, the labels."""
    verdicts = [each for each in held if each.kind is Kind.VERDICT]
    return verdicts or [each for each in held if each.kind is Kind.LABEL]


def find_conflicts(annotations: Iterable[Annotation]) -> dict[Hashable, list[Annotation]]:
    """Return the nodes with different labels that are not settled, and these labels, in the order of the nodes."""
    votes = {node: votes_of(held) for node, held in group_by_node(annotations).items()}
    return {node: cast for node, cast in votes.items() if len({label_to_text(each.label) for each in cast}) > 1}


def describe_agreement(annotations: Iterable[Annotation]) -> str:
    """Describe how far people agree who labelled the same nodes, with Cohen's kappa of each pair."""
    answers = {
        node: {each.who: label_to_text(each.label) for each in held if each.kind is Kind.LABEL and each.who}
        for node, held in group_by_node(annotations).items()
    }
    shared = [given for given in answers.values() if len(given) > 1]
    if not shared:
        return ""
    alike = sum(len(set(given.values())) == 1 for given in shared)
    pairs = []
    for one, other in combinations(dict.fromkeys(who for given in shared for who in given), 2):
        kappa = _cohen_kappa(one, other, shared)
        if kappa is not None:
            pairs.append(f"{kappa:.2f} for {one} and {other}")
    kappas = f" Cohen's kappa: {', '.join(pairs[:5])}{', …' if len(pairs) > 5 else ''}." if pairs else ""
    return f"Nodes with several answers: {len(shared):,}, of which {alike:,} agree.{kappas}"


def group_by_node(annotations: Iterable[Annotation]) -> dict[Hashable, list[Annotation]]:
    """Return the answers and verdicts of each node."""
    of_node: dict[Hashable, list[Annotation]] = {}
    for each in annotations:
        if each.kind in VOTES:
            of_node.setdefault(each.node, []).append(each)
    return of_node


def pool_audits(draws: Sequence[Mapping[Hashable, float]]) -> dict[Hashable, float]:
    """Return how many nodes each audited node stands for, given several draws one after another.

    A node of a uniform draw of n out of N stands for N / n. Uniform draws of 30 and then of 90 from the rest are
    together a uniform draw of 120, so their nodes get one weight: N is what the last draw chose from plus what was
    drawn before it. Stratified draws keep their weights. If a node is in two draws, the later one counts.
    """
    uniform: dict[float, set[Hashable]] = {}
    for draw in filter(_is_uniform, draws):
        uniform.setdefault(next(iter(draw.values())), set()).update(draw)
    if len(uniform) > 1:
        drawn: set[Hashable] = set()
        populations = []
        for weight, nodes in sorted(uniform.items(), key=lambda draw: -draw[0] * len(draw[1])):
            populations.append(round(weight * len(nodes)) + len(drawn))
            drawn |= nodes
        pooled = max(min(populations), len(drawn)) / len(drawn)
        draws = [dict.fromkeys(draw, pooled) if _is_uniform(draw) else draw for draw in draws]
    return {node: weight for draw in draws for node, weight in draw.items()}


def _is_uniform(draw: Mapping[Hashable, float]) -> bool:
    return len(set(draw.values())) == 1


def _cohen_kappa(one: str, other: str, shared: Sequence[Mapping[str, str]]) -> float | None:
    """Return Cohen's kappa of two people; None if they share no node or used a single class."""
    from sklearn.metrics import cohen_kappa_score

    both = [(given[one], given[other]) for given in shared if one in given and other in given]
    if len({name for pair in both for name in pair}) < 2:
        return None
    return float(cohen_kappa_score(*zip(*both, strict=True)))
