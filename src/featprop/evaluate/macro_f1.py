"""Macro-F1 over all nodes, estimated from an audit.

Macro-F1 is the mean over the classes c of 2 M_cc / (N_c + Σ_p M_pc), where M_pc counts the nodes predicted as p that
are c, and N_p those predicted as p. The N_p are known; only the true classes of the nodes predicted as p have to be
estimated from the audit. Row p of M is N_p times a draw of ::

    Dirichlet(CAUTION · counts of the audit in row p + STRENGTH · (a_p at p, the rest shared among the others by N))

where logit a_p is normal around logit a with standard deviation APART, and a, the prior accuracy of a row, has a Beta
distribution by the hits and misses of all rows, each weighted by the root of its size. The interval covers the middle
of many draws. The bootstrap is far too confident about classes with two or three audit nodes:
docs/how-good-measured.md compares both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate.intervals import LEVEL, Interval

STRENGTH = 2.0
"""Weight of the prior of a row, in nodes."""
APART = 1.0
"""Standard deviation of the accuracy between rows, as a logit."""
CAUTION = 0.7
"""Weight of an audit node; with 1 the intervals would be too narrow. All three were set by simulation."""
DRAWS, MIN_DRAWS, MAX_DRAWN_CELLS = 1000, 100, 20_000_000
"""Number of draws, and the number of matrix cells from which on there are fewer (150 classes and more)."""
CELLS_IN_MEMORY = 4_000_000


def macro_f1_from_confusion(confusion: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the Macro-F1 of confusion matrices with predicted classes in rows.

    Classes that occur neither as truth nor as prediction do not count.
    """
    right = np.diagonal(confusion, axis1=-2, axis2=-1)
    both = confusion.sum(axis=-1) + confusion.sum(axis=-2)
    scores = np.divide(2 * right, both, out=np.zeros(right.shape), where=both > 0)
    found: NDArray[np.float64] = scores.sum(axis=-1) / np.maximum((both > 0).sum(axis=-1), 1)
    return found


def macro_f1_interval(counts: NDArray[np.floating], predicted: NDArray[np.integer], random_state: int = 0) -> Interval:
    """Return the Macro-F1 over all nodes.

    `counts` is the confusion matrix of the audit with predicted classes in rows, and `predicted` the number of nodes of
    the graph predicted as each class.
    """
    from scipy.special import expit, logit

    generator = np.random.default_rng(random_state)
    n, others = len(predicted), predicted + 1.0
    shared = np.where(np.eye(n, dtype=bool), 0.0, np.broadcast_to(others, (n, n)))
    shared /= np.maximum(shared.sum(axis=1, keepdims=True), 1.0)
    root = np.sqrt(np.maximum(counts.sum(axis=1), 1.0))
    right = float((np.diagonal(counts) / root).sum())
    wrong = float(((counts.sum(axis=1) - np.diagonal(counts)) / root).sum())
    draws = min(DRAWS, max(MIN_DRAWS, MAX_DRAWN_CELLS // (n * n)))
    found = []
    for start in range(0, draws, step := max(1, CELLS_IN_MEMORY // (n * n))):
        size = min(step, draws - start)
        accuracy = generator.beta(right + 0.5, max(wrong, 0.0) + 0.5, size=(size, 1))
        of_rows = expit(logit(accuracy) + APART * generator.standard_normal((size, n)))[:, :, None]
        drawn = generator.standard_gamma(CAUTION * counts + STRENGTH * (of_rows * np.eye(n) + (1 - of_rows) * shared))
        rows = drawn / np.maximum(drawn.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
        found.append(macro_f1_from_confusion(predicted[:, None] * rows))
    low, middle, high = np.quantile(np.concatenate(found), [(1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2])
    return Interval(float(middle), float(low), float(high))
