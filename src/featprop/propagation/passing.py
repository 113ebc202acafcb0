"""Passing rows on to neighbours, over blocks: S is never made.

    S y = D (A + I) D y,    D = (I + diag(A 1))^-1/2

With z = D y a step is z' = D² (z + A z), and the directions of smoothed rows, which is all that is asked of them, are
those of z. So a step is a sum over the neighbours, which for edges of weight 1 needs nothing but who they are.

The diffusion Σ_{t ≤ T} (1 - α)^t S^t y is summed from the inside, y + (1 - α) S (y + (1 - α) S (y + …)): beside the
rows that are passed on, only the first ones are needed, a block at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from featprop.compute import let_go, place
from featprop.compute.threads import by_rows
from featprop.graph import Graph
from featprop.matrix import read_only
from featprop.progress import tracked
from featprop.propagation.lengths import unit_length
from featprop.propagation.prefetch import prefetch

__all__ = ["CANCELLED", "RETURN", "STEPS", "Edges", "passed_on", "smoothed_rows"]

RETURN = 0.1
"""α of the diffusion: the share of a walk that ends at each step."""
STEPS = 20
"""T of the diffusion; the powers left out weigh 0.9^21, a ninth."""
CANCELLED = 1e-6
"""Smoothed rows that are not longer than this are rounding: neighbours cancelled each other."""

AHEAD = 16
"""Entries after which the row of a neighbour, asked for now, is needed."""
LINE = 16
"""Numbers of four bytes that come from memory at once."""

ONE = np.float32(1)

Rows = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Edges:
    """Who is next to whom, as tasks need it.

    Attributes
    ----------
    indptr, indices
        Of the adjacency.
    weights
        Of the entries; of length 0 if all are 1.
    scale
        The diagonal of D.
    """

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[np.float32]
    scale: NDArray[np.float32]

    @classmethod
    def of(cls, graph: Graph) -> Edges:
        """Measure the degrees of a graph."""
        matrix = graph.adjacency
        degrees, plain = np.empty(graph.n_nodes), True
        for block, (sums, ones) in zip(
            place().blocks(graph.n_nodes),
            place().map(_degrees, graph.n_nodes, matrix.indptr, matrix.data),
            strict=True,
        ):
            degrees[block], plain = sums, plain and ones
        weights = matrix.data[:0] if plain else matrix.data
        scale = read_only((1 / np.sqrt(1 + degrees)).astype(np.float32))
        return cls(matrix.indptr, matrix.indices, weights, scale)


def passed_on(edges: Edges, rows: Rows, hops: int) -> Rows:
    """Return S^K rows for K = `hops`, one at least."""
    at, (n, width) = place(), rows.shape
    found = at.rows(n, width)
    step = at.columns_at_once(n, width)
    for columns in _pieces(width, step):
        source, target = (at.working_rows(n, columns.stop - columns.start) for _ in range(2))
        at.run(_scaled, n, rows, columns, edges.scale, source)
        for _ in tracked(range(hops), "propagating features", hops):
            at.run(_hop, n, edges, source, target)
            source, target = target, source
        at.run(_unscaled, n, source, columns, edges.scale, found)
    return found


def smoothed_rows(edges: Edges, own: Rows, wanted: Collection[str]) -> dict[str, Rows]:
    """Return rows smoothed over two steps and by diffusion, each of unit length, as far as `wanted`."""
    at, (n, width) = place(), own.shape
    pieces = _pieces(width, at.columns_at_once(n, width))
    found = [_smoothed_columns(edges, own, columns, wanted, whole=len(pieces) == 1) for columns in pieces]
    if len(pieces) == 1:
        return found[0]
    joined = {}
    for way in wanted:
        joined[way] = at.rows(n, width)
        at.run(_joined, n, [each[way] for each in found], edges.scale, joined[way])
    return joined


def _smoothed_columns(
    edges: Edges, own: Rows, columns: slice, wanted: Collection[str], *, whole: bool
) -> dict[str, Rows]:
    """Smooth some columns; rows are of unit length if these are all columns."""
    at, n = place(), len(own)
    width = columns.stop - columns.start
    found = {way: at.rows(n, width) for way in wanted}
    steps = iter(tracked(range(STEPS), "smoothing features", STEPS))
    first, second = (at.working_rows(n, width) for _ in range(2))
    at.run(_scaled, n, own, columns, edges.scale, first)
    next(steps)
    at.run(_hop, n, edges, first, second)
    next(steps)
    at.run(_second_hop, n, edges, second, own, columns, first, found.get("two-hops"), whole)
    if "diffused" in wanted:
        for step in steps:
            last = found["diffused"] if step == STEPS - 1 else None
            at.run(_diffused, n, edges, first, own, columns, second, last, whole)
            first, second = second, first
    return found


def _pieces(width: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, width)) for start in range(0, width, step)]


def _degrees(block: slice, indptr: NDArray[Any], weights: NDArray[np.float32]) -> tuple[NDArray[np.float64], bool]:
    """Return the sum of the weights of each row, and whether all are 1."""
    ends = np.asarray(indptr[block.start : block.stop + 1], dtype=np.int64)
    entries = slice(int(ends[0]), int(ends[-1]))
    inside = weights[entries]
    plain = bool((inside == 1).all())
    sums = np.diff(ends).astype(np.float64)
    if not plain:
        by_rows(_weighted_degrees, len(sums), len(inside), ends - ends[0], inside, sums)
    let_go(weights, entries)
    return sums, plain


def _scaled(block: slice, rows: Rows, columns: slice, scale: NDArray[np.float32], out: Rows) -> None:
    np.multiply(rows[block, columns], scale[block, None], out=out[block])
    let_go(rows, block)
    let_go(out, block)


def _unscaled(block: slice, rows: Rows, columns: slice, scale: NDArray[np.float32], out: Rows) -> None:
    np.divide(rows[block], scale[block, None], out=out[block, columns])
    let_go(out, block)


def _hop(block: slice, edges: Edges, source: Rows, out: Rows) -> None:
    _pass_on(block, edges, source, out[block])
    let_go(out, block)


def _second_hop(
    block: slice, edges: Edges, source: Rows, own: Rows, columns: slice, out: Rows, unit: Rows | None, whole: bool
) -> None:
    """Make the second hop from the first, and of both the first three terms of the diffusion."""
    summed = np.empty((block.stop - block.start, source.shape[1]), dtype=np.float32)
    _pass_on(block, edges, source, summed)
    started = own[block, columns] * edges.scale[block, None]
    started += np.float32(1 - RETURN) * source[block]
    started += np.float32((1 - RETURN) ** 2) * summed
    out[block] = started
    let_go(own, block)
    let_go(out, block)
    _keep(block, edges, summed, unit, whole)


def _diffused(
    block: slice, edges: Edges, source: Rows, own: Rows, columns: slice, out: Rows, unit: Rows | None, whole: bool
) -> None:
    _pass_on(block, edges, source, out[block], own[block, columns], np.float32(1 - RETURN))
    _keep(block, edges, out[block], unit, whole)
    let_go(own, block)
    let_go(out, block)


def _keep(block: slice, edges: Edges, rows: Rows, kept: Rows | None, whole: bool) -> None:
    """Write rows that are asked for, of unit length if they are whole."""
    if kept is not None:
        kept[block] = rows
        if whole:
            unit_length(kept[block], CANCELLED, edges.scale[block])
        let_go(kept, block)


def _joined(block: slice, parts: list[Rows], scale: NDArray[np.float32], out: Rows) -> None:
    out[block] = unit_length(np.hstack([part[block] for part in parts]), CANCELLED, scale[block])
    for each in (*parts, out):
        let_go(each, block)


def _pass_on(
    block: slice, edges: Edges, source: Rows, out: Rows, first: Rows | None = None, share: np.float32 = ONE
) -> None:
    """Write `share` D² (z + A z) for the rows of a block and, if there are `first` rows, D times these added to it."""
    ends = np.asarray(edges.indptr[block.start : block.stop + 1], dtype=np.int64)
    entries = slice(int(ends[0]), int(ends[-1]))
    weights = edges.weights[entries] if len(edges.weights) else edges.weights
    arrays = ends - ends[0], edges.indices[entries], weights, source, block.start, edges.scale[block]
    work = (len(arrays[1]) + len(out)) * source.shape[1]
    by_rows(_summed, len(out), work, *arrays, out[:0] if first is None else first, share, out)
    let_go(edges.indices, entries)
    if len(weights):
        let_go(edges.weights, entries)


@njit(nogil=True, cache=True)
def _summed(start, stop, ends, indices, weights, source, offset, scale, first, share, out):  # type: ignore[no-untyped-def]
    """Four neighbours are added at a time: the sum is written less often. Later ones are asked for meanwhile."""
    width = source.shape[1]
    weighted = len(weights) > 0
    last = ends[stop] - AHEAD
    for i in range(start, stop):
        for c in range(width):
            out[i, c] = source[offset + i, c]
        entry, end = ends[i], ends[i + 1]
        while entry + 4 <= end:
            if entry + 4 <= last:
                for ahead in range(entry + AHEAD, entry + AHEAD + 4):
                    for c in range(0, width, LINE):
                        prefetch(source, indices[ahead], c)  # type: ignore[call-arg]
            j, k, m, o = indices[entry], indices[entry + 1], indices[entry + 2], indices[entry + 3]
            if weighted:
                s, t, u, v = weights[entry], weights[entry + 1], weights[entry + 2], weights[entry + 3]
                for c in range(width):
                    out[i, c] += (s * source[j, c] + t * source[k, c]) + (u * source[m, c] + v * source[o, c])
            else:
                for c in range(width):
                    out[i, c] += (source[j, c] + source[k, c]) + (source[m, c] + source[o, c])
            entry += 4
        while entry < end:
            j = indices[entry]
            w = weights[entry] if weighted else np.float32(1)
            for c in range(width):
                out[i, c] += w * source[j, c]
            entry += 1
        factor = share * scale[i] * scale[i]
        if len(first) > 0:
            own = scale[i]
            for c in range(width):
                out[i, c] = factor * out[i, c] + own * first[i, c]
        else:
            for c in range(width):
                out[i, c] *= factor


@njit(nogil=True, cache=True)
def _weighted_degrees(start, stop, ends, weights, sums):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        for entry in range(ends[i], ends[i + 1]):
            total += weights[entry]
        sums[i] = total
