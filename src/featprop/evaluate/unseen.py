"""Groups of nodes that are probably of a class nobody has given yet: far from every label, alike, and not understood.

A label at node m would bring every node that is nearer to m than to any label there is nearer to a label. What it
saves, as a share of what is left to save,

    g(m) = Σ_i u_i max(0, d_i - |z_i - z_m|) / Σ_i u_i d_i,

with d_i the distance to the nearest label and u_i the probability that the prediction of i is wrong, is small
everywhere where nodes were chosen to cover the graph. A class without a label leaves a hole: there g is several times
as large. The node m of the largest g stands for a group, those nodes that are nearer to it than to any label; the next
m that lies in a group is one more part of it. A hole must also be as wide as classes are apart, half of that at least:
else, where classes are clear and labels few, every label more would save much of the little that is left.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points

__all__ = ["Hole", "UnseenGroup", "classes_apart", "holes"]

LEAST = 0.012
"""g from which on a hole is told."""
SAMPLE = 2_000
"""Nodes that are looked at, at equal steps, if there are more."""
WIDE = 0.5
"""How far m must be from every label, as a share of the distance between labels of different classes."""
LABELS = 1_000
"""Labels between which that is measured, at equal steps, if there are more."""
MOST = 12
"""Nodes m that are looked for."""
FEWEST, SMALLEST = 10, 0.005
"""Nodes of a group, and its share of all nodes: a few that are alike by chance are no class."""


@dataclass(frozen=True, eq=False)
class UnseenGroup:
    """Nodes that are probably of one class, which no label is of.

    Attributes
    ----------
    nodes
        Their ids, the one that stands for them first, then those nearest to it.
    positions
        Their positions in the graph.
    size
        How many they are.
    medoid
        The id of the one that stands for them: the one to label first.
    score
        What labels there would save, as a share of the doubt and the distance left.
    why
        What speaks for it, as a sentence.
    """

    nodes: tuple[Hashable, ...]
    positions: NDArray[np.intp]
    size: int
    medoid: Hashable
    score: float
    why: str

    def __str__(self) -> str:
        return f"{self.size:,} nodes around {self.medoid!r}: {self.why}"


@dataclass(frozen=True, eq=False)
class Hole:
    """A part of the graph without labels: positions, the node that stands for them first, and the share g."""

    positions: NDArray[np.intp]
    score: float


def classes_apart(points: Points, labelled: NDArray[np.intp], codes: NDArray[np.intp]) -> float:
    """Return how far a label usually is from the nearest one of another class; 0 if there is one class only."""
    step = -(-len(labelled) // LABELS)
    labelled, codes = labelled[::step], codes[::step]
    if len(np.unique(codes)) < 2:
        return 0.0
    among = points.distances_between(labelled, labelled)
    among[codes[:, None] == codes[None]] = np.inf
    return float(np.median(among.min(axis=1)))


def holes(
    points: Points,
    distances: NDArray[np.float32],
    unsure: NDArray[np.float32],
    known: NDArray[np.bool_],
    apart: float = 0.0,
) -> list[Hole]:
    """Return the holes that labels leave, the one with the largest g first.

    Parameters
    ----------
    points
        The rows that nodes are compared by.
    distances
        Of every node to the nearest label.
    unsure
        The probability that the prediction of each node is wrong.
    known
        Which nodes anything is known of: others are alike only in that.
    apart
        How far classes are apart, as `classes_apart` says.
    """
    sample = np.flatnonzero(known)
    sample = sample[:: -(-max(1, len(sample)) // SAMPLE)]
    left = (unsure[sample] * distances[sample]).astype(np.float64)
    total = left.sum()
    if total <= 0:
        return []
    among = points.distances_between(sample, sample)
    nearest = distances.copy()
    owner = np.full(len(distances), -1)
    medoids: list[int] = []
    gains: list[float] = []
    for _ in range(MOST):
        saved = np.maximum(nearest[sample][:, None] - among, 0)
        wide = (owner[sample] >= 0) | (distances[sample] >= WIDE * apart)
        shares = np.where(wide, unsure[sample].astype(np.float64) @ saved / total, 0)
        best = int(shares.argmax())
        if shares[best] < LEAST:
            break
        medoid = int(sample[best])
        group = int(owner[medoid])
        if group < 0:
            group = len(medoids)
            medoids.append(medoid)
            gains.append(0.0)
        gains[group] += float(shares[best])
        to_medoid = points.distances(np.array([medoid]))[0]
        taken = known & (to_medoid < nearest)
        owner[taken] = group
        nearest = np.minimum(nearest, to_medoid)
    found = [Hole(_around(points, owner == group, medoid), gains[group]) for group, medoid in enumerate(medoids)]
    least = max(FEWEST, SMALLEST * len(distances))
    return sorted((hole for hole in found if len(hole.positions) >= least), key=lambda hole: -hole.score)


def _around(points: Points, members: NDArray[np.bool_], medoid: int) -> NDArray[np.intp]:
    """Return the members, the medoid first, then by their distance from it."""
    positions = np.flatnonzero(members)
    away = points.distances_between(np.array([medoid]), positions)[0]
    away[positions == medoid] = -1
    return positions[np.argsort(away, kind="stable")]
