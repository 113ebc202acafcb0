"""Features that tell something of the class of a node, drawn block of rows by block of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from featprop.datasets.buckets import sorted_distinct
from featprop.progress import tracked
from featprop.sources.native import ArrayWriter

__all__ = ["FEATURES", "write_features"]

SEPARATION = 3.0
"""The distance between the centres of two classes in standard deviations of their points, at a signal of 1."""

MOST_WORDS = 20
"""Words a node has on average, but for a vocabulary of less than eight times that."""

VALUES_AT_A_TIME = 1 << 23


def write_features(
    folder: Path,
    labels: NDArray[np.int64],
    classes: int,
    columns: int,
    kind: str,
    signal: float,
    generator: np.random.Generator,
) -> None:
    """Write ``features*.npy``; `kind` is one of `FEATURES`, and a `signal` of 0 tells nothing of the class."""
    FEATURES[kind](folder, labels, classes, columns, signal, generator)


def _write_gaussian(
    folder: Path, labels: NDArray[np.int64], classes: int, columns: int, signal: float, generator: np.random.Generator
) -> None:
    """Draw points of a normal distribution around the centre of their class."""
    scale = signal * SEPARATION / np.sqrt(2 * columns)
    centres = (scale * generator.standard_normal((classes, columns))).astype(np.float32)
    with ArrayWriter(folder / "features.npy", np.float32, columns) as rows:
        for block in _blocks(labels, columns):
            points = generator.standard_normal((len(block), columns), dtype=np.float32)
            points += centres[block]
            rows.append(points)


def _write_words(
    folder: Path, labels: NDArray[np.int64], classes: int, columns: int, signal: float, generator: np.random.Generator
) -> None:
    """Draw words by Zipf's law, `signal` in an order of the class's own for each one in the order of all words."""
    mean = min(MOST_WORDS, columns / 8)
    own_order = np.stack([generator.permutation(columns) for _ in range(classes)])
    index = np.int32 if max(2 * len(labels) * max(mean, 1), columns) < 2**31 else np.int64
    ends = np.zeros(len(labels) + 1, dtype=index)
    done = 0
    with (
        ArrayWriter(folder / "features.indices.npy", index) as indices,
        ArrayWriter(folder / "features.data.npy", np.float32) as data,
    ):
        for block in _blocks(labels, int(8 * mean) + 8):
            lengths = 1 + generator.poisson(max(mean - 1, 0), len(block))
            rows = np.repeat(np.arange(len(block)), lengths)
            rank = _zipf_ranks(len(rows), columns, generator)
            topical = generator.random(len(rows)) < signal / (1 + signal)
            words = np.where(topical, own_order[block[rows], rank], rank)
            rows, words = np.divmod(sorted_distinct(rows * columns + words), columns)
            ends[done + 1 : done + len(block) + 1] = np.bincount(rows, minlength=len(block))
            done += len(block)
            indices.append(words)
            data.append(np.ones(len(words), dtype=np.float32))
    np.save(folder / "features.indptr.npy", np.cumsum(ends, dtype=index))


def _zipf_ranks(count: int, columns: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw from 0..columns-1 with chances in proportion to 1 / (rank + 10)."""
    even = generator.random(count)
    return np.minimum(10 * ((columns + 10) / 10) ** even - 10, columns - 1).astype(np.int64)


def _blocks(labels: NDArray[np.int64], values_a_row: int) -> Iterator[NDArray[np.int64]]:
    rows = max(1, VALUES_AT_A_TIME // values_a_row)
    starts = range(0, len(labels), rows)
    for start in tracked(starts, "drawing features", len(starts)):
        yield labels[start : start + rows]


FEATURES: dict[str, Callable[[Path, NDArray[np.int64], int, int, float, np.random.Generator], None]] = {
    "gaussian": _write_gaussian,
    "words": _write_words,
}
"""How each kind of features is drawn and written."""
