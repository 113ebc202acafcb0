"""Agreement of several people, and which label counts where they differ."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featprop.labels import LabelLog
from featprop.labels.agreement import alpha, consensus, find_conflicts, krippendorff_alpha


def log_of(**answers: dict[Any, Any]) -> LabelLog:
    """What each annotator says of each node; None is a skip."""
    log = LabelLog()
    for annotator, labels in answers.items():
        for node, label in labels.items():
            if label is None:
                log.skip(node, f"{annotator} cannot tell", annotator=annotator)
            else:
                log.tell({node: label}, annotator=annotator)
    return log


def test_alpha_by_hand() -> None:
    assert krippendorff_alpha(["YY", "NN", "YN"]) == pytest.approx(0.444, abs=5e-4)
    assert krippendorff_alpha(["YY", "NN"]) == 1
    assert krippendorff_alpha(["YN", "NY"]) == pytest.approx(-0.5)


def test_alpha_of_krippendorffs_own_example() -> None:
    """Four observers, twelve units, five classes, answers missing: 0.743 in his "Computing Krippendorff's alpha"."""
    units = ["1 1 1", "2 2 3 2", "3 3 3 3", "3 3 3 3", "2 2 2 2", "1 2 3 4", "4 4 4 4", "1 1 2 1", "2 2 2 2"]
    units += ["5 5 5", "1 1", "3"]
    assert krippendorff_alpha(unit.split() for unit in units) == pytest.approx(0.743, abs=5e-4)


@pytest.mark.parametrize("units", [[], ["Y"], ["Y", "N"], ["YY", "YYY"], ["YY", "N"]])
def test_alpha_that_is_not_defined(units: list[str]) -> None:
    assert krippendorff_alpha(units) is None


def by_the_matrix(units: list[str]) -> float | None:
    """Alpha by the matrix of coincidences: how often each class met each class in one unit."""
    classes = sorted(set("".join(units)))
    matrix = np.zeros((len(classes), len(classes)))
    for unit in units:
        for i, one in enumerate(unit):
            for j, other in enumerate(unit):
                if i != j:
                    matrix[classes.index(one), classes.index(other)] += 1 / (len(unit) - 1)
    totals = matrix.sum(axis=1)
    expected = np.outer(totals, totals) - np.diag(totals)
    apart = ~np.eye(len(classes), dtype=bool)
    if expected[apart].sum() == 0:
        return None
    observed, by_chance = matrix[apart].sum() / totals.sum(), expected[apart].sum() / totals.sum() / (totals.sum() - 1)
    return float(1 - observed / by_chance)


UNITS = st.lists(st.text("abc", max_size=4), max_size=8)


@given(units=UNITS)
def test_alpha_equals_that_of_the_coincidence_matrix(units: list[str]) -> None:
    found = krippendorff_alpha(units)
    assert found == (None if found is None else pytest.approx(by_the_matrix(units)))
    assert (found is None) == (by_the_matrix(units) is None)


TABLE = st.dictionaries(
    st.sampled_from(["ada", "grace", "edsger"]),
    st.dictionaries(st.integers(0, 4), st.sampled_from(["x", "y", None])),
)


@given(table=TABLE)
def test_the_consensus_counts_votes(table: dict[str, dict[int, str | None]]) -> None:
    found = consensus(log_of(**table).holding())
    for node in range(5):
        said = [labels[node] for labels in table.values() if node in labels]
        votes = Counter(label for label in said if label is not None)
        is_tie = bool(votes) and votes["x"] == votes["y"]
        last = next((label for label in reversed(said) if label is not None), None)
        winner = last if is_tie else None if not votes else "x" if votes["x"] > votes["y"] else "y"
        assert (found.labels.get(node), node in found.ties) == (winner, is_tie)
        assert (node in found.skips) == (bool(said) and not votes)


def test_most_votes_count_and_ties_go_to_the_latest_answer() -> None:
    log = log_of(ada={1: "x", 2: "x", 3: "x"}, grace={1: "x", 2: "y", 3: None}, edsger={1: "y", 4: None})
    assert log.labels() == {1: "x", 2: "y", 3: "x"}
    assert log.skips() == {4: "edsger cannot tell"}
    assert log.consensus().ties == {2}
    assert log.consensus().sure == {1: "x", 3: "x"}
    log.answer(2, "z", annotator="ada")
    assert log.labels()[2] == "z"
    log.answer(2, "y", annotator="ada")
    assert log.consensus().ties == frozenset()


def test_1_and_1_0_are_two_classes() -> None:
    log = log_of(ada={"a": 1}, grace={"a": 1.0}, edsger={"a": 1})
    assert repr(log.labels()["a"]) == "1"
    assert [vote.annotator for vote in find_conflicts(log.holding())["a"]] == ["ada", "grace", "edsger"]
    assert alpha(log.holding()) == pytest.approx(0)


def test_disagreements_last_until_a_verdict() -> None:
    log = log_of(ada={1: "x", 2: "x", 3: "y"}, grace={1: "y", 2: "x", 3: None}, edsger={1: "y"})
    assert {node: [vote.label for vote in votes] for node, votes in find_conflicts(log.holding()).items()} == {
        1: [*"xyy"]
    }
    before = alpha(log.holding())
    log.adjudicate(1, "x", annotator="edsger")
    assert find_conflicts(log.holding()) == {}
    assert log.labels()[1] == "x", "a verdict counts against the majority"
    assert alpha(log.holding()) == before, "a verdict is no answer of one's own"
    log.undo(annotator="edsger")
    assert log.labels()[1] == "y"
    assert len(find_conflicts(log.holding())) == 1
