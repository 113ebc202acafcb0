"""Normalise an edge list: symmetrise it, merge duplicates, drop self-loops, and log every repair.

`featprop.sources.edges` does the same with SQL for tables; this is for arrays.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError

log = logging.getLogger(__name__)

CHUNK_WEIGHTS = 1 << 16
"""Weights summed together; the sums of chunks are added one after the other."""
MERGED = {"max": "keeping the largest weight", "sum": "adding the weights", "count": "counting them"}
"""How the weights of duplicate edges are combined, for the log."""


@dataclass(frozen=True)
class RawGraph:
    """An unchecked graph from outside, in positions 0..n-1.

    Attributes
    ----------
    source, target
        The two ends of each edge, as positions.
    features
        One row per node, a SciPy sparse matrix or a dense array; None for structural features.
    weights
        One weight per edge, or None for an unweighted graph.
    ids
        Id of each node, or None for 0..n-1.
    labels
        Class of each node; None, NaN or, in an integer array, a negative number where unknown. None without labels.
    feature_names
        Name of each feature column, if it has one.
    scaled
        Whether weights are divided by their mean.
    repeated
        How to combine the weights of duplicate edges: ``"max"``, ``"sum"`` or ``"count"``.
    """

    source: NDArray[np.integer[Any]]
    target: NDArray[np.integer[Any]]
    features: Any
    weights: NDArray[Any] | None = None
    ids: Any = None
    labels: Any = None
    feature_names: tuple[str, ...] | None = None
    scaled: bool = False
    repeated: str = "max"


def symmetric_adjacency(raw: RawGraph, ids: NDArray[Any]) -> tuple[sp.csr_array, tuple[str, ...], float | None]:
    """Return the adjacency matrix, the repairs, and what the weights were divided by.

    The weight of duplicate edges does not depend on their order.
    """
    n = len(ids)
    a, b = (np.asarray(ends, dtype=np.int64) for ends in (raw.source, raw.target))
    for ends in (a, b):
        if ends.size and (ends.min() < 0 or ends.max() >= n):
            stray = int(ends.max() if ends.max() >= n else ends.min())
            raise GraphError(
                f"An edge joins position {stray:,}, but the nodes have positions 0 to {n - 1:,}.",
                hint="Add the node or drop the edge.",
                value=stray,
            )
    weights = None if raw.weights is None else _checked_weights(raw.weights, a, b, ids)
    is_loop = a == b
    is_zero = np.zeros(len(a), dtype=bool) if weights is None else (weights == 0) & ~is_loop
    n_loops, n_zeros = int(np.count_nonzero(is_loop)), int(np.count_nonzero(is_zero))
    if n_loops or n_zeros:
        kept = ~(is_loop | is_zero)
        a, b, weights = a[kept], b[kept], None if weights is None else weights[kept]
    keys = ((np.minimum(a, b) * n + np.maximum(a, b)) << 1) | (a > b)
    n_edges = len(keys)
    del a, b, is_loop, is_zero
    pairs, merged, n_directed = _merge(keys, None if raw.repeated == "count" else weights, raw.repeated)
    mean = MeanWeight()
    matrix = _mirror(pairs, merged, n)
    mean.add(matrix.data)
    scale, rescaled = mean.scale() if raw.scaled else (1.0, None)
    if scale not in (1.0, None):
        matrix.data = mean.divided(matrix.data)
    repairs = describe_repairs(
        raw.repeated,
        loops=n_loops,
        zeros=n_zeros,
        duplicates=n_edges - n_directed,
        one_way=2 * len(pairs) - n_directed,
    )
    repairs += [] if rescaled is None else [rescaled]
    for repair in repairs:
        log.info("%s", repair)
    return matrix, tuple(repairs), scale


def describe_repairs(
    repeated: str, *, unknown: int = 0, loops: int = 0, zeros: int = 0, duplicates: int = 0, one_way: int = 0
) -> list[str]:
    """Describe each repair of an edge list that was needed; the numbers count edges."""
    counts = [
        (unknown, "dropped {} edge{} to unknown nodes"),
        (loops, "dropped {} self-loop{}"),
        (zeros, "dropped {} edge{} of weight 0"),
        (duplicates, f"merged {{}} duplicate edge{{}}, {MERGED[repeated]}"),
        (one_way, "added the reverse of {} edge{} given in one direction only"),
    ]
    return [text.format(f"{count:,}", "" if count == 1 else "s") for count, text in counts if count]


def index_type(nodes: int, entries: int) -> type[np.int32 | np.int64]:
    """Return the integer type of the positions in a sparse matrix."""
    return np.int32 if max(nodes, entries) < 2**31 else np.int64


def _checked_weights(weights: Any, a: NDArray[np.int64], b: NDArray[np.int64], ids: Any) -> NDArray[np.float32]:
    values = np.asarray(weights)
    if values.dtype.kind not in "biuf":
        message = f"Edge weights must be numbers, not of type {values.dtype}."
        raise GraphError(message, parameter="weights", value=str(values.dtype))
    with np.errstate(over="ignore"):
        found = values.astype(np.float32)
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if bad.size:
        ends = [ids[end[bad[0]]] for end in (a, b)]
        ends = [end.item() if isinstance(end, np.generic) else end for end in ends]
        more = f" ({bad.size:,} such weights in all)" if bad.size > 1 else ""
        raise GraphError(
            f"Edge weights must be numbers from 0 to 3.4e38, but the edge from {ends[0]!r} to {ends[1]!r} weighs "
            f"{values[bad[0]]}{more}.",
            hint="Correct these weights or drop the edges.",
            parameter="weights",
            value=float(values[bad[0]]),
            node=ends[0],
        )
    return found


def _merge(
    keys: NDArray[np.int64], weights: NDArray[np.float32] | None, duplicates: str
) -> tuple[NDArray[np.int64], NDArray[np.float32], int]:
    """Return the distinct pairs in order, their weights, and how many directed edges were given.

    A key is the pair, its lower position × nodes + the higher, times 2, plus 1 for an edge from the higher one.
    """
    if not keys.size:
        return keys, np.empty(0, np.float32), 0
    if weights is None:
        keys = np.sort(keys)
        first = _starts(keys)
        counts = np.diff(np.append(first, len(keys)))
        values = (np.ones(len(first)) if duplicates == "max" else counts).astype(np.float32)
    else:
        order = np.argsort(keys, kind="stable") if duplicates == "max" else np.lexsort((weights, keys))
        keys, weights = keys[order], weights[order]
        first = _starts(keys)
        if duplicates == "max":
            values = np.maximum.reduceat(weights, first)
        else:
            values = np.add.reduceat(weights.astype(np.float64), first).astype(np.float32)
    keys = keys[first]
    pairs = keys >> 1
    first = _starts(pairs)
    return pairs[first], (np.maximum if duplicates == "max" else np.add).reduceat(values, first), len(keys)


def _starts(keys: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the positions in sorted keys where another key starts."""
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(keys[1:], keys[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _mirror(pairs: NDArray[np.int64], weights: NDArray[np.float32], n: int) -> sp.csr_array:
    """Return the symmetric matrix of pairs of positions in order."""
    kind = index_type(n, 2 * len(pairs))
    rows, columns = np.divmod(pairs, n)
    upper = sp.csr_array((n, n), dtype=np.float32)
    upper.indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(kind)
    upper.indices, upper.data = columns.astype(kind), weights
    del rows, columns
    matrix = sp.csr_array(upper + upper.T.tocsr())
    matrix.indptr, matrix.indices = matrix.indptr.astype(kind), matrix.indices.astype(kind)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


class MeanWeight:
    """The mean of weights that arrive in batches; it does not depend on where the batches are cut."""

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
        whole = len(weights) // CHUNK_WEIGHTS * CHUNK_WEIGHTS
        for start in range(0, whole, CHUNK_WEIGHTS):
            self.total += float(weights[start : start + CHUNK_WEIGHTS].sum(dtype=np.float64))
        self.rest = weights[whole:].copy()

    @property
    def mean(self) -> float:
        """The mean of all weights so far."""
        return (self.total + float(self.rest.sum(dtype=np.float64))) / self.count

    def scale(self) -> tuple[float | None, str | None]:
        """Return what to divide weights by, None without weights, and the repair to report, if any."""
        if not self.count:
            return None, None
        if self.low == self.high:
            return self.low, None
        return self.mean, f"weights divided by their mean, {self.mean:.4g}"

    def divided(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return weights divided by the scale."""
        return np.ones_like(weights) if self.low == self.high else (weights / self.mean).astype(np.float32)
