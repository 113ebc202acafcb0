"""An audit: a few nodes drawn at random, labelled by a person for checking the model and for nothing else.

Labels that a strategy chose are not like the other nodes, so how many of them a model gets right says little. Nodes
drawn at random are, as long as no model has learnt from them and no strategy has looked at them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ModelError, ParameterError
from featprop.graph import Graph
from featprop.html import card, grid
from featprop.labels import LabelLog
from featprop.models import NodeClassifier
from featprop.sources import GraphLike, as_graph

__all__ = ["AuditSample", "add_to_audit", "draw_audit"]

STREAM = 0x61756469
"""Keeps what is drawn here apart from what a strategy draws of the same seed."""
SHOWN = 10
"""Rows that a notebook shows."""


@dataclass(frozen=True, eq=False, repr=False)
class AuditSample:
    """Nodes drawn at random, in an order that is random too. Iterating yields the ids.

    Attributes
    ----------
    nodes
        Their ids.
    positions
        Their positions in the graph.
    weights
        How many nodes each stands for, itself included; together all that could be drawn.
    """

    nodes: NDArray[Any]
    positions: NDArray[np.intp]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes.tolist())

    @property
    def weight_of(self) -> dict[Hashable, float]:
        """How many nodes each stands for, by its id."""
        return dict(zip(self.nodes.tolist(), self.weights.tolist(), strict=True))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.nodes[:5].tolist()))
        of = round(float(self.weights.sum()))
        return f"AuditSample({len(self):,} of {of:,} nodes: {shown}{', …' if len(self) > 5 else ''})"

    def _repr_html_(self) -> str:
        rows = zip(self.nodes[:SHOWN].tolist(), [f"{weight:.4g}" for weight in self.weights[:SHOWN]], strict=True)
        more = f"<p>and {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        facts = [("nodes", f"{len(self):,}"), ("drawn from", f"{round(float(self.weights.sum())):,}")]
        return card("AuditSample", facts, grid(["id", "stands for"], rows), more)


def draw_audit(
    graph: GraphLike,
    size: int,
    *,
    exclude: Iterable[Hashable] = (),
    seed: int = 0,
    model: NodeClassifier | None = None,
) -> AuditSample:
    """Draw nodes for checking a model, each node as likely as any other.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path. Labels it carries are not looked at.
    size
        How many nodes.
    exclude
        Ids of nodes that are not drawn: those that have a label already.
    seed
        The same seed gives the same nodes.
    model
        A fitted model, to draw of each class it predicts the same number of nodes, as near as can be: rare classes
        are checked as well as others. What each node stands for makes up for it.
    """
    whole = as_graph(graph)
    open_ = np.setdiff1d(whole.candidate_positions, whole.positions(exclude, "excluded nodes"))
    _check_size(size, len(open_))
    generator = np.random.default_rng([STREAM, seed, len(open_)])
    if model is None:
        drawn = generator.permutation(open_)[:size]
        return AuditSample(whole.ids[drawn], drawn, np.full(size, len(open_) / size))
    if not model.is_fitted:
        raise ModelError("The model", "must be fitted to draw by what it predicts", "an unfitted one", "call fit first")
    groups = model.decision_function(whole).argmax(axis=1)[open_]
    codes, counts = np.unique(groups, return_counts=True)
    if size < len(codes):
        rule = f"must be at least {len(codes):,} to draw of each class that is predicted"
        raise ParameterError("size", rule, size, "draw more nodes, or draw them without a model")
    taken = dict(zip(codes.tolist(), shares_of(counts, size).tolist(), strict=True))
    parts = [generator.permutation(open_[groups == code])[: taken[code]] for code in codes.tolist()]
    weights = [
        np.full(len(part), count / max(1, len(part))) for part, count in zip(parts, counts.tolist(), strict=True)
    ]
    order = generator.permutation(size)
    positions = np.concatenate(parts)[order]
    return AuditSample(whole.ids[positions], positions, np.concatenate(weights)[order])


def add_to_audit(
    log: LabelLog,
    graph: Graph,
    size: int,
    *,
    exclude: Iterable[Hashable] = (),
    seed: int = 0,
    model: NodeClassifier | None = None,
    turn: int = 0,
) -> AuditSample:
    """Draw nodes and mark them in a label log, besides those that are marked there.

    Of two uniform draws every node stands for as many as one of a single draw of both would.

    Parameters
    ----------
    log
        The log: its labels and its audit are not drawn.
    graph, size, exclude, seed, model
        As in `draw_audit`.
    turn
        How many times nodes have been asked for.
    """
    before = log.audit()
    out = [*log.labels(), *log.skips(), *before, *exclude]
    sample = draw_audit(graph, size, exclude=out, seed=seed, model=model)
    if model is None and len(set(before.values())) == 1:
        weight = (float(sample.weights.sum()) + len(before)) / (size + len(before))
        sample = replace(sample, weights=np.full(size, weight))
        before = dict.fromkeys(before, weight)
    log.draw_audit({**before, **sample.weight_of}, turn=turn)
    return sample


def _check_size(size: int, room: int) -> None:
    if not isinstance(size, int | np.integer):
        raise ParameterError("size", "must be a whole number", repr(size), "pass one")
    if not room:
        rule, cure = "must be drawn from nodes without a label", "there is nothing left to check"
        raise ParameterError("An audit", rule, "none left", cure)
    if not 1 <= size <= room:
        rule = f"must be from 1 to {room:,}, the number of nodes without a label"
        raise ParameterError("size", rule, size, "choose a number in that range")


def shares_of(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Share `size` out among groups as evenly as can be, no more to any than it has; small groups are served first."""
    shares = np.zeros(len(counts), dtype=np.int64)
    left = size
    for place, group in enumerate(np.argsort(counts, kind="stable")):
        shares[group] = min(int(counts[group]), left // (len(counts) - place))
        left -= int(shares[group])
    return shares
