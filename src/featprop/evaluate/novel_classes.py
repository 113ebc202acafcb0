"""Find groups of nodes that probably belong to a class without a label: alike, uncertain, and far from every label.

A label at node m would reduce the distance to the nearest label of every node closer to m than to any label. The share
of uncertainty-weighted distance that it would save,

    g(m) = Σ_i u_i max(0, d_i - |z_i - z_m|) / Σ_i u_i d_i,

with d_i the distance to the nearest label and u_i the probability that the prediction of i is wrong, is small
everywhere if the labels cover the graph. A class without a label leaves a hole, where g is several times as large. The
node m with the largest g is the medoid of a group: the nodes closer to it than to any label. Further m inside a group
extend it. A hole must also be at least half as wide as classes are apart; otherwise, with clear classes and few labels,
every further label would save much of the little that is left.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.compute.points import Points

MIN_GAIN = 0.03
"""Smallest g of a hole."""
MAX_SAMPLE = 2_000
"""Evenly spaced nodes to consider."""
MIN_RELATIVE_WIDTH = 0.5
"""Smallest distance from m to every label, relative to the distance between labels of different classes."""
MAX_LABELS = 1_000
"""Evenly spaced labels to measure that distance with."""
MAX_MEDOIDS = 12
MIN_NODES, MIN_SHARE = 10, 0.005
"""Smallest size of a group, absolute and relative to the graph."""


@dataclass(frozen=True, eq=False)
class NovelClass:
    """Nodes that probably belong to one class without a label."""

    nodes: tuple[Hashable, ...]  # ids and positions, the medoid first, then by distance from it
    positions: NDArray[np.intp]
    score: float  # share of uncertainty and distance that labels here would save
    reason: str  # why the group is listed

    @property
    def node(self) -> Hashable:
        """The medoid, which is the node to label first."""
        return self.nodes[0]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    def __str__(self) -> str:
        return f"{self.size:,} nodes around {self.node!r}: {self.reason}"


def class_separation(points: Points, labelled: NDArray[np.intp], codes: NDArray[np.intp]) -> float:
    """Return the median distance from a label to the nearest one of another class; 0 for a single class."""
    step = -(-len(labelled) // MAX_LABELS)
    labelled, codes = labelled[::step], codes[::step]
    if len(np.unique(codes)) < 2:
        return 0.0
    among = points.distances_between(labelled, labelled)
    among[codes[:, None] == codes[None]] = np.inf
    return float(np.median(among.min(axis=1)))


def find_holes(
    points: Points,
    distances: NDArray[np.float32],
    unsure: NDArray[np.float32],
    known: NDArray[np.bool_],
    separation: float = 0.0,
) -> list[tuple[NDArray[np.intp], float]]:
    """Return the positions (medoid first) and the gain g of each hole, largest gain first.

    `distances` are those to the nearest label, and `known` tells which nodes have features: the others are alike only
    in having none.
    """
    sample = np.flatnonzero(known)
    sample = sample[:: -(-max(1, len(sample)) // MAX_SAMPLE)]
    total = (unsure[sample] * distances[sample]).astype(np.float64).sum()
    if total <= 0:
        return []
    among = points.distances_between(sample, sample)
    nearest = distances.copy()
    owner = np.full(len(distances), -1)
    medoids: list[int] = []
    gains: list[float] = []
    for _ in range(MAX_MEDOIDS):
        saved = np.maximum(nearest[sample][:, None] - among, 0)
        wide = (owner[sample] >= 0) | (distances[sample] >= MIN_RELATIVE_WIDTH * separation)
        shares = np.where(wide, unsure[sample].astype(np.float64) @ saved / total, 0)
        best = int(shares.argmax())
        if shares[best] < MIN_GAIN:
            break
        medoid = int(sample[best])
        group = int(owner[medoid])
        if group < 0:
            group = len(medoids)
            medoids.append(medoid)
            gains.append(0.0)
        gains[group] += float(shares[best])
        to_medoid = points.distances(np.array([medoid]))[0]
        owner[known & (to_medoid < nearest)] = group
        nearest = np.minimum(nearest, to_medoid)
    found = [(_by_distance(points, owner == group, medoid), gains[group]) for group, medoid in enumerate(medoids)]
    least = max(MIN_NODES, MIN_SHARE * len(distances))
    return sorted((hole for hole in found if len(hole[0]) >= least), key=lambda hole: -hole[1])


def _by_distance(points: Points, members: NDArray[np.bool_], medoid: int) -> NDArray[np.intp]:
    """Return the members, the medoid first, then by their distance from it."""
    positions = np.flatnonzero(members)
    away = points.distances_between(np.array([medoid]), positions)[0]
    away[positions == medoid] = -1
    return positions[np.argsort(away, kind="stable")]
