"""The numerical core, and the tests that belong to each file of it.

What the method computes, and what is said about it: propagation and the bounds measured on it, distances, K-Medoids and
its swaps, ridge with leave-one-out, and the protocol by which strategies are compared. How much effort a search of a
large graph is worth (`clustering/search_by_size.py`), drawing and files are not part of it.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["CORE", "LEFT_OUT", "ROOT", "SOURCES", "TESTS", "source_of"]

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "featprop"
TESTS = ROOT / "tests"

PROPAGATION = ("propagation/test_propagation.py", "propagation/test_reduction.py", "propagation/test_coverage.py")
BLOCKS = "blocks/test_places.py"

CORE: dict[str, tuple[str, ...]] = {
    "propagation/propagation.py": (*PROPAGATION, "propagation/test_propagated_points.py"),
    "propagation/passing.py": ("propagation/test_passing.py", "propagation/test_propagation.py", BLOCKS),
    "propagation/lengths.py": ("propagation/test_lengths.py",),
    "propagation/coverage.py": ("propagation/test_coverage.py",),
    "propagation/reduction.py": ("propagation/test_reduction.py", BLOCKS),
    "distances/kernels.py": ("distances/test_kernels.py", "distances/test_points.py"),
    "clustering/swaps.py": ("clustering/test_swaps.py",),
    "clustering/cell_moves.py": ("clustering/test_cell_moves.py",),
    "clustering/kcenter.py": ("clustering/test_kcenter.py",),
    "models/ridge.py": ("models/test_ridge.py", BLOCKS),
    "models/least_squares.py": ("models/test_least_squares.py",),
    "models/calibration.py": ("models/test_calibration.py",),
    "evaluate/cross_validation.py": ("evaluate/test_diagnostics.py", "evaluate/test_estimate.py"),
    "experiments/protocol.py": ("experiments/test_protocol.py",),
    "experiments/scoring.py": ("experiments/test_scoring.py",),
    "experiments/theory.py": ("experiments/test_tables.py",),
}
"""Files of `src/featprop` and of `tests`."""

LEFT_OUT = {"experiments/theory.py": ("error_against_loss", "correlation_table")}
"""Functions that draw and typeset."""


def source_of(module: str) -> str:
    """Return the text of a file of the core."""
    return (SOURCES / module).read_text(encoding="utf-8")
