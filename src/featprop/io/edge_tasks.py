"""What the workers of a cluster do to convert edges, by files that all processes reach.

A piece of the table becomes entries, grouped by the file that they belong to (`spread`); and a file of entries, once it
is whole, becomes a part of the matrix (`merge`). Both leave what they read as it is and write to files of new names, so
that a worker which died is nothing but time lost.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.adjacency import EdgeCleaner, MergedEntries, merge_entries
from featprop.errors import FeatpropError
from featprop.interop.edges import EdgeTable
from featprop.interop.positions import Positions
from featprop.io.buckets import Buckets, Grouped, Keyed
from featprop.io.table_pieces import Portion

__all__ = ["MergedFiles", "Spread", "merge", "spread"]


class Spread(NamedTuple):
    """The entries of some edges, in a file, where those of each bucket end, and what was mended."""

    path: Path
    ends: NDArray[np.int64]
    cleaner: EdgeCleaner

    def take(self) -> Grouped:
        """Read the entries and remove the file."""
        return Grouped(_taken(self.path), self.ends)


class MergedFiles(NamedTuple):
    """A part of the matrix, in files; no weights are weights of 1."""

    cells: Path
    weights: Path | None
    one_way: int
    uneven: int

    def take(self) -> MergedEntries:
        """Read it and remove the files."""
        return MergedEntries(
            _taken(self.cells), None if self.weights is None else _taken(self.weights), self.one_way, self.uneven
        )


def spread(
    portion: Portion, table: EdgeTable, positions: Positions, buckets: Buckets, repeated: str
) -> list[Spread] | None:
    """Read some edges and group their entries; None if it takes all edges to tell what these are, or what is wrong.

    Parameters
    ----------
    portion
        Where the edges are.
    table
        Which columns say what.
    positions
        The nodes.
    buckets
        Where entries will go.
    repeated
        What repeated edges weigh.
    """
    found = []
    for piece in portion.read():
        try:
            edges = table.plain(piece, positions)
        except FeatpropError:
            edges = None
        if edges is None:
            return None
        cleaner = EdgeCleaner(len(positions.ids), repeated)
        entries, ends = buckets.grouped(Keyed(*cleaner.clean(*edges)))
        found.append(Spread(_kept(entries, buckets.folder), ends, cleaner))
    return found


def merge(number: int, buckets: Buckets, at_once: int, repeated: str) -> list[MergedFiles]:
    """Sort and merge the entries of a bucket, so many at once."""
    return list(_merged(number, buckets, at_once, repeated))


def _merged(number: int, buckets: Buckets, at_once: int, repeated: str) -> Iterator[MergedFiles]:
    for keys, values in buckets.read(number, at_once):
        cells, weights, one_way, uneven = merge_entries(keys, values, repeated)
        kept = None if weights is None else _kept(weights, buckets.folder)
        yield MergedFiles(_kept(cells, buckets.folder), kept, one_way, uneven)


def _kept(array: NDArray[Any], folder: Path) -> Path:
    path = folder / f"{uuid.uuid4().hex}.npy"
    np.save(path, array, allow_pickle=False)
    return path


def _taken(path: Path) -> NDArray[Any]:
    found: NDArray[Any] = np.load(path, allow_pickle=False)
    path.unlink()
    return found
