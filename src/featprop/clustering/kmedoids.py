"""K-Medoids: `n_medoids` real rows that make the sum of the distances of all rows to the nearest one small.

The objective of FeatProp (the first term of the paper's Theorem 1), with medoids that are already there.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.distances import distances_between, nearest_rows
from featprop.clustering.fasterpam import greedy_build, swap
from featprop.clustering.kmeans import k_means, rows_nearest
from featprop.errors import ParameterError
from featprop.matrix import Features

__all__ = ["KMedoidsResult", "k_medoids"]

log = logging.getLogger(__name__)

EXACT_LIMIT = 20_000
"""Up to this many rows the distances to all candidates are held at once (1.6 GB) and FasterPAM runs on them."""


@dataclass(frozen=True)
class KMedoidsResult:
    """Medoids and what they cost.

    Attributes
    ----------
    medoids
        The chosen rows, the most useful first: every prefix is a good smaller choice.
    loss
        The mean distance of all rows to the nearest medoid, chosen or fixed.
    n_swaps
        How many exchanges the search made; 0 if it did not search.
    """

    medoids: NDArray[np.intp]
    loss: float
    n_swaps: int


def k_medoids(
    rows: Features,
    n_medoids: int,
    *,
    fixed: Sequence[int] | NDArray[np.intp] = (),
    candidates: NDArray[np.intp] | None = None,
    seed: int | np.random.Generator = 0,
) -> KMedoidsResult:
    """Choose exactly `n_medoids` distinct rows.

    Parameters
    ----------
    rows
        Dense or CSR, one row a point.
    n_medoids
        How many to choose, besides the fixed ones.
    fixed
        Rows that are medoids already: they attract the rows near them and are not chosen again.
    candidates
        The rows that may be chosen; every row but the fixed ones if not given.
    seed
        Used by K-Means, for more than 20,000 rows. Up to that size the search is deterministic.
    """
    n = rows.shape[0]
    held = np.asarray(fixed, dtype=np.intp)
    allowed = np.arange(n) if candidates is None else np.asarray(candidates, dtype=np.intp)
    allowed = np.setdiff1d(allowed, held)
    if not 1 <= n_medoids <= len(allowed):
        rule = f"must be from 1 to {len(allowed):,}, the number of candidates"
        raise ParameterError("n_medoids", rule, n_medoids, "choose a number in that range")
    covered = np.full(n, np.inf, dtype=np.float32)
    if held.size:
        covered = nearest_rows(rows, rows[held]).distance
    if n <= EXACT_LIMIT:
        log.info("K-Medoids over %s candidates: FasterPAM", f"{len(allowed):,}")
        return _exact(rows, n_medoids, allowed, covered)
    log.info("K-Medoids over %s candidates: K-Means, then the nearest rows", f"{len(allowed):,}")
    return _approximate(rows, n_medoids, held, allowed, covered, np.random.default_rng(seed))


def _exact(rows: Features, n_medoids: int, allowed: NDArray[np.intp], covered: NDArray[np.float32]) -> KMedoidsResult:
    distances = distances_between(rows[allowed], rows)
    distances[np.arange(len(allowed)), allowed] = 0.0
    medoids, n_swaps = greedy_build(distances, covered, n_medoids), 0
    if n_medoids > 1 or np.isfinite(covered[0]):
        central_first = np.argsort(distances.sum(axis=1, dtype=np.float64), kind="stable")
        medoids, n_swaps = swap(distances, covered, medoids, central_first)
    chosen = distances[medoids]
    order = greedy_build(chosen, covered, n_medoids)
    loss = float(np.minimum(chosen.min(axis=0), covered).mean(dtype=np.float64))
    return KMedoidsResult(allowed[medoids[order]], loss, int(n_swaps))


def _approximate(
    rows: Features,
    n_medoids: int,
    held: NDArray[np.intp],
    allowed: NDArray[np.intp],
    covered: NDArray[np.float32],
    generator: np.random.Generator,
) -> KMedoidsResult:
    centres = k_means(rows, n_medoids, rows[held], generator)
    medoids = rows_nearest(rows, centres, allowed)
    chosen = distances_between(rows[medoids], rows)
    order = greedy_build(chosen, covered, n_medoids)
    loss = float(np.minimum(chosen.min(axis=0), covered).mean(dtype=np.float64))
    return KMedoidsResult(medoids[order], loss, 0)
