"""A degree-corrected stochastic block model whose edges are drawn one by one, in no more memory than the nodes take.

Karrer and Newman (2011): the chance of an edge between two nodes is the product of their weights and of a number
that depends on their classes only. Here node number r of the s nodes of a class has a weight in proportion to
(r + s/h)^(-1/2), which makes the tail of the degrees a power law of exponent 3 and is drawn from without a table:
the square of an even number is so distributed. The nodes are then shuffled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["BlockModel"]

HUB = 10_000
"""The h of the weights. The best-connected node has √h / 2 = 50 times the edges of the mean node."""


class BlockModel:
    """Nodes in classes of equal size, and edges between them to draw.

    Parameters
    ----------
    nodes, classes
        How many.
    generator
        Shuffles the nodes.

    Attributes
    ----------
    labels
        The class of each node.
    """

    def __init__(self, nodes: int, classes: int, generator: np.random.Generator) -> None:
        self.nodes, self.classes = nodes, classes
        self.starts = np.linspace(0, nodes, classes + 1).astype(np.int64)
        self.sizes = np.diff(self.starts)
        self.shuffled = generator.permutation(nodes).astype(np.int32)
        self.labels = np.empty(nodes, dtype=np.int64)
        self.labels[self.shuffled] = np.repeat(np.arange(classes), self.sizes)

    @property
    def pairs_inside(self) -> int:
        """How many pairs of nodes are of one class."""
        return sum(size * (size - 1) // 2 for size in self.sizes.tolist())

    @property
    def pairs_between(self) -> int:
        """How many pairs of nodes are of two classes."""
        return self.nodes * (self.nodes - 1) // 2 - self.pairs_inside

    def draw_inside(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw edges between nodes of one class, with repeats; fewer than `count`, since self loops are dropped."""
        classes = generator.integers(self.classes, size=count)
        return self._edges(classes, classes, generator)

    def draw_between(self, count: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw edges between nodes of different classes, with repeats."""
        classes = generator.integers(self.classes, size=count)
        others = (classes + generator.integers(1, self.classes, count)) % self.classes
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
        shift = self.sizes / HUB
        least, most = np.sqrt(shift), np.sqrt(self.sizes + shift)
        even = generator.random(len(classes))
        even *= (most - least)[classes]
        even += least[classes]
        np.square(even, out=even)
        even -= shift[classes]
        rank = np.clip(even.astype(np.int64), 0, self.sizes[classes] - 1)
        drawn: NDArray[np.int64] = self.shuffled[self.starts[classes] + rank].astype(np.int64)
        return drawn
