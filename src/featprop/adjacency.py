"""Edges as they came become the one form inside: undirected, each once, without loops; what was mended is said."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError
from featprop.interop.raw import RawGraph

__all__ = ["symmetric_adjacency"]

log = logging.getLogger(__name__)


def symmetric_adjacency(raw: RawGraph, ids: NDArray[Any]) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Drop self loops and zero weights, make one edge of repeated ones and let each run both ways.

    What several edges between the same nodes weigh does not depend on their order. Returns what was mended, too, which
    goes to the log.
    """
    n = len(ids)
    values = np.ones(len(raw.source), np.float32) if raw.weights is None else _checked_weights(raw.weights)
    ends = np.stack([np.asarray(raw.source, dtype=np.int64), np.asarray(raw.target, dtype=np.int64)])
    if ends.size and (ends.min() < 0 or ends.max() >= n):
        found = f"the position {ends.max() if ends.max() >= n else ends.min()}"
        raise GraphError("Edges", f"must join positions 0 to {n - 1:,}", found, "add the node or drop the edge")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        a, b = (ids.tolist()[end] for end in ends[:, bad[0]])
        found = f"{values[bad[0]]} at the edge from {a!r} to {b!r} ({bad.size:,} in all)"
        raise GraphError("Edge weights", "must be numbers of at least 0", found, "drop or mend those edges")

    loops, zeros = ends[0] == ends[1], values == 0
    kept = ~(loops | zeros)
    one_way = _merged(ends[0, kept] * n + ends[1, kept], values[kept], n, raw.repeated)
    other_way = sp.csr_array(one_way.T)
    both_ways = sp.csr_array(one_way.maximum(other_way) if raw.repeated == "max" else one_way + other_way)
    both_ways.sort_indices()
    repeats = int(np.count_nonzero(kept)) - one_way.nnz
    merged = {"max": "dropped, the largest weight of each counts", "sum": "made one, weights added", "count": "counted"}
    mended = [
        (int(np.count_nonzero(loops)), "self loops dropped"),
        (int(np.count_nonzero(zeros & ~loops)), "edges of weight 0 dropped"),
        (repeats, f"repeated edges {merged[raw.repeated]}"),
        (int(both_ways.nnz - one_way.nnz), "edges given in one direction only made to run both ways"),
    ]
    repairs = [f"{count:,} {what}" for count, what in mended if count]
    if raw.scaled and both_ways.nnz and (both_ways.data != both_ways.data[0]).any():
        mean = float(both_ways.data.mean(dtype=np.float64))
        both_ways.data = (both_ways.data / mean).astype(np.float32)
        repairs.append(f"weights divided by their mean, {mean:.4g}")
    elif raw.scaled:
        both_ways.data[:] = 1
    for what in repairs:
        log.info("%s", what)
    return both_ways, tuple(repairs)


def _merged(keys: NDArray[np.int64], values: NDArray[np.float32], n: int, repeated: str) -> sp.csr_array:
    """Return the edges from row to column, each once, weighing what the rule says."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if keys.size else keys
    if not keys.size:
        weights = values
    elif repeated == "max":
        weights = np.maximum.reduceat(values, first)
    elif repeated == "sum":
        weights = np.add.reduceat(values, first, dtype=np.float64).astype(np.float32)
    else:
        weights = np.diff(np.append(first, len(keys))).astype(np.float32)
    return sp.csr_array((weights, np.divmod(keys[first], n)), shape=(n, n))


def _checked_weights(weights: NDArray[Any]) -> NDArray[np.float32]:
    values = np.asarray(weights)
    if values.dtype.kind not in "biuf":
        raise GraphError("Edge weights", "must be numbers", f"the type {values.dtype}", "write each as a number")
    with np.errstate(over="ignore"):
        return values.astype(np.float32)
