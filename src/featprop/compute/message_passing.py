"""Message passing: propagate rows to neighbours in blocks, without building S.

    S y = D (A + I) D y,    D = (I + diag(A 1))^-1/2

With z = D y, one hop is z' = D² (z + A z). The smoothed rows are scaled to unit length, so their direction, which is
that of z, is all that counts. A hop is thus a sum over neighbours, and edges of weight 1 need no weights.

The diffusion Σ_{t ≤ T} (1 - α)^t S^t y is summed from the inside, y + (1 - α) S (y + (1 - α) S (y + …)), so only one
set of rows and one block of the original rows are needed at a time.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from featprop.compute.backend import LINE_COLUMNS, get_backend, split_evenly
from featprop.compute.kernels import normalize_rows, prefetch, run_by_rows
from featprop.matrix import Floats, read_only

TELEPORT = 0.1
"""α of the diffusion: the probability that a random walk ends at each step."""
DIFFUSION_STEPS = 20
"""T of the diffusion; the omitted powers have a total weight of 0.9^21, a ninth."""
PREFETCHED_EDGES = 32
"""Number of edges by which the rows of neighbours are requested from memory in advance."""
MIN_LENGTH = 1e-6
"""Shorter smoothed rows are rounding errors: neighbours cancelled each other out."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges in the form that tasks need."""

    indptr: NDArray[Any]
    indices: NDArray[Any]  # both as in the adjacency
    weights: Floats  # edge weights; empty if all are 1
    scale: Floats  # the diagonal of D

    @classmethod
    def of(cls, adjacency: sp.csr_array) -> Edges:
        """Compute the degrees of an adjacency matrix."""
        parts = list(get_backend().map(_sum_weights, adjacency.shape[0], adjacency.indptr, adjacency.data))
        degrees = np.concatenate([sums for sums, _ in parts])
        weights = adjacency.data[:0] if all(all_ones for _, all_ones in parts) else adjacency.data
        scale = read_only((1 / np.sqrt(1 + degrees)).astype(np.float32))
        return cls(adjacency.indptr, adjacency.indices, weights, scale)


def propagate_rows(edges: Edges, rows: Floats, hops: int) -> Floats:
    """Return S^K rows for K = `hops`, at least 1."""
    backend, (n, width) = get_backend(), rows.shape
    result = backend.allocate_rows(n, width)
    for columns in _split_columns(width, backend.max_columns(n, width)):
        source, target = (backend.allocate_temporary_rows(n, columns.stop - columns.start) for _ in range(2))
        backend.run(_scale, n, rows, columns, edges.scale, source)
        source, target = backend.run_steps(_hop, n, hops, source, target, edges, stage="propagating features")
        backend.run(_unscale, n, source, columns, edges.scale, result)
    return result


def smooth_rows(edges: Edges, own: Floats, names: Collection[str]) -> dict[str, Floats]:
    """Return the ``"two-hops"`` and ``"diffused"`` rows in `names`, each of unit length."""
    backend, (n, width) = get_backend(), own.shape
    smoothed = {name: backend.allocate_rows(n, width) for name in names}
    for columns in _split_columns(width, backend.max_columns(n, width)):
        first, second = (backend.allocate_temporary_rows(n, columns.stop - columns.start) for _ in range(2))
        backend.run(_scale, n, own, columns, edges.scale, first)
        backend.run(_hop, n, first, second, edges)
        backend.run(_second_hop, n, second, first, edges, own, columns, smoothed.get("two-hops"))
        if "diffused" in smoothed:
            arguments = edges, own, columns
            steps = DIFFUSION_STEPS - 2
            first, _ = backend.run_steps(_diffuse, n, steps, first, second, *arguments, stage="smoothing features")
            backend.run(_write, n, first, columns, smoothed["diffused"])
    for rows in smoothed.values():
        backend.run(_normalize, n, rows, edges.scale)
    return smoothed


def _split_columns(width: int, room: int) -> list[slice]:
    """Split columns into pieces of at most `room`, whose rows fill whole cache lines if possible."""
    step = room - room % LINE_COLUMNS if LINE_COLUMNS <= room < width else room
    return split_evenly(width, step)


