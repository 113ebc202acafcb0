"""How the K-Medoids search is carried out, chosen from the size of the problem and the memory it may use.

exact
    All distances of candidates to rows are held at once. Greedy and random starts, exchanges until none helps.
streamed
    Distances come in blocks and are forgotten again. K-Means in a projection of few dimensions starts the search. Each
    pass judges many candidates by the rows around them, and makes exchanges for the promising ones on exact losses over
    all rows; passes end when one is no longer worth its time. Wide rows are judged in a projection.
sampled
    For rows beyond that: the search runs on a sample of the rows, then the medoids are moved within their cells as long
    as the loss over all rows falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.cell_moves import cell_means, moved_within_cells, one_medoid
from featprop.clustering.kmeans import as_points, k_means, nearest_distinct, nearest_lists
from featprop.clustering.projection import projected, with_lengths_of
from featprop.clustering.swaps import Search, greedy_order, total_distances
from featprop.compute.points import Points
from featprop.matrix import as_dense
from featprop.progress import tracked

__all__ = ["PLANS", "Problem", "Solution", "choose_plan", "solve"]

PLANS = ("exact", "streamed", "sampled")
PROJECTED_WIDTH = 64
COLUMNS_EACH = 6
"""Columns for each medoid in which candidates are judged: the more cells, the finer what tells them apart."""
MOST_COLUMNS = 1024
ENOUGH_ROWS = 4096
"""Rows on which so many columns are found."""
WORTH_PROJECTING = 3
"""Rows are judged in a projection if they have this many times its columns."""
FEWEST_NEIGHBOURS = 6
MOST_NEIGHBOURS = 16
EACH_AT_LEAST = 64
JUDGED = 2048
WORTH_A_PASS = 2e-4
STREAMED_LIMIT = 60_000
EACH_FOR_EXCHANGES = 10
"""Rows of a sample for each medoid from which exchanges are worth more than a larger sample: they leave no group of
rows without a medoid while another has two."""
EACH_IN_MEANS = 64
"""Rows for each medoid that means are found of,"""
EACH_NEAR_MEANS = 256
"""and among which the medoids are then looked for."""
MAX_PASSES = 20


@dataclass(frozen=True)
class Problem:
    """What is to be solved.

    Attributes
    ----------
    points
        All rows.
    count
        How many medoids to choose.
    candidates
        Who may be one.
    fixed
        Medoids that are there already.
    nearest_fixed
        For each row the nearest fixed medoid, an index into `fixed`.
    covered
        The distance of each row to the nearest fixed medoid, infinite if there is none.
    weights
        How much each row counts.
    max_memory
        Bytes the search may use beside the rows.
    """

    points: Points
    count: int
    candidates: NDArray[np.intp]
    fixed: NDArray[np.intp]
    nearest_fixed: NDArray[np.intp]
    covered: NDArray[np.float32]
    weights: NDArray[np.float32]
    max_memory: int


def choose_plan(problem: Problem) -> str:
    """Return the most thorough plan that fits the memory and ends in reasonable time."""
    n = len(problem.points)
    if 4 * len(problem.candidates) * n <= problem.max_memory:
        return "exact"
    if n <= STREAMED_LIMIT and 8 * problem.count * n <= problem.max_memory:
        return "streamed"
    return "sampled"


@dataclass(frozen=True)
class Solution:
    """What a search found.

    Attributes
    ----------
    medoids
        The chosen rows.
    n_swaps
        How many exchanges were made.
    labels
        The nearest of them for each row, -1 where a fixed one is nearer, if the search ended with that.
    """

    medoids: NDArray[np.intp]
    n_swaps: int
    labels: NDArray[np.int32] | None = None


def solve(problem: Problem, plan: str, n_starts: int, generator: np.random.Generator) -> Solution:
    """Return the medoids the plan finds."""
    if plan == "sampled":
        return _sampled(problem, n_starts, generator)
    solvers = {"exact": _exact, "streamed": _streamed}
    return Solution(*solvers[plan](problem, n_starts, generator))


def _exact(problem: Problem, n_starts: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], int]:
    """Search with all distances at hand. Candidates are taken by their total distance, so row order is no matter."""
    distances = problem.points.matrix(problem.candidates)
    central_first = np.argsort(total_distances(distances, problem.weights), kind="stable")
    rank = np.argsort(central_first)
    everyone = np.arange(len(distances))
    best: Search | None = None
    for start in tracked(range(n_starts), "choosing medoids", n_starts):
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
    return problem.candidates[best.medoids], best.n_swaps


def _streamed(problem: Problem, n_starts: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], int]:
    if problem.count == 1 and not problem.fixed.size:
        return one_medoid(problem.points, problem.candidates, problem.weights), 0
    narrow = projected(problem.points, PROJECTED_WIDTH, generator)
    seen = _seen(problem, narrow, generator)
    best: Search | None = None
    for _ in range(n_starts):
        search = _streamed_search(problem, narrow, seen, generator)
        if best is None or search.loss < best.loss:
            best = search
    assert best is not None
    return best.medoids, best.n_swaps


def _seen(problem: Problem, narrow: Points, generator: np.random.Generator) -> Problem:
    """Return the problem as candidates are judged: in a projection if rows are wide beside it, else as it is."""
    points, width = problem.points, min(max(PROJECTED_WIDTH, COLUMNS_EACH * problem.count), MOST_COLUMNS)
    if points.width < WORTH_PROJECTING * width:
        return problem
    if width > PROJECTED_WIDTH:
        narrow = projected(points, width, generator, ENOUGH_ROWS)
    seen = with_lengths_of(points, narrow)
    if not problem.fixed.size:
        return replace(problem, points=seen)
    return replace(problem, points=seen, covered=seen.nearest(seen.take(problem.fixed))[1])


def _streamed_search(problem: Problem, narrow: Points, seen: Problem, generator: np.random.Generator) -> Search:
    centres = k_means(narrow, problem.count, problem.fixed, problem.weights, generator)
    start = nearest_distinct(narrow, centres, problem.candidates)
    search = Search(start, problem.points.distances(start), problem.covered, problem.weights)
    for _ in tracked(range(MAX_PASSES), "choosing medoids", MAX_PASSES):
        before = search.loss
        judge = search
        if seen is not problem:
            # Medoids are seen as the candidates are: what a projection leaves out would speak for those that are there.
            judge = Search(search.medoids, seen.points.distances(search.medoids), seen.covered, seen.weights)
        promising = _promising(seen, judge, generator)
        for block in problem.points.blocks(len(promising)):
            distances = problem.points.distances(promising[block])
            search.improve(promising[block], distances, search.gains(distances))
        if search.loss >= (1 - WORTH_A_PASS) * before:
            break
    return search


def _promising(problem: Problem, search: Search, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return the candidates that gain most, judged by the rows near them only.

    A row that is left out could only add to the gain, so a gain found here is real. Each candidate is judged by the
    rows of its own cell (the rows with the same nearest medoid, chosen or fixed) and of the cells next to it. Of a
    large cell, the rows nearest its mean and as many drawn at random are judged.
    """
    points = problem.points
    centres = np.concatenate([search.medoids, problem.fixed])
    cell = np.where(search.near < problem.count, search.near, problem.count + problem.nearest_fixed)
    members = np.split(np.argsort(cell, kind="stable"), np.cumsum(np.bincount(cell, minlength=len(centres)))[:-1])
    around = points.take(centres)
    n_around = min(max(FEWEST_NEIGHBOURS, len(centres) // 20), MOST_NEIGHBOURS)
    neighbours, _ = nearest_lists(around, around, n_around)
    each = max(EACH_AT_LEAST, JUDGED // len(centres))
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
        inside = _judged(points.take(inside), inside, each, generator)
        for block in points.blocks(len(inside), len(references)):
            distances = points.distances_among(inside[block], references)
            gains[inside[block]] = search.gains(distances, references, removal)
    best = np.argsort(-gains, kind="stable")[: max(256, 2 * problem.count)]
    return best[gains[best] > 0]


def _judged(cell: Points, rows: NDArray[np.intp], each: int, generator: np.random.Generator) -> NDArray[np.intp]:
    if len(rows) <= each:
        return rows
    mean = np.asarray(cell.rows.mean(axis=0), dtype=np.float32)
    nearest_first = np.argsort(cell.squared_to(mean), kind="stable")
    drawn = generator.choice(nearest_first[each // 2 :], size=each - each // 2, replace=False)
    return np.asarray(rows[np.concatenate([nearest_first[: each // 2], drawn])])


def _sampled(problem: Problem, n_starts: int, generator: np.random.Generator) -> Solution:
    if problem.count == 1 and not problem.fixed.size:
        return Solution(one_medoid(problem.points, problem.candidates, problem.weights), 0)
    medoids, n_swaps = _sampled_start(problem, n_starts, generator)
    cells, moves = moved_within_cells(problem.points, medoids, problem.candidates, problem.covered, problem.weights)
    return Solution(cells.medoids, n_swaps + moves, cells.labels)


def _sampled_start(problem: Problem, n_starts: int, generator: np.random.Generator) -> tuple[NDArray[np.intp], int]:
    """Solve the problem of a sample: by exchanges if that leaves enough rows for every medoid, by K-Means if not."""
    room = min(STREAMED_LIMIT, problem.max_memory // (8 * problem.count))
    by_exchanges = room >= EACH_FOR_EXCHANGES * problem.count
    sample = _sample(problem, room if by_exchanges else EACH_NEAR_MEANS * problem.count, generator)
    part = _part(problem, sample)
    if by_exchanges:
        medoids, n_swaps = _streamed(part, n_starts, generator)
        return sample[medoids], n_swaps
    return sample[_near_means(part, generator)], 0


def _near_means(problem: Problem, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return the candidates nearest to the means of cells, which are found on some of the rows, in a projection.

    The candidates are looked for among all rows, as they are: one whose features say little but what its neighbourhood
    is like may be near the mean of a cell that is not its own, and a projection would not tell.
    """
    few = _part(problem, _sample(problem, EACH_IN_MEANS * problem.count, generator))
    narrow = projected(few.points, PROJECTED_WIDTH, generator)
    centres = k_means(narrow, few.count, few.fixed, few.weights, generator)
    nearest, _ = narrow.nearest(as_points(narrow, np.concatenate([centres, as_dense(narrow.rows[few.fixed])])))
    cells = np.where(nearest < few.count, nearest, -1).astype(np.int32)
    means = cell_means(few.points, cells, few.weights, few.count)
    return nearest_distinct(problem.points, means, problem.candidates)


def _part(problem: Problem, rows: NDArray[np.intp]) -> Problem:
    """Return the problem of some of the rows, in order, which have all that are fixed among them."""
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


def _sample(problem: Problem, size: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Draw rows that count, and enough candidates: all of them if they are few; the fixed rows are always there."""
    counting = np.flatnonzero(problem.weights > 0)
    drawn = generator.choice(counting, size=min(size, len(counting)), replace=False)
    n_candidates = min(len(problem.candidates), max(problem.count, size // 4))
    candidates = generator.choice(problem.candidates, size=n_candidates, replace=False)
    return np.unique(np.concatenate([drawn, candidates, problem.fixed]))
