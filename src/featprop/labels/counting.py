"""What counts in a label log where a graph is at hand: a model decides where as many people say one thing as another.

It learns from the other labels only, so that page, export and training all decide alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from featprop.graph import Graph
from featprop.labels.acts import Act
from featprop.labels.agreement import Consensus, consensus
from featprop.models import seeded_model

__all__ = ["Guess", "guesses", "what_counts"]


@dataclass(frozen=True)
class Guess:
    """What a model holds of a node: the likeliest class, its probability, and that of every class."""

    label: Hashable
    confidence: float
    probabilities: dict[Hashable, float]


def guesses(graph: Graph, labels: Mapping[Hashable, Hashable]) -> Callable[[Hashable], Guess] | None:
    """Train the default model and return what it holds of a node; None without labels of two classes."""
    if len(set(labels.values())) < 2:
        return None
    model = seeded_model(0, None).fit(graph, list(labels), list(labels.values()))
    probabilities = model.predict_proba(graph)

    def guess(node: Hashable) -> Guess:
        row = probabilities[graph.positions([node])[0]].tolist()
        shares = dict(zip(model.class_names_, row, strict=True))
        best = max(shares, key=lambda name: shares[name])
        return Guess(best, shares[best], shares)

    return guess


def what_counts(holding: Sequence[Act], graph: Graph) -> Consensus:
    """Return what counts of each node of which these answers and verdicts hold."""
    first = consensus(holding)
    guess = guesses(graph, first.sure) if first.ties else None
    return first if guess is None else consensus(holding, lambda node: guess(node).probabilities)
