"""What must hold of the arrays of a graph before code trusts them: an index out of range ends the process.

The arrays are mapped and may be larger than memory, so they are looked at block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph

__all__ = ["check_arrays"]

BLOCK = 1 << 22
"""Numbers looked at together."""


def check_arrays(graph: Graph) -> None:
    """Raise a `ValueError` about the first array of a graph that is not as the format says."""
    _check_csr("adjacency", graph.adjacency)
    if any((block <= 0).any() for block in _blocks(graph.adjacency.data)):
        raise ValueError("adjacency.data.npy with a weight that is not above 0")
    if sp.issparse(graph.features):
        _check_csr("features", graph.features)
    else:
        _check_finite("features", graph.features)
    for block in _blocks(graph.labels) if graph.labels is not None else ():
        if block.min() < UNKNOWN or block.max() >= len(graph.classes):
            raise ValueError(f"labels.npy from {block.min()} to {block.max()} with {len(graph.classes)} classes")
    if not _are_distinct(graph.ids):
        raise ValueError("ids that are repeated")


def _check_csr(name: str, matrix: sp.csr_array) -> None:
    """Check that rows begin one after the other and that the columns of each are in range, rising and distinct."""
    indptr, indices = matrix.indptr, matrix.indices
    if any((block[1:] < block[:-1]).any() for block in _blocks(indptr, overlap=1)):
        raise ValueError(f"{name}.indptr.npy that falls")
    start = 0
    for block in _blocks(indices, overlap=1):
        if block.min() < 0 or block.max() >= matrix.shape[1]:
            raise ValueError(f"{name}.indices.npy from {block.min()} to {block.max()} with {matrix.shape[1]} columns")
        rises = block[1:] > block[:-1]
        first, last = np.searchsorted(indptr, np.array([start + 1, start + len(block)], indptr.dtype))
        rises[indptr[first:last] - (start + 1)] = True
        if not rises.all():
            raise ValueError(f"{name}.indices.npy with rows that are not sorted")
        start += BLOCK
    _check_finite(name, matrix.data, ".data")


def _check_finite(name: str, values: NDArray[Any], part: str = "") -> None:
    if not all(np.isfinite(block).all() for block in _blocks(values)):
        raise ValueError(f"{name}{part}.npy with numbers that are not finite")


def _blocks(array: NDArray[Any], overlap: int = 0) -> Iterator[NDArray[Any]]:
    rows = max(1, BLOCK // (array.shape[1] if array.ndim > 1 else 1))
    for start in range(0, len(array), rows):
        yield array[start : start + rows + overlap]


def _are_distinct(ids: NDArray[Any]) -> bool:
    if ids.dtype == object:
        return len(set(ids.tolist())) == len(ids)
    ordered = np.sort(ids)
    return not (ordered[1:] == ordered[:-1]).any()
