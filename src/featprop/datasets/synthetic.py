"""`make`: a graph of any size, made to order and written as it is drawn, in bounded memory."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from featprop.datasets.blockmodel import BlockModel, class_sizes
from featprop.datasets.buckets import Buckets, Keyed
from featprop.datasets.madefeatures import FEATURES, write_features
from featprop.errors import ParameterError, unknown_choice
from featprop.graph import Graph
from featprop.progress import tracked
from featprop.sources.native import open_native, write_adjacency, write_description, writing_native

__all__ = ["make"]

CHUNK = 1 << 20
"""Edges drawn at a time."""

SPARE = 1.05
"""How many more edges are drawn than are wanted, since some repeat others."""

Draw = Callable[[int, np.random.Generator], NDArray[np.int64]]


def make(
    out: Path,
    *,
    nodes: int,
    edges: int,
    classes: int = 10,
    features: int = 64,
    homophily: float = 0.8,
    smallest: float | None = None,
    isolated: float = 0.0,
    kind: str = "gaussian",
    signal: float = 1.0,
    seed: int = 0,
    force: bool = False,
) -> Graph:
    """Write a graph of a degree-corrected stochastic block model in featprop's own format, and open it.

    Parameters
    ----------
    out
        The folder to write.
    nodes, edges, classes, features
        How many; each is met exactly. An edge is undirected.
    homophily
        The share of edges that join two nodes of one class, met to the edge.
    smallest
        The share of the nodes in the smallest class; each class is smaller than the one before it by the same factor.
        None for classes of equal size.
    isolated
        The share of the nodes of every class, drawn by lot, that get no edge; some others have none by chance.
    kind
        Of features: ``"gaussian"``, a point around the centre of the class, or ``"words"``, 0 or 1 for each word
        of a vocabulary of which every class prefers some; these are sparse.
    signal
        How much features tell of the class, from 0 for nothing. The centres of two classes are 3 × `signal` standard
        deviations apart; of words, `signal` are drawn from those of the class for each one from those of all.
    seed
        The same seed gives the same graph.
    force
        Replace a graph in featprop's format that is there already.
    """
    _check(
        kind,
        nodes=(nodes, 2, 2**31 - 1),
        edges=(edges, 0, 2**40),
        classes=(classes, 1, nodes),
        features=(features, 1, 2**31 - 1),
        homophily=(homophily, 0, 1),
        isolated=(isolated, 0, 1),
        signal=(signal, 0, 1000),
        seed=(seed, 0, 2**63),
    )
    _check_smallest(smallest, nodes, classes)
    shuffle, inside, between, rest = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(4))
    model = BlockModel(class_sizes(nodes, classes, smallest), round(isolated * nodes), shuffle)
    wanted = {"inside": round(homophily * edges), "between": edges - round(homophily * edges)}
    _check_room(model, wanted)
    with writing_native(out, force=force) as folder, tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        directed = Buckets(_new(scratch, "rows"), 2 * edges, lambda keys, count: keys // nodes * count // nodes)
        for name, draw, generator in [
            ("inside", model.draw_inside, inside),
            ("between", model.draw_between, between),
        ]:
            drawn = _drawn(draw, wanted[name], generator, _new(scratch, name))
            directed.add(_both_ways(drawn, nodes))
        write_adjacency(folder, tracked(_in_order(directed, nodes), "sorting edges", directed.count), nodes, 2 * edges)
        np.save(folder / "labels.npy", model.labels)
        write_features(folder, model.labels, classes, features, kind, signal, rest)
        write_description(folder, nodes=nodes, columns=features, classes=range(classes))
    return open_native(out)


def _drawn(draw: Draw, wanted: int, generator: np.random.Generator, folder: Path) -> Iterator[NDArray[np.int64]]:
    """Draw until there are as many distinct edges as wanted, then leave out by lot what is too many."""
    edges = Buckets(folder, wanted, lambda keys, count: keys % count)
    lengths = np.zeros(edges.count, dtype=np.int64)
    while (missing := wanted - int(lengths.sum())) > 0:
        edges.add(_chunks(draw, math.ceil(SPARE * missing) + 64, generator, f"drawing edges {folder.name} classes"))
        lengths = edges.keep_distinct()
    if wanted == 0:
        return
    kept = generator.multivariate_hypergeometric(lengths, wanted, method="marginals")
    for (keys, _), count in zip(edges.take(), kept.tolist(), strict=True):
        left_out = generator.choice(len(keys), len(keys) - count, replace=False, shuffle=False)
        yield np.delete(keys, left_out)


def _chunks(draw: Draw, count: int, generator: np.random.Generator, stage: str) -> Iterator[Keyed]:
    sizes = [CHUNK] * (count // CHUNK) + [count % CHUNK]
    for size in tracked(sizes, stage, len(sizes)):
        yield Keyed(draw(size, generator))


def _both_ways(pieces: Iterator[NDArray[np.int64]], nodes: int) -> Iterator[Keyed]:
    for keys in pieces:
        yield Keyed(keys)
        low, high = np.divmod(keys, nodes)
        yield Keyed(high * nodes + low)


def _in_order(directed: Buckets, nodes: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], None]]:
    for keys, _ in directed.take():
        keys.sort()
        yield (*np.divmod(keys, nodes), None)


def _new(parent: str, name: str) -> Path:
    folder = Path(parent) / name
    folder.mkdir()
    return folder


def _check(kind: str, **ranges: tuple[float, float, float]) -> None:
    """Hold each value against the least and the most it may be."""
    for name, (value, least, most) in ranges.items():
        if not least <= value <= most:
            raise ParameterError(name, f"must be from {least:,} to {most:,}", value, "choose a number in that range")
    if kind not in FEATURES:
        raise unknown_choice("kind", kind, FEATURES)


def _check_smallest(smallest: float | None, nodes: int, classes: int) -> None:
    if smallest is None:
        return
    if classes == 1:
        raise ParameterError("smallest", "must be left out for one class", smallest, "drop it or ask for more classes")
    if not 1 / nodes <= smallest <= 1 / classes:
        rule = f"must be from {1 / nodes:.3g}, one node, to {1 / classes:.3g}, an equal share"
        raise ParameterError("smallest", rule, smallest, "choose a number in that range")


def _check_room(model: BlockModel, wanted: dict[str, int]) -> None:
    """Refuse a graph so dense that drawing pairs by lot would go on finding those it has already."""
    for name, pairs in [("inside", model.pairs_inside), ("between", model.pairs_between)]:
        if wanted[name] > pairs // 4:
            rule = f"must be few enough that at most {pairs // 4:,} run {name} classes, a quarter of the pairs there"
            cure = "ask for fewer edges, more nodes or another homophily"
            raise ParameterError("edges", rule, f"{wanted[name]:,}", cure)
