"""The matrix of the edges as files, written row after row: never whole in memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from featprop.adjacency import MeanWeight, index_type
from featprop.io.streaming import HEADER_BYTES, ArrayStream

__all__ = ["divide_weights", "write_adjacency"]

BLOCK = 1 << 22
"""Weights divided together."""


def write_adjacency(
    folder: Path,
    pieces: Iterable[tuple[NDArray[np.int64], NDArray[np.float32] | None]],
    nodes: int,
    most: int,
    mean: MeanWeight | None = None,
) -> int:
    """Write ``adjacency.*.npy`` and return how many entries there are.

    Parameters
    ----------
    folder
        Where to.
    pieces
        Row × nodes + column of entries, rising, and what each weighs; None for 1.
    nodes
        How many there are.
    most
        As many entries as there may be.
    mean
        Is told all weights.
    """
    kind = index_type(nodes, most)
    degrees = np.zeros(nodes, dtype=kind)
    entries = 0
    with (
        ArrayStream(folder / "adjacency.indices.npy", kind) as indices,
        ArrayStream(folder / "adjacency.data.npy", np.float32) as data,
    ):
        for cells, weights in pieces:
            if not len(cells):
                continue
            rows, columns = np.divmod(cells, nodes)
            counts = np.bincount(rows - rows[0])
            degrees[rows[0] : rows[0] + len(counts)] += counts.astype(kind)
            indices.append(columns)
            written = np.ones(len(columns), dtype=np.float32) if weights is None else weights
            data.append(written)
            entries += len(columns)
            if mean is not None:
                mean.add(written)
    indptr = np.zeros(nodes + 1, dtype=kind)
    np.cumsum(degrees, out=indptr[1:])
    np.save(folder / "adjacency.indptr.npy", indptr)
    return entries


def divide_weights(folder: Path, mean: MeanWeight) -> None:
    """Divide the weights of a matrix that was just written by their mean."""
    with (folder / "adjacency.data.npy").open("r+b") as file:
        start = HEADER_BYTES
        file.seek(start)
        while len(weights := np.fromfile(file, dtype=np.float32, count=BLOCK)):
            file.seek(start)
            mean.divide(weights).tofile(file)
            start += weights.nbytes
            file.seek(start)
