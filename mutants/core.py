"""The numerical core, and the tests of each of its files.

Propagation and coverage, distances, K-Medoids and its swaps, ridge regression with leave-one-out, and the protocol that
compares strategies. The effort spent on large graphs (`clustering/solver.py`), drawing and files are not part of it.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["CORE", "LEFT_OUT", "ROOT", "SOURCES", "TESTS", "source_of"]

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "featprop"
TESTS = ROOT / "tests"

PROPAGATION = ("propagation/test_propagation.py", "propagation/test_reduction.py", "propagation/test_coverage.py")
BACKEND = "compute/test_backend.py"

CORE: dict[str, tuple[str, ...]] = {
    "propagation/propagation.py": (*PROPAGATION, "compute/test_propagated_points.py"),
    "propagation/message_passing.py": (
        "propagation/test_message_passing.py",
        "propagation/test_propagation.py",
        BACKEND,
    ),
    "compute/kernels.py": ("compute/test_kernels.py",),
    "propagation/coverage.py": ("propagation/test_coverage.py",),
    "propagation/reduction.py": ("propagation/test_reduction.py", BACKEND),
    "compute/distances.py": ("compute/test_distances.py", "compute/test_points.py"),
    "clustering/swaps.py": ("clustering/test_swaps.py",),
    "clustering/alternating.py": ("clustering/test_alternating.py",),
    "clustering/kcenter.py": ("clustering/test_kcenter.py",),
    "models/ridge.py": ("models/test_ridge.py", BACKEND),
    "models/least_squares.py": ("models/test_least_squares.py",),
    "models/calibration.py": ("models/test_calibration.py",),
    "evaluate/cross_validation.py": ("evaluate/test_diagnostics.py", "evaluate/test_estimate.py"),
    "experiments/protocol.py": ("experiments/test_protocol.py",),
    "experiments/scoring.py": ("experiments/test_scoring.py",),
}
"""Files of `src/featprop` and of `tests`."""

LEFT_OUT: dict[str, tuple[str, ...]] = {}
"""Functions without mutants: they draw and typeset."""


def source_of(module: str) -> str:
    """Return the text of a file of the core."""
    return (SOURCES / module).read_text(encoding="utf-8")
