"""Macro-F1 over all nodes, as far as a few of them tell it.

Macro-F1 is the mean over the classes c of 2 M_cc / (N_c + Σ_p M_pc), where M_pc counts the nodes predicted as p that
are c, and N_p those predicted as p. The N_p are known of all nodes: only what the nodes predicted as p really are has
to be learnt from the audit. So row p of M is drawn from what the audit allows, N_p times a draw of ::

    Dirichlet(CAUTION · counts of the audit in row p + STRENGTH · (a_p at p, the rest shared among the others by N))

where logit a_p is normal around logit a with deviation APART, and a, the accuracy in a row of which little is known,
comes from a Beta distribution of the right and wrong of all rows, each row counting by the root of its nodes. The
interval holds the middle of many such draws. The bootstrap, which draws the nodes of the audit anew, is far too sure
of classes that it has seen two or three times: docs/how-good-measured.md has both beside each other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate.intervals import LEVEL, Interval

__all__ = ["macro_f1_interval", "macro_f1_of"]

STRENGTH = 2.0
"""How many nodes what is known of all rows counts for in each."""
APART = 1.0
"""How far rows differ."""
CAUTION = 0.7
"""What a node of the audit counts for: the intervals would be too narrow otherwise. All three by simulation."""
DRAWS, FEWEST_DRAWS, ALL_CELLS = 1000, 100, 20_000_000
"""Draws, and numbers drawn in all, above which there are fewer of them: with 150 classes and more."""
CELLS = 4_000_000
"""Numbers in memory at once."""


def macro_f1_of(confusion: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return Macro-F1 of matrices with a row for each predicted class and a column for each class.

    A class that no node has and none is predicted as does not count.
    """
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    both = confusion.sum(axis=-1) + confusion.sum(axis=-2)
    scores = np.divide(2 * right, both, out=np.zeros(right.shape), where=both > 0)
    found: NDArray[np.float64] = scores.sum(axis=-1) / np.maximum((both > 0).sum(axis=-1), 1)
    return found


def macro_f1_interval(counts: NDArray[np.floating], predicted: NDArray[np.integer], random_state: int = 0) -> Interval:
    """Return Macro-F1 over all nodes.

    Parameters
    ----------
    counts
        How many nodes of the audit are predicted as each class (rows) and are of each (columns, in the same order).
    predicted
        How many nodes of the graph are predicted as each class.
    random_state
        Of the draws.
    """
    from scipy.special import expit, logit

    generator = np.random.default_rng(random_state)
    n, others = len(predicted), predicted + 1.0
    shared = np.where(np.eye(n, dtype=bool), 0.0, np.broadcast_to(others, (n, n)))
    shared /= np.maximum(shared.sum(axis=1, keepdims=True), 1.0)
    root = np.sqrt(np.maximum(counts.sum(axis=1), 1.0))
    right = float((np.diagonal(counts) / root).sum())
    wrong = float(((counts.sum(axis=1) - np.diagonal(counts)) / root).sum())
    draws = min(DRAWS, max(FEWEST_DRAWS, ALL_CELLS // (n * n)))
    found = []
    for start in range(0, draws, step := max(1, CELLS // (n * n))):
        size = min(step, draws - start)
        accuracy = generator.beta(right + 0.5, max(wrong, 0.0) + 0.5, size=(size, 1))
        of_rows = expit(logit(accuracy) + APART * generator.standard_normal((size, n)))[:, :, None]
        drawn = generator.standard_gamma(CAUTION * counts + STRENGTH * (of_rows * np.eye(n) + (1 - of_rows) * shared))
        rows = drawn / np.maximum(drawn.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        found.append(macro_f1_of(predicted[:, None] * rows))
    low, middle, high = np.quantile(np.concatenate(found), [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return Interval(float(middle), float(low), float(high))
