"""One node to look at again, with the reason in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph

__all__ = ["Doubt", "worst_first"]


@dataclass(frozen=True)
class Doubt:
    """One node to look at.

    Attributes
    ----------
    node
        Its id.
    position
        Its position in the graph.
    score
        How doubtful it is, the higher the more; what is measured differs from list to list.
    why
        What speaks against it, as a sentence.
    """

    node: Hashable
    position: int
    score: float
    why: str

    def __str__(self) -> str:
        return f"{self.node!r}: {self.why}"


def worst_first(
    graph: Graph,
    positions: NDArray[np.intp],
    scores: NDArray[np.floating],
    why: Callable[[int], str],
    limit: int | None = None,
    above: float = 0.0,
) -> tuple[Doubt, ...]:
    """Return the nodes of the highest scores, the highest first.

    Parameters
    ----------
    graph
        The graph.
    positions
        The nodes.
    scores
        One for each of them.
    why
        Makes the sentence of one of them, given its place among `positions`.
    limit
        How many at most; all if None.
    above
        Scores that are not above this are left out.
    """
    order = np.argsort(-scores, kind="stable")[:limit]
    order = order[scores[order] > above]
    nodes = graph.ids[positions[order]].tolist()
    return tuple(
        Doubt(node, int(positions[place]), float(scores[place]), why(place))
        for node, place in zip(nodes, order.tolist(), strict=True)
    )
