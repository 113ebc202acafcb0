"""The one way a strategy is asked: build_context, choose, check, describe.

Whoever wants nodes comes through here (`select`, `ActiveLearner`, the experiments), so a strategy, which may be
anybody's, is held to its word everywhere, and one rule of seeding holds: a choice draws from the seed and the number of
labels there will be after it. So the nodes of a published result come back with its seed, its labels and its budget.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from featprop.active.picks import Selection
from featprop.compute import working
from featprop.errors import LabelError, ParameterError
from featprop.graph import Graph
from featprop.models import NodeClassifier, model_of_seed
from featprop.options import check_options, owner
from featprop.plain import labels_in_order, sorted_classes
from featprop.sources import GraphLike, as_graph
from featprop.strategies import DEFAULT_STRATEGY, QueryContext, Strategy, get_strategy

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Choice", "build_context", "choose", "select"]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a strategy answered.

    Attributes
    ----------
    picks
        Positions of the chosen nodes, in the order picked.
    drew
        Whether chance had a part in it; if not, every seed would choose the same.
    """

    picks: NDArray[np.intp]
    drew: bool


def select(
    graph: GraphLike,
    budget: int,
    *,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    labelled: Iterable[Hashable] = (),
    labels: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] = (),
    candidates: Iterable[Hashable] | None = None,
    model: str | NodeClassifier | None = None,
    seed: int = 0,
    client: Client | None = None,
    scratch: str | os.PathLike[str] | None = None,
    max_memory: int | str | None = None,
) -> Selection:
    """Choose `budget` nodes to label.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path. Labels it carries are not looked at.
    budget
        How many nodes to choose.
    strategy
        The name of a strategy, or one with options of its own.
    labelled
        Ids of nodes whose label is known already, or a mask with a truth value for every node, here and below: they are
        not chosen, and count as chosen before.
    labels
        The class of each of them by name, or a mapping from nodes to classes, where the strategy looks at a model: one
        that is not fitted is trained on them.
    exclude
        Ids of further nodes that must not be chosen.
    candidates
        Ids of the nodes that may be chosen; by default `Graph.candidates`, or all others.
    model
        The model whose output the strategy looks at, if it does, or its name: as it is if it is fitted, else one with
        its settings is trained on the labels; `featprop.models.DEFAULT_MODEL` if not given.
    seed
        The same seed gives the same nodes.
    client, scratch, max_memory
        Of a Dask cluster to compute on, the folder for what memory has no room for, and how much may be used, as in
        `featprop.working`; in memory, here, if none is given. The nodes are the same.
    """
    chooser: Any = get_strategy(strategy) if isinstance(strategy, str) else strategy
    if not isinstance(chooser, Strategy):
        cure = "pass a name such as 'featprop', or featprop.get_strategy(name, option=value)"
        raise ParameterError("strategy", "must be the name of a strategy, or one", repr(strategy), cure)
    whole = as_graph(graph)
    elsewhere = client is not None or scratch is not None or max_memory is not None
    with working(client=client, scratch=scratch, max_memory=max_memory) if elsewhere else nullcontext():
        context = build_context(whole, chooser, labelled, labels, exclude, candidates, model, seed)
        picks = choose(chooser, context, budget, seed).picks
    return Selection(whole.ids[picks], picks, context.labelled, context.graph)


def build_context(
    graph: Graph,
    strategy: Strategy,
    labelled: Iterable[Hashable] = (),
    labels: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] = (),
    candidates: Iterable[Hashable] | None = None,
    model: str | NodeClassifier | None = None,
    seed: int = 0,
) -> QueryContext:
    """Return what the strategy gets to see; the arguments are those of `select`."""
    model = model_of_seed(seed, model) if isinstance(model, str) else model
    columns = model.classes_ if model is not None else ()
    known, codes, classes = _checked_labels(graph, labelled, labels, columns)
    allowed = graph.candidate_positions if candidates is None else graph.positions(candidates, "candidates")
    open_ = np.setdiff1d(allowed, np.concatenate([known, graph.positions(exclude, "excluded nodes")]))
    bare = graph.without_labels()
    several = len(np.unique(codes)) > 1 or len(columns) > 1
    wanted = strategy.needs | (strategy.uses if several else frozenset())
    outputs = {}
    if wanted:
        names = [classes[code] for code in codes]
        outputs = _model_of(strategy, bare, known, names, model, seed).outputs(bare, wanted)
    return QueryContext(bare, known, open_, codes, classes, outputs)