def _sum_weights(block: slice, indptr: NDArray[Any], weights: Floats) -> tuple[NDArray[np.float64], bool]:
    """Return the sum of the weights of each row, and whether all weights are 1."""
    ends = np.asarray(indptr[block.start : block.stop + 1], dtype=np.int64)
    entries = slice(int(ends[0]), int(ends[-1]))
    inside = weights[entries]
    all_ones = bool((inside == 1).all())
    sums = np.diff(ends).astype(np.float64)
    if not all_ones:
        run_by_rows(_sum_rows, len(sums), len(inside), ends - ends[0], inside, sums)
    return sums, all_ones


def _scale(block: slice, rows: Floats, columns: slice, scale: Floats, out: Floats) -> None:
    np.multiply(rows[block, columns], scale[block, None], out=out[block])


def _unscale(block: slice, rows: Floats, columns: slice, scale: Floats, out: Floats) -> None:
    np.divide(rows[block], scale[block, None], out=out[block, columns])


def _hop(block: slice, source: Floats, out: Floats, edges: Edges) -> None:
    _sum_neighbours(block, edges, source, out[block])


def _second_hop(
    block: slice, source: Floats, out: Floats, edges: Edges, own: Floats, columns: slice, two_hops: Floats | None
) -> None:
    """Compute the second hop from the first, and write the first three terms of the diffusion to `out`."""
    summed = out[block]
    _sum_neighbours(block, edges, source, summed)
    if two_hops is not None:
        two_hops[block, columns] = summed
    summed *= np.float32((1 - TELEPORT) ** 2)
    summed += own[block, columns] * edges.scale[block, None] + np.float32(1 - TELEPORT) * source[block]


def _diffuse(block: slice, source: Floats, out: Floats, edges: Edges, own: Floats, columns: slice) -> None:
    _sum_neighbours(block, edges, source, out[block], own, columns.start, 1 - TELEPORT)


def _write(block: slice, rows: Floats, columns: slice, out: Floats) -> None:
    out[block, columns] = rows[block]


def _normalize(block: slice, rows: Floats, scale: Floats) -> None:
    normalize_rows(rows[block], MIN_LENGTH, scale[block])


def _sum_neighbours(
    block: slice,
    edges: Edges,
    source: Floats,
    out: Floats,
    own: Floats | None = None,
    column: int = 0,
    share: float = 1.0,
) -> None:
    """Write `share` D² (z + A z) of z = `source` for the rows of a block; add D `own`, from `column` on, if given."""
    ends = np.asarray(edges.indptr[block.start : block.stop + 1], dtype=np.int64)
    entries = slice(int(ends[0]), int(ends[-1]))
    indices = edges.indices[entries]
    weights = edges.weights[entries] if len(edges.weights) else edges.weights
    added = out[:0] if own is None else own[block]
    scale = edges.scale[block]
    arrays = ends - ends[0], indices, weights, source, block.start, scale, added, column, np.float32(share), out
    run_by_rows(_add_neighbours, len(out), (len(indices) + len(out)) * source.shape[1], *arrays)


@njit(nogil=True, cache=True)
def _add_neighbours(start, stop, ends, indices, weights, source, offset, scale, own, column, share, out):  # type: ignore[no-untyped-def]
    """Sum over neighbours, four at a time so that the sum is written less often."""
    width = source.shape[1]
    weighted = len(weights) > 0
    last = ends[stop]
    for i in range(start, stop):
        entry, end = ends[i], ends[i + 1]
        for later in range(min(entry + PREFETCHED_EDGES, last), min(end + PREFETCHED_EDGES, last)):
            for c in range(0, width, LINE_COLUMNS):
                prefetch(source, indices[later], c)  # type: ignore[call-arg]
        for c in range(width):
            out[i, c] = source[offset + i, c]
        while entry + 4 <= end:
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
        if len(own) > 0:
            for c in range(width):
                out[i, c] = factor * out[i, c] + scale[i] * own[i, column + c]
        else:
            for c in range(width):
                out[i, c] *= factor


@njit(nogil=True, cache=True)
def _sum_rows(start, stop, ends, weights, sums):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        for entry in range(ends[i], ends[i + 1]):
            total += weights[entry]
        sums[i] = total
