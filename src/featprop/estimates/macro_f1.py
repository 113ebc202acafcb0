"""Macro-F1 over all nodes, as far as a few of them tell it.

Macro-F1 is the mean over the classes c of 2 M_cc / (N_c + Σ_p M_pc), where M_pc counts the nodes predicted as p that
are c, and N_p those predicted as p. The N_p are known of all nodes: only what the nodes predicted as p really are has
to be learnt from the audit. So row p of M is drawn from what the audit allows, N_p times a draw of ::

    Dirichlet(CAUTION · counts of the audit in row p + STRENGTH · (a_p at p, the rest shared among the others by N))

where logit a_p is normal around logit a with deviation APART, and a, the accuracy in a row of which little is known,
comes from a Beta distribution of the right and wrong of all rows, each row counting by the root of its nodes. The
interval holds the middle of many such draws. The bootstrap, which draws the nodes of the audit anew, is far too sure
of classes that it has seen two or three times: docs/how-good.md has both beside each other.

C classes have C² cells, nearly all of them never seen in the audit. Where classes are many, what a row gets by what is
known of all rows is drawn by breaking a stick instead (Sethuraman 1994): a Dirichlet(s · g) is the sum of pieces of a
stick, of which each break takes a share of Beta(1, s), and each piece goes to a class drawn from g. As s is at most
STRENGTH, a few pieces are all but the whole of it, and the work grows with C.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.estimates.intervals import LEVEL, Interval

__all__ = ["macro_f1_interval", "macro_f1_of"]

STRENGTH = 2.0
"""How many nodes what is known of all rows counts for in each."""
APART = 1.0
"""How far rows differ."""
CAUTION = 0.7
"""What a node of the audit counts for: the intervals would be too narrow otherwise. All three by simulation."""
DRAWS = 1000
CELLS = 4_000_000
"""Numbers in memory at once."""
FEW = 50
"""Classes up to which every cell is drawn."""
SMALLEST = 744.0
"""Minus the logarithm of the smallest number there is."""
PIECES = 12
"""Of a stick; what is left after them, below 1 % of it at the most and 0.001 % as a rule, goes to the last."""


def macro_f1_of(confusion: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return Macro-F1 of matrices with a row for each predicted class and a column for each class.

    A class that no node has and none is predicted as does not count.
    """
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    both = confusion.sum(axis=-1) + confusion.sum(axis=-2)
    scores = np.divide(2 * right, both, out=np.zeros(right.shape), where=both > 0)
    found: NDArray[np.float64] = scores.sum(axis=-1) / np.maximum((both > 0).sum(axis=-1), 1)
    return found


