"""Arrays that arrive in blocks: kept in memory, or written to ``.npy`` files because they may be larger than memory.

`read_graph` and ``featprop convert`` build a graph with the same functions: `folder` is None for memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from featprop.matrix import Features, as_dense, csr_of, is_sparse_smaller, non_zeros

HEADER_BYTES = 128
Entries: TypeAlias = "tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None]"
"""Rows, columns and weights of some entries of the adjacency matrix; None for weights of 1."""


class ArrayWriter:
    """Collect an array block by block; the header of a file, with the number of rows, is written when the block ends.

    Parameters
    ----------
    path
        The ``.npy`` file; None for memory.
    dtype
        Type of the numbers.
    columns
        Length of a row, None for an array of one dimension.
    """

    def __init__(self, path: Path | None, dtype: DTypeLike, columns: int | None = None) -> None:
        self.path, self.dtype, self.rows = path, np.dtype(dtype), 0
        self.row_shape = () if columns is None else (columns,)
        self.blocks: list[NDArray[Any]] = []
        if path is not None:
            self.file = path.open("wb")
            self.file.write(bytes(HEADER_BYTES))

    def append(self, rows: NDArray[Any]) -> None:
        """Add further rows."""
        block = np.ascontiguousarray(rows, dtype=self.dtype)
        self.rows += len(block)
        if self.path is None:
            self.blocks.append(block)
        else:
            block.tofile(self.file)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self.path is None:
            return
        shape = (self.rows, *self.row_shape)
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        with self.file:
            self.file.seek(0)
            np.lib.format.write_array_header_1_0(self.file, header)
            if self.file.tell() != HEADER_BYTES:
                raise ValueError(f"a header of {self.file.tell()} bytes for the shape {shape}")

    def array(self) -> NDArray[Any]:
        """Return the whole array, mapped if it is in a file."""
        if self.path is not None:
            return np.asarray(np.load(self.path, mmap_mode="r"))
        if len(self.blocks) == 1:
            return self.blocks[0]
        return np.concatenate([np.empty((0, *self.row_shape), self.dtype), *self.blocks])


def write_adjacency(folder: Path | None, batches: Iterable[Entries], nodes: int, max_entries: int) -> sp.csr_array:
    """Return the adjacency matrix of entries in the order of row and column.

    It is written to ``adjacency.*.npy`` unless `folder` is None. There are at most `max_entries` entries.
    """
    kind = sp.get_index_dtype(maxval=max(nodes, max_entries))
    degrees = np.zeros(nodes, dtype=kind)
    with (
        ArrayWriter(_file(folder, "adjacency.indices"), kind) as indices,
        ArrayWriter(_file(folder, "adjacency.data"), np.float32) as data,
    ):
        for rows, columns, weights in batches:
            if not len(rows):
                continue
            counts = np.bincount(rows - rows[0])
            degrees[rows[0] : rows[0] + len(counts)] += counts.astype(kind)
            indices.append(columns)
            data.append(np.ones(len(columns), dtype=np.float32) if weights is None else weights)
    return _store_csr(folder, "adjacency", degrees, indices, data, nodes)


def write_features(folder: Path | None, blocks: Iterator[Features], rows: int, columns: int) -> Features:
    """Return the features of all rows, dense or sparse, whichever is smaller for the first block.

    They are written to ``features.*.npy`` unless `folder` is None.
    """
    first = next(blocks)
    whole = chain([first], blocks)
    entries = non_zeros(first)
    if not is_sparse_smaller(first.shape[0], columns, entries):
        with ArrayWriter(_file(folder, "features"), np.float32, columns) as writer:
            for block in whole:
                writer.append(as_dense(block))
        return writer.array()
    max_entries = entries if first.shape[0] == rows else rows * columns
    kind = sp.get_index_dtype(maxval=max(rows, max_entries))
    lengths = []
    with (
        ArrayWriter(_file(folder, "features.indices"), kind) as indices,
        ArrayWriter(_file(folder, "features.data"), np.float32) as data,
    ):
        for block in whole:
            matrix = sp.csr_array(block)
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
            indices.append(matrix.indices)
            data.append(matrix.data)
            lengths.append(np.diff(matrix.indptr))
    return _store_csr(folder, "features", np.concatenate(lengths).astype(kind), indices, data, columns)


def _store_csr(
    folder: Path | None, name: str, lengths: NDArray[Any], indices: ArrayWriter, data: ArrayWriter, columns: int
) -> sp.csr_array:
    """Return the CSR matrix of the lengths of its rows and the arrays that were collected."""
    indptr = np.zeros(len(lengths) + 1, dtype=indices.dtype)
    np.cumsum(lengths, out=indptr[1:])
    if folder is not None:
        np.save(folder / f"{name}.indptr.npy", indptr)
    return csr_of(indptr, indices.array(), data.array(), columns)


def _file(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / f"{name}.npy"
