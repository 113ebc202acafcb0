"""`select`: from a graph and a budget to the nodes to label."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.bounds import coverage
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.strategies import Situation, Strategy, get_strategy

__all__ = ["Selection", "select"]

BOUND_LAYERS = 2
"""The layers of the model that will be trained: distances are measured on S²X whatever the strategy."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The nodes to label, in the order they were picked, and how well they stand for the graph.

    Attributes
    ----------
    nodes
        The ids of the picked nodes, as the user named them.
    positions
        Their positions in the graph.
    represents
        For each pick, how many nodes it is the nearest pick of, itself included. Nodes nearest to one that is
        labelled already are represented by that one.
    spread
        For each pick, the mean distance of the nodes it represents.
    mean_distance, max_distance
        Over all nodes, the distance to the nearest pick or labelled node: the terms of the paper's Theorems 1 and 2.
    nearest
        For each node of the graph, the index of the pick that represents it, -1 if a labelled node does.
    """

    nodes: NDArray[Any]
    positions: NDArray[np.intp]
    represents: NDArray[np.int64]
    spread: NDArray[np.float64]
    mean_distance: float
    max_distance: float
    nearest: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.nodes)


def select(
    graph: Graph,
    budget: int,
    *,
    strategy: str | Strategy = "featprop",
    labelled: Iterable[Hashable] = (),
    exclude: Iterable[Hashable] = (),
    seed: int = 0,
) -> Selection:
    """Choose `budget` nodes to label.

    Parameters
    ----------
    graph
        The graph. Labels it carries are not looked at.
    budget
        How many nodes to choose.
    strategy
        The name of a strategy, or one with options of its own.
    labelled
        Ids of nodes whose label is known already: they are not chosen, and count as chosen before.
    exclude
        Ids of further nodes that must not be chosen.
    seed
        The same seed gives the same nodes.
    """
    if seed < 0:
        raise ParameterError("seed", "must be at least 0", seed, "pass another number")
    known = graph.positions(dict.fromkeys(labelled), "labelled nodes")
    barred = graph.positions(exclude, "excluded nodes")
    candidates = np.setdiff1d(np.arange(graph.n_nodes), np.concatenate([known, barred]))
    if not 1 <= budget <= len(candidates):
        left = f"from 1 to {len(candidates):,}, the number of" if len(candidates) else "0, as there are no more"
        cure = "choose a number in that range" if len(candidates) else "there is nothing left to label"
        raise ParameterError("budget", f"must be {left} nodes without a label", budget, cure)
    chooser = get_strategy(strategy) if isinstance(strategy, str) else strategy
    unlabelled = dataclasses.replace(graph, labels=None, classes=())
    situation = Situation(unlabelled, known, candidates)
    picks = chooser.select(situation, budget, np.random.default_rng(seed))
    return _described(graph, situation, picks)


def _described(graph: Graph, situation: Situation, picks: NDArray[np.intp]) -> Selection:
    covered = coverage(situation.propagated(BOUND_LAYERS), np.concatenate([picks, situation.labelled]))
    index, distance = covered.nearest, covered.distances
    represents = np.bincount(index, minlength=len(picks))[: len(picks)]
    total = np.bincount(index, weights=distance, minlength=len(picks))[: len(picks)]
    return Selection(
        nodes=graph.ids[picks],
        positions=picks,
        represents=represents,
        spread=total / represents,
        mean_distance=covered.mean_distance,
        max_distance=covered.max_distance,
        nearest=np.where(index < len(picks), index, -1),
    )
