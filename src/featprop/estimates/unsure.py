"""Predictions to look at: those the model is least sure of, and those the neighbours contradict."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["contradiction", "neighbours_say", "unsureness_of"]


def unsureness_of(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return for each node the probability that it is not what it is predicted as; 0 where there is one class only."""
    return np.asarray(1 - probabilities.max(axis=1))


def neighbours_say(adjacency: sp.csr_array, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return for each node the mean probabilities of its neighbours by the weights of the edges; 0 where it has none."""
    around = np.asarray(adjacency @ probabilities, dtype=np.float32)
    weights = around.sum(axis=1, keepdims=True)
    return np.divide(around, weights, out=np.zeros_like(around), where=weights > 0)


def contradiction(around: NDArray[np.float32], probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how much the neighbours of each node say that it is something else than it is predicted as.

        (1 - q_c) p_c

    with c the class predicted, p_c its probability and q_c its mean probability among the neighbours (`around`); 0
    where the neighbours agree on the class, or there are none.
    """
    best = probabilities.argmax(axis=1)
    rows = np.arange(len(best))
    against = (1 - around[rows, best]) * probabilities[rows, best]
    return np.where((around.argmax(axis=1) != best) & (around.sum(axis=1) > 0), against, np.float32(0))
