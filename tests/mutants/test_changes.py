"""Mutants of small sources by hand, and that every reviewed survivor still exists."""

import ast

import pytest

from mutants.changes import Mutant, all_mutants, mutants_of, sampled
from mutants.core import CORE, LEFT_OUT, SOURCES, TESTS, source_of
from mutants.reasons import Reason, read_reasons


def changes(source: str) -> list[str]:
    return [mutant.change for mutant in mutants_of("some.py", source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a + b", ["+ → -"]),
        ("x = a ** 2", ["** → *", "2 → 3", "2 → 1"]),
        ("x = a <= b < c", ["<= → <", "<= → >", "< → <=", "< → >="]),
        ("x = a and not b", ["and → or", "not b → (b)"]),
        ("x = 0.5 if flag else True", ["flag → not (flag)", "0.5 → 1.0", "True → False"]),
        ("x = np.minimum(a, b)", ["minimum → maximum"]),
        ("x = np.sqrt(a).copy()", ["np.sqrt(a).copy() → np.sqrt(a)", "np.sqrt(a) → (a)"]),
        ("x = rows[a:b]", ["a → (a) + 1", "b → (b) - 1"]),
        ("total += 1", ["+= → -=", "total += 1 → pass", "1 → 2", "1 → 0"]),
        ("x[i] = y", ["x[i] = y → pass"]),
        ("def f(x):\n    return x", ["return x → return None"]),
        ("while a:\n    break", ["a → not (a)", "break → pass"]),
        ("x = [y for y in z if y]", ["y → not (y)"]),
        ('"""A docstring of 2 lines."""', []),
        ("def f(x: int = 3) -> A[2]:\n    raise E(1 + 1)", ["3 → 4", "3 → 2"]),
        ("log.info(1)", []),
    ],
)
def test_changes_by_hand(source: str, expected: list[str]) -> None:
    assert changes(source) == expected


def test_mutants_keep_line_numbers_and_have_distinct_keys() -> None:
    source = "x = f(\n    1,\n    g(1 +\n      1),\n)\nf(\n  x\n)\ny = 3\n"
    found = mutants_of("some.py", source)
    assert [mutant.repeat for mutant in found if mutant.change == "1 → 2"] == [0, 0, 0], "each has its own line"
    for mutant in found:
        assert mutant.applied(source).count("\n") == source.count("\n")
        assert mutant.applied(source).splitlines()[-1] in ("y = 3", "y = 4", "y = 2")
    twice = [mutant.key.removeprefix("some.py: x = 0, 0: ") for mutant in mutants_of("some.py", "x = 0, 0")]
    assert twice == ["0 → 1", "0 → 1 (2)"]


def test_compiled_code_is_marked() -> None:
    source = "A = 1\ndef f(x):\n    return x\n@njit(cache=True)\ndef g(x):\n    return x\nclass C:\n    b = 1\n"
    assert [(mutant.number, mutant.compiled) for mutant in mutants_of("some.py", source)] == [
        *[(1, True)] * 2,
        (3, False),
        (6, True),
        *[(8, False)] * 2,
    ]


@pytest.mark.parametrize("module", CORE)
def test_every_mutant_differs_from_the_source(module: str) -> None:
    source = source_of(module)
    same = ast.dump(ast.parse(source))
    found = mutants_of(module, source, LEFT_OUT.get(module, ()))
    assert len(found) > 5
    for mutant in found[::5]:
        assert ast.dump(ast.parse(mutant.applied(source))) != same, mutant.key


@pytest.fixture(scope="module")
def mutants() -> list[Mutant]:
    return all_mutants()


def test_sample_is_stable_when_code_changes(mutants: list[Mutant]) -> None:
    assert len({mutant.key for mutant in mutants}) == len(mutants)
    some = sampled(mutants, 100, 0)
    assert len(some) == 100
    fewer = sampled([mutant for mutant in mutants if mutant != some[50]], 100, 0)
    assert len({mutant.key for mutant in some} - {mutant.key for mutant in fewer}) == 1
    assert sampled(mutants, 100, 1) != some


def test_files_and_tests_exist() -> None:
    for module, tests in CORE.items():
        assert (SOURCES / module).is_file()
        assert all((TESTS / each).is_file() for each in tests), tests


def test_every_reason_matches_a_mutant(mutants: list[Mutant]) -> None:
    """A line that was rewritten needs another look."""
    for reason in read_reasons():
        assert any(reason.fits(mutant) for mutant in mutants), reason
        assert len(reason.reason) > 20, reason
    assert not Reason("some.py", "x = 1", "").fits(mutants[0])
