"""Edges as they came become the one form inside: undirected, each once, without loops; what was mended is said.

Edges come piece by piece. What counts of each (`Mending`) is sorted and merged (`merged`), all at once or for some rows
at a time, and the weights are divided by their mean in the end (`MeanWeight`): the answer does not depend on how edges
and rows are cut.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError
from featprop.interop.raw import RawGraph

__all__ = ["MeanWeight", "Mending", "Merged", "index_type", "merged", "symmetric_adjacency"]

log = logging.getLogger(__name__)

LEAF = 1 << 16
"""Weights that are added up together; these sums are added one after the other."""

MERGED = {"max": "dropped, the largest weight of each counts", "sum": "made one, weights added", "count": "counted"}
BOTH_WAYS = {"max": "the larger weight counts", "sum": "weights added", "count": "counts added"}
"""What becomes of edges from a to b and from b to a that do not weigh the same."""


def symmetric_adjacency(raw: RawGraph, ids: NDArray[Any]) -> tuple[sp.csr_array, tuple[str, ...], float | None]:
    """Drop self loops and zero weights, make one edge of repeated ones and let each run both ways.

    What several edges between the same nodes weigh does not depend on their order. Returns what was mended, too, which
    goes to the log, and what the weights were divided by.
    """
    n = len(ids)
    mending = Mending(n, raw.repeated)
    keys, values = mending.kept(raw.source, raw.target, raw.weights)
    mending.check(ids)
    found = merged(keys, values, raw.repeated)
    weights = np.ones(len(found.cells), np.float32) if found.weights is None else found.weights
    mean = MeanWeight()
    mean.add(weights)
    scale, told = mean.scale() if raw.scaled else (1.0, None)
    if scale not in (1.0, None):
        weights = mean.divided(weights)
    rows, columns = np.divmod(found.cells, n)
    kind = index_type(n, len(columns))
    matrix = sp.csr_array((n, n), dtype=np.float32)
    matrix.indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(kind)
    matrix.indices, matrix.data = columns.astype(kind), weights
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix, mending.told(found.one_way, found.uneven, len(found.cells), told), scale


def index_type(nodes: int, entries: int) -> type[np.int32 | np.int64]:
    """Return the type of the positions in a matrix of so many nodes and entries."""
    return np.int32 if max(nodes, entries) < 2**31 else np.int64


class Mending:
    """Takes edges piece by piece, returns those that count, and counts the others.

    An entry of the matrix is a number, its **key**: row × nodes + column, twice that, and 1 more if the edge was given
    the other way round.

    Parameters
    ----------
    nodes
        How many there are.
    repeated
        What an edge weighs that is there several times: ``"max"``, ``"sum"`` or ``"count"``.
    """

    def __init__(self, nodes: int, repeated: str) -> None:
        self.nodes, self.repeated = nodes, repeated
        self.loops = self.zeros = self.edges = self.bad = 0
        self.first_bad: tuple[float, int, int] | None = None

    def kept(self, source: Any, target: Any, weights: Any) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
        """Return the keys of edges that count, both ways, and what each weighs; None for 1.

        Parameters
        ----------
        source, target
            The positions of the ends.
        weights
            What edges weigh, None for 1.
        """
        n = self.nodes
        a, b = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        for ends in (a, b):
            if ends.size and (ends.min() < 0 or ends.max() >= n):
                found = f"the position {ends.max() if ends.max() >= n else ends.min()}"
                raise GraphError("Edges", f"must join positions 0 to {n - 1:,}", found, "add the node or drop the edge")
        loops = a == b
        counts = ~loops
        self.loops += int(np.count_nonzero(loops))
        values = None
        if weights is not None:
            values = self._checked(weights, a, b)
            zeros = (values == 0) & counts
            self.zeros += int(np.count_nonzero(zeros))
            counts &= ~zeros
        if not counts.all():
            a, b, values = a[counts], b[counts], None if values is None else values[counts]
        self.edges += len(a)
        keys = np.concatenate([(a * n + b) << 1, ((b * n + a) << 1) | 1])
        return keys, None if values is None or self.repeated == "count" else np.concatenate([values, values])

    def add(self, other: Mending) -> None:
        """Count what another one counted of the edges that come next."""
        self.loops, self.zeros = self.loops + other.loops, self.zeros + other.zeros
        self.edges, self.bad = self.edges + other.edges, self.bad + other.bad
        self.first_bad = other.first_bad if self.first_bad is None else self.first_bad

    def _checked(self, weights: Any, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
        """Remember the first weight that is none, as it was given, and how many there are."""
        values = _float32(weights)
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if bad.size and self.first_bad is None:
            self.first_bad = float(np.asarray(weights)[bad[0]]), int(a[bad[0]]), int(b[bad[0]])
        self.bad += bad.size
        return values

    def check(self, ids: Any) -> None:
        """Raise an error about weights that are no numbers or below 0; `ids` names the nodes by position."""
        if self.first_bad is None:
            return
        value, a, b = self.first_bad
        ends = [id_.item() if isinstance(id_, np.generic) else id_ for id_ in (ids[a], ids[b])]
        ends = [id_.as_py() if hasattr(id_, "as_py") else id_ for id_ in ends]
        found = f"{value} at the edge from {ends[0]!r} to {ends[1]!r} ({self.bad:,} in all)"
        rule = "must be numbers below 3.4e38" if 0 < value < np.inf else "must be numbers of at least 0"
        raise GraphError("Edge weights", rule, found, "drop or mend those edges")

    def told(self, one_way: int, uneven: int, both_ways: int, scaled: str | None) -> tuple[str, ...]:
        """Say what was mended, to the log too.

        Parameters
        ----------
        one_way
            How many edges there are, those from a to b and from b to a being two.
        uneven
            How many entries are of edges given both ways with different weights.
        both_ways
            How many there are when each runs both ways.
        scaled
            What was done to the weights.
        """
        mended = [
            (self.loops, "self loops dropped"),
            (self.zeros, "edges of weight 0 dropped"),
            (self.edges - one_way, f"repeated edges {MERGED[self.repeated]}"),
            (uneven // 2, f"edges with another weight the other way round made one, {BOTH_WAYS[self.repeated]}"),
            (both_ways - one_way, "edges given in one direction only made to run both ways"),
        ]
        repairs = [f"{count:,} {what}" for count, what in mended if count] + ([] if scaled is None else [scaled])
        for what in repairs:
            log.info("%s", what)
        return tuple(repairs)


class Merged(NamedTuple):
    """Entries of the matrix, each once.

    Attributes
    ----------
    cells
        Row × nodes + column of each, rising.
    weights
        What each weighs, None for 1.
    one_way
        How many there are of edges as they were given.
    uneven
        How many there are of edges that were given both ways with different weights.
    """

    cells: NDArray[np.int64]
    weights: NDArray[np.float32] | None
    one_way: int
    uneven: int


def merged(keys: NDArray[np.int64], values: NDArray[np.float32] | None, repeated: str) -> Merged:
    """Merge entries as `Mending` returns them, all those of a row or none; `keys` may be sorted in place."""
    if not keys.size:
        return Merged(keys, None if values is None else values, 0, 0)
    keys, values = _sorted(keys, values)
    first = _firsts(keys)
    if values is not None and repeated == "max":
        weights: NDArray[np.float32] | None = np.maximum.reduceat(values, first)
    elif values is not None:
        weights = np.add.reduceat(values.astype(np.float64), first).astype(np.float32)
    elif repeated == "max":
        weights = None
    else:
        weights = np.diff(np.append(first, len(keys))).astype(np.float32)
    keys = keys[first]
    one_way = len(keys) - int(np.count_nonzero(keys & 1))
    cells = keys >> 1
    first = _firsts(cells)
    uneven = 0
    if weights is not None:
        twice = np.flatnonzero(cells[1:] == cells[:-1])
        uneven = int(np.count_nonzero(weights[twice] != weights[twice + 1]))
        weights = (np.maximum if repeated == "max" else np.add).reduceat(weights, first)
    return Merged(cells[first], weights, one_way, uneven)


def _sorted(
    keys: NDArray[np.int64], values: NDArray[np.float32] | None
) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
    """Sort by key, in the order they came where keys are equal: with their places in one number if that has room."""
    if values is None:
        keys.sort()
        return keys, None
    least, bits = keys.min(), (len(keys) - 1).bit_length()
    if int(keys.max() - least).bit_length() + bits > 63:
        order = np.argsort(keys, kind="stable")
        return keys[order], values[order]
    packed = keys - least
    packed <<= bits
    packed |= np.arange(len(keys))
    packed.sort()
    values = values[packed & ((1 << bits) - 1)]
    packed >>= bits
    packed += least
    return packed, values


def _firsts(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where in sorted keys another one begins."""
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


