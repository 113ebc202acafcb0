"""Rounds of asking, telling, correcting, skipping, learning and resuming."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import featprop as fp
from featprop.active.learner import ActiveLearner
from featprop.errors import FeatpropError, FileError, GraphError, LabelError, ParameterError
from featprop.labels import LabelLog
from featprop.strategies import available_strategies
from tests.graphs import edgeless
from tests.helpers import raises

N = 24
CLASSES = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def graph() -> fp.Graph:
    generator = np.random.default_rng(3)
    group = np.repeat(np.arange(3), N // 3)
    adjacency = sp.random_array((N, N), density=0.15, rng=generator).toarray() * (group[:, None] == group[None])
    features = np.eye(3)[group] + generator.normal(scale=0.2, size=(N, 3))
    return fp.Graph.from_scipy(adjacency, features, ids=[f"n{i:02}" for i in range(N)])


def answer(nodes: Any) -> dict[str, str]:
    """What a person says of the nodes."""
    return {node: CLASSES[int(node[1:]) // (N // 3)] for node in nodes}


def test_a_dialogue_from_the_first_node_to_predictions(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph, random_state=4)
    first = learner.ask(3)
    assert first.nodes.tolist() == fp.select(graph, 3, random_state=4).nodes.tolist()
    assert learner.asked == first.nodes.tolist()
    second = learner.ask(2)
    assert not set(first.nodes) & set(second.nodes)
    learner.tell(answer(first.nodes))
    assert learner.asked == second.nodes.tolist()
    learner.skip(*second.nodes)
    assert learner.asked == []
    assert learner.skipped == second.nodes.tolist()
    assert (learner.predict() == list(answer(graph.ids).values())).mean() > 0.9
    assert learner.predict_proba().shape == (N, 3)
    rest = learner.ask(N - 5)
    assert set(rest.nodes) == set(graph.ids) - set(first.nodes) - set(second.nodes)
    assert learner.rounds == 3


def test_the_default_looks_at_its_model_as_soon_as_there_are_two_classes(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph, random_state=2)
    told: dict[str, str] = {}
    for more in ({"n00": "red"}, {"n01": "red"}, {"n09": "green"}, {"n17": "blue"}):
        learner.tell(more)
        told |= more
        ours = learner.ask(3).nodes.tolist()
        learner.skip(*ours)
        names, labels = list(told), list(told.values())
        skipped = [node for node in learner.skipped if node not in ours]
        model = fp.GraphRidge().fit(graph, names, labels) if len(set(labels)) > 1 else None
        given = {"labelled": names, "exclude": skipped, "random_state": 2}
        assert ours == fp.select(graph, 3, labels=labels, model=model, **given).nodes.tolist()
    assert learner.model_name == "ridge"


def test_a_correction_changes_label_and_model(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    learner.tell({**answer(["n00", "n08", "n16"]), "n01": "blue"})
    wrong = learner.predict_proba()
    before = learner.model
    assert learner.model is before
    learner.correct("n01", "red")
    assert learner.labels["n01"] == "red"
    assert not np.array_equal(learner.predict_proba(), wrong)
    learner.skip("n01")
    assert "n01" not in learner.labels
    learner.tell({"n01": "red"})
    assert learner.skipped == []


@pytest.mark.parametrize("name", available_strategies())
def test_a_learner_with_the_same_log_continues(graph: fp.Graph, tmp_path: Path, name: str) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        learner = ActiveLearner(graph, name, model=fp.GCN(hidden=4, epochs=10), random_state=2, log=log)
        learner.tell(answer(["n00", "n08", "n16"]))
        learner.tell(answer(learner.ask(3).nodes))
        learner.ask(2)
        learner.skip("n05")
        resumed = ActiveLearner(graph, log=log)
        assert resumed.labels == learner.labels
        assert (resumed.asked, resumed.skipped, resumed.rounds) == (learner.asked, ["n05"], 2)
        assert (resumed.random_state, resumed.model_name) == (2, "gcn")
        assert resumed.propose(4).nodes.tolist() == learner.propose(4).nodes.tolist()
        assert resumed.strategy.state_dict() == learner.strategy.state_dict()


@pytest.mark.parametrize(
    ("changes", "parameter"),
    [({"strategy": "random"}, "strategy"), ({"random_state": 7}, "random_state"), ({"model": "gcn"}, "model")],
)
def test_other_settings_than_those_of_the_earlier_rounds(
    graph: fp.Graph, changes: dict[str, Any], parameter: str
) -> None:
    log = LabelLog()
    ActiveLearner(graph, "featprop", random_state=1, log=log).ask(1)
    with raises(ParameterError, parameter=parameter):
        ActiveLearner(graph, **changes, log=log)
    assert ActiveLearner(graph, "featprop", model="ridge", random_state=1, log=log).rounds == 1


@pytest.mark.parametrize(
    ("act", "error", "fields"),
    [
        (lambda a: a.tell({"n99": "red"}), GraphError, {}),
        (lambda a: a.tell(["red"]), LabelError, {"parameter": "labels"}),
        (lambda a: a.tell(pd.DataFrame({"id": ["n00"], "label": ["red"]})), LabelError, {"parameter": "labels"}),
        (lambda a: a.tell({"n00": "blue"}), LabelError, {"node": "n00", "value": "blue"}),
        (lambda a: a.tell({"n01": None}), LabelError, {"node": "n01"}),
        (lambda a: a.tell({"n01": float("nan")}), LabelError, {"node": "n01"}),
        (lambda a: a.correct("n00", ""), LabelError, {"node": "n00"}),
        (lambda a: a.correct("n01", "red"), LabelError, {"node": "n01"}),
        (lambda a: a.correct("n99", "red"), GraphError, {}),
        (lambda a: a.skip("n99"), GraphError, {}),
        (lambda a: a.ask(N), ParameterError, {"parameter": "budget", "value": N}),
    ],
)
def test_an_error_changes_nothing(
    graph: fp.Graph, act: Callable[[ActiveLearner], None], error: type[FeatpropError], fields: dict[str, Any]
) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    with raises(error, **fields):
        act(learner)
    assert learner.labels == {"n00": "red"}
    assert (learner.asked, learner.skipped, learner.rounds) == ([], [], 0)


@pytest.mark.parametrize(
    "change",
    [
        {"strategy": {"name": "best", "options": {}}},
        {"random_state": "x"},
        {"graph": {"nodes": 24, "edges": 1, "features": 2, "columns": ""}},
        {"graph": {"nodes": 99, "edges": 1, "features": 3, "columns": ""}},
    ],
)
def test_a_damaged_state_or_another_graph_is_refused(graph: fp.Graph, change: dict[str, Any]) -> None:
    log = LabelLog()
    ActiveLearner(graph, log=log).ask(1)
    log.save_round([], {**(log.learner_state() or {}), **change}, 2)
    with pytest.raises((FileError, ParameterError)):
        ActiveLearner(graph, log=log)


def test_a_round_that_cannot_be_recorded_did_not_happen(graph: fp.Graph, tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        learner = ActiveLearner(graph, log=log)
        log.query("PRAGMA query_only = 1")
        with raises(FileError):
            learner.ask(3)
        assert (learner.asked, learner.rounds, log.asked(), log.learner_state()) == ([], 0, [], None)
        log.query("PRAGMA query_only = 0")
        assert learner.ask(3).nodes.tolist() == log.asked() == learner.asked


def test_proposed_nodes_are_proposed_again_until_they_are_recorded(graph: fp.Graph) -> None:
    log = LabelLog()
    learner = ActiveLearner(graph, random_state=1, log=log)
    picks = learner.propose(3)
    assert ActiveLearner(graph, random_state=1, log=log).propose(3).nodes.tolist() == picks.nodes.tolist()
    learner.record(picks)
    resumed = ActiveLearner(graph, log=log)
    assert (resumed.asked, resumed.rounds) == (picks.nodes.tolist(), 1)
    assert not {*resumed.propose(3)} & {*picks}


def test_rounds_of_another_learner_are_not_overwritten(graph: fp.Graph) -> None:
    log = LabelLog()
    one, other = (ActiveLearner(graph, random_state=1, log=log) for _ in range(2))
    asked = one.ask(3).nodes.tolist()
    one.ask(1)
    with raises(LabelError, value=1):
        other.ask(2)
    assert ActiveLearner(graph, log=log).asked[:3] == asked
    assert ActiveLearner(graph, log=log).rounds == 2


def test_labels_that_were_read_are_told(graph: fp.Graph, tmp_path: Path) -> None:
    log, path = LabelLog(), tmp_path / "sheet.csv"
    learner = ActiveLearner(graph, log=log)

    def tell(text: str) -> None:
        path.write_text(f"id,label,annotator,note\n{text}")
        learner.tell(fp.labels.read(path, graph))

    tell("n00,red,,odd\nn01,,,\nn02,?,,\n")
    assert (learner.labels, learner.asked, learner.skipped) == ({"n00": "red"}, ["n01"], ["n02"])
    n_events = len(log.events())
    tell("n00,red,,odd\nn01,,,\nn02,?,,\n")
    assert len(log.events()) == n_events, "nothing is written twice"
    tell("n00,blue,,\nn01,red,,\n")
    assert (learner.labels, learner.asked) == ({"n00": "blue", "n01": "red"}, [])
    tell("n00,red,,\nn01,,,\nn03,blue,,\n")
    assert learner.labels == {"n00": "red", "n01": "red", "n03": "blue"}, "an empty row changes nothing"
    tell("n00,skip,,\nn03,blue,,\n")
    assert learner.labels == {"n01": "red", "n03": "blue"}
    tell("n04,blue,bob,\nn04,blue,cy,\n")
    assert learner.labels["n04"] == "blue"
    tell("n04,red,,\n")
    assert learner.labels["n04"] == "red", "what was read counts, whatever more people said before"


def test_an_audit_that_was_read_is_told(graph: fp.Graph, tmp_path: Path) -> None:
    (tmp_path / "audit.csv").write_text("id,label,audit\nn00,red,2.5\nn01,,2.5\n")
    learner = ActiveLearner(graph)
    learner.tell(fp.labels.read(tmp_path / "audit.csv", graph))
    assert (learner.labels, learner.audited) == ({}, {"n00": "red"})
    assert learner.log.audit() == {"n00": 2.5, "n01": 2.5}
    assert not {"n00", "n01"} & {*learner.ask(20)}


def test_undo_reverts_the_last_answer(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    learner.correct("n00", "blue")
    learner.skip("n01", reason="blurred")
    assert learner.undo() == "n01"
    assert (learner.skipped, learner.asked) == ([], ["n01"])
    assert learner.undo() == "n00"
    assert learner.labels == {"n00": "red"}
    assert learner.undo() == "n00"
    assert (learner.labels, learner.asked) == ({}, ["n01", "n00"])
    assert learner.undo() is None


def test_the_first_nodes_of_a_strategy_with_a_model_come_from_the_default(
    graph: fp.Graph, caplog: pytest.LogCaptureFixture
) -> None:
    learner = ActiveLearner(graph, "age", model=fp.GCN(epochs=5))
    with caplog.at_level("INFO", logger="featprop"):
        picks = learner.ask(3)
    assert picks.nodes.tolist() == fp.select(graph, 3).nodes.tolist()
    assert "featprop-diffused" in caplog.text
    learner.tell(dict.fromkeys(picks, "red"))
    assert len(learner.ask(3)) == 3, "one class is enough to select"
    with raises(LabelError):
        learner.predict()
    learner.tell({"n08": "green"})
    assert len(learner.ask(2)) == 2


def test_a_strategy_without_a_name_cannot_be_saved(graph: fp.Graph) -> None:
    class Mine(fp.strategies.Strategy):
        def select(self, context: Any, budget: int, generator: np.random.Generator) -> Any:
            return context.candidates[:budget]

    learner = ActiveLearner(graph, Mine())
    assert learner.ask(2).nodes.tolist() == ["n00", "n01"]
    with raises(ParameterError):
        ActiveLearner(graph, Mine(), log=LabelLog()).ask(2)


def test_a_number_that_equals_an_id_is_that_id() -> None:
    """Ids that became floats in a data frame."""
    numbered = edgeless(np.eye(4))
    learner = ActiveLearner(numbered)
    learner.tell({1.0: "a"})
    with raises(LabelError):
        learner.tell({1: "b"})
    learner.correct(1, "b")
    assert [(node, type(node)) for node in learner.labels] == [(1, int)]


def test_a_series_tells_labels_by_its_index() -> None:
    numbered = edgeless(np.eye(5))
    learner = ActiveLearner(numbered)
    learner.ask(2, candidates=[3, 4])
    with raises(LabelError):
        learner.tell(pd.Series(["red", "green"]))  # numbers its rows
    with raises(GraphError):
        learner.tell(pd.Series({"x": "red"}))
    assert learner.labels == {}
    learner.tell(pd.Series({4: "red", 1: None, 2: "green"}))
    assert learner.labels == {4: "red", 2: "green"}
    numbers = ActiveLearner(numbered)
    numbers.tell(pd.Series([1, None, 2, None, None]))
    assert [repr(label) for label in numbers.labels.values()] == ["1", "2"]
