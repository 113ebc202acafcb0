"""L2 distances between rows, block by block, for dense and sparse rows alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.matrix import Features
from featprop.progress import tracked

__all__ = ["Nearest", "distances_between", "nearest_rows"]

BLOCK_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Nearest:
    """For each row, which of the targets is nearest (an index into them) and how far it is."""

    index: NDArray[np.intp]
    distance: NDArray[np.float32]


def distances_between(rows: Features, targets: Features) -> NDArray[np.float32]:
    """Return the distance of each of `rows` to each of `targets`, shape (rows, targets)."""
    distances = np.empty((rows.shape[0], targets.shape[0]), dtype=np.float32)
    for start, block in _blocks(rows, targets):
        distances[start : start + len(block)] = block
    return distances


def nearest_rows(rows: Features, targets: Features) -> Nearest:
    """Return the nearest of `targets` for each of `rows`; the first of several equally near."""
    index = np.empty(rows.shape[0], dtype=np.intp)
    distance = np.empty(rows.shape[0], dtype=np.float32)
    for start, block in _blocks(rows, targets):
        best = block.argmin(axis=1)
        index[start : start + len(block)] = best
        distance[start : start + len(block)] = block[np.arange(len(block)), best]
    return Nearest(index, distance)


def _blocks(rows: Features, targets: Features) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield (first row, distances of a block of rows to all targets).

    |a - b|² = |a|² - 2 a·b + |b|² in float64: in float32 the difference of two nearly equal rows would be lost.
    """
    target_rows = targets.astype(np.float64)
    target_norms = _squared_norms(target_rows)
    width = max(targets.shape[0], rows.shape[1], 1)
    step = max(1, BLOCK_BYTES // (8 * width))
    starts = range(0, rows.shape[0], step)
    for start in tracked(starts, "measuring distances", len(starts)):
        block = rows[start : start + step].astype(np.float64)
        products = block @ target_rows.T
        squared: NDArray[Any] = products.toarray() if sp.issparse(products) else products  # type: ignore[union-attr]
        squared *= -2.0
        squared += _squared_norms(block)[:, None]
        squared += target_norms[None, :]
        np.maximum(squared, 0.0, out=squared)
        yield start, np.sqrt(squared, out=squared)


def _squared_norms(rows: Any) -> NDArray[np.float64]:
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    norms: NDArray[np.float64] = np.einsum("ij,ij->i", rows, rows)
    return norms
