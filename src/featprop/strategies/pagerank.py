"""PageRank: the nodes a random surfer visits most often.

    p = c P^T p + (1 - c) / n,    P = D^-1 A

Brin and Page, "The anatomy of a large-scale hypertextual web search engine" (1998). From a node without neighbours,
which the paper leaves open, the surfer jumps to any node. Edge weights are the odds of following an edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from featprop.graph import Graph
from featprop.options import Between
from featprop.strategies.base import QueryContext, ScoreStrategy, register_strategy

TOLERANCE = 1e-12
MAX_STEPS = 1000


@register_strategy("pagerank")
@dataclass(eq=False)
class PageRank(ScoreStrategy):
    """Largest PageRank centrality.

    Parameters
    ----------
    damping
        c, the probability that the surfer follows an edge instead of jumping to any node.
    """

    reference = "Brin and Page 1998"
    cost = "O(m) per step, about 100 steps"

    damping: Annotated[float, Between(0, 0.999)] = 0.85

    def scores(self, context: QueryContext, generator: np.random.Generator) -> NDArray[np.float64]:
        return page_rank(context.graph, self.damping)


def page_rank(graph: Graph, damping: float = 0.85) -> NDArray[np.float64]:
    """Return the PageRank of every node; the ranks sum to 1."""
    adjacency = graph.adjacency.astype(np.float64)
    degrees = np.asarray(adjacency.sum(axis=1))
    lonely = degrees == 0
    share = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=~lonely)
    ranks = np.full(graph.n_nodes, 1.0 / graph.n_nodes)
    for _ in range(MAX_STEPS):
        jumping = damping * ranks[lonely].sum() + 1.0 - damping
        following = damping * (adjacency @ (share * ranks)) + jumping / graph.n_nodes
        change = np.abs(following - ranks).sum()
        ranks = following
        if change < TOLERANCE:
            break
    return np.asarray(ranks)
