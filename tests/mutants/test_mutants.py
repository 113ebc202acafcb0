"""Mutants of small sources by hand, a short campaign, and that every reviewed survivor still exists."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from mutants import __main__ as campaign
from mutants.__main__ import CORE, ROOT, fits, mutants_of, read_reasons, sample
from mutants.changes import Mutant, find_mutants


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a + b", ["a + b → a - b"]),
        ("x = a <= b", ["a <= b → a < b", "a <= b → a > b"]),
        ("x = a and (not b)", ["a and (not b) → a or not b", "not b → b"]),
        ("x = 0.5 if flag else True", ["flag → not flag", "0.5 → 1.0", "True → False"]),
        ("x = np.minimum(a, b)", ["np.minimum(a, b) → np.maximum(a, b)"]),
        ("x = np.sqrt(a).copy()", ["np.sqrt(a).copy() → np.sqrt(a)", "np.sqrt(a) → a"]),
        ("x = rows[a:b]", ["a:b → a + 1:b", "a:b → a:b - 1"]),
        ("total += 1", ["total += 1 → total -= 1", "total += 1 → pass", "1 → 2", "1 → 0"]),
        ("x[i] = y", ["x[i] = y → pass"]),
        ("def f(x):\n    return x", ["return x → return None"]),
        ("while a:\n    break", ["a → not a", "break → pass"]),
        ("x = [y for y in z if y]", ["y → not y"]),
        ('"""A docstring of 2 lines."""', []),
        ("def f(x: int = 3) -> A[2]:\n    raise E(1 + 1)", ["3 → 4", "3 → 2"]),
        ("log.info(1)", []),
        ("x = 0, 0", ["0 → 1", "0 → 1 (2)"]),
    ],
)
def test_changes_by_hand(source: str, expected: list[str]) -> None:
    found = find_mutants("some.py", source)
    assert [mutant.change for mutant in found] == expected
    assert all(ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(source)) for mutant in found)


@pytest.fixture(scope="module")
def core() -> list[Mutant]:
    return [mutant for module in CORE for mutant in mutants_of(module)]


def test_keys_differ_and_samples_are_stable(core: list[Mutant]) -> None:
    assert len({mutant.key for mutant in core}) == len(core)
    some = sample(core, 100, 0)
    fewer = sample([mutant for mutant in core if mutant != some[50]], 100, 0)
    assert len({mutant.key for mutant in some} - {mutant.key for mutant in fewer}) == 1
    assert sample(core, 100, 1) != some


def test_every_file_of_the_core_has_tests() -> None:
    assert all(campaign.tests_of(module) for module in CORE)


def test_every_reason_matches_a_mutant(core: list[Mutant]) -> None:
    """A line that was rewritten needs another look."""
    for reason in read_reasons():
        assert any(fits(reason, mutant) for mutant in core), reason
        assert len(reason["reason"]) > 20, reason


def test_campaign_resumes_without_repeating(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mutants", "--count", "2", "--module", "models/least_squares.py"]
    for missing in (2, 0):
        run = subprocess.run([*command, "--out", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
        assert run.returncode in (0, 1), run.stderr
        assert f"2 mutants, {missing} of them to test" in run.stdout
        assert len((tmp_path / "outcomes.jsonl").read_text().splitlines()) == 2
    assert "killed" in run.stdout
