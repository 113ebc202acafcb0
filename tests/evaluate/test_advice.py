"""What the last labels changed, what more would bring, and whether to stop: by hand, against scikit-learn, in words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

import featprop as fp
from featprop.evaluate import Change, Interval, Step, advise, change, estimate, forecast, learning_curve
from featprop.evaluate.change import cohens_kappa
from featprop.graph import Graph

Groups = Callable[..., tuple[Graph, list[str]]]


def fitted(graph: Graph, truth: list[str], count: int) -> fp.GraphRidge:
    return fp.GraphRidge().fit(graph, list(range(count)), truth[:count])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs).T
    if len(set(one) | set(other)) > 1:
        assert cohens_kappa(one, other) == pytest.approx(cohen_kappa_score(one, other), abs=1e-9)


def test_kappa_of_one_class_is_one() -> None:
    assert cohens_kappa(np.zeros(4, dtype=np.intp), np.zeros(4, dtype=np.intp)) == 1.0


def test_changes_are_those_between_models_of_the_first_labels(groups: Groups) -> None:
    graph, truth = groups(1.0)
    found = change(graph, fitted(graph, truth, 40))
    assert found is not None
    assert [(step.before, step.after) for step in found.steps] == [(10, 20), (20, 30), (30, 40)]
    said = {count: fitted(graph, truth, count).predict(graph)[40:] for count in (20, 30, 40)}
    assert found.steps[-1].changed == pytest.approx(np.mean(said[30] != said[40]))
    assert found.last_half == Step(20, 40, pytest.approx(np.mean(said[20] != said[40])), found.last_half.kappa)
    assert found.last_half.kappa == pytest.approx(cohen_kappa_score(said[20], said[40]))
    assert "the last 10 labels changed" in str(found)
    assert "kappa" in found._repr_html_()


def test_nothing_is_said_of_two_labels_or_a_first_half_of_one_class(groups: Groups) -> None:
    graph, truth = groups(0.5)
    of = {name: [node for node in range(300) if truth[node] == name] for name in ("class 0", "class 1")}
    assert (
        change(graph, fp.GraphRidge().fit(graph, [of["class 0"][0], of["class 1"][0]], ["class 0", "class 1"])) is None
    )
    nodes = [*of["class 0"][:10], *of["class 1"][:8], *of["class 0"][10:12]]
    mixed = [truth[node] for node in nodes]
    mixed[11] = mixed[13] = mixed[15] = "class 0"
    model = fp.GraphRidge().fit(graph, nodes, mixed)
    assert change(graph, model) is None
    advice = advise(graph, model)
    assert (advice.may_stop, advice.curve.forecast) == (False, None)
    assert advice.headline == "Go on: there are too few labels to say what more would bring"


def test_labels_sorted_by_class_have_lost_their_order(groups: Groups) -> None:
    graph, truth = groups(0.8)
    nodes = sorted(range(60), key=lambda node: truth[node])
    found = change(graph, fp.GraphRidge().fit(graph, nodes, [truth[node] for node in nodes]))
    as_they_came = change(graph, fitted(graph, truth, 60))
    assert found is not None
    assert as_they_came is not None
    assert abs(found.last_half.changed - as_they_came.last_half.changed) < 0.1


def test_a_forecast_by_hand() -> None:
    changes = Change((), Step(30, 60, 0.1, 0.9))
    found, now = forecast(changes), Interval(0.8, 0.75, 0.85)
    off = 1.6448536 * np.hypot(0.012, 0.015)
    assert found.n_labels == 120
    assert (found.gain.value, found.gain.high) == pytest.approx((0.015, 0.015 + off))
    assert found.accuracy(now).value == pytest.approx(0.815)
    assert found.accuracy(now).high == pytest.approx(0.815 + np.hypot(0.05, off))
    assert str(found) == "120 labels would probably bring 1.5 points more (-1.7 to 4.7)"


def test_a_forecast_is_never_above_all() -> None:
    found = forecast(Change((), Step(30, 60, 0.5, 0.5))).accuracy(Interval(0.99, 0.9, 1.0))
    assert (found.value, found.high) == (1.0, 1.0)


def test_the_interval_of_a_forecast_does_not_begin_above_that_of_now() -> None:
    now = Interval(0.97, 0.86, 0.99)
    found = forecast(Change((), Step(30, 60, 0.01, 0.99))).accuracy(now)
    assert found.low < now.low
    assert now.high < found.high <= 1.0


def test_a_model_that_always_says_the_same_never_stops_and_is_not_called_good(groups: Groups) -> None:
    graph, truth = groups(0.5, n_classes=4)
    nodes = list(range(60))

    class Stubborn(fp.SGC):
        """Names the first class of every node, and is very sure."""

        def scores(self, propagation: Any) -> np.ndarray:
            return np.tile(50 * np.eye(len(self.class_names_), dtype=np.float32)[0], (propagation.graph.n_nodes, 1))

        def scores_at(self, propagation: Any, nodes: np.ndarray) -> np.ndarray:
            return self.scores(propagation)[nodes]

    found = advise(graph, Stubborn(epochs=1).fit(graph, nodes, [truth[node] for node in nodes]))
    assert not found.may_stop
    assert found.curve.now.accuracy.value < 0.6
    assert any("no more than the commonest class" in reason for reason in found.reasons)


def test_easy_classes_may_stop_and_hard_ones_go_on(groups: Groups) -> None:
    graph, truth = groups(0.1)
    easy = advise(graph, fitted(graph, truth, 60))
    assert easy.may_stop
    assert str(easy).startswith("You may stop: 120 labels would probably bring 0")
    graph, truth = groups(2.0)
    hard = advise(graph, fitted(graph, truth, 60))
    assert not hard.may_stop
    assert str(hard).startswith("Go on: 120 labels would probably bring")
    assert "Go on" in hard._repr_html_()


def test_few_labels_never_stop_and_say_so(groups: Groups) -> None:
    graph, truth = groups(0.1)
    found = advise(graph, fitted(graph, truth, 24))
    assert not found.may_stop
    assert "24 labels of 3 classes are few: 40 are needed to judge" in found.reasons
    graph, truth = groups(0.1, n_classes=8)
    assert any("40 are needed" in reason for reason in advise(graph, fitted(graph, truth, 32)).reasons)


def test_a_class_with_one_label_is_named(groups: Groups) -> None:
    graph, truth = groups(0.2)
    nodes = [*[node for node in range(100) if truth[node] != "class 2"][:45], truth.index("class 2")]
    found = advise(graph, fp.GraphRidge().fit(graph, nodes, [truth[node] for node in nodes]))
    assert any(reason.startswith("classes with one label only: 1 (class 2)") for reason in found.reasons)


def test_an_audit_is_believed_before_the_labels(groups: Groups) -> None:
    graph, truth = groups(0.5)
    model = fitted(graph, truth, 60)
    found = advise(graph, model, audited=Interval(0.5, 0.4, 0.6))
    assert found.reasons[0] == "50% (40 to 60%) of the other nodes are predicted right, as the audit found"


def test_the_curve_ends_with_the_estimate_of_now(groups: Groups) -> None:
    graph, truth = groups(1.0)
    model = fitted(graph, truth, 48)
    found = learning_curve(graph, model)
    assert [each.n_labels for each in found.estimates] == [12, 24, 48]
    assert found.now == estimate(graph, model)
    assert found.change == change(graph, model)
    assert found.forecast is not None
    assert found.forecast.n_labels == 96
    assert "96, forecast" in found._repr_html_()


def test_a_learner_says_the_same(groups: Groups) -> None:
    graph, truth = groups(0.5)
    learner = fp.ActiveLearner(graph)
    learner.tell(dict(enumerate(truth[:45])))
    assert learner.estimate() == estimate(graph, fitted(graph, truth, 45))
    assert learner.advice().headline == advise(graph, fitted(graph, truth, 45)).headline
    drawn = learner.audit(20)
    learner.tell({node: truth[node] for node in drawn})
    assert (
        learner.advice().reasons[0]
        == f"{learner.score_audit().accuracy} of the other nodes are predicted right, as the audit found"
    )