def macro_f1_interval(counts: NDArray[np.floating], predicted: NDArray[np.integer], seed: int = 0) -> Interval:
    """Return Macro-F1 over all nodes.

    Parameters
    ----------
    counts
        How many nodes of the audit are predicted as each class (rows) and are of each (columns, in the same order).
    predicted
        How many nodes of the graph are predicted as each class.
    seed
        Of the draws.
    """
    generator = np.random.default_rng(seed)
    counts_of_rows = counts.sum(axis=1)
    root = np.sqrt(np.maximum(counts_of_rows, 1.0))
    right = float((np.diagonal(counts) / root).sum())
    wrong = float(((counts_of_rows - np.diagonal(counts)) / root).sum())
    n = len(predicted)
    draw, cells = (_all_cells, n * n) if n <= FEW else (_by_pieces, n * PIECES)
    found = []
    for start in range(0, DRAWS, step := max(1, CELLS // cells)):
        size = min(step, DRAWS - start)
        accuracy = generator.beta(right + 0.5, max(wrong, 0.0) + 0.5, size=(size, 1))
        found.append(draw(counts, predicted, accuracy, generator))
    low, middle, high = np.quantile(np.concatenate(found), [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return Interval(float(middle), float(low), float(high))


def _all_cells(
    counts: NDArray[np.floating],
    predicted: NDArray[np.integer],
    accuracy: NDArray[np.float64],
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Return Macro-F1 of a draw of all rows for each accuracy."""
    n = len(predicted)
    shared = np.where(np.eye(n, dtype=bool), 0.0, np.broadcast_to(predicted + 1.0, (n, n)))
    shared /= np.maximum(shared.sum(axis=1, keepdims=True), 1.0)
    of_rows = _accuracy_of_rows(accuracy, n, generator)[:, :, None]
    drawn = generator.standard_gamma(CAUTION * counts + STRENGTH * (of_rows * np.eye(n) + (1 - of_rows) * shared))
    rows = drawn / np.maximum(drawn.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return macro_f1_of(predicted[:, None] * rows)


def _by_pieces(
    counts: NDArray[np.floating],
    predicted: NDArray[np.integer],
    accuracy: NDArray[np.float64],
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the same without the cells that nothing falls into.

    A gamma variable of the audit and the prior is the sum of one of each, so the two are drawn apart. A class neither
    predicted nor in the audit counts where one of its cells would not be 0: a gamma variable of shape s is below ε, the
    smallest number there is, with probability ε^s.
    """
    tiny, draws, n = np.finfo(float).tiny, len(accuracy), len(predicted)
    rows = np.flatnonzero(predicted)
    wrong = counts[rows].astype(float)
    wrong[np.arange(len(rows)), rows] = 0.0
    row, column = np.nonzero(wrong)
    of_rows = _accuracy_of_rows(accuracy, len(rows), generator)
    strength = np.maximum(STRENGTH * (1 - of_rows), tiny)
    right = generator.standard_gamma(CAUTION * np.diagonal(counts)[rows] + STRENGTH * of_rows)
    unseen = generator.standard_gamma(strength)
    seen = generator.standard_gamma(CAUTION * wrong[row, column], size=(draws, len(row)))
    total = right + unseen
    np.add.at(total.T, row, seen.T)
    scale = predicted[rows] / np.maximum(total, tiny)
    left = np.ones((draws, len(rows), PIECES + 1))
    breaks = generator.standard_exponential((draws, len(rows), PIECES - 1))
    left[:, :, 1:-1] = np.exp(-np.cumsum(breaks, axis=-1) / strength[:, :, None])
    left[:, :, -1] = 0.0
    pieces = (unseen * scale)[:, :, None] * -np.diff(left, axis=-1)
    places = np.arange(draws)[:, None, None] * n + _other_classes(predicted, rows, pieces.shape, generator)
    of_class = np.bincount(places.ravel(), pieces.ravel(), minlength=draws * n).reshape(draws, n)
    np.add.at(of_class.T, column, (seen * scale[:, row]).T)
    right *= scale
    scores = 2 * right / (predicted[rows] + of_class[:, rows] + right)
    n_absent = int(((predicted == 0) & (counts.sum(axis=0) == 0)).sum())
    shapes = (strength / ((predicted + 1.0).sum() - predicted[rows] - 1.0)).sum(axis=1)
    counted = n - n_absent + generator.binomial(n_absent, -np.expm1(-SMALLEST * shapes))
    found: NDArray[np.float64] = scores.sum(axis=1) / counted
    return found


def _other_classes(
    predicted: NDArray[np.integer], rows: NDArray[np.intp], shape: tuple[int, ...], generator: np.random.Generator
) -> NDArray[np.intp]:
    """Draw classes for each of the rows, along the second axis: any but its own, by how many nodes are predicted so."""
    ends = np.cumsum(predicted + 1.0)
    own = predicted[rows, None] + 1.0
    places = generator.random(shape) * (ends[-1] - own)
    places += np.where(places >= ends[rows, None] - own, own, 0.0)
    classes: NDArray[np.intp] = np.minimum(np.searchsorted(ends, places, side="right"), len(ends) - 1)
    return classes


def _accuracy_of_rows(accuracy: NDArray[np.float64], n: int, generator: np.random.Generator) -> NDArray[np.float64]:
    from scipy.special import expit, logit

    drawn: NDArray[np.float64] = expit(logit(accuracy) + APART * generator.standard_normal((len(accuracy), n)))
    return drawn
