"""K-Medoids: choose rows that minimise the sum of the distances of all rows to the nearest chosen one.

This is the objective of FeatProp (the first term of the paper's Theorem 1), with fixed medoids, a choice of candidates,
and weighted rows.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from featprop.clustering.solver import METHODS, Problem, Solution, choose_method, solve
from featprop.clustering.swaps import greedy_order
from featprop.compute.points import Points
from featprop.errors import ParameterError, unknown_choice
from featprop.matrix import Floats, Positions

log = logging.getLogger(__name__)

DEFAULT_MEMORY = 2**30
MAX_MEDOIDS_TWO_STARTS = {"exact": 200, "streamed": 20, "sampled": 20}
"""Number of medoids up to which a second start is worth its time, by method."""


@dataclass(frozen=True)
class KMedoidsResult:
    """Medoids and their loss.

    Attributes
    ----------
    medoids
        Positions of the chosen rows, the most useful first: every prefix is a good smaller choice.
    labels
        Nearest medoid of each row: an index into `medoids`, or from ``len(medoids)`` on into the fixed medoids.
    distances
        Distance of each row to its nearest medoid.
    loss
        Weighted mean of these distances.
    n_swaps
        Number of swaps.
    method
        Method used: ``"exact"``, ``"streamed"`` or ``"sampled"`` (`featprop.clustering.solver`).
    """

    medoids: Positions
    labels: Positions
    distances: Floats
    loss: float
    n_swaps: int
    method: str


def k_medoids(
    rows: Any,
    n_medoids: int,
    *,
    fixed: Sequence[int] | NDArray[Any] = (),
    candidates: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    metric: str = "euclidean",
    n_init: int | None = None,
    method: str | None = None,
    max_memory: int = DEFAULT_MEMORY,
    random_state: int | np.random.Generator = 0,
) -> KMedoidsResult:
    """Choose distinct rows as medoids.

    Parameters
    ----------
    rows
        Dense or CSR matrix, converted to float32. Pass `featprop.clustering.Points` to cluster the same rows several
        times: they have their own metric and keep the distances they computed.
    n_medoids
        Number of medoids to choose, in addition to the fixed ones.
    fixed
        Positions of rows that are already medoids: they attract the rows near them and are not chosen again.
    candidates
        Rows that may be chosen unless they are fixed, as positions or a mask; all rows by default.
    sample_weight
        Weight of each row; a weight of 2 is equivalent to repeating the row.
    metric
        ``"euclidean"``, or ``"cosine"`` (one minus the cosine of the angle between two rows).
    n_init
        Number of starts, of which the lowest loss is kept; by default two for few medoids and else one.
    method
        ``"exact"``, ``"streamed"`` or ``"sampled"`` (`featprop.clustering.solver`); chosen by size by default.
    max_memory
        Memory limit of the search in bytes, in addition to the rows.
    random_state
        Seed or generator.
    """
    if isinstance(rows, Points) and metric not in ("euclidean", rows.metric):
        raise ParameterError(
            f"The points already have the metric {rows.metric!r}, so `metric` cannot be {metric!r}.",
            hint="Omit `metric`.",
            parameter="metric",
            value=metric,
        )
    points = rows if isinstance(rows, Points) else Points(_check_rows(rows), metric)
    n = len(points)
    held = _check_positions("fixed", fixed, n)
    is_allowed = np.zeros(n, dtype=bool)
    is_allowed[slice(None) if candidates is None else _check_positions("candidates", candidates, n)] = True
    is_allowed[held] = False
    allowed = np.flatnonzero(is_allowed)
    counted = _check_weights(sample_weight, n)
    for name, value in (("n_medoids", n_medoids), ("max_memory", max_memory), ("n_init", n_init)):
        if (not isinstance(value, int | np.integer) or value < 1) and (name, value) != ("n_init", None):
            raise ParameterError(f"`{name}` must be a positive integer, not {value!r}.", parameter=name, value=value)
    if method is not None and method not in METHODS:
        raise unknown_choice("method", method, METHODS)
    if n_medoids > len(allowed):
        raise ParameterError(
            f"Cannot choose {n_medoids:,} medoids from {len(allowed):,} candidates.",
            parameter="n_medoids",
            value=n_medoids,
        )
    generator = np.random.default_rng(random_state)
    covered, nearest_fixed = np.full(n, np.inf, dtype=np.float32), np.zeros(n, dtype=np.intp)
    if held.size:
        nearest_fixed, _ = points.nearest(points.take(held))
        covered = points.exact_distances(points.take(held), nearest_fixed)
    problem = Problem(points, n_medoids, allowed, held, nearest_fixed, covered, counted, max_memory)
    chosen_method = method or choose_method(problem)
    if n_init is None:
        n_init = 2 if n_medoids <= MAX_MEDOIDS_TWO_STARTS[chosen_method] else 1
    log.info("K-Medoids: %s of %s candidates, %s method", f"{n_medoids:,}", f"{len(allowed):,}", chosen_method)
    return _describe(problem, solve(problem, chosen_method, n_init, generator), chosen_method)


def _describe(problem: Problem, solution: Solution, method: str) -> KMedoidsResult:
    """Order the medoids greedily by how much they lower the loss, and compute exact distances."""
    points, medoids = problem.points, solution.medoids
    max_references = max(1, problem.max_memory // (16 * len(medoids)))
    references = slice(None, None, -(-len(points) // max_references))
    chosen = points.distances(medoids, to=points.take(references))
    order = greedy_order(chosen, problem.covered[references], problem.weights[references], len(medoids))
    medoids = medoids[order]
    centres = points.take(np.concatenate([medoids, problem.fixed]))
    if solution.labels is None:
        labels, _ = points.nearest(centres)
        labels[medoids] = np.arange(len(medoids))
    else:
        fixed = len(medoids) + problem.nearest_fixed
        labels = np.where(solution.labels < 0, fixed, np.argsort(order)[solution.labels])
    distances = points.exact_distances(centres, labels)
    loss = float(np.average(distances.astype(np.float64), weights=problem.weights))
    return KMedoidsResult(medoids, labels, distances, loss, solution.n_swaps, method)


def _check_rows(rows: Any) -> Any:
    matrix = sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows)
    if matrix.dtype.kind not in "biuf":
        raise ParameterError(f"`rows` must be numeric, not {matrix.dtype}.", parameter="rows", value=str(matrix.dtype))
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ParameterError(
            f"`rows` must be a non-empty matrix, not an array of shape {matrix.shape}.",
            parameter="rows",
            value=matrix.shape,
        )
    values = matrix.data if sp.issparse(matrix) else matrix
    if not np.isfinite(values).all():
        count = np.count_nonzero(~np.isfinite(values))
        raise ParameterError(
            f"`rows` contains {count:,} NaN or infinite values.",
            hint="Fill them in or drop these rows.",
            parameter="rows",
            value=count,
        )
    return matrix


def _check_positions(name: str, positions: Any, n: int) -> Positions:
    given = np.asarray(positions).ravel()
    if given.dtype == bool and given.shape == (n,):
        given = np.flatnonzero(given)
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n):
        value = f"{given.min()} to {given.max()}" if given.dtype.kind in "iu" else str(given.dtype)
        raise ParameterError(
            f"`{name}` must be row positions from 0 to {n - 1:,}, not {value}.", parameter=name, value=value
        )
    given = given.astype(np.intp)
    repeats = len(given) - np.count_nonzero(np.bincount(given, minlength=n))
    if repeats:
        raise ParameterError(f"`{name}` contains {repeats:,} duplicates.", parameter=name, value=repeats)
    return given


def _check_weights(sample_weight: Any, n: int) -> Floats:
    if sample_weight is None:
        return np.ones(n, dtype=np.float32)
    counted = np.asarray(sample_weight, dtype=np.float32)
    if counted.shape != (n,):
        raise ParameterError(
            f"`sample_weight` must have one value for each of the {n:,} rows, not the shape {counted.shape}.",
            parameter="sample_weight",
            value=counted.shape,
        )
    if not (np.isfinite(counted).all() and (counted >= 0).all() and counted.sum() > 0):
        found = f"between {counted.min()} and {counted.max()}"
        raise ParameterError(
            f"`sample_weight` must be finite, non-negative and not all zero; the values are {found}.",
            parameter="sample_weight",
            value=found,
        )
    return counted
