"""The audit in rounds: drawn, told, scored, released; and nothing of it is seen by what chooses or learns."""

import gc
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import featprop as fp
from featprop.active import ActiveLearner
from featprop.datasets import digits
from featprop.errors import LabelError, ParameterError
from featprop.models import GraphRidge
from featprop.strategies import QueryContext, Strategy, available_strategies, get_strategy
from tests.helpers import raises

SECRET = "a class that only the audit has"
SMALL = 100
"""Entries of what may be labels by node; where the graph keeps the positions of all nodes there are more."""


@pytest.fixture(scope="module")
def graph() -> fp.Graph:
    return digits()


@pytest.fixture(scope="module")
def names(graph: fp.Graph) -> dict[Any, Any]:
    return dict(zip(graph.ids.tolist(), graph.class_names(), strict=True))


def test_an_audit_from_the_draw_to_its_release(graph: fp.Graph, names: dict[Any, Any]) -> None:
    learner = ActiveLearner(graph, random_state=4)
    learner.tell({node: names[node] for node in learner.ask(30)})
    sample = learner.audit(40)
    assert not set(sample) & set(learner.labels)
    assert sample.weights.sum() == pytest.approx(graph.n_nodes - 30)
    learner.tell({node: names[node] for node in list(sample)[:35]})
    learner.skip(*list(sample)[35:])
    assert len(learner.labels) == 30
    assert set(learner.audited) == set(list(sample)[:35])
    assert not set(sample) & set(learner.model.labelled_)
    score = learner.score_audit()
    right = np.mean([learner.predict()[graph.positions([node])[0]] == label for node, label in learner.audited.items()])
    assert (score.size, score.accuracy.value) == (35, pytest.approx(right))
    again = ActiveLearner(graph, log=learner.log)
    assert (again.audited, again.log.audit()) == (learner.audited, sample.weight_of)
    assert not set(again.ask(50)) & set(sample)
    again.release_audit()
    assert len(again.labels) == 65
    assert again.audited == {}
    assert set(list(sample)[:35]) <= set(again.model.labelled_)
    assert "0 of 0 nodes labelled" in again._repr_html_()


def test_a_second_draw_adds_to_the_audit(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    first, second = learner.audit(10), learner.audit(30)
    assert not set(first) & set(second)
    weights = learner.log.audit()
    assert set(weights) == {*first, *second}
    assert list(weights.values()) == [pytest.approx(graph.n_nodes / 40)] * 40


def test_nothing_to_score_and_nothing_to_draw(graph: fp.Graph, names: dict[Any, Any]) -> None:
    learner = ActiveLearner(graph)
    learner.tell({node: names[node] for node in learner.ask(20)})
    with raises(LabelError):
        learner.score_audit()
    with raises(ParameterError):
        learner.audit(1778)
    one = ActiveLearner(graph)
    one.tell(dict.fromkeys(one.ask(3), 1))
    one.tell(dict.fromkeys(one.audit(3), 1))
    with raises(LabelError):
        one.score_audit()


def reachable(start: object) -> Iterator[object]:
    """Yield all that can be reached from something, but for code."""
    seen: dict[int, object] = {}
    left = [start]
    while left:
        found = left.pop()
        if id(found) not in seen and not isinstance(found, type | FunctionType | ModuleType):
            seen[id(found)] = found
            left += gc.get_referents(found)
    yield from seen.values()


def holds(thing: object, nodes: set[Any], positions: set[int]) -> bool:
    """Say whether the secret, or a list of labels by node with one of these nodes, is anywhere in a thing."""
    for found in reachable(thing):
        if isinstance(found, str) and found == SECRET:
            return True
        if isinstance(found, dict) and len(found) < SMALL and any(key in nodes for key in found):
            return True
    context = thing if isinstance(thing, QueryContext) else None
    return context is not None and bool(positions & {*context.labelled.tolist(), *context.candidates.tolist()})


@pytest.fixture
def named() -> fp.Graph:
    """120 nodes with names, so that one of the audit is recognised wherever it is."""
    generator = np.random.default_rng(2)
    adjacency = sp.random_array((120, 120), density=0.05, rng=generator)
    features = np.eye(4)[np.arange(120) % 4] + generator.normal(scale=0.3, size=(120, 4))
    return fp.Graph.from_scipy(adjacency, features, ids=[f"node {place}" for place in range(120)])


@pytest.mark.parametrize("name", available_strategies())
def test_nothing_of_the_audit_reaches_what_chooses_or_learns(
    name: str, named: fp.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Watch the one way a strategy is asked and the one way a model learns, over two rounds with an audit between."""
    asked: list[QueryContext] = []
    learnt: list[dict[str, Any]] = []
    kind = type(get_strategy(name))
    choose, fit = kind.select, GraphRidge.learn

    def watched(self: Strategy, context: QueryContext, *rest: Any) -> Any:
        asked.append(context)
        return choose(self, context, *rest)

    def learn(self: GraphRidge, propagation: Any, nodes: Any, targets: Any) -> None:
        learnt.append({"classes": self.class_names_, "labels": dict(self.labelled_), "nodes": nodes.tolist()})
        fit(self, propagation, nodes, targets)

    monkeypatch.setattr(kind, "select", watched)
    monkeypatch.setattr(GraphRidge, "learn", learn)
    learner = ActiveLearner(named, get_strategy(name), model="ridge")
    learner.tell({node: "even" if place % 2 else "odd" for place, node in enumerate(learner.ask(6))})
    sample = learner.audit(20)
    learner.tell(dict.fromkeys(sample, SECRET))
    learner.ask(5)
    learner.predict()
    nodes, positions = set(sample), set(sample.positions.tolist())
    assert asked
    assert learnt
    assert not holds(asked[-1], nodes, positions)
    for each in learnt:
        assert not holds(each, nodes, positions)
        assert not positions & set(each["nodes"])
    learner.release_audit()
    learner.predict()
    assert SECRET in learnt[-1]["classes"], "the watch would have seen it"
