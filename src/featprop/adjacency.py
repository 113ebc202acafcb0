"""Normalise an edge list: symmetrise it, merge duplicates, drop self-loops, and log every repair.

`featprop.sources.edges` does the same with SQL for tables; this is for arrays.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError

log = logging.getLogger(__name__)

MERGED = {"max": "keeping the largest weight", "sum": "adding the weights", "count": "counting them"}
"""How the weights of duplicate edges are combined, for the log."""


def symmetric_adjacency(
    source: Any, target: Any, weights: Any, ids: NDArray[Any]
) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return the adjacency matrix of edges between positions, and the repairs.

    Edges weigh 1 if `weights` is None. Of duplicate edges, the largest weight is kept.
    """
    n = len(ids)
    given = [np.asarray(ends) for ends in (source, target)]
    are_positions = all(ends.ndim == 1 and (not ends.size or ends.dtype.kind in "iu") for ends in given)
    if not are_positions or len(given[0]) != len(given[1]):
        message = "`source` and `target` must each have the position of one node per edge."
        raise GraphError(message, hint="For other ids, use Graph.from_tables.", parameter="source")
    a, b = (ends.astype(np.int64) for ends in given)
    for ends in (a, b):
        if ends.size and (ends.min() < 0 or ends.max() >= n):
            stray = int(ends.max() if ends.max() >= n else ends.min())
            raise GraphError(
                f"An edge joins position {stray:,}, but the nodes have positions 0 to {n - 1:,}.",
                hint="Add the node or drop the edge.",
                value=stray,
            )
    weights = np.ones(len(a), np.float32) if weights is None else _checked_weights(weights, a, b, ids)
    is_loop = a == b
    is_zero = (weights == 0) & ~is_loop
    kept = ~(is_loop | is_zero)
    directed = _keep_largest(a[kept], b[kept], weights[kept], n)
    matrix = sp.csr_array(directed.maximum(directed.T))
    repairs = describe_repairs(
        "max",
        loops=int(is_loop.sum()),
        zeros=int(is_zero.sum()),
        duplicates=int(kept.sum()) - directed.nnz,
        one_way=matrix.nnz - directed.nnz,
    )
    for repair in repairs:
        log.info("%s", repair)
    return matrix, tuple(repairs)


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


def _checked_weights(weights: Any, a: NDArray[np.int64], b: NDArray[np.int64], ids: Any) -> NDArray[np.float32]:
    values = np.asarray(weights)
    if values.dtype.kind not in "biuf":
        message = f"Edge weights must be numbers, not of type {values.dtype}."
        raise GraphError(message, parameter="weights", value=str(values.dtype))
    if values.shape != a.shape:
        message = f"`weights` must have one entry per edge, {len(a):,}, not {values.size:,}."
        raise GraphError(message, parameter="weights", value=values.size)
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


def _keep_largest(
    rows: NDArray[np.int64], columns: NDArray[np.int64], weights: NDArray[np.float32], n: int
) -> sp.csr_array:
    """Return the matrix of directed edges with the largest weight of each."""
    keys = rows * n + columns
    order = np.lexsort((weights, keys))
    keys, weights = keys[order], weights[order]
    is_last = np.diff(keys, append=-1) != 0
    return sp.csr_array((weights[is_last], np.divmod(keys[is_last], n)), shape=(n, n))
