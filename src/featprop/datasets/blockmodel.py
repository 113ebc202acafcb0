"""A degree-corrected stochastic block model whose edges are drawn one by one, in memory proportional to the nodes.

Karrer and Newman (2011): the probability of an edge between two nodes is the product of their weights and of a
number that depends only on their classes. Here node r of the s nodes of a class has a weight proportional to
(r + s/h)^(-1/2): the degrees have a power-law tail of exponent 3, and the square of a uniform number has this
distribution. The nodes are then shuffled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HUB = 10_000
"""The h of the weights: the node of highest degree has √h / 2 = 50 times the mean degree."""


class BlockModel:
    """Nodes in classes, and edges between them.

    The class of one end of an edge is drawn in proportion to its size, so that nodes of a small class have as many
    neighbours of their class as others. The other end of an edge between classes is drawn likewise from the rest.

    Parameters
    ----------
    sizes
        Number of nodes of each class.
    isolated
        Number of nodes without edges: the last of every class, in proportion to its size.
    generator
        Generator that shuffles the nodes.

    Attributes
    ----------
    labels
        Class of each node.
    """

    def __init__(self, sizes: NDArray[np.int64], isolated: int, generator: np.random.Generator) -> None:
        self.nodes = int(sizes.sum())
        self.starts = np.cumsum(sizes) - sizes
        self.shuffled = generator.permutation(self.nodes).astype(np.int32)
        self.labels = np.empty(self.nodes, dtype=np.int64)
        self.labels[self.shuffled] = np.repeat(np.arange(len(sizes)), sizes)
        self.joined = sizes - np.diff(np.cumsum(sizes) * isolated // self.nodes, prepend=0)
        alike = not isolated and np.ptp(sizes) <= 1
        self.tickets = np.ones_like(sizes) if alike else self.joined
        self.holders = np.repeat(np.arange(len(sizes)), self.tickets)

    @property
    def pairs_inside(self) -> int:
        """Number of pairs within one class among the nodes that may have edges."""
        return sum(size * (size - 1) // 2 for size in self.joined.tolist())

    @property
    def pairs_between(self) -> int:
        """Number of pairs across classes among the nodes that may have edges."""
        nodes = int(self.joined.sum())
        return nodes * (nodes - 1) // 2 - self.pairs_inside

    def draw_inside(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw edges between nodes of one class, with repeats; fewer than `count`, since self loops are dropped."""
        classes = self.holders[generator.integers(len(self.holders), size=count)]
        return self._edges(classes, classes, generator)

    def draw_between(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw edges between nodes of different classes, with repeats."""
        tickets = len(self.holders)
        classes = self.holders[generator.integers(tickets, size=count)]
        further = generator.integers((tickets - self.tickets)[classes])
        others = self.holders[(np.cumsum(self.tickets)[classes] + further) % tickets]
        return self._edges(classes, others, generator)

    def _edges(
        self, one: NDArray[np.int64], other: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Return an edge between the lower node a and the higher b as the number a * nodes + b."""
        a, b = self._draw_nodes(one, generator), self._draw_nodes(other, generator)
        keys: NDArray[np.int64] = np.minimum(a, b) * self.nodes + np.maximum(a, b)
        apart: NDArray[np.int64] = keys[a != b]
        return apart

    def _draw_nodes(self, classes: NDArray[np.int64], generator: np.random.Generator) -> NDArray[np.int64]:
        shift = self.joined / HUB
        least, most = np.sqrt(shift), np.sqrt(self.joined + shift)
        uniform = generator.random(len(classes))
        uniform *= (most - least)[classes]
        uniform += least[classes]
        np.square(uniform, out=uniform)
        uniform -= shift[classes]
        rank = np.clip(uniform.astype(np.int64), 0, self.joined[classes] - 1)
        drawn: NDArray[np.int64] = self.shuffled[self.starts[classes] + rank].astype(np.int64)
        return drawn


def class_sizes(nodes: int, classes: int, smallest: float | None) -> NDArray[np.int64]:
    """Return the number of nodes of each class.

    Parameters
    ----------
    nodes, classes
        Numbers of nodes and classes.
    smallest
        Share of the nodes in the smallest class, from 1 / nodes to 1 / classes, of two classes or more. Each
        class is smaller than the previous one by the same factor. None for classes of equal size.
    """
    if smallest is None:
        starts: NDArray[np.int64] = np.linspace(0, nodes, classes + 1).astype(np.int64)
        return starts[1:] - starts[:-1]
    sizes: NDArray[np.int64] = np.floor(nodes * _falling_shares(classes, smallest) + 1e-6).astype(np.int64)
    sizes[: nodes - sizes.sum()] += 1
    return sizes


def _falling_shares(classes: int, smallest: float) -> NDArray[np.float64]:
    """Return shares that fall by the same factor from each to the next, down to the smallest."""
    from scipy.optimize import brentq

    def too_much(last: float) -> float:
        return float(last / np.geomspace(1, last, classes).sum() - smallest)

    falling = np.geomspace(1, brentq(too_much, smallest, 1, xtol=1e-15), classes)
    shares: NDArray[np.float64] = falling / falling.sum()
    return shares
