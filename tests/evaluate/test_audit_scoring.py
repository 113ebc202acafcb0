"""Scoring a model on an audit, by hand and on graphs with known labels."""

from typing import Any

import numpy as np
import pytest

from featprop.errors import LabelError
from featprop.evaluate import Interval, draw_audit, score_audit, wilson_interval
from featprop.evaluate.audit_scoring import AuditScore, score_predictions
from featprop.evaluate.macro_f1 import macro_f1_from_confusion, macro_f1_interval
from featprop.graph import Graph
from featprop.models import GraphRidge
from tests.graphs import class_graph, edgeless
from tests.helpers import raises


def scored(graph: Graph, predicted: list[str], *rest: Any) -> AuditScore:
    classes = sorted(set(predicted))
    return score_predictions(graph, classes, np.array([classes.index(name) for name in predicted]), *rest)


def test_score_by_hand(line: Graph) -> None:
    score = scored(line, list("xxyyy"), ["a"], {"b": "x", "c": "x", "d": "y", "e": "y"})
    assert (score.accuracy, score.size) == (Interval(0.75, 0.75, 0.75), 4), "every unlabelled node is audited"
    macro = (2 / 3 + 4 / 5) / 2
    assert (score.macro_f1.value, score.macro_f1.width) == (pytest.approx(macro), 0)
    assert score.classes == (), "four nodes are too few for a class"
    assert score.to_halve == 0
    assert all(fact in str(score) for fact in ("75 %", "73 %", "4 nodes"))


def test_sampling_weights_count(line: Graph) -> None:
    audit = {"b": "x", "c": "x"}
    equal = scored(line, list("xxyyy"), ["a"], audit, {"b": 2.0, "c": 2.0})
    assert equal == scored(line, list("xxyyy"), ["a"], audit)
    unequal = scored(line, list("xxyyy"), ["a"], audit, {"b": 3.0, "c": 1.0})
    assert unequal.accuracy == wilson_interval(0.75, 1.6 * 3 / 2), "two of four"


def test_number_of_nodes_that_halves_the_interval() -> None:
    graph = edgeless(np.ones((1000, 1), dtype=np.float32))
    audit = {node: "x" if node % 4 else "y" for node in range(40)}
    score = scored(graph, ["x"] * 1000, [], audit)

    def width(size: int) -> float:
        return wilson_interval(0.75, size * 999 / (1000 - size)).width

    assert score.accuracy.width == pytest.approx(width(40))
    assert width(40 + score.to_halve) <= score.accuracy.width / 2 < width(39 + score.to_halve)
    assert f"{score.to_halve:,}" in str(score)


def test_class_scores() -> None:
    graph = Graph.from_scipy(np.zeros((40, 40)), np.ones((40, 1)))
    predicted = ["a"] * 20 + ["b"] * 20
    audit = dict(enumerate(["a"] * 15 + ["b"] * 5 + ["b"] * 10 + ["c"] * 4))
    score = scored(graph, predicted, [39], audit)
    (a, b) = score.classes
    assert (a.name, a.count, a.recall, a.precision) == ("a", 15, wilson_interval(1.0, 15), wilson_interval(0.75, 20))
    assert (b.name, b.count, b.recall, b.precision) == (
        "b",
        15,
        wilson_interval(10 / 15, 15),
        wilson_interval(10 / 14, 14),
    )
    assert score.accuracy.value == 25 / 34


def test_macro_f1_matches_scikit_learn() -> None:
    from sklearn.metrics import f1_score

    generator = np.random.default_rng(0)
    truth, guess = generator.integers(0, 4, 200), generator.integers(0, 4, 200)
    confusion = np.zeros((4, 4))
    np.add.at(confusion, (guess, truth), 1)
    assert macro_f1_from_confusion(confusion) == pytest.approx(f1_score(truth, guess, average="macro"))


def worlds(n: int) -> list[np.ndarray]:
    """Classes of equal and of unequal sizes, the large ones easier."""
    made = []
    for sizes in (np.ones(n), 0.6 ** np.arange(n)):
        of_class = 3000 * sizes / sizes.sum()
        recall = np.linspace(0.9, 0.65, n)
        wrong = np.outer(sizes, of_class * (1 - recall))
        np.fill_diagonal(wrong, 0)
        confusion = wrong / wrong.sum(axis=0) * of_class * (1 - recall) + np.diag(of_class * recall)
        made.append(np.round(confusion).astype(int))
    return made


@pytest.mark.parametrize(("size", "n"), [(30, 2), (60, 7)])
def test_interval_coverage(size: int, n: int) -> None:
    """Audits are drawn 150 times: 90 % held would be 135 ± 7 of them, 85 % are asked for but for that chance."""
    generator = np.random.default_rng(size + n)
    for confusion in worlds(n):
        held = []
        for seed in range(150):
            counts = generator.multivariate_hypergeometric(confusion.ravel(), size).reshape(n, n)
            accuracy = wilson_interval(np.trace(counts) / size, size)
            macro = macro_f1_interval(counts.astype(float), confusion.sum(axis=1), seed)
            truths = np.trace(confusion) / confusion.sum(), macro_f1_from_confusion(confusion.astype(float))
            held.append([accuracy.contains(truths[0]), macro.contains(truths[1])])
        assert np.mean(held, axis=0).min() > 0.8, np.mean(held, axis=0)


def test_intervals_cover_the_accuracy_of_a_model() -> None:
    graph = class_graph(500, 4, within=0.02, between=0.005)
    names = np.array(graph.class_names())
    model = GraphRidge().fit(graph, list(range(40)), names[:40].tolist())
    truth = np.mean(model.predict(graph)[40:] == names[40:])
    assert 0.6 < truth < 0.95
    for by in (None, model):
        held = []
        for seed in range(30):
            sample = draw_audit(graph, 60, exclude=range(40), random_state=seed, model=by)
            audit = dict(zip(sample, names[sample.positions].tolist(), strict=True))
            held.append(score_audit(graph, model, audit, sample.weight_of).accuracy.contains(truth))
        assert np.mean(held) >= 0.8


def test_unaudited_predictions_widen_the_macro_f1_interval(line: Graph) -> None:
    score = scored(line, list("xxxxx"), ["a"], dict.fromkeys("bcde", "x"))
    assert (score.accuracy.value, score.accuracy.high) == (1.0, 1.0)
    assert score.macro_f1.high == pytest.approx(1.0), "one class was ever seen or predicted"
    several = scored(line, list("xxxxy"), ["a"], dict.fromkeys("bcd", "x"))
    assert several.macro_f1.width > 0.3, "no node predicted y is audited"


def test_class_unknown_to_the_model_lowers_macro_f1(line: Graph) -> None:
    score = scored(line, list("xxyyy"), ["a"], {"b": "x", "c": "z", "d": "y"})
    assert score.macro_f1.high < 0.9


@pytest.mark.parametrize(
    ("audit", "weights", "fields"),
    [
        ({}, None, {"parameter": "audit", "node": None}),
        ({"a": "left"}, None, {"parameter": "audit", "node": None}),
        ({"b": None}, None, {"parameter": "audit", "node": "b"}),
        ({"b": "left"}, {"c": 2.0}, {"parameter": "weights", "node": "b"}),
        ({"b": "left"}, {"b": 0.0}, {"parameter": "weights", "node": "b"}),
    ],
)
def test_invalid_audits_are_refused(line: Graph, audit: dict[str, str], weights: dict[str, float], fields: Any) -> None:
    model = GraphRidge().fit(line, ["a", "c"], ["left", "right"])
    with raises(LabelError, **fields):
        score_audit(line, model, audit, weights)
