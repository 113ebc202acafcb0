"""Features as files, written some rows at a time of matrices that stand side by side: never whole in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.compute.mapped_arrays import release_pages
from featprop.graph import check_finite
from featprop.io.streaming import ArrayStream
from featprop.matrix import Features, as_dense, is_sparse_smaller, non_zeros, side_by_side
from featprop.progress import tracked

__all__ = ["keeping_in", "write_features"]

VALUES = 1 << 22
"""Numbers written together."""

SMALL = 1 << 24
"""Bytes of a matrix that stays in memory, at most."""


def keeping_in(folder: Path) -> Callable[[Features], Features]:
    """Return what puts a matrix into files of a folder and maps them, unless it is small."""
    numbers = count()

    def mapped(array: NDArray[Any]) -> NDArray[Any]:
        path = folder / f"{next(numbers)}.npy"
        np.save(path, array, allow_pickle=False)
        return np.lib.format.open_memmap(path, mode="r")

    def keep(matrix: Features) -> Features:
        if not sp.issparse(matrix):
            return matrix if matrix.nbytes <= SMALL else mapped(np.asarray(matrix))
        rows = sp.csr_array(matrix)
        if rows.data.nbytes <= SMALL:
            return matrix
        rows.sum_duplicates()
        kept = sp.csr_array(rows.shape, dtype=rows.dtype)
        kept.data, kept.indices, kept.indptr = map(mapped, (rows.data, rows.indices, rows.indptr))
        kept.has_sorted_indices = kept.has_canonical_format = True
        return kept

    return keep


def write_features(folder: Path, blocks: Sequence[Features], ids: Any, names: tuple[str, ...] | None) -> int:
    """Write ``features*.npy``, sparse if that takes less room, and return how many columns there are.

    Parameters
    ----------
    folder
        Where to.
    blocks
        The matrices.
    ids, names
        Of nodes and features, for the message about numbers that are none.
    """
    rows, columns = int(blocks[0].shape[0]), sum(int(block.shape[1]) for block in blocks)
    with np.errstate(over="ignore"):
        filled = sum(map(_non_zeros, blocks))
        if is_sparse_smaller(rows, columns, filled):
            finite = _write_sparse(folder, blocks, columns, filled)
        else:
            finite = _write_dense(folder, blocks, rows, columns)
        if not finite:
            check_finite(side_by_side(blocks), ids, names)
    return columns


def _write_dense(folder: Path, blocks: Sequence[Features], rows: int, columns: int) -> bool:
    finite = True
    with ArrayStream(folder / "features.npy", np.float32, columns) as stream:
        for part in _parts(rows, columns):
            found = np.hstack([as_dense(block[part]) for block in blocks]).astype(np.float32, copy=False)
            finite = finite and bool(np.isfinite(found).all())
            stream.append(found)
            _release(blocks, part)
    return finite


def _write_sparse(folder: Path, blocks: Sequence[Features], columns: int, filled: int) -> bool:
    rows = int(blocks[0].shape[0])
    index = np.int32 if max(rows, columns, filled) < 2**31 else np.int64
    ends, finite, done = np.zeros(rows + 1, dtype=index), True, 0
    with (
        ArrayStream(folder / "features.indices.npy", index) as indices,
        ArrayStream(folder / "features.data.npy", np.float32) as data,
    ):
        for part in _parts(rows, columns):
            found = sp.csr_array(sp.hstack([sp.csr_array(block[part]) for block in blocks]), dtype=np.float32)
            found.sum_duplicates()
            found.eliminate_zeros()
            finite = finite and bool(np.isfinite(found.data).all())
            indices.append(found.indices)
            data.append(found.data)
            ends[part.start + 1 : part.stop + 1] = found.indptr[1:] + done
            done += found.nnz
            _release(blocks, part)
    np.save(folder / "features.indptr.npy", ends)
    return finite


def _parts(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, VALUES // columns)
    starts = range(0, rows, step)
    for start in tracked(starts, "writing features", len(starts)):
        yield slice(start, min(start + step, rows))


def _non_zeros(block: Features) -> int:
    found = non_zeros(block)
    _release([block], slice(None))
    return found


def _release(blocks: Sequence[Features], part: slice) -> None:
    for block in blocks:
        if not sp.issparse(block):
            release_pages(block, part)
            continue
        rows = sp.csr_array(block)
        start, stop, _ = part.indices(rows.shape[0])
        entries = slice(int(rows.indptr[start]), int(rows.indptr[stop]))
        for array, some in ((rows.data, entries), (rows.indices, entries), (rows.indptr, slice(start, stop))):
            release_pages(array, some)
