"""Ask a strategy for nodes: build its context, call it, check its answer.

`select`, `ActiveLearner` and the experiments all choose nodes through this module, so the contract of a strategy is
checked everywhere, and one seeding rule holds: the generator is seeded with the seed and the number of labels after the
choice. A published result can be reproduced from its random_state, its labels and its budget.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.active.picks import Selection
from featprop.compute import compute_on
from featprop.errors import LabelError, ParameterError
from featprop.graph import Graph, GraphLike, as_graph
from featprop.ids import match_labels, sorted_classes
from featprop.models import NodeClassifier, seeded_model
from featprop.models.base import clone
from featprop.options import check_options, describe_class
from featprop.strategies import DEFAULT_STRATEGY, QueryContext, Strategy, get_strategy

if TYPE_CHECKING:
    from distributed import Client


class Choice(NamedTuple):
    """The answer of a strategy."""

    picks: NDArray[np.intp]  # positions of the chosen nodes, in their order
    drew: bool  # whether the strategy drew random numbers; if not, every seed gives the same choice


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
    random_state: int = 0,
    client: Client | None = None,
    scratch: str | os.PathLike[str] | None = None,
    max_memory: int | str | None = None,
) -> Selection:
    """Select `budget` nodes to label.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path. Its own labels are ignored.
    budget
        Number of nodes to select.
    strategy
        Name of a strategy, or a strategy.
    labelled
        Ids of nodes that are labelled, or a mask with a truth value for every node, here and below. They are not
        selected, and count as selected before.
    labels
        Class of each of them, for strategies that use a model; or a mapping from nodes to classes, whose nodes are then
        the labelled ones if `labelled` is empty.
    exclude
        Ids of further nodes that must not be selected.
    candidates
        Ids of the nodes that may be selected; None for all others.
    model
        Model, or its name, for strategies that use one; an unfitted model is trained on the labels. The default is
        `featprop.models.DEFAULT_MODEL`.
    random_state
        Seed of the random generator.
    client, scratch, max_memory
        Dask client, folder for intermediate files, and memory limit, as in `featprop.compute.compute_on`. They do not
        change the result.
    """
    chooser: Any = get_strategy(strategy) if isinstance(strategy, str) else strategy
    if not isinstance(chooser, Strategy):
        message = f"`strategy` must be a strategy or the name of one, not {strategy!r}."
        hint = "Pass a name such as 'featprop', or get_strategy(name, option=value)."
        raise ParameterError(message, hint=hint, parameter="strategy", value=strategy)
    whole = as_graph(graph)
    elsewhere = client is not None or scratch is not None or max_memory is not None
    with compute_on(client=client, scratch=scratch, max_memory=max_memory) if elsewhere else nullcontext():
        context = build_context(whole, chooser, labelled, labels, exclude, candidates, model, random_state)
        picks = choose(chooser, context, budget, random_state).picks
    return Selection(whole.ids[picks], picks, context.labelled, context.graph)


def build_context(
    graph: Graph,
    strategy: Strategy,
    labelled: Iterable[Hashable] = (),
    labels: Iterable[Hashable] | None = None,
    exclude: Iterable[Hashable] = (),
    candidates: Iterable[Hashable] | None = None,
    model: str | NodeClassifier | None = None,
    random_state: int = 0,
) -> QueryContext:
    """Return the context of a strategy; the arguments are those of `select`."""
    model = seeded_model(random_state, model) if isinstance(model, str) else model
    columns = model.class_names_ if model is not None else ()
    known, codes, classes = _checked_labels(graph, labelled, labels, columns)
    allowed = graph.candidate_positions if candidates is None else np.unique(graph.positions(candidates, "candidates"))
    closed = np.concatenate([known, graph.positions(exclude, "excluded nodes")])
    open_ = np.setdiff1d(allowed, closed, assume_unique=True)
    bare = graph.without_labels()
    several = len(np.unique(codes)) > 1 or len(columns) > 1
    wanted = strategy.needs | (strategy.uses if several else frozenset())
    outputs = {}
    if wanted:
        names = [classes[code] for code in codes]
        outputs = _model_of(strategy, bare, known, names, model, random_state).outputs(bare, wanted)
    return QueryContext(bare, known, open_, codes, classes, outputs)


def choose(strategy: Strategy, context: QueryContext, budget: int, random_state: int) -> Choice:
    """Return `budget` candidates that a strategy chooses in a context, and check them."""
    check_options(strategy)
    if not isinstance(random_state, int | np.integer) or random_state < 0:
        message = f"`random_state` must be a whole number of at least 0, not {random_state!r}."
        raise ParameterError(message, parameter="random_state", value=random_state)
    room = len(context.candidates)
    if not room:
        message = f"Cannot select {budget} nodes: every node is already labelled or excluded."
        raise ParameterError(message, parameter="budget", value=budget)
    if not isinstance(budget, int | np.integer) or not 1 <= budget <= room:
        message = f"`budget` must be from 1 to {room:,}, the number of nodes left to select, not {budget}."
        raise ParameterError(message, parameter="budget", value=budget)
    generator = np.random.default_rng([random_state, len(context.labelled) + int(budget)])
    fresh = _state(generator)
    picks = np.asarray(strategy.select(context, int(budget), generator))
    is_list = picks.ndim == 1 and picks.dtype.kind in "iu" and len(picks) == budget
    if not is_list or len(np.unique(picks[np.isin(picks, context.candidates)])) != budget:
        message = f"{describe_class(type(strategy))} must return the positions of {budget:,} different candidates."
        raise ParameterError(message, parameter="strategy", value=strategy)
    return Choice(picks.astype(np.intp), _state(generator) != fresh)


def _state(generator: np.random.Generator) -> tuple[Any, int]:
    """Return what changes when a generator draws a number or spawns another generator."""
    seeds: Any = generator.bit_generator.seed_seq
    return generator.bit_generator.state, seeds.n_children_spawned


def _checked_labels(
    graph: Graph, labelled: Iterable[Hashable], labels: Iterable[Hashable] | None, columns: tuple[Hashable, ...]
) -> tuple[NDArray[np.intp], NDArray[np.int64], tuple[Hashable, ...]]:
    """Return positions, class codes and classes; the classes of a fitted model (`columns`) come first."""
    if isinstance(labels, Mapping) and isinstance(labelled, tuple) and not labelled:
        labelled = tuple(labels)
    positions = graph.positions(labelled, "labelled nodes")
    if labels is None:
        _, firsts = np.unique(positions, return_index=True)
        return positions[np.sort(firsts)], np.empty(0, dtype=np.int64), columns
    names = match_labels(labelled, labels, graph.ids[positions])
    if len(names) != len(positions):
        message = f"There are {len(names):,} labels for {len(positions):,} labelled nodes."
        raise LabelError(message, hint="Pass one label per node.", parameter="labels", value=len(names))
    if len(np.unique(positions)) < len(positions):
        n_repeats = len(positions) - len(np.unique(positions))
        message = f"`labelled` has {n_repeats:,} repeated nodes."
        raise LabelError(message, hint="Pass each node once.", parameter="labelled", value=n_repeats)
    classes = (*columns, *sorted_classes(set(names) - set(columns)))
    code_of = {name: code for code, name in enumerate(classes)}
    return positions, np.array([code_of[name] for name in names], dtype=np.int64), classes


def _model_of(
    strategy: Strategy,
    graph: Graph,
    known: NDArray[np.intp],
    labels: list[Hashable],
    model: NodeClassifier | None,
    random_state: int,
) -> NodeClassifier:
    """Return a fitted model for the strategy; the given one stays unchanged."""
    if model is not None and model.is_fitted:
        return model
    if not labels:
        message = f"{describe_class(type(strategy))} needs labels to train a model, and there are none."
        raise LabelError(message, hint=f"Label some nodes first, selected with {DEFAULT_STRATEGY}.", parameter="labels")
    fresh = seeded_model(random_state) if model is None else clone(model)
    return fresh.fit(graph, graph.ids[known].tolist(), labels, cold_start=True)
