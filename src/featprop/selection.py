"""`select`: from a graph and a budget to the nodes to label."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from featprop.bounds import BOUND_LAYERS, coverage
from featprop.errors import LabelError, MissingExtraError, ParameterError
from featprop.graph import Graph, plain, sorted_classes
from featprop.matrix import Features
from featprop.strategies import Situation, Strategy, get_strategy
from featprop.strategies.options import check_options

if TYPE_CHECKING:
    from featprop.models import NodeClassifier

__all__ = ["Selection", "select"]


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
    labels: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] = (),
    candidates: Iterable[Hashable] | None = None,
    model: NodeClassifier | None = None,
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
    labels
        The class of each of them by name, where the strategy needs to know: to train a model, for one.
    exclude
        Ids of further nodes that must not be chosen.
    candidates
        Ids of the nodes that may be chosen, if not all of the others may.
    model
        The model whose output the strategy looks at, if it does: as it is if it is fitted, else trained on the labels
        first. A GCN if not given.
    seed
        The same seed gives the same nodes.
    """
    if seed < 0:
        raise ParameterError("seed", "must be at least 0", seed, "pass another number")
    chooser = get_strategy(strategy) if isinstance(strategy, str) else strategy
    check_options(chooser)
    columns = model.classes if model is not None and model.network is not None else ()
    known, codes, classes = _checked_labels(graph, labelled, labels, columns)
    allowed = np.arange(graph.n_nodes) if candidates is None else graph.positions(candidates, "candidates")
    open_ = np.setdiff1d(allowed, np.concatenate([known, graph.positions(exclude, "excluded nodes")]))
    if not isinstance(budget, int | np.integer):
        raise ParameterError("budget", "must be a whole number", repr(budget), "pass one")
    if not 1 <= budget <= len(open_):
        left = f"from 1 to {len(open_):,}, the number of" if len(open_) else "0, as there are no more"
        whose = "candidates" if candidates is not None else "nodes"
        cure = "choose a number in that range" if len(open_) else "there is nothing left to label"
        raise ParameterError("budget", f"must be {left} {whose} without a label", budget, cure)
    bare = dataclasses.replace(graph, labels=None, classes=())
    outputs = _outputs(chooser, bare, known, [classes[code] for code in codes], model, seed) if chooser.needs else {}
    situation = Situation(bare, known, open_, codes, classes, outputs)
    picks = _checked_picks(chooser, situation, chooser.select(situation, budget, np.random.default_rng(seed)), budget)
    return _described(graph, situation, picks)


def _checked_labels(
    graph: Graph, labelled: Iterable[Hashable], labels: Iterable[Hashable] | None, columns: tuple[Hashable, ...]
) -> tuple[NDArray[np.intp], NDArray[np.int64], tuple[Hashable, ...]]:
    """Return positions, class codes and classes; the classes a model has as its `columns` come first."""
    ids = list(labelled)
    if labels is None:
        return graph.positions(dict.fromkeys(ids), "labelled nodes"), np.empty(0, dtype=np.int64), columns
    names = plain(labels)
    if len(names) != len(ids):
        found = f"{len(names):,} labels for {len(ids):,} nodes"
        raise LabelError("labels", "must be as many as the labelled nodes", found, "pass one label a node")
    positions = graph.positions(ids, "labelled nodes")
    if len(np.unique(positions)) < len(positions):
        found = f"{len(positions) - len(np.unique(positions)):,} repeats"
        raise LabelError("labelled nodes", "must be distinct where labels are given", found, "give each node once")
    classes = (*columns, *sorted_classes(set(names) - set(columns)))
    code_of = {name: code for code, name in enumerate(classes)}
    return positions, np.array([code_of[name] for name in names], dtype=np.int64), classes


def _outputs(
    strategy: Strategy,
    graph: Graph,
    known: NDArray[np.intp],
    labels: list[Hashable],
    model: NodeClassifier | None,
    seed: int,
) -> dict[str, Features]:
    """Return what the strategy needs of the model, which is trained on the labels unless it is fitted."""
    what = f"strategy {strategy.name or type(strategy).__name__}"
    try:
        from featprop.models import GCN, model_outputs
        from featprop.models.outputs import taught
    except ModuleNotFoundError as error:
        raise MissingExtraError(what, "train", error.name or "torch") from error
    if model is None or model.network is None:
        if not labels:
            rule = "must have labels to train a model on"
            found = "labelled nodes without their labels" if known.size else "none"
            raise LabelError(what, rule, found, "label a few nodes first, chosen with the strategy featprop")
        model = taught(model or GCN(seed=seed), graph, graph.ids[known].tolist(), labels)
    return model_outputs(model, graph, strategy.needs)


def _checked_picks(strategy: Strategy, situation: Situation, picks: NDArray[np.intp], budget: int) -> NDArray[np.intp]:
    """Hold a strategy, which may be anybody's, to its word."""
    new = np.intersect1d(picks, situation.candidates)
    if len(picks) != budget or len(new) != budget:
        what = f"strategy {strategy.name or type(strategy).__name__}"
        found = f"{len(picks):,} nodes, {len(new):,} of them different candidates"
        raise ParameterError(what, f"must return {budget:,} different candidates", found, "mend the strategy")
    return np.asarray(picks, dtype=np.intp)


def _described(graph: Graph, situation: Situation, picks: NDArray[np.intp]) -> Selection:
    covered = coverage(situation.points(BOUND_LAYERS), np.concatenate([picks, situation.labelled]))
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