def choose(strategy: Strategy, context: QueryContext, budget: int, seed: int) -> Choice:
    """Ask a strategy for `budget` candidates of a context and check that it gives them."""
    check_options(strategy)
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError("seed", "must be a whole number of at least 0", repr(seed), "pass another number")
    if not isinstance(budget, int | np.integer):
        raise ParameterError("budget", "must be a whole number", repr(budget), "pass one")
    room = len(context.candidates)
    if not 1 <= budget <= room:
        left = f"from 1 to {room:,}, the number of" if room else "0, as there are no more"
        cure = "choose a number in that range" if room else "there is nothing left to label"
        raise ParameterError("budget", f"must be {left} nodes that may be chosen", budget, cure)
    generator = np.random.default_rng([seed, len(context.labelled) + int(budget)])
    fresh = _state(generator)
    picks = np.asarray(strategy.select(context, int(budget), generator))
    what, rule = owner(type(strategy)), f"must return {budget:,} different candidates"
    if picks.ndim != 1 or picks.dtype.kind not in "iu":
        found = f"an array of shape {picks.shape} and type {picks.dtype}"
        raise ParameterError(what, rule, found, "mend the strategy")
    new = np.intersect1d(picks, context.candidates)
    if len(picks) != budget or len(new) != budget:
        found = f"{len(picks):,} nodes, {len(new):,} of them different candidates"
        raise ParameterError(what, rule, found, "mend the strategy")
    return Choice(picks.astype(np.intp), _state(generator) != fresh)


def _state(generator: np.random.Generator) -> tuple[Any, int]:
    """Return what changes when anything is drawn from a generator, or another one is spawned from it."""
    seeds: Any = generator.bit_generator.seed_seq
    return generator.bit_generator.state, seeds.n_children_spawned


def _checked_labels(
    graph: Graph, labelled: Iterable[Hashable], labels: Iterable[Hashable] | None, columns: tuple[Hashable, ...]
) -> tuple[NDArray[np.intp], NDArray[np.int64], tuple[Hashable, ...]]:
    """Return positions, class codes and classes; the classes a model has as its `columns` come first."""
    positions = graph.positions(labelled, "labelled nodes")
    if labels is None:
        _, firsts = np.unique(positions, return_index=True)
        return positions[np.sort(firsts)], np.empty(0, dtype=np.int64), columns
    names = labels_in_order(labelled, labels, graph.ids[positions])
    if len(names) != len(positions):
        found = f"{len(names):,} labels for {len(positions):,} nodes"
        raise LabelError("labels", "must be as many as the labelled nodes", found, "pass one label a node")
    if len(np.unique(positions)) < len(positions):
        found = f"{len(positions) - len(np.unique(positions)):,} repeats"
        raise LabelError("labelled nodes", "must be distinct where labels are given", found, "give each node once")
    classes = (*columns, *sorted_classes(set(names) - set(columns)))
    code_of = {name: code for code, name in enumerate(classes)}
    return positions, np.array([code_of[name] for name in names], dtype=np.int64), classes


def _model_of(
    strategy: Strategy,
    graph: Graph,
    known: NDArray[np.intp],
    labels: list[Hashable],
    model: NodeClassifier | None,
    seed: int,
) -> NodeClassifier:
    """Return the model that the strategy looks at; the one given is left alone."""
    if model is not None and model.is_fitted:
        return model
    if not labels:
        rule = "must have labels to train a model on"
        found = "labelled nodes without their labels" if known.size else "none"
        cure = f"label a few nodes first, chosen with the strategy {DEFAULT_STRATEGY}"
        raise LabelError(owner(type(strategy)), rule, found, cure)
    fresh = model_of_seed(seed) if model is None else model.fresh()
    return fresh.fit_or_start(graph, graph.ids[known].tolist(), labels)
