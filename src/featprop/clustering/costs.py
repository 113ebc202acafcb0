"""Candidates of unequal price: as much as a budget buys.

Greedy by gain per price, and greedy by gain alone (Leskovec et al., "Cost-effective outbreak detection in networks",
2007: the better of the two is never far from the best); from each, exchanges that stay within the budget; the lower
loss is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featprop.clustering.kmeans import as_points, k_means, nearest_lists
from featprop.clustering.plans import Problem
from featprop.clustering.swaps import Search
from featprop.errors import ParameterError

__all__ = ["affordable"]


def affordable(
    problem: Problem, n_medoids: int | None, costs: Any, budget: float | None, generator: np.random.Generator
) -> tuple[NDArray[np.intp], int]:
    """Return the medoids that `budget` buys and how many exchanges were made."""
    prices = _checked(problem, n_medoids, costs, budget)
    assert budget is not None
    candidates = problem.candidates[prices[problem.candidates] <= budget]
    candidates = _shortlist(problem, candidates, prices, budget, generator)
    prices = prices[candidates]
    distances = problem.points.matrix(candidates)
    searches = []
    for per_price in (True, False):
        first = _greedy(problem, distances, prices, budget, per_price)
        purse = budget - prices[first].sum()
        search = Search(first, distances[first], problem.covered, problem.weights, prices[first], purse)
        everyone = np.arange(len(candidates))
        while search.can_swap and search.improve(
            everyone, distances, search.gains(distances, prices=prices), prices=prices
        ):
            pass
        searches.append(search)
    best = min(searches, key=lambda search: search.loss)
    return candidates[best.medoids], best.n_swaps


def _checked(problem: Problem, n_medoids: int | None, costs: Any, budget: float | None) -> NDArray[np.float64]:
    n = len(problem.points)
    if costs is None or budget is None or n_medoids is not None:
        found = ", ".join(
            name
            for name, value in {"n_medoids": n_medoids, "costs": costs, "budget": budget}.items()
            if value is not None
        )
        rule = "must come together and without n_medoids"
        raise ParameterError("costs and budget", rule, found, "pass n_medoids, or costs and budget")
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (n,):
        raise ParameterError("costs", f"must be one for each of the {n:,} rows", prices.shape, "pass n costs")
    if not (np.isfinite(prices).all() and (prices > 0).all()):
        raise ParameterError("costs", "must be finite and above 0", f"{prices.min()} to {prices.max()}", "mend them")
    cheapest = prices[problem.candidates].min() if problem.candidates.size else np.inf
    if not budget >= cheapest:
        rule = f"must buy at least one candidate, the cheapest of which costs {cheapest:g}"
        raise ParameterError("budget", rule, budget, "raise it")
    return prices


def _shortlist(
    problem: Problem,
    candidates: NDArray[np.intp],
    prices: NDArray[np.float64],
    budget: float,
    generator: np.random.Generator,
) -> NDArray[np.intp]:
    """Return as many candidates as the memory has room for: those near K-Means centres, the cheap ones first."""
    room = max(1, problem.max_memory // (8 * len(problem.points)))
    if len(candidates) <= room:
        return candidates
    wanted = int(np.clip(budget / np.median(prices[candidates]), 1, room // 4))
    centres = k_means(problem.points, wanted, problem.fixed, problem.weights, generator)
    pool = problem.points.take(candidates)
    near = candidates[np.unique(nearest_lists(as_points(pool, centres), pool, max(2, room // wanted))[0])]
    return near[np.argsort(prices[near], kind="stable")][:room]


def _greedy(
    problem: Problem, distances: NDArray[np.float32], prices: NDArray[np.float64], budget: float, per_price: bool
) -> NDArray[np.intp]:
    near = problem.covered.copy()
    chosen: list[int] = []
    left = budget
    while True:
        if np.isinf(near[0]):
            gains = distances.max() * problem.weights.sum() - distances @ problem.weights
        else:
            gains = np.maximum(near - distances, 0.0) @ problem.weights
        open_ = prices <= left
        open_[chosen] = False
        if not open_.any():
            return np.array(chosen, dtype=np.intp)
        worth = gains / prices if per_price else gains
        best = int(np.where(open_, worth, -np.inf).argmax())
        chosen.append(best)
        left -= prices[best]
        near = np.minimum(near, distances[best])
