"""The protocol, step by step on a small graph."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from featprop.errors import GraphError, LabelError, ParameterError
from featprop.experiments.protocol import Protocol, draw_initial_pool, score
from featprop.experiments.results import Result
from featprop.experiments.settings import Spec, Trial
from featprop.graph import UNKNOWN, Graph
from featprop.matrix import dense
from featprop.models import GCN, GraphRidge
from featprop.propagation import propagate
from featprop.strategies import STRATEGIES, QueryContext, Strategy, register_strategy
from tests.helpers import raises

seen: list[QueryContext] = []


class First(Strategy):
    """Select the first candidates and remember the context."""

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> Any:
        seen.append(context)
        return context.candidates[:budget]


class Watching(First):
    """Select the first candidates; needs a model and keeps a count as its state."""

    needs = frozenset({"probabilities", "hidden", "logits"})

    def __init__(self) -> None:
        self.calls = 0

    def state_dict(self) -> dict[str, Any]:
        return {"calls": self.calls}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.calls = state["calls"]

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> Any:
        self.calls += 1
        return super().select(context, budget, generator)


class Using(First):
    """Select from both ends of the candidates, first 3 and then 2 at a time, with a model if there is one."""

    uses = frozenset({"logits"})

    def steps(self, labelled: int, budget: int) -> list[int]:
        return [*range(labelled + 2 if labelled else 3, budget, 2), budget]

    def select(self, context: QueryContext, budget: int, generator: np.random.Generator) -> Any:
        super().select(context, budget, generator)
        order = np.argsort(np.minimum(np.arange(len(context.candidates)), np.arange(len(context.candidates))[::-1]))
        return context.candidates[order[:budget]]


@pytest.fixture(autouse=True)
def strategies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(STRATEGIES, "classes", dict(STRATEGIES.classes))
    register_strategy("first")(First)
    register_strategy("watching")(Watching)
    register_strategy("using")(Using)
    seen.clear()


def trial(graph: Graph, strategy: str, *models: str, **others: Any) -> Trial:
    given: dict[str, Any] = {"budgets": (6, 8), "seeds": (0, 1), **others}
    options = given.pop("options", {})
    specs = tuple(Spec(model, {"epochs": 20} if model in ("gcn", "sgc") else {}) for model in models or ("gcn",))
    return Trial("rings", graph.fingerprint, Spec(strategy, options), specs, **given)


def all_lines(graph: Graph, what: Trial) -> list[Result]:
    return list(Protocol(graph).run(what))


def test_strategy_without_a_model_selects_independently_at_each_budget(rings: Graph) -> None:
    lines = all_lines(rings, trial(rings, "first"))
    assert len(lines) == 2 * 2 * 2
    assert {line.nodes for line in lines if line.budget == 6} == {tuple(f"n{i}" for i in range(6))}
    assert {line.nodes for line in lines if line.budget == 8} == {tuple(f"n{i}" for i in range(8))}
    assert [len(context.labelled) for context in seen] == [0, 0], "not random, so one selection serves both seeds"
    for context in seen:
        assert context.graph.labels is None
        assert 11 not in context.candidates, "a node without a known class is not a candidate"


def test_strategy_that_needs_a_model_continues_from_the_previous_pool(rings: Graph) -> None:
    lines = all_lines(rings, trial(rings, "watching", seeds=(3,)))
    pool = draw_initial_pool(rings, 3)
    assert len(set(pool.tolist())) == 5
    assert 11 not in pool
    first, second = seen
    assert first.labelled.tolist() == pool.tolist()
    assert second.labelled.tolist() == [*pool, first.candidates[0]]
    assert [len(line.nodes) for line in lines] == [6, 6, 8, 8], "the five count"
    names = rings.class_names()
    for context in seen:
        nodes = context.labelled
        alone = GCN(random_state=3, epochs=20).fit(rings, rings.ids[nodes], [names[node] for node in nodes])
        assert context.classes == alone.class_names_
        assert [context.classes[code] for code in context.labels] == [names[node] for node in nodes]
        for output, expected in [
            ("probabilities", alone.predict_proba(rings)),
            ("logits", alone.decision_function(rings)),
            ("hidden", alone.representation(rings)),
        ]:
            np.testing.assert_allclose(context.outputs[output], expected, atol=2e-3)


@pytest.mark.parametrize("model", ["ridge", "gcn"])
def test_strategy_that_uses_a_model_follows_its_steps(rings: Graph, model: str) -> None:
    lines = all_lines(rings, trial(rings, "using", model, budgets=(6, 8), seeds=(3,)))
    assert [line.schedule for line in lines] == [(3, 5, 6)] * 2 + [(3, 5, 6, 8)] * 2
    assert [len(context.labelled) for context in seen] == [0, 3, 5, 6]
    assert not seen[0].outputs
    assert {len(line.nodes) for line in lines if line.budget == 8} == {8}
    larger, smaller = lines[-1].nodes, lines[0].nodes
    assert larger[:6] == smaller, "each pool starts with the previous one"
    names = rings.class_names()
    for context in seen[1:]:
        nodes = context.labelled
        assert rings.ids[nodes].tolist() == list(larger[: len(nodes)])
        kind = GraphRidge() if model == "ridge" else GCN(random_state=3, epochs=20)
        alone = kind.fit(rings, rings.ids[nodes], [names[node] for node in nodes])
        assert context.outputs.keys() == {"logits"}
        np.testing.assert_allclose(context.outputs["logits"], alone.decision_function(rings), atol=2e-3)


def test_scores_are_those_of_a_new_model(rings: Graph) -> None:
    names = rings.class_names()
    Z = dense(propagate(rings, 2)).astype(np.float64)
    for line in all_lines(rings, trial(rings, "random")):
        places = [int(node[1:]) for node in line.nodes]
        model = GCN(random_state=line.seed, epochs=20).fit(rings, line.nodes, [names[place] for place in places])
        scored = [i for i in range(11) if line.protocol == "paper" or i not in places]
        truth, answer = [names[i] for i in scored], [model.predict(rings)[i] for i in scored]
        assert line.macro_f1 == pytest.approx(f1_score(truth, answer, average="macro", zero_division=0))
        assert line.accuracy == pytest.approx(np.mean(np.array(truth) == np.array(answer)))
        assert line.micro_f1 == pytest.approx(line.accuracy)
        nearest = np.linalg.norm(Z[:, None] - Z[places], axis=2).min(axis=1)
        assert line.mean_distance == pytest.approx(nearest.mean(), abs=1e-4)
        assert line.max_distance == pytest.approx(nearest.max(), abs=1e-4)
        assert line.mean_distance <= line.max_distance


def test_models_share_the_selection_of_a_strategy_without_a_model(rings: Graph) -> None:
    lines = all_lines(rings, trial(rings, "random", "gcn", "sgc"))
    for budget in (6, 8):
        for seed in (0, 1):
            assert len({line.nodes for line in lines if (line.budget, line.seed) == (budget, seed)}) == 1


def test_pool_with_one_class(rings: Graph) -> None:
    lines = all_lines(rings, trial(rings, "first", budgets=(6,)))
    paper = next(line for line in lines if line.protocol == "paper")
    assert paper.accuracy == pytest.approx(6 / 11), "it predicts the only class it has seen"


def test_changed_graph_and_missing_labels_are_refused(rings: Graph) -> None:
    with raises(GraphError):
        all_lines(rings, replace(trial(rings, "random"), graph="another"))
    with raises(ParameterError, parameter="budgets", value=11):
        all_lines(rings, trial(rings, "random", budgets=(6, 11)))
    with raises(LabelError):
        Protocol(Graph.from_scipy(np.zeros((3, 3)), np.ones((3, 1))))


@given(seed=st.integers(0, 10_000), classes=st.integers(1, 6), n=st.integers(4, 40))
@settings(max_examples=40)
def test_scores_equal_scikit_learn_and_a_loop_over_bins(seed: int, classes: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    truth, predicted = generator.integers(0, classes, n), generator.integers(0, classes + 2, n)
    truth[3:] = np.where(generator.random(n - 3) < 0.1, UNKNOWN, truth[3:])
    confidence = generator.choice([0.0, 0.5, 0.665, 0.668, 0.93, 0.94, 0.999, 1.0], n).astype(np.float32)
    pool = generator.choice(n, size=2, replace=False)
    known = np.flatnonzero(truth != UNKNOWN)
    for protocol, counted in (("paper", known), ("unlabelled", np.setdiff1d(known, pool))):
        right, answer, sure = truth[counted], predicted[counted], confidence[counted].astype(float)
        bins = [(sure * 15 >= low) & ((sure * 15 < low + 1) | (low == 14)) for low in range(15)]
        gaps = [abs((right[inside] == answer[inside]).sum() - sure[inside].sum()) for inside in bins]
        assert score(truth, predicted, confidence, pool, protocol) == {
            "macro_f1": pytest.approx(f1_score(right, answer, average="macro", zero_division=0)),
            "micro_f1": pytest.approx(f1_score(right, answer, average="micro", zero_division=0)),
            "accuracy": pytest.approx(accuracy_score(right, answer)),
            "calibration_error": pytest.approx(sum(gaps) / len(counted), abs=1e-6),
        }