class MeanWeight:
    """The mean of weights that come piece by piece: the same however they are cut."""

    def __init__(self) -> None:
        self.count, self.total = 0, 0.0
        self.low, self.high = np.inf, -np.inf
        self.rest = np.empty(0, dtype=np.float32)

    def add(self, weights: NDArray[np.float32]) -> None:
        """Take further weights."""
        if not len(weights):
            return
        self.count += len(weights)
        self.low, self.high = min(self.low, float(weights.min())), max(self.high, float(weights.max()))
        if len(self.rest):
            weights = np.concatenate([self.rest, weights])
        whole = len(weights) // LEAF * LEAF
        for start in range(0, whole, LEAF):
            self.total += float(weights[start : start + LEAF].sum(dtype=np.float64))
        self.rest = weights[whole:].copy()

    @property
    def mean(self) -> float:
        """The mean of all so far."""
        return (self.total + float(self.rest.sum(dtype=np.float64))) / self.count

    def scale(self) -> tuple[float | None, str | None]:
        """Return what to divide weights by, None if there are none, and what to say of it."""
        if not self.count:
            return None, None
        if self.low == self.high:
            return self.low, None
        return self.mean, f"weights divided by their mean, {self.mean:.4g}"

    def divided(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return weights divided by what `scale` says."""
        return np.ones_like(weights) if self.low == self.high else (weights / self.mean).astype(np.float32)


def _float32(weights: Any) -> NDArray[np.float32]:
    values = np.asarray(weights)
    if values.dtype.kind not in "biuf":
        raise GraphError("Edge weights", "must be numbers", f"the type {values.dtype}", "write each as a number")
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
