"""Least squares against scikit-learn's kernel ridge, and one label by hand."""

from typing import NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

from featprop.models.least_squares import least_squares


class Problem(NamedTuple):
    rows: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    penalty: float

    def at(self, places: np.ndarray) -> "Problem":
        return Problem(self.rows[places], self.targets[places], self.weights[places], self.penalty)


def problem(labels: int, columns: int, classes: int, seed: int) -> Problem:
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(labels, columns)).astype(np.float32)
    targets = generator.normal(size=(labels, classes))
    return Problem(rows, targets, generator.uniform(0.2, 5, labels), float(generator.uniform(0.1, 3)))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    labels, columns, classes = (draw(st.integers(1, most)) for most in (14, 14, 4))
    return problem(labels, columns, classes, draw(st.integers(0, 10_000)))


FEWER, AS_MANY, MORE = problem(5, 9, 3, 0), problem(6, 6, 3, 1), problem(12, 4, 3, 2)


def by_kernel_ridge(given: Problem, asked: np.ndarray) -> np.ndarray:
    """The answers of scikit-learn to other rows, from products between rows alone."""
    rows = given.rows.astype(float)
    model = KernelRidge(alpha=given.penalty, kernel="precomputed")
    model.fit(rows @ rows.T, given.targets, sample_weight=given.weights)
    return model.predict(asked @ rows.T)


@given(problems())
@example(FEWER)
@example(AS_MANY)
@example(MORE)
def test_equals_kernel_ridge(given: Problem) -> None:
    asked = np.random.default_rng(0).normal(size=(7, given.rows.shape[1]))
    ours = asked @ least_squares(*given)
    np.testing.assert_allclose(ours, by_kernel_ridge(given, asked), atol=1e-5)


@given(problems(), st.integers(0, 10_000))
@example(FEWER, 0)
@example(MORE, 0)
def test_weight_two_equals_the_label_twice(given: Problem, seed: int) -> None:
    times = np.random.default_rng(seed).integers(1, 4, len(given.rows))
    repeated = given._replace(weights=np.ones(len(times))).at(np.repeat(np.arange(len(times)), times))
    np.testing.assert_allclose(
        least_squares(*given._replace(weights=times.astype(float))),
        least_squares(*repeated),
        atol=1e-7,
    )


def test_one_label_by_hand() -> None:
    """w (1 - 3x - 4y)² + 5 (x² + y²) with w = 2 is least at (3, 4) · 2 / (5 + 2 · 25)."""
    solved = least_squares(np.array([[3, 4]], np.float32), np.array([[1.0]]), np.array([2.0]), 5.0)
    np.testing.assert_allclose(solved.ravel(), np.array([3, 4]) * 2 / 55)
