"""Points whose rows stay where they are: several arrays side by side, in memory or mapped, read a block at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.compute import let_go, place
from featprop.compute.points import SHIFT_SAMPLE, Points, unit_of

__all__ = ["BlockPoints"]


class BlockPoints(Points):
    """Points whose rows are made of their parts when they are looked at.

    What is asked of all of them is found block by block, wherever `featprop.compute.place` says.

    Parameters
    ----------
    parts
        Arrays of one row a point, side by side; numbers of moderate size.
    factors
        What each of them is multiplied by; 1 if None.
    unit
        What one is worth in `rows`, a power of two.
    metric
        ``"euclidean"``, or ``"cosine"`` for half the squared distance: rows of all parts together have unit length.
    """

    def __init__(
        self,
        parts: Sequence[NDArray[np.float32]],
        factors: Sequence[float] | None = None,
        unit: float = 1.0,
        metric: str = "euclidean",
    ) -> None:
        self.parts = list(parts)
        self.factors = [np.float32(factor / unit) for factor in factors or [1.0] * len(self.parts)]
        self.metric = metric
        self.unit = unit
        self._matrix = None
        self._shift = np.zeros(sum(part.shape[1] for part in parts), dtype=np.float32)
        sample = self._read(slice(None, None, max(1, len(self) // SHIFT_SAMPLE)))
        self._shift = np.median(sample, axis=0)

    @classmethod
    def of(cls, rows: NDArray[np.float32]) -> BlockPoints:
        """Return points of numbers of any size, in a unit in which their squares fit float32."""
        return cls([rows], unit=unit_of(max(place().map(_largest, len(rows), rows)), rows.shape[1]))

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._shift)

    @property
    def _rows(self) -> NDArray[np.float32]:
        return self._read(slice(None))

    @cached_property
    def _squared_norms(self) -> NDArray[np.float32]:  # type: ignore[override]
        return np.concatenate(list(place().map(_norms_of, len(self), self)))

    def _read(self, indices: NDArray[Any] | slice) -> NDArray[np.float32]:
        scaled = [part[indices] * factor for part, factor in zip(self.parts, self.factors, strict=True)]
        return np.hstack(scaled) - self._shift

    def take(self, indices: NDArray[Any] | slice) -> Points:
        """Return the points at `indices`, in memory."""
        taken = Points.prepared(self._read(indices), self.metric, self.unit)
        for part in self.parts:
            let_go(part, indices if isinstance(indices, slice) and indices.step is None else slice(None))
        return taken

    def block(self, block: slice) -> Points:
        """Return the points of a block, in memory."""
        return self.take(block)

    def distances(self, indices: NDArray[Any] | slice, to: Points | None = None) -> NDArray[np.float32]:
        """Return the distance of each point at `indices` to all points, or to those of `to`."""
        own = self.take(indices)
        if to is not None:
            return own.distances(slice(None), to=to)
        found = np.empty((len(own), len(self)), dtype=np.float32)
        for block in place().blocks(len(self)):
            found[:, block] = own.distances(slice(None), to=self.block(block))
        found[np.arange(len(own)), np.arange(len(self))[indices]] = 0.0
        return found

    def nearest(self, centres: Points) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return for each point the nearest of `centres`, the first of several, and its distance."""
        found = list(place().map(_nearest_of, len(self), self, centres, stage="measuring distances"))
        return np.concatenate([index for index, _ in found]), np.concatenate([distance for _, distance in found])

    def exact_distances(self, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the distance of each point to the centre `index` says, from the difference of the two rows."""
        return np.concatenate(list(place().map(_exact_of, len(self), self, centres, index)))

    def squared_to(self, centre: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the square of the distance from each point to a place among them, less |centre|²."""
        return np.concatenate(list(place().map(_squared_of, len(self), self, centre)))


def _largest(block: slice, rows: NDArray[np.float32]) -> float:
    largest = float(np.abs(rows[block]).max(initial=0.0))
    let_go(rows, block)
    return largest


def _norms_of(block: slice, points: BlockPoints) -> NDArray[np.float32]:
    return points.block(block).squared_norms


def _nearest_of(block: slice, points: BlockPoints, centres: Points) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    return points.block(block).nearest(centres)


def _exact_of(block: slice, points: BlockPoints, centres: Points, index: NDArray[np.intp]) -> NDArray[np.float32]:
    return points.block(block).exact_distances(centres, index[block])


def _squared_of(block: slice, points: BlockPoints, centre: NDArray[np.float32]) -> NDArray[np.float32]:
    return points.block(block).squared_to(centre)
