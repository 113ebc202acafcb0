"""Normalise an edge list: symmetrise it, merge duplicates, drop self-loops, and log every repair.

Edges may come in chunks. `EdgeCleaner` keeps the usable ones, `merge_entries` sorts and merges them, and `MeanWeight`
scales their weights. The result does not depend on how the edges are cut into chunks.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError

log = logging.getLogger(__name__)

SUM_SIZE = 1 << 16
"""Weights that are summed together; these sums are added one after the other."""

MERGED = {"max": "keeping the largest weight", "sum": "adding the weights", "count": "counting them"}
"""How the weights of duplicate edges are combined, for the log."""


def symmetric_adjacency(
    source: Any, target: Any, weights: Any, ids: NDArray[Any], *, repeated: str = "max", scaled: bool = False
) -> tuple[sp.csr_array, tuple[str, ...], float | None]:
    """Return the symmetric adjacency matrix of an edge list, the repairs, and what the weights were divided by.

    Self-loops and edges of weight 0 are dropped, duplicates are merged, and each edge is made to run both ways. The
    result does not depend on the order of the edges.

    Parameters
    ----------
    source, target
        Positions of the two ends of each edge.
    weights
        Weight of each edge, None for 1.
    ids
        Id of each node, for messages.
    repeated
        How to combine the weights of duplicate edges: ``"max"``, ``"sum"`` or ``"count"``.
    scaled
        Whether to divide the weights by their mean.
    """
    n = len(ids)
    cleaner = EdgeCleaner(n, repeated)
    keys, values = cleaner.clean(source, target, weights)
    cleaner.check_weights(ids)
    entries = merge_entries(keys, values, repeated)
    data = np.ones(len(entries.cells), np.float32) if entries.weights is None else entries.weights
    mean = MeanWeight()
    mean.add(data)
    scale, scaling = mean.scale() if scaled else (1.0, None)
    if scale not in (1.0, None):
        data = mean.divide(data)
    rows, columns = np.divmod(entries.cells, n)
    kind = index_type(n, len(columns))
    matrix = sp.csr_array((n, n), dtype=np.float32)
    matrix.indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(kind)
    matrix.indices, matrix.data = columns.astype(kind), data
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix, cleaner.log_repairs(entries.one_way, entries.uneven, len(entries.cells), scaling), scale


def index_type(nodes: int, entries: int) -> type[np.int32 | np.int64]:
    """Return the integer type of the indices of a matrix with this many nodes and entries."""
    return np.int32 if max(nodes, entries) < 2**31 else np.int64


class EdgeCleaner:
    """Takes edges in chunks, returns the usable ones, and counts the others.

    An entry of the matrix is encoded as one integer, its **key**: twice (row × nodes + column), plus 1 if the edge was
    given the other way round.

    Parameters
    ----------
    nodes
        Number of nodes.
    repeated
        How to combine the weights of duplicate edges: ``"max"``, ``"sum"`` or ``"count"``.
    """

    def __init__(self, nodes: int, repeated: str) -> None:
        self.nodes, self.repeated = nodes, repeated
        self.loops = self.zeros = self.edges = self.bad = 0
        self.first_bad: tuple[float, int, int] | None = None

    def clean(self, source: Any, target: Any, weights: Any) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
        """Return the keys of the usable edges, in both directions, and their weights; None for 1.

        Parameters
        ----------
        source, target
            Positions of the ends.
        weights
            Weights of the edges, None for 1.
        """
        n = self.nodes
        a, b = np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64)
        for ends in (a, b):
            if ends.size and (ends.min() < 0 or ends.max() >= n):
                outside = int(ends.max() if ends.max() >= n else ends.min())
                raise GraphError(
                    f"An edge ends at position {outside:,}, but the positions of the nodes are 0 to {n - 1:,}.",
                    value=outside,
                )
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

    def add_counts(self, other: EdgeCleaner) -> None:
        """Add the counts of another cleaner, which took the edges that come next."""
        self.loops, self.zeros = self.loops + other.loops, self.zeros + other.zeros
        self.edges, self.bad = self.edges + other.edges, self.bad + other.bad
        self.first_bad = other.first_bad if self.first_bad is None else self.first_bad

    def _checked(self, weights: Any, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the weights in float32, remembering the first invalid one and how many there are."""
        values = _float32(weights)
        bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if bad.size and self.first_bad is None:
            self.first_bad = float(np.asarray(weights)[bad[0]]), int(a[bad[0]]), int(b[bad[0]])
        self.bad += bad.size
        return values

    def check_weights(self, ids: Any) -> None:
        """Raise a `GraphError` if a weight is not a number of at least 0; `ids` names the nodes by position."""
        if self.first_bad is None:
            return
        value, a, b = self.first_bad
        ends = [id_.item() if isinstance(id_, np.generic) else id_ for id_ in (ids[a], ids[b])]
        ends = [id_.as_py() if hasattr(id_, "as_py") else id_ for id_ in ends]
        allowed = "finite numbers below 3.4e38" if 0 < value < np.inf else "finite numbers of at least 0"
        more = f" ({self.bad:,} such weights in all)" if self.bad > 1 else ""
        raise GraphError(
            f"Edge weights must be {allowed}, but the edge from {ends[0]!r} to {ends[1]!r} weighs {value}{more}.",
            parameter="weights",
            value=value,
            node=ends[0],
        )

    def log_repairs(self, one_way: int, uneven: int, both_ways: int, scaling: str | None) -> tuple[str, ...]:
        """Return a description of each repair and write it to the log.

        Parameters
        ----------
        one_way
            Number of distinct edges as given; a to b and b to a are two.
        uneven
            Number of entries of edges that were given in both directions with different weights.
        both_ways
            Number of entries of the symmetric matrix.
        scaling
            Description of how the weights were scaled, if they were.
        """
        how = MERGED[self.repeated]
        counts = [
            (self.loops, "dropped {} self-loop{}"),
            (self.zeros, "dropped {} edge{} of weight 0"),
            (self.edges - one_way, f"merged {{}} duplicate edge{{}}, {how}"),
            (uneven // 2, f"merged {{}} edge{{}} whose two directions had different weights, {how}"),
            (both_ways - one_way, "added the reverse of {} edge{} given in one direction only"),
        ]
        repairs = [text.format(f"{count:,}", "" if count == 1 else "s") for count, text in counts if count]
        repairs += [] if scaling is None else [scaling]
        for repair in repairs:
            log.info("%s", repair)
        return tuple(repairs)


class MergedEntries(NamedTuple):
    """Distinct entries of the matrix.

    Attributes
    ----------
    cells
        Row × nodes + column of each entry, ascending.
    weights
        Weight of each entry, None for 1.
    one_way
        Number of distinct edges as given.
    uneven
        Number of entries of edges that were given in both directions with different weights.
    """

    cells: NDArray[np.int64]
    weights: NDArray[np.float32] | None
    one_way: int
    uneven: int


def merge_entries(keys: NDArray[np.int64], values: NDArray[np.float32] | None, repeated: str) -> MergedEntries:
    """Merge the entries of whole rows, as `EdgeCleaner` returns them; `keys` may be sorted in place."""
    if not keys.size:
        return MergedEntries(keys, values, 0, 0)
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
    return MergedEntries(cells[first], weights, one_way, uneven)


def _sorted(
    keys: NDArray[np.int64], values: NDArray[np.float32] | None
) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
    """Sort by key, stably; key and place share one integer if they fit into 63 bits, which is faster."""
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
    """Return the first position of each distinct key in sorted keys."""
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


class MeanWeight:
    """Mean of weights that come in chunks; it does not depend on how they are cut."""

    def __init__(self) -> None:
        self.count, self.total = 0, 0.0
        self.low, self.high = np.inf, -np.inf
        self.rest = np.empty(0, dtype=np.float32)

    def add(self, weights: NDArray[np.float32]) -> None:
        """Add further weights."""
        if not len(weights):
            return
        self.count += len(weights)
        self.low, self.high = min(self.low, float(weights.min())), max(self.high, float(weights.max()))
        if len(self.rest):
            weights = np.concatenate([self.rest, weights])
        whole = len(weights) // SUM_SIZE * SUM_SIZE
        for start in range(0, whole, SUM_SIZE):
            self.total += float(weights[start : start + SUM_SIZE].sum(dtype=np.float64))
        self.rest = weights[whole:].copy()

    @property
    def mean(self) -> float:
        """Mean of all weights so far."""
        return (self.total + float(self.rest.sum(dtype=np.float64))) / self.count

    def scale(self) -> tuple[float | None, str | None]:
        """Return the number to divide weights by, None if there are none, and a description for the log."""
        if not self.count:
            return None, None
        if self.low == self.high:
            return self.low, None
        return self.mean, f"weights divided by their mean, {self.mean:.4g}"

    def divide(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return weights divided by `scale`."""
        return np.ones_like(weights) if self.low == self.high else (weights / self.mean).astype(np.float32)


def _float32(weights: Any) -> NDArray[np.float32]:
    values = np.asarray(weights)
    if values.dtype.kind not in "biuf":
        raise GraphError(f"Edge weights must be numbers, not {values.dtype}.", parameter="weights")
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
