"""Predictions to look at: those the model is least sure of, and those the neighbours contradict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["Around", "contradiction", "neighbours_say", "unsureness_of"]


class Around(NamedTuple):
    """What the neighbours of each node are.

    Attributes
    ----------
    shares
        Their mean probabilities by the weights of the edges, a row a node; 0 where it has none.
    weights
        The sum of these weights.
    """

    shares: NDArray[np.float32]
    weights: NDArray[np.float32]


def unsureness_of(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return for each node the probability that it is not what it is predicted as."""
    return np.asarray(1 - probabilities.max(axis=1))


def neighbours_say(adjacency: sp.csr_array, probabilities: NDArray[np.float32]) -> Around:
    """Return what the neighbours of each node are, by their own probabilities."""
    around = np.asarray(adjacency @ probabilities, dtype=np.float32)
    weights = around.sum(axis=1)
    shares = np.divide(around, weights[:, None], out=np.zeros_like(around), where=weights[:, None] > 0)
    return Around(shares, weights)


def contradiction(around: Around, probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how much the neighbours of each node say that it is something else than it is predicted as.

        (1 - q_c) √w

    with c the class predicted, q_c its share among the neighbours and w the weight of these: two who say so may be
    chance, twenty are not. It is 0 where the neighbours are mostly of the same class, or there are none.
    """
    best = probabilities.argmax(axis=1)
    against = (1 - around.shares[np.arange(len(best)), best]) * np.sqrt(around.weights)
    told = (around.shares.argmax(axis=1) != best) & (around.weights > 0)
    return np.where(told, against, np.float32(0))
