"""K-Medoids solvers, chosen by the size of the problem and the memory available.

exact
    Keep the distances of all candidates to all rows. Start from greedy and random medoids; swap until no swap helps.
streamed
    Compute distances in blocks and discard them. Start from K-Means in a projection to few dimensions. Each pass ranks
    many candidates by the rows around them, and swaps the promising ones on exact losses over all rows, until a pass is
    no longer worth its time. Wide rows are ranked in a projection.
sampled
    For more rows: solve a sample, then move medoids within their cells while the loss over all rows falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.alternating import alternate, cell_means, find_one_medoid
from featprop.clustering.kmeans import as_points, k_means, nearest_distinct, nearest_lists
from featprop.clustering.swaps import Search, greedy_order, total_distances
from featprop.compute.points import Points
from featprop.matrix import Floats, Positions, as_dense
from featprop.progress import tracked

METHODS = ("exact", "streamed", "sampled")
MAX_STREAMED_ROWS = 60_000
MAX_PASSES = 20
MIN_IMPROVEMENT = 2e-4
"""Stop when a pass lowers the loss by less than this share."""
PROJECTED_COLUMNS = 64
OVERSAMPLING = 8
COLUMNS_PER_MEDOID = 6
"""Projected columns per medoid for ranking: more cells need finer distinctions."""
MAX_PROJECTED_COLUMNS = 1024
PROJECTION_SAMPLE_ROWS = 4096
MIN_WIDTH_RATIO = 3
"""Candidates are ranked in a projection if rows have at least this many times its columns."""
MIN_NEIGHBOUR_CELLS, MAX_NEIGHBOUR_CELLS = 6, 16
MIN_RANKED_PER_CELL, RANKED_CANDIDATES = 64, 2048
MIN_WORK_RATIO, CHEAPLY_RANKED_PER_CELL = 8, 256
"""More candidates are ranked where an exact distance takes this many times the work of one in the projection."""
MIN_ROWS_PER_MEDOID = 10
"""Sampled rows per medoid from which swaps are worth more than a larger sample: swaps leave no group of rows without a
medoid while another has two."""
KMEANS_ROWS_PER_MEDOID = 64
"""Rows per medoid for K-Means."""
NEAREST_ROWS_PER_MEDOID = 256
"""Rows per medoid among which the rows nearest to the means become medoids."""


@dataclass(frozen=True)
class Problem:
    """A K-Medoids problem."""

    points: Points  # all rows
    count: int  # number of medoids to choose
    candidates: Positions  # positions of the rows that may become medoids
    fixed: Positions  # positions of the fixed medoids
    nearest_fixed: Positions  # nearest fixed medoid of each row, as an index into `fixed`
    covered: Floats  # distance of each row to the nearest fixed medoid; infinite without fixed medoids
    weights: Floats  # weight of each row
    max_memory: int  # memory limit of the search in bytes, in addition to the rows


def choose_method(problem: Problem) -> str:
    """Return the most thorough method that fits the memory and ends in reasonable time."""
    n = len(problem.points)
    if 4 * len(problem.candidates) * n <= problem.max_memory:
        return "exact"
    if n <= MAX_STREAMED_ROWS and 8 * problem.count * n <= problem.max_memory:
        return "streamed"
    return "sampled"


@dataclass(frozen=True)
class Solution:
    """Result of a solver."""

    medoids: Positions  # positions of the chosen rows
    n_swaps: int  # number of swaps
    labels: NDArray[np.int32] | None = None
    """Nearest medoid of each row, -1 if a fixed medoid is nearer; None if not computed."""


def solve(problem: Problem, method: str, n_init: int, generator: np.random.Generator) -> Solution:
    """Solve the problem with a method of `METHODS`."""
    solvers = {"exact": _solve_exact, "streamed": _solve_streamed, "sampled": _solve_sampled}
    return solvers[method](problem, n_init, generator)


def _solve_exact(problem: Problem, n_init: int, generator: np.random.Generator) -> Solution:
    """Break ties by total distance, so that the result does not depend on the order of the rows."""
    distances = problem.points.distance_matrix(problem.candidates)
    central_first = np.argsort(total_distances(distances, problem.weights), kind="stable")
    rank = np.argsort(central_first)
    everyone = np.arange(len(distances))
    best: Search | None = None
    for start in tracked(range(n_init), "choosing medoids", n_init):
        if start == 0:
            first = greedy_order(distances, problem.covered, problem.weights, problem.count, central_first)
        else:
            first = central_first[generator.choice(len(distances), size=problem.count, replace=False)]
        search = Search(first, distances[first], problem.covered, problem.weights)
        while search.can_swap and search.improve(everyone, distances, search.gains(distances), rank):
            pass
        if best is None or search.loss < best.loss:
            best = search
    assert best is not None
    return Solution(problem.candidates[best.medoids], best.n_swaps)


def _solve_streamed(problem: Problem, n_init: int, generator: np.random.Generator) -> Solution:
    if problem.count == 1 and not problem.fixed.size:
        return Solution(find_one_medoid(problem.points, problem.candidates, problem.weights), 0)
    narrow = project(problem.points, PROJECTED_COLUMNS, generator)
    ranking = _project_problem(problem, narrow, generator)
    per_cell = _count_ranked(problem, ranking)
    best: Search | None = None
    for _ in range(n_init):
        search = _streamed_search(problem, narrow, ranking, per_cell, generator)
        if best is None or search.loss < best.loss:
            best = search
    assert best is not None
    return Solution(best.medoids, best.n_swaps)


def project(points: Points, width: int, generator: np.random.Generator, max_rows: int | None = None) -> Points:
    """Project points to `width` dimensions plus some oversampling; return narrower points unchanged.

    The subspace comes from a random test matrix with one power step (Halko, Martinsson and Tropp, "Finding structure
    with randomness", 2011), computed on about `max_rows` rows if given.
    """
    if points.width <= width + OVERSAMPLING:
        return points
    test = generator.standard_normal((points.width, width + OVERSAMPLING), dtype=np.float32)
    some = points if max_rows is None else points.sample(max_rows)
    basis, _ = np.linalg.qr(some.multiply_transposed(some.multiply(test)))
    return Points.wrap(points.multiply(np.ascontiguousarray(basis)), points.metric, points.scale)


def _project_problem(problem: Problem, narrow: Points, generator: np.random.Generator) -> Problem:
    """Return the problem in which candidates are ranked: projected if rows are wide, else unchanged."""
    points = problem.points
    width = min(max(PROJECTED_COLUMNS, COLUMNS_PER_MEDOID * problem.count), MAX_PROJECTED_COLUMNS)
    if points.width < MIN_WIDTH_RATIO * width:
        return problem
    if width > PROJECTED_COLUMNS:
        narrow = project(points, width, generator, PROJECTION_SAMPLE_ROWS)
    # Project only the product in |a|² + |b|² - 2 a·b. The rest of a row is mostly noise of that row and adds to all its
    # distances: rows with many close neighbours have little of it and are better medoids.
    ranking = Points.wrap(narrow.rows, narrow.metric, narrow.scale, points.squared_norms)
    if not problem.fixed.size:
        return replace(problem, points=ranking)
    return replace(problem, points=ranking, covered=ranking.nearest(ranking.take(problem.fixed))[1])


def _count_ranked(problem: Problem, ranking: Problem) -> int:
    """Return how many candidates of a cell to rank: more if that costs little compared with exact distances."""
    per_cell = max(MIN_RANKED_PER_CELL, RANKED_CANDIDATES // (problem.count + len(problem.fixed)))
    if problem.points.work_per_distance < MIN_WORK_RATIO * ranking.points.work_per_distance:
        return per_cell
    return max(per_cell, CHEAPLY_RANKED_PER_CELL)


def _streamed_search(
    problem: Problem, narrow: Points, ranking: Problem, per_cell: int, generator: np.random.Generator
) -> Search:
    centres = k_means(narrow, problem.count, problem.fixed, problem.weights, generator)
    start = nearest_distinct(narrow, centres, problem.candidates)
    search = Search(start, problem.points.distances(start), problem.covered, problem.weights)
    for _ in tracked(range(MAX_PASSES), "choosing medoids", MAX_PASSES):
        before, ranked = search.loss, search
        if ranking is not problem:
            # Medoids are projected as candidates are, or what the projection omits would favour the current medoids.
            ranked = Search(search.medoids, ranking.points.distances(search.medoids), ranking.covered, ranking.weights)
        promising = _find_promising(ranking, ranked, per_cell, generator)
        for block in problem.points.split(len(promising)):
            distances = problem.points.distances(promising[block])
            search.improve(promising[block], distances, search.gains(distances))
        if search.loss >= (1 - MIN_IMPROVEMENT) * before:
            break
    return search


def _find_promising(problem: Problem, search: Search, per_cell: int, generator: np.random.Generator) -> Positions:
    """Return the candidates with the largest gains, computed from nearby rows only.

    An omitted row could only add to the gain, so the gain is a lower bound. Nearby rows are those of the candidate's
    own cell (the rows with the same nearest medoid, chosen or fixed) and of the neighbouring cells. In a large cell,
    only the rows nearest to its mean and as many random rows are candidates.
    """
    points = problem.points
    centres = np.concatenate([search.medoids, problem.fixed])
    cell = np.where(search.near < problem.count, search.near, problem.count + problem.nearest_fixed)
    members = np.split(np.argsort(cell, kind="stable"), np.cumsum(np.bincount(cell, minlength=len(centres)))[:-1])
    around = points.take(centres)
    n_around = min(max(MIN_NEIGHBOUR_CELLS, len(centres) // 20), MAX_NEIGHBOUR_CELLS)
    neighbours, _ = nearest_lists(around, around, n_around)
    allowed = np.zeros(len(points), dtype=bool)
    allowed[problem.candidates] = True
    allowed[centres] = False
    gains = np.full(len(points), -np.inf)
    removal = search.removal_losses()
    for own, cells in enumerate(neighbours):
        inside = members[own][allowed[members[own]]]
        if not inside.size:
            continue
        references = np.concatenate([members[other] for other in cells])
        inside = _select_ranked(points.take(inside), inside, per_cell, generator)
        for block in points.split(len(inside), len(references)):
            distances = points.distances_between(inside[block], references)
            gains[inside[block]] = search.gains(distances, references, removal)
    best = np.argsort(-gains, kind="stable")[: max(256, 2 * problem.count)]
    return best[gains[best] > 0]


def _select_ranked(cell: Points, rows: Positions, each: int, generator: np.random.Generator) -> Positions:
    """Return the rows of a cell to rank: half of them the nearest to the mean, half random."""
    if len(rows) <= each:
        return rows
    mean = np.asarray(cell.rows.mean(axis=0), dtype=np.float32)
    nearest_first = np.argsort(cell.relative_sq_distances(mean), kind="stable")
    drawn = generator.choice(nearest_first[each // 2 :], size=each - each // 2, replace=False)
    return np.asarray(rows[np.concatenate([nearest_first[: each // 2], drawn])])


def _solve_sampled(problem: Problem, n_init: int, generator: np.random.Generator) -> Solution:
    if problem.count == 1 and not problem.fixed.size:
        return Solution(find_one_medoid(problem.points, problem.candidates, problem.weights), 0)
    medoids, n_swaps = _solve_sample(problem, n_init, generator)
    cells, moves = alternate(problem.points, medoids, problem.candidates, problem.covered, problem.weights)
    return Solution(cells.medoids, n_swaps + moves, cells.labels)


def _solve_sample(problem: Problem, n_init: int, generator: np.random.Generator) -> tuple[Positions, int]:
    """Solve a sample: by swaps if it has enough rows for every medoid, else by K-Means."""
    room = min(MAX_STREAMED_ROWS, problem.max_memory // (8 * problem.count))
    by_swaps = room >= MIN_ROWS_PER_MEDOID * problem.count
    sample = _draw_sample(problem, room if by_swaps else NEAREST_ROWS_PER_MEDOID * problem.count, generator)
    part = _restrict(problem, sample)
    if by_swaps:
        solution = _solve_streamed(part, n_init, generator)
        return sample[solution.medoids], solution.n_swaps
    return sample[_solve_by_means(part, generator)], 0


def _solve_by_means(problem: Problem, generator: np.random.Generator) -> Positions:
    """Return the candidates nearest to the means of cells found by K-Means on a projected sample.

    The nearest candidates are searched among all rows without projection, which could hide that a row is near the mean
    of another cell.
    """
    few = _restrict(problem, _draw_sample(problem, KMEANS_ROWS_PER_MEDOID * problem.count, generator))
    narrow = project(few.points, PROJECTED_COLUMNS, generator)
    centres = k_means(narrow, few.count, few.fixed, few.weights, generator)
    nearest, _ = narrow.nearest(as_points(narrow, np.concatenate([centres, as_dense(narrow.rows[few.fixed])])))
    cells = np.where(nearest < few.count, nearest, -1).astype(np.int32)
    means = cell_means(few.points, cells, few.weights, few.count)
    return nearest_distinct(problem.points, means, problem.candidates)


def _restrict(problem: Problem, rows: Positions) -> Problem:
    """Restrict the problem to some rows, in order, that include all fixed medoids."""
    return Problem(
        points=problem.points.take(rows),
        count=problem.count,
        candidates=np.flatnonzero(np.isin(rows, problem.candidates, assume_unique=True)),
        fixed=np.searchsorted(rows, problem.fixed),
        nearest_fixed=problem.nearest_fixed[rows],
        covered=problem.covered[rows],
        weights=problem.weights[rows],
        max_memory=problem.max_memory,
    )


def _draw_sample(problem: Problem, size: int, generator: np.random.Generator) -> Positions:
    """Draw rows with positive weight and enough candidates; always include the fixed medoids."""
    counting = np.flatnonzero(problem.weights > 0)
    drawn = generator.choice(counting, size=min(size, len(counting)), replace=False)
    n_candidates = min(len(problem.candidates), max(problem.count, size // 4))
    candidates = generator.choice(problem.candidates, size=n_candidates, replace=False)
    return np.unique(np.concatenate([drawn, candidates, problem.fixed]))
