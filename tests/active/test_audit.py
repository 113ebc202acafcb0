"""The audit in rounds: drawn, told, scored, released; and nothing of it is seen by what chooses or learns."""

from typing import Any

import numpy as np
import pytest

import featprop as fp
from featprop.active import ActiveLearner
from featprop.evaluate.audit import add_to_audit
from featprop.models import GraphRidge
from featprop.strategies import QueryContext, Strategy, get_strategy
from tests.graphs import class_graph, edgeless


@pytest.fixture(scope="module")
def graph() -> fp.Graph:
    return class_graph(200, 4)


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


@pytest.mark.parametrize("sizes", [(50, 25), (10, 30)])
def test_a_second_draw_adds_to_the_audit(sizes: tuple[int, int]) -> None:
    log = fp.LabelLog()
    samples = [add_to_audit(log, edgeless(100), size) for size in sizes]
    assert log.audit() == {node: pytest.approx(100 / sum(sizes)) for sample in samples for node in sample}
    assert len(log.audit()) == sum(sizes)
    assert samples[1].weight_of.items() <= log.audit().items()


@pytest.mark.parametrize("name", ["featprop-diffused", "age", "anrmab"])
def test_nothing_of_the_audit_reaches_what_chooses_or_learns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Watch the one way a strategy is asked and the one way a model learns, over two rounds with an audit between."""
    asked: list[QueryContext] = []
    learnt: list[dict[Any, Any]] = []
    kind = type(get_strategy(name))
    choose, fit = kind.select, GraphRidge.learn

    def watched(self: Strategy, context: QueryContext, *rest: Any) -> Any:
        asked.append(context)
        return choose(self, context, *rest)

    def learn(self: GraphRidge, *rest: Any) -> None:
        learnt.append(dict(self.labelled_))
        fit(self, *rest)

    monkeypatch.setattr(kind, "select", watched)
    monkeypatch.setattr(GraphRidge, "learn", learn)
    learner = ActiveLearner(class_graph(120, 4), name, model="ridge")
    learner.tell({node: "even" if place % 2 else "odd" for place, node in enumerate(learner.ask(6))})
    sample = learner.audit(20)
    learner.tell(dict.fromkeys(sample, "a class that only the audit has"))
    learner.ask(5)
    learner.predict()
    context = asked[-1]
    assert context.graph.labels is None
    assert set(context.classes) == {"even", "odd"}
    assert not {*context.labelled.tolist(), *context.candidates.tolist()} & set(sample.positions.tolist())
    assert learnt
    assert not any(set(labels) & set(sample) for labels in learnt)
    learner.release_audit()
    learner.predict()
    assert set(sample) <= set(learnt[-1]), "the watch would have seen it"
