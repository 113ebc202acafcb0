"""A degree-corrected stochastic block model, whose edges are drawn in chunks and kept in files.

Karrer and Newman (2011): the probability of an edge between two nodes is the product of their weights and of a
number that depends only on their classes. Here node r of the s nodes of a class has a weight proportional to
(r + s/h)^(-1/2): the degrees have a power-law tail of exponent 3, and the square of a uniform number has this
distribution. The nodes are then shuffled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from featprop.progress import tracked

HUB = 10_000
"""The h of the weights: the node of highest degree has √h / 2 = 50 times the mean degree."""
EDGES_PER_FILE = 1 << 22
MAX_FILES = 250
EDGES_PER_CHUNK = 1 << 20
OVERSAMPLING = 1.05
"""Factor of edges to draw, since some repeat others."""

Edges = NDArray[np.int64]
"""An edge between the nodes a and b is the number a * nodes + b."""


class BlockModel:
    """Nodes in classes of these sizes, shuffled, and edges between them; `isolated` of the nodes have none.

    The class of one end of an edge is drawn in proportion to its size, so that nodes of a small class have as many
    neighbours of their class as others. The other end of an edge between classes is drawn likewise from the rest. The
    isolated nodes are the last of every class, in proportion to its size.
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
    def pairs(self) -> dict[str, int]:
        """Numbers of pairs inside and between classes among the nodes that may have edges."""
        nodes = int(self.joined.sum())
        inside = sum(size * (size - 1) // 2 for size in self.joined.tolist())
        return {"inside": inside, "between": nodes * (nodes - 1) // 2 - inside}

    def draw_inside(self, count: int, generator: np.random.Generator) -> Edges:
        """Draw edges between nodes of one class, with repeats; fewer than `count`, since self loops are dropped."""
        classes = self.holders[generator.integers(len(self.holders), size=count)]
        return self._edges(classes, classes, generator)

    def draw_between(self, count: int, generator: np.random.Generator) -> Edges:
        """Draw edges between nodes of different classes, with repeats."""
        tickets = len(self.holders)
        classes = self.holders[generator.integers(tickets, size=count)]
        further = generator.integers((tickets - self.tickets)[classes])
        others = self.holders[(np.cumsum(self.tickets)[classes] + further) % tickets]
        return self._edges(classes, others, generator)

    def _edges(self, one: NDArray[np.int64], other: NDArray[np.int64], generator: np.random.Generator) -> Edges:
        """Draw an edge for each pair of classes, from its lower node to its higher one."""
        a, b = self._draw_nodes(one, generator), self._draw_nodes(other, generator)
        edges: Edges = (np.minimum(a, b) * self.nodes + np.maximum(a, b))[a != b]
        return edges

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


class EdgeFiles:
    """About `expected` edges in files of a new folder, more of them than memory holds.

    `place` returns the number of the file, below its second argument, of each edge.
    """

    def __init__(self, folder: Path, expected: int, place: Callable[[Edges, int], Edges]) -> None:
        folder.mkdir()
        count = min(max(1, math.ceil(expected / EDGES_PER_FILE)), MAX_FILES)
        self.place, self.paths = place, [folder / f"{number}.edges" for number in range(count)]

    def add(self, chunks: Iterable[Edges]) -> None:
        """Append each edge to its file."""
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("ab")) for path in self.paths]
            for edges in chunks:
                numbers = self.place(edges, len(files)).astype(np.uint8)
                ends = np.cumsum(np.bincount(numbers, minlength=len(files)))
                parts = np.split(edges[np.argsort(numbers, kind="stable")], ends[:-1])
                for file, part in zip(files, parts, strict=True):
                    part.tofile(file)

    def keep_distinct(self) -> NDArray[np.int64]:
        """Sort every file and drop what is repeated in it; return how many edges each has left."""
        counts = []
        for path in self.paths:
            edges = sorted_distinct(np.fromfile(path, dtype=np.int64))
            edges.tofile(path)
            counts.append(len(edges))
        return np.array(counts, dtype=np.int64)

    def take(self) -> Iterator[Edges]:
        """Yield the edges of each file, and remove it."""
        for path in self.paths:
            yield np.fromfile(path, dtype=np.int64)
            path.unlink()


def draw_distinct(
    draw: Callable[[int, np.random.Generator], Edges], wanted: int, generator: np.random.Generator, folder: Path
) -> Iterator[Edges]:
    """Draw until there are enough distinct edges, then drop random ones that are too many."""
    files = EdgeFiles(folder, wanted, lambda edges, count: edges % count)
    counts = np.zeros(len(files.paths), dtype=np.int64)
    while (missing := wanted - int(counts.sum())) > 0:
        total = math.ceil(OVERSAMPLING * missing) + 64
        starts = range(0, total, EDGES_PER_CHUNK)
        sizes = (min(EDGES_PER_CHUNK, total - start) for start in starts)
        stage = f"drawing edges {folder.name} classes"
        files.add(draw(size, generator) for size in tracked(sizes, stage, len(starts)))
        counts = files.keep_distinct()
    if wanted == 0:
        return
    kept = generator.multivariate_hypergeometric(counts, wanted, method="marginals")
    for edges, count in zip(files.take(), kept.tolist(), strict=True):
        dropped = generator.choice(len(edges), len(edges) - count, replace=False, shuffle=False)
        yield np.delete(edges, dropped)


def sorted_distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort integers in place and return each once: seven times as fast on large arrays as `numpy.unique`."""
    keys.sort()
    first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    distinct: NDArray[np.int64] = keys[first]
    return distinct


def class_sizes(nodes: int, classes: int, smallest: float | None) -> NDArray[np.int64]:
    """Return the number of nodes of each class, equal ones if `smallest` is None.

    Otherwise each class is smaller than the previous one by the same factor, down to the share `smallest` of the nodes.
    """
    if smallest is None:
        starts: NDArray[np.int64] = np.linspace(0, nodes, classes + 1).astype(np.int64)
        return starts[1:] - starts[:-1]
    from scipy.optimize import brentq

    def too_much(last: float) -> float:
        return float(last / np.geomspace(1, last, classes).sum() - smallest)

    falling = np.geomspace(1, brentq(too_much, smallest, 1, xtol=1e-15), classes)
    sizes: NDArray[np.int64] = np.floor(nodes * (falling / falling.sum()) + 1e-6).astype(np.int64)
    sizes[: nodes - sizes.sum()] += 1
    return sizes
