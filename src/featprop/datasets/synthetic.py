"""`make`: a synthetic graph of any size, written while it is drawn, in bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from featprop.datasets.blockmodel import BlockModel, EdgeFiles, Edges, class_sizes, draw_distinct, sorted_distinct
from featprop.errors import ParameterError, unknown_choice
from featprop.graph import Graph
from featprop.progress import tracked
from featprop.sources.arrays import ArrayWriter, write_adjacency
from featprop.sources.native import open_native, write_description, writing_native

CLASS_SEPARATION = 3.0
"""Distance between the centres of two classes in standard deviations of their points, at a signal of 1."""
MAX_MEAN_WORDS = 20
"""Mean number of words of a node, unless the vocabulary has fewer than eight times as many."""
VALUES_PER_CHUNK = 1 << 23


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
    random_state: int = 0,
    force: bool = False,
) -> Graph:
    """Write a graph of a degree-corrected stochastic block model in featprop's format, and open it.

    Parameters
    ----------
    out
        Folder to write.
    nodes, edges, classes, features
        Exact numbers of each; edges are undirected.
    homophily
        Share of edges that connect two nodes of one class, exact to the edge.
    smallest
        Share of the nodes in the smallest class; each class is smaller than the previous one by the same factor.
        None for classes of equal size.
    isolated
        Share of random nodes of every class that get no edge; others may have none by chance.
    kind
        Kind of features: ``"gaussian"``, a point around the centre of the class, or ``"words"``, sparse zeros and ones
        for the words of a vocabulary of which every class prefers some.
    signal
        How much the features depend on the class, from 0 for not at all. The centres of two classes are 3 × `signal`
        standard deviations apart; for each word from the distribution of all classes, `signal` words are drawn from
        that of the class.
    random_state
        The same seed gives the same graph.
    force
        Overwrite an existing graph in featprop's format.
    """
    _check_ranges(
        kind,
        nodes=(nodes, 2, 2**31 - 1),
        edges=(edges, 0, 2**40),
        classes=(classes, 1, nodes),
        features=(features, 1, 2**31 - 1),
        homophily=(homophily, 0, 1),
        isolated=(isolated, 0, 1),
        signal=(signal, 0, 1000),
        random_state=(random_state, 0, 2**63),
    )
    if smallest is not None:
        _check_ranges(kind, smallest=(smallest, 1 / nodes if classes > 1 else 1, 1 / classes))
    shuffle, inside, between, rest = (np.random.default_rng(s) for s in np.random.SeedSequence(random_state).spawn(4))
    model = BlockModel(class_sizes(nodes, classes, smallest), round(isolated * nodes), shuffle)
    wanted = {"inside": round(homophily * edges), "between": edges - round(homophily * edges)}
    _check_density(model, wanted)
    with writing_native(out, force=force) as folder, tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        directed = EdgeFiles(Path(scratch) / "rows", 2 * edges, lambda keys, count: keys // nodes * count // nodes)
        for name, draw, generator in (("inside", model.draw_inside, inside), ("between", model.draw_between, between)):
            drawn = draw_distinct(draw, wanted[name], generator, Path(scratch) / name)
            directed.add(_both_directions(drawn, nodes))
        rows = tracked(_sort_rows(directed, nodes), "sorting edges", len(directed.paths))
        write_adjacency(folder, rows, nodes, 2 * edges)
        np.save(folder / "labels.npy", model.labels)
        FEATURES[kind](folder, model.labels, classes, features, signal, rest)
        write_description(folder, nodes=nodes, columns=features, classes=range(classes))
    return open_native(out)


def _both_directions(chunks: Iterator[Edges], nodes: int) -> Iterator[Edges]:
    for edges in chunks:
        yield edges
        low, high = np.divmod(edges, nodes)
        yield high * nodes + low


def _sort_rows(directed: EdgeFiles, nodes: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], None]]:
    for edges in directed.take():
        edges.sort()
        yield (*np.divmod(edges, nodes), None)


def _check_ranges(kind: str, **ranges: tuple[float, float, float]) -> None:
    for name, (value, low, high) in ranges.items():
        if not low <= value <= high:
            message = f"`{name}` must be between {low:,.6g} and {high:,.6g}, not {value}."
            raise ParameterError(message, parameter=name, value=value)
    if kind not in FEATURES:
        raise unknown_choice("kind", kind, FEATURES)


def _check_density(model: BlockModel, wanted: dict[str, int]) -> None:
    """Refuse a graph so dense that random pairs would mostly repeat earlier ones."""
    for name, pairs in model.pairs.items():
        if wanted[name] > pairs // 4:
            message = f"{wanted[name]:,} edges {name} classes are too many: there can be at most {pairs // 4:,}."
            hint = "Ask for fewer edges, more nodes or another homophily."
            raise ParameterError(message, hint=hint, parameter="edges", value=wanted[name])


def _write_gaussian(
    folder: Path, labels: NDArray[np.int64], classes: int, columns: int, signal: float, generator: np.random.Generator
) -> None:
    """Draw points from a normal distribution around the centre of their class."""
    scale = signal * CLASS_SEPARATION / np.sqrt(2 * columns)
    centres = (scale * generator.standard_normal((classes, columns))).astype(np.float32)
    with ArrayWriter(folder / "features.npy", np.float32, columns) as rows:
        for block in _label_chunks(labels, columns):
            points = generator.standard_normal((len(block), columns), dtype=np.float32)
            points += centres[block]
            rows.append(points)


def _write_words(
    folder: Path, labels: NDArray[np.int64], classes: int, columns: int, signal: float, generator: np.random.Generator
) -> None:
    """Draw words by Zipf's law: `signal` in the order of the class for each one in the order of all words."""
    mean = min(MAX_MEAN_WORDS, columns / 8)
    class_order = np.stack([generator.permutation(columns) for _ in range(classes)])
    index = np.int32 if max(2 * len(labels) * max(mean, 1), columns) < 2**31 else np.int64
    ends = np.zeros(len(labels) + 1, dtype=index)
    done = 0
    with (
        ArrayWriter(folder / "features.indices.npy", index) as indices,
        ArrayWriter(folder / "features.data.npy", np.float32) as data,
    ):
        for block in _label_chunks(labels, int(8 * mean) + 8):
            lengths = 1 + generator.poisson(max(mean - 1, 0), len(block))
            rows = np.repeat(np.arange(len(block)), lengths)
            rank = _zipf_ranks(len(rows), columns, generator)
            topical = generator.random(len(rows)) < signal / (1 + signal)
            words = np.where(topical, class_order[block[rows], rank], rank)
            rows, words = np.divmod(sorted_distinct(rows * columns + words), columns)
            ends[done + 1 : done + len(block) + 1] = np.bincount(rows, minlength=len(block))
            done += len(block)
            indices.append(words)
            data.append(np.ones(len(words), dtype=np.float32))
    np.save(folder / "features.indptr.npy", np.cumsum(ends, dtype=index))


def _zipf_ranks(count: int, columns: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw from 0..columns-1 with probabilities proportional to 1 / (rank + 10)."""
    even = generator.random(count)
    return np.minimum(10 * ((columns + 10) / 10) ** even - 10, columns - 1).astype(np.int64)


def _label_chunks(labels: NDArray[np.int64], values_per_row: int) -> Iterator[NDArray[np.int64]]:
    rows = max(1, VALUES_PER_CHUNK // values_per_row)
    starts = range(0, len(labels), rows)
    for start in tracked(starts, "drawing features", len(starts)):
        yield labels[start : start + rows]


FEATURES: dict[str, Callable[[Path, NDArray[np.int64], int, int, float, np.random.Generator], None]] = {
    "gaussian": _write_gaussian,
    "words": _write_words,
}
"""Functions that draw and write each kind of features."""
