"""Draw an audit: a random sample of nodes that people label only to check the model.

Nodes that a strategy selected are not typical, so accuracy on them tells little. A random sample is typical as long as
no model learns from it and no strategy uses it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.errors import ModelError, ParameterError
from featprop.graph import Graph, GraphLike, as_graph
from featprop.labels import LabelLog
from featprop.labels.annotation import AUDIT
from featprop.labels.sheets import Output, round_numbers, take_columns, write_sheet
from featprop.models import NodeClassifier

STREAM = 0x61756469
"""Separates these draws from those of a strategy with the same seed."""


@dataclass(frozen=True, eq=False, repr=False)
class AuditSample:
    """A random sample of nodes in random order. Iterating yields the ids.

    Attributes
    ----------
    nodes
        Ids of the nodes.
    positions
        Their positions in the graph.
    weights
        Sampling weights: the number of nodes that each one represents.
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
        """Sampling weight of each node, by id."""
        return dict(zip(self.nodes.tolist(), self.weights.tolist(), strict=True))

    def write(self, out: Output, graph: Graph, *, show: Sequence[str] = (), force: bool = False) -> None:
        """Write a labelling sheet with how many nodes each one stands for in the column ``audit``.

        Parameters
        ----------
        out
            CSV file or stream to write.
        graph
            The graph they were drawn from.
        show
            Columns of the graph's node table to include.
        force
            Whether to overwrite an existing file; labels in it are first copied to ``NAME.bak``.
        """
        columns = {AUDIT: round_numbers(self.weights), **take_columns(show, graph, self.positions)}
        write_sheet(out, self.nodes, columns, force=force)

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self.nodes[:5].tolist()))
        of = round(float(self.weights.sum()))
        return f"AuditSample({len(self):,} of {of:,} nodes: {shown}{', …' if len(self) > 5 else ''})"


def draw_audit(
    graph: GraphLike,
    size: int,
    *,
    exclude: Iterable[Hashable] = (),
    random_state: int = 0,
    model: NodeClassifier | None = None,
) -> AuditSample:
    """Draw a random sample of nodes to check a model.

    Parameters
    ----------
    graph
        A `Graph`, a PyG `Data`, a NetworkX graph or a path. Its labels are ignored.
    size
        Number of nodes.
    exclude
        Ids of nodes that are not drawn, for example labelled ones.
    random_state
        Seed of the draw.
    model
        Fitted model to stratify by: about the same number of nodes of each predicted class, so that rare classes
        appear. The weights correct for it.
    """
    whole = as_graph(graph)
    open_ = np.setdiff1d(whole.candidate_positions, whole.positions(exclude, "excluded nodes"))
    if not open_.size:
        raise ParameterError("Every node is labelled or excluded; there is nothing to audit.", parameter="exclude")
    if not isinstance(size, int | np.integer) or not 1 <= size <= len(open_):
        message = f"`size` must be from 1 to {len(open_):,}, the number of unlabelled nodes, not {size}."
        raise ParameterError(message, parameter="size", value=size)
    generator = np.random.default_rng([STREAM, random_state, len(open_)])
    if model is None:
        drawn = generator.permutation(open_)[:size]
        return AuditSample(whole.ids[drawn], drawn, np.full(size, len(open_) / size))
    if not model.is_fitted:
        raise ModelError("The model is not fitted.", hint="Call `fit` first.", parameter="model")
    groups = model.decision_function(whole).argmax(axis=1)[open_]
    codes, counts = np.unique(groups, return_counts=True)
    if size < len(codes):
        raise ParameterError(
            f"`size` must be at least {len(codes):,}, the number of predicted classes, not {size}.",
            hint="Draw more nodes, or draw without a model.",
            parameter="size",
            value=size,
        )
    taken = dict(zip(codes.tolist(), allocate(counts, size).tolist(), strict=True))
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
    random_state: int = 0,
    model: NodeClassifier | None = None,
    turn: int = 0,
) -> AuditSample:
    """Draw nodes and add them to the audit of a label log.

    Labels and audit nodes of the log are not drawn. Two uniform draws get the weights of a single one.
    """
    before = log.audit()
    out = [*log.labels(), *log.skips(), *before, *exclude]
    sample = draw_audit(graph, size, exclude=out, random_state=random_state, model=model)
    if model is None and len(set(before.values())) == 1:
        weight = (float(sample.weights.sum()) + len(before)) / (size + len(before))
        sample = replace(sample, weights=np.full(size, weight))
        before = dict.fromkeys(before, weight)
    log.draw_audit({**before, **sample.weight_of}, round=turn)
    return sample


def allocate(counts: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Divide `size` evenly among groups of the given sizes; small groups come first."""
    shares = np.zeros(len(counts), dtype=np.int64)
    left = size
    for place, group in enumerate(np.argsort(counts, kind="stable")):
        shares[group] = min(int(counts[group]), left // (len(counts) - place))
        left -= int(shares[group])
    return shares
