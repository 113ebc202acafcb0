"""The swap search against all swaps in double precision."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featprop.clustering.swaps import Search, greedy_order, total_distances


class Given(NamedTuple):
    """Distances of candidates to references, the distance to fixed medoids, weights and medoids."""

    distances: np.ndarray
    covered: np.ndarray
    weights: np.ndarray
    medoids: np.ndarray

    def search(self) -> Search:
        return Search(self.medoids, self.distances[self.medoids], self.covered, self.weights)

    def loss(self, medoids: np.ndarray) -> float:
        """Compute the weighted sum of the distances to the nearest medoid directly."""
        nearest = np.vstack([self.distances[medoids], self.covered[None]]).astype(float).min(axis=0)
        return float(nearest @ self.weights)


def problem(seed: int, fixed: bool, n: int = 14, references: int = 23, count: int = 3) -> Given:
    generator = np.random.default_rng(seed)
    distances = generator.random((n, references)).astype(np.float32)
    covered = generator.random(references) if fixed else np.full(references, np.inf)
    weights = generator.integers(0, 4, references) + 0.5 * (np.arange(references) == 0)
    medoids = generator.choice(n, count, replace=False)
    return Given(distances, covered.astype(np.float32), weights.astype(np.float32), medoids)


problems = st.builds(problem, st.integers(0, 10_000), st.booleans())


def best_swap(given: Given, candidate: int) -> float:
    """Return by how much the best swap of a candidate lowers the loss."""
    places = range(len(given.medoids))
    changed = [np.where(np.arange(len(given.medoids)) == out, candidate, given.medoids) for out in places]
    return given.loss(given.medoids) - min(given.loss(each) for each in changed)


@given(problems)
@settings(max_examples=30)
def test_two_nearest_medoids_of_each_reference(given: Given) -> None:
    search = given.search()
    every = np.vstack([given.distances[given.medoids], given.covered[None]])
    order = np.argsort(every, axis=0, kind="stable")
    ours = np.sort(every, axis=0)
    np.testing.assert_array_equal(search.near, order[0])
    np.testing.assert_array_equal(search.near_distance, ours[0])
    np.testing.assert_array_equal(search.second_distance, ours[1])
    known = np.isfinite(ours[1])
    np.testing.assert_array_equal(search.second[known], order[1][known])


@given(problems)
@settings(max_examples=30)
def test_losses_and_gains_match_every_swap(given: Given) -> None:
    search = given.search()
    assert search.loss == pytest.approx(given.loss(given.medoids))
    rises = [given.loss(np.delete(given.medoids, out)) - given.loss(given.medoids) for out in range(3)]
    np.testing.assert_allclose(search.removal_losses()[:3], rises, atol=1e-5)
    expected = [best_swap(given, candidate) for candidate in range(len(given.distances))]
    np.testing.assert_allclose(search.gains(given.distances), expected, atol=1e-5)


@given(problems)
@settings(max_examples=30)
def test_gains_over_some_references_are_lower_bounds(given: Given) -> None:
    search, some = given.search(), np.arange(0, given.distances.shape[1], 2)
    block = np.ascontiguousarray(given.distances[:, some])
    partly = search.gains(block, some)
    assert (partly <= search.gains(given.distances) + 1e-6).all()
    removal = search.removal_losses()
    np.testing.assert_array_equal(search.gains(block, some, removal), partly)
    np.testing.assert_array_equal(search.gains(given.distances, removal=removal + 1), search.gains(given.distances) - 1)


@given(problems)
@settings(max_examples=30)
def test_state_after_swaps_equals_a_new_search(given: Given) -> None:
    search, everyone = given.search(), np.arange(len(given.distances))
    total = 0
    while made := search.improve(everyone, given.distances, search.gains(given.distances)):
        total += made
        assert search.loss == pytest.approx(given.loss(search.medoids))
        fresh = Given(given.distances, given.covered, given.weights, search.medoids).search()
        np.testing.assert_array_equal(search.near_distance, fresh.near_distance)
        np.testing.assert_array_equal(search.second_distance, fresh.second_distance)
        np.testing.assert_array_equal(search.near, fresh.near)
        np.testing.assert_array_equal(search.distances, given.distances[search.medoids])
    assert search.n_swaps == total
    assert len(set(search.medoids.tolist())) == 3
    gains = [best_swap(given._replace(medoids=search.medoids), each) for each in everyone]
    assert max(gains) <= 1e-5


def on_a_line(places: list[float], medoids: list[int]) -> Given:
    rows = np.array(places, dtype=np.float32)
    n = len(rows)
    distances = np.abs(rows[:, None] - rows[None])
    return Given(distances, np.full(n, np.inf, np.float32), np.ones(n, np.float32), np.array(medoids))


def test_best_swap_comes_first_and_useless_swaps_are_skipped() -> None:
    """From the ends of two groups of three, 0 1 2 and 10 11 12: the middles gain 1 each, and then nothing does."""
    given = on_a_line([0, 1, 2, 10, 11, 12], [0, 3])
    search = given.search()
    np.testing.assert_allclose(search.gains(given.distances), [0, 1, 0, 0, 1, 0])
    assert search.improve(np.arange(6), given.distances, search.gains(given.distances)) == 2
    assert sorted(search.medoids.tolist()) == [1, 4]
    assert search.loss == 4
    assert search.improve(np.arange(6), given.distances, search.gains(given.distances)) == 0
    assert search.n_swaps == 2


def test_lower_rank_wins_ties() -> None:
    """Rows 1 and 2 are equal: both have the same gain, and after one swap the other has none."""
    given = on_a_line([0, 1, 1, 2, 50], [0, 4])
    for rank, taken in ((None, 1), (np.array([0, 2, 1, 3, 4]), 2), (np.array([0, 1, 2, 3, 4]), 1)):
        search = given.search()
        assert search.improve(np.arange(5), given.distances, search.gains(given.distances), rank) == 1
        assert sorted(search.medoids.tolist()) == [taken, 4]


def test_largest_gain_wins_over_rank() -> None:
    given = on_a_line([0, 4, 5, 6, 7, 50], [0, 5])
    gains = given.search().gains(given.distances)
    assert gains.argmax() == 2
    for rank in (None, np.array([0, 1, 5, 2, 3, 4])):
        search = given.search()
        assert search.improve(np.arange(6), given.distances, gains, rank) == 1
        assert sorted(search.medoids.tolist()) == [2, 5]


def test_gain_within_rounding_is_ignored() -> None:
    """The gain must exceed 1,000 · 1e-7: 2e-5 is too small, 2e-3 is enough."""
    for gain, made in ((2e-5, 0), (2e-3, 1)):
        distances = np.array([[500.0, 500.0, 0.0], [500.0 - gain, 500.0, 0.0], [900.0, 900.0, 900.0]])
        weights, covered = np.ones(3, np.float32), np.full(3, np.inf, np.float32)
        block = distances.astype(np.float32)
        search = Search(np.array([0, 2]), block[[0, 2]], covered, weights)
        assert search.improve(np.arange(3), block, np.array([0.0, gain, 0.0])) == made


def test_medoid_is_not_swapped_for_itself() -> None:
    given = on_a_line([0, 1, 2, 10], [0, 3])
    search = given.search()
    assert search.improve(np.arange(4), given.distances, np.array([5.0, 0.0, 0.0, 5.0])) == 0
    assert search.medoids.tolist() == [0, 3]


def test_single_medoid_can_be_swapped_only_with_fixed_ones() -> None:
    given = on_a_line([0, 1, 2], [0])
    assert not given.search().can_swap
    assert given._replace(covered=np.ones(3, np.float32)).search().can_swap
    assert on_a_line([0, 1, 2], [0, 2]).search().can_swap


@given(problems)
@settings(max_examples=20)
def test_total_distances_are_weighted_sums(given: Given) -> None:
    ours = total_distances(given.distances, given.weights)
    np.testing.assert_allclose(ours, given.distances.astype(float) @ given.weights, rtol=1e-6)


@given(problems, st.integers(1, 8))
@settings(max_examples=40)
def test_greedy_order_lowers_the_loss_most_each_time(given: Given, count: int) -> None:
    chosen = greedy_order(given.distances, given.covered, given.weights, count)
    assert len(set(chosen.tolist())) == count
    for place in range(count):
        before = chosen[:place]
        losses = [given.loss(np.append(before, each).astype(int)) for each in range(len(given.distances))]
        assert losses[chosen[place]] == pytest.approx(min(losses), rel=1e-6)


def test_first_in_the_order_wins_ties() -> None:
    given = on_a_line([0, 0, 0, 9, 9], [0])
    arguments = given.distances, given.covered, given.weights
    assert greedy_order(*arguments, 2).tolist() == [0, 3]
    assert greedy_order(*arguments, 2, np.array([2, 4, 1, 3, 0])).tolist() == [2, 4]
    assert greedy_order(given.distances, np.ones(5, np.float32), given.weights, 3).tolist() == [0, 3, 1]
    assert sorted(greedy_order(*arguments, 5).tolist()) == [0, 1, 2, 3, 4], "even without any gain"
