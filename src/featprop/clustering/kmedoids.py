"""K-Medoids: real rows that make the sum of the distances of all rows to the nearest one small.

The objective of FeatProp (the first term of the paper's Theorem 1), with medoids that are already there, a choice of
candidates, and rows that count unequally.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from featprop.clustering.search_by_size import PLANS, Problem, Solution, choose_plan, solve
from featprop.clustering.swaps import greedy_order
from featprop.compute.points import Points
from featprop.errors import ParameterError, unknown_choice

__all__ = ["KMedoidsResult", "k_medoids"]

log = logging.getLogger(__name__)

MEMORY = 2**30
STARTED_TWICE = {"exact": 200, "streamed": 20, "sampled": 20}
"""Up to how many medoids a second start is worth its time."""


@dataclass(frozen=True)
class KMedoidsResult:
    """Medoids and what they cost.

    Attributes
    ----------
    medoids
        The chosen rows, the most useful first: every prefix is a good smaller choice.
    labels
        For each row the nearest medoid: an index into `medoids`, or, from ``len(medoids)`` on, into the fixed ones.
    distances
        For each row the distance to it.
    loss
        The mean of these distances, weighted if the rows are.
    n_swaps
        How many exchanges the search made.
    plan
        How it was carried out: a plan of `featprop.clustering.search_by_size`.
    """

    medoids: NDArray[np.intp]
    labels: NDArray[np.intp]
    distances: NDArray[np.float32]
    loss: float
    n_swaps: int
    plan: str


def k_medoids(
    rows: Any,
    n_medoids: int,
    *,
    fixed: Sequence[int] | NDArray[Any] = (),
    candidates: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    metric: str = "euclidean",
    n_starts: int | None = None,
    plan: str | None = None,
    max_memory: int = MEMORY,
    seed: int | np.random.Generator = 0,
) -> KMedoidsResult:
    """Choose distinct rows as medoids.

    Parameters
    ----------
    rows
        Dense or CSR, one row a point. Computed in float32. `featprop.clustering.Points` if the same rows are clustered
        several times: they have a metric of their own and keep the distances they measured.
    n_medoids
        How many to choose, besides the fixed ones; exactly that many are.
    fixed
        Rows that are medoids already: they attract the rows near them and are not chosen again.
    candidates
        The rows that may be chosen, as positions or as a mask; every row but the fixed ones if not given.
    weights
        How much each row counts; a weight of 2 is as good as the row twice.
    metric
        ``"euclidean"``, or ``"cosine"``: one minus the cosine of the angle between two rows.
    n_starts
        How many times the search starts anew; the lowest loss is kept. More when few medoids are sought, if not given.
    plan
        ``"exact"``, ``"streamed"`` or ``"sampled"`` (`featprop.clustering.search_by_size`); by size if not given.
    max_memory
        Bytes the search may use beside the rows.
    seed
        The same seed gives the same medoids, whatever the number of threads.
    """
    if isinstance(rows, Points) and metric not in ("euclidean", rows.metric):
        message = f"The points already have the metric {rows.metric!r}, so `metric` cannot be {metric!r}."
        raise ParameterError(message, hint="Omit `metric`.", parameter="metric", value=metric)
    points = rows if isinstance(rows, Points) else Points(_checked_rows(rows), metric)
    max_memory = _positive("max_memory", max_memory)
    if n_starts is not None:
        n_starts = _positive("n_starts", n_starts)
    if plan is not None and plan not in PLANS:
        raise unknown_choice("plan", plan, PLANS)
    n = len(points)
    held = _checked_positions("fixed", fixed, n)
    allowed = _checked_candidates(candidates, held, n)
    counted = _checked_weights(weights, n)
    n_medoids = _positive("n_medoids", n_medoids)
    if n_medoids > len(allowed):
        message = f"Cannot choose {n_medoids:,} medoids from {len(allowed):,} candidates."
        raise ParameterError(message, parameter="n_medoids", value=n_medoids)
    generator = np.random.default_rng(seed)
    covered, nearest_fixed = np.full(n, np.inf, dtype=np.float32), np.zeros(n, dtype=np.intp)
    if held.size:
        nearest_fixed, _ = points.nearest(points.take(held))
        covered = points.exact_distances(points.take(held), nearest_fixed)
    problem = Problem(points, n_medoids, allowed, held, nearest_fixed, covered, counted, max_memory)
    chosen_plan = plan or choose_plan(problem)
    if n_starts is None:
        n_starts = 2 if n_medoids <= STARTED_TWICE[chosen_plan] else 1
    log.info("K-Medoids: %s of %s candidates, %s plan", f"{n_medoids:,}", f"{len(allowed):,}", chosen_plan)
    return _described(problem, solve(problem, chosen_plan, n_starts, generator), chosen_plan)


def _described(problem: Problem, found: Solution, plan: str) -> KMedoidsResult:
    """Put the medoids in order, the one that lowers the loss most first, and measure exactly."""
    points, medoids = problem.points, found.medoids
    most = max(1, problem.max_memory // (16 * len(medoids)))
    references = slice(None, None, -(-len(points) // most))
    chosen = points.distances(medoids, to=points.take(references))
    order = greedy_order(chosen, problem.covered[references], problem.weights[references], len(medoids))
    medoids = medoids[order]
    centres = points.take(np.concatenate([medoids, problem.fixed]))
    if found.labels is None:
        labels, _ = points.nearest(centres)
        labels[medoids] = np.arange(len(medoids))
    else:
        fixed = len(medoids) + problem.nearest_fixed
        labels = np.where(found.labels < 0, fixed, np.argsort(order)[found.labels])
    distances = points.exact_distances(centres, labels)
    loss = float(np.average(distances.astype(np.float64), weights=problem.weights))
    return KMedoidsResult(medoids, labels, distances, loss, found.n_swaps, plan)


def _checked_rows(rows: Any) -> Any:
    matrix = sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows)
    if matrix.dtype.kind not in "biuf":
        message = f"`rows` must be numeric, not {matrix.dtype}."
        raise ParameterError(message, parameter="rows", value=str(matrix.dtype))
    if matrix.dtype.kind != "f":
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape:
        message = f"`rows` must be a non-empty matrix, not an array of shape {matrix.shape}."
        raise ParameterError(message, parameter="rows", value=matrix.shape)
    values = matrix.data if sp.issparse(matrix) else matrix
    if not np.isfinite(values).all():
        count = np.count_nonzero(~np.isfinite(values))
        message = f"`rows` contains {count:,} NaN or infinite values."
        raise ParameterError(message, hint="Fill them in or drop these rows.", parameter="rows", value=count)
    return matrix


def _positive(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise ParameterError(f"`{name}` must be a positive integer, not {value!r}.", parameter=name, value=value)
    return number


def _checked_positions(name: str, positions: Any, n: int) -> NDArray[np.intp]:
    given = np.asarray(positions).ravel()
    if given.dtype == bool and given.shape == (n,):
        given = np.flatnonzero(given)
    if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= n):
        value = f"{given.min()} to {given.max()}" if given.dtype.kind in "iu" else str(given.dtype)
        message = f"`{name}` must be row positions from 0 to {n - 1:,}, not {value}."
        raise ParameterError(message, parameter=name, value=value)
    whole = given.astype(np.intp)
    if len(np.unique(whole)) < len(whole):
        repeats = len(whole) - len(np.unique(whole))
        raise ParameterError(f"`{name}` contains {repeats:,} duplicates.", parameter=name, value=repeats)
    return whole


def _checked_candidates(candidates: Any, held: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    if candidates is None:
        return np.setdiff1d(np.arange(n), held)
    allowed = np.sort(_checked_positions("candidates", candidates, n))
    both = np.intersect1d(allowed, held)
    if both.size and np.asarray(candidates).dtype != bool:
        message = f"{both.size:,} of the `candidates` are also in `fixed`, first row {both[0]}."
        raise ParameterError(message, parameter="candidates", value=both.size, row=int(both[0]))
    return np.setdiff1d(allowed, held)


def _checked_weights(weights: Any, n: int) -> NDArray[np.float32]:
    if weights is None:
        return np.ones(n, dtype=np.float32)
    counted = np.asarray(weights, dtype=np.float32)
    if counted.shape != (n,):
        message = f"`weights` must have one value for each of the {n:,} rows, not the shape {counted.shape}."
        raise ParameterError(message, parameter="weights", value=counted.shape)
    if not (np.isfinite(counted).all() and (counted >= 0).all() and counted.sum() > 0):
        found = f"between {counted.min()} and {counted.max()}"
        message = f"`weights` must be finite, non-negative and not all zero; the values are {found}."
        raise ParameterError(message, parameter="weights", value=found)
    return counted
