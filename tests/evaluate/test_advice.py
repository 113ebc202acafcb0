"""Prediction stability, forecasts and advice."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import featprop as fp
from featprop.evaluate import (
    Finding,
    Forecast,
    Interval,
    Stability,
    StabilityStep,
    advise,
    estimate,
    forecast,
    learning_curve,
)
from featprop.graph import Graph
from featprop.models import NodeClassifier
from tests.evaluate.models import Stubborn

Groups = Callable[..., tuple[Graph, list[str]]]


def prediction_stability(graph: Graph, model: NodeClassifier) -> Stability | None:
    return learning_curve(graph, model, earlier=False).stability


def fitted(graph: Graph, truth: list[str], count: int) -> fp.GraphRidge:
    return fp.GraphRidge().fit(graph, list(range(count)), truth[:count])


def test_stability_compares_models_of_the_first_labels(groups: Groups) -> None:
    graph, truth = groups(1.0)
    found = prediction_stability(graph, fitted(graph, truth, 40))
    assert found is not None
    assert [(step.before, step.after) for step in found.steps] == [(10, 20), (20, 30), (30, 40)]
    said = {count: fitted(graph, truth, count).predict(graph)[40:] for count in (20, 30, 40)}
    assert found.steps[-1].changed == pytest.approx(np.mean(said[30] != said[40]))
    assert found.last_half == StabilityStep(20, 40, pytest.approx(np.mean(said[20] != said[40])), found.last_half.kappa)
    assert found.last_half.kappa == pytest.approx(cohen_kappa_score(said[20], said[40]))
    assert f"{found.steps[-1].kappa:.2f}" in str(found)


def test_no_stability_for_two_labels_or_one_class_in_the_first_half(groups: Groups) -> None:
    graph, truth = groups(0.5)
    of = {name: [node for node in range(300) if truth[node] == name] for name in ("class 0", "class 1")}
    nodes = [*of["class 0"][:10], *of["class 1"][:8], *of["class 0"][10:12]]
    mixed = [truth[node] for node in nodes]
    mixed[11] = mixed[13] = mixed[15] = "class 0"
    model = fp.GraphRidge().fit(graph, nodes, mixed)
    assert prediction_stability(graph, model) is None
    advice = advise(graph, model)
    assert (advice.may_stop, advice.curve.forecast) == (False, None)
    assert Finding.STABILITY not in advice.reasons


def test_forecast_by_hand() -> None:
    found = forecast(Stability((), StabilityStep(30, 60, 0.1, 0.9)))
    now = Interval(0.8, 0.75, 0.85)
    off = 1.6448536 * np.hypot(0.012, 0.015)
    assert found.n_labels == 120
    assert (found.gain.value, found.gain.high) == pytest.approx((0.015, 0.015 + off))
    assert found.accuracy(now).value == pytest.approx(0.815)
    assert found.accuracy(now).high == pytest.approx(0.815 + np.hypot(0.05, off))
    assert all(fact in str(found) for fact in ("120", "+1.5", "−1.7", "+4.7"))


def test_constant_predictions_never_stop_and_are_not_called_good(groups: Groups) -> None:
    graph, truth = groups(0.5, n_classes=4)
    found = advise(graph, Stubborn().fit(graph, list(range(60)), truth[:60]))
    assert not found.may_stop
    assert found.curve.now.accuracy.value < 0.6
    assert Finding.NO_BETTER_THAN_MAJORITY in found.reasons
    few = advise(graph, Stubborn().fit(graph, list(range(20)), truth[:20]))
    assert few.curve.now.cv_accuracy < 0.6
    assert Finding.NO_BETTER_THAN_MAJORITY not in few.reasons, "few labels, often of the hardest nodes, do not tell"


def test_stopping_is_advised_for_easy_classes_only(groups: Groups) -> None:
    graph, truth = groups(0.1)
    easy = advise(graph, fitted(graph, truth, 60))
    assert easy.may_stop
    assert easy.curve.forecast is not None
    assert easy.curve.forecast.n_labels == 120
    assert Finding.FEW_LABELS not in easy.reasons
    graph, truth = groups(2.0)
    hard = advise(graph, fitted(graph, truth, 60))
    assert not hard.may_stop
    assert easy.headline.split(".")[0] != hard.headline.split(".")[0]
    assert str(hard.curve.forecast) in str(hard)


def test_advice_never_contradicts_the_forecast(groups: Groups) -> None:
    graph, truth = groups(0.1)
    found = advise(graph, fitted(graph, truth, 60))
    gains = {0.0: False, 0.0004: False, 0.0006: True, 0.02: True}
    for gain, may_help in gains.items():
        coming = Forecast(120, Interval(gain, -0.1, 0.1))
        unsure = replace(found, may_stop=False, curve=replace(found.curve, forecast=coming))
        assert unsure.may_help == may_help
        assert not replace(unsure, may_stop=True).may_help
        assert (unsure.headline.split(".")[0] == "Keep labelling") == ("+0.0" not in unsure.headline)
    assert replace(found, may_stop=False, curve=replace(found.curve, forecast=None)).may_help


def test_few_labels_never_stop(groups: Groups) -> None:
    graph, truth = groups(0.1)
    found = advise(graph, fitted(graph, truth, 24))
    assert not found.may_stop
    assert all(fact in found.reasons[Finding.FEW_LABELS] for fact in ("24", "3 classes", "40"))
    single = [*[node for node in range(100) if truth[node] != "class 2"][:45], truth.index("class 2")]
    found = advise(graph, fp.GraphRidge().fit(graph, single, [truth[node] for node in single]))
    assert "class 2" in found.reasons[Finding.SINGLE_LABELS]


def test_learning_curve_ends_with_the_current_estimate(groups: Groups) -> None:
    graph, truth = groups(1.0)
    model = fitted(graph, truth, 48)
    found = learning_curve(graph, model)
    assert [each.n_labels for each in found.estimates] == [12, 24, 48]
    assert found.now == estimate(graph, model)
    assert found.stability == prediction_stability(graph, model)
    assert found.forecast is not None
    assert found.forecast.n_labels == 96


def test_learner_gives_the_same_estimate_and_advice(groups: Groups) -> None:
    graph, truth = groups(0.5)
    learner = fp.ActiveLearner(graph)
    learner.tell(dict(enumerate(truth[:45])))
    assert learner.estimate() == estimate(graph, fitted(graph, truth, 45))
    assert learner.advice().headline == advise(graph, fitted(graph, truth, 45)).headline
    drawn = learner.audit(20)
    learner.tell({node: truth[node] for node in drawn})
    assert learner.advice().audited == learner.score_audit().accuracy
