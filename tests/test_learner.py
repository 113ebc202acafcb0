"""Rounds: what is asked, told, corrected, barred, learnt, saved and resumed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import featprop as fp
from featprop.errors import FileError, GraphError, LabelError, ParameterError
from featprop.learner import ActiveLearner
from featprop.strategies import available

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
    learner = ActiveLearner(graph, seed=4)
    first = learner.ask(3)
    assert first.nodes.tolist() == fp.select(graph, 3, seed=4).nodes.tolist()
    assert learner.asked == first.nodes.tolist()
    second = learner.ask(2)
    assert not set(first.nodes) & set(second.nodes)
    learner.tell(answer(first.nodes))
    assert learner.asked == second.nodes.tolist()
    learner.cannot_label(*second.nodes)
    assert learner.asked == []
    assert learner.barred == second.nodes.tolist()
    assert (learner.predict() == list(answer(graph.ids).values())).mean() > 0.9
    assert learner.predict_proba().shape == (N, 3)
    rest = learner.ask(N - 5)
    assert set(rest.nodes) == set(graph.ids) - set(first.nodes) - set(second.nodes)
    assert learner.rounds == 3


def test_labels_nobody_asked_for_are_welcome(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red", "n01": "red"})
    learner.tell({"n00": "red"})
    assert not {"n00", "n01"} & set(learner.ask(20).nodes)


def test_numbers_of_numpy_are_plain_inside(tmp_path: Path) -> None:
    numbered = fp.Graph.from_scipy(sp.csr_array((5, 5)), np.eye(5))
    learner = ActiveLearner(numbered)
    picks = learner.ask(3).nodes
    learner.tell({picks[0]: np.int64(7)})
    learner.correct(picks[0], np.str_("seven"))
    learner.cannot_label(picks[1])
    learner.save(tmp_path / "rounds")
    assert ActiveLearner.resume(tmp_path / "rounds", numbered).labels == {int(picks[0]): "seven"}


def test_candidates_restrict_a_round(graph: fp.Graph) -> None:
    picks = ActiveLearner(graph).ask(2, candidates=["n03", "n07", "n20"])
    assert set(picks.nodes) <= {"n03", "n07", "n20"}


def test_a_correction_changes_label_and_model(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    learner.tell({**answer(["n00", "n08", "n16"]), "n01": "blue"})
    wrong = learner.predict_proba()
    before = learner.model
    assert learner.model is before
    learner.correct("n01", "red")
    assert learner.labels["n01"] == "red"
    assert not np.array_equal(learner.predict_proba(), wrong)
    learner.cannot_label("n01")
    assert "n01" not in learner.labels
    learner.tell({"n01": "red"})
    assert learner.barred == []


def test_the_model_is_trained_when_labels_change_and_not_otherwise(
    graph: fp.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits = []
    fit = fp.GCN.fit
    monkeypatch.setattr(fp.GCN, "fit", lambda self, *arguments: fits.append(1) or fit(self, *arguments))
    learner = ActiveLearner(graph, "uncertainty", model=fp.GCN(epochs=5))
    learner.tell(answer(["n00", "n08", "n16"]))
    learner.ask(1)
    learner.ask(1)
    learner.predict()
    assert len(fits) == 1
    learner.tell(answer(["n17"]))
    learner.ask(1)
    assert len(fits) == 2
    learner.retrain()
    assert len(fits) == 3


def test_a_strategy_without_a_model_trains_none(graph: fp.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp.GCN, "fit", None)
    learner = ActiveLearner(graph, "featprop")
    learner.tell(answer(["n00", "n08", "n16"]))
    assert len(learner.ask(2)) == 2


@pytest.mark.parametrize("name", available())
def test_resumed_rounds_go_on_as_if_nothing_had_happened(graph: fp.Graph, tmp_path: Path, name: str) -> None:
    learner = ActiveLearner(graph, name, model=fp.GCN(hidden=4, epochs=10), seed=2)
    learner.tell(answer(["n00", "n08", "n16"]))
    learner.tell(answer(learner.ask(3).nodes))
    learner.ask(2)
    learner.cannot_label("n05")
    learner.save(tmp_path / "rounds")
    resumed = ActiveLearner.resume(tmp_path / "rounds", graph)
    assert resumed.labels == learner.labels
    assert (resumed.asked, resumed.barred, resumed.rounds) == (learner.asked, ["n05"], 2)
    assert resumed.ask(4).nodes.tolist() == learner.ask(4).nodes.tolist()
    assert resumed.strategy.state() == learner.strategy.state()
    resumed.save(tmp_path / "rounds")
    assert len(ActiveLearner.resume(tmp_path / "rounds", graph).asked) == len(learner.asked)


def test_a_saved_model_is_not_trained_again(graph: fp.Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = ActiveLearner(graph, "age", model=fp.SGC(epochs=5))
    learner.tell(answer(["n00", "n08", "n16"]))
    expected = learner.predict_proba()
    learner.save(tmp_path / "rounds")
    monkeypatch.setattr(fp.SGC, "fit", None)
    np.testing.assert_array_equal(ActiveLearner.resume(tmp_path / "rounds", graph).predict_proba(), expected)


def test_options_of_the_strategy_are_kept(graph: fp.Graph, tmp_path: Path) -> None:
    from featprop.strategies import get_strategy

    ActiveLearner(graph, get_strategy("featprop", layers=1, clustering="kmeans")).save(tmp_path / "rounds")
    resumed = ActiveLearner.resume(tmp_path / "rounds", graph)
    assert vars(resumed.strategy) == {"layers": 1, "clustering": "kmeans"}
    assert not (tmp_path / "rounds" / "model").exists()


def test_with_one_class_a_strategy_that_needs_a_model_still_answers(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph, "uncertainty")
    learner.tell({"n00": "red", "n01": "red"})
    assert len(learner.ask(3)) == 3
    with pytest.raises(LabelError, match="must hold at least two classes; found only 'red'"):
        learner.predict()


def test_with_one_class_a_fresh_model_of_the_kind_given_is_looked_at(graph: fp.Graph) -> None:
    model = fp.SGC(epochs=10, seed=3)
    learner = ActiveLearner(graph, "coreset-greedy", model=model)
    learner.tell({"n00": "red", "n01": "red"})
    known = {"labelled": ["n00", "n01"], "labels": ["red", "red"]}
    expected = fp.select(graph, 3, strategy="coreset-greedy", model=fp.SGC(epochs=10, seed=3), **known)
    assert learner.ask(3).nodes.tolist() == expected.nodes.tolist()
    assert model.network is None


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda a: a.tell({"n99": "red"}), GraphError, "nodes told must be ids of the graph; found 1 \\('n99'\\)"),
        (lambda a: a.tell({"n00": "blue"}), LabelError, "found 'red' and 'blue' for node 'n00': call correct to"),
        (lambda a: a.tell({"n01": None}), LabelError, "The label of node 'n01' must be a class; found None: leave"),
        (lambda a: a.tell({"n01": float("nan")}), LabelError, "must be a class; found nan"),
        (lambda a: a.correct("n00", ""), LabelError, "The label of node 'n00' must be a class; found ''"),
        (lambda a: a.correct("n01", "red"), LabelError, "Node 'n01' must have a label to correct; found none"),
        (lambda a: a.correct("n99", "red"), GraphError, "must be ids of the graph"),
        (lambda a: a.cannot_label("n99"), GraphError, "must be ids of the graph"),
        (lambda a: a.ask(N), ParameterError, "budget must be from 1 to 23"),
    ],
)
def test_what_cannot_be_changes_nothing(
    graph: fp.Graph, act: Callable[[ActiveLearner], None], error: type[Exception], message: str
) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    with pytest.raises(error, match=message):
        act(learner)
    assert learner.labels == {"n00": "red"}
    assert (learner.asked, learner.barred, learner.rounds) == ([], [], 0)


def damaged(record: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**record, **changes})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: "{", "must be an undamaged learner of this version"),
        (lambda record: damaged(record, format=9), "found this: format 9, not 1: start anew"),
        (lambda record: damaged(record, labels=[["n77", "red"]]), "must be ids of the graph"),
        (lambda record: damaged(record, strategy={"name": "best", "options": {}}), "strategy must be one of"),
        (lambda record: damaged(record, labels=3), "must be an undamaged learner"),
        (
            lambda record: damaged(record, graph={"nodes": 3, "edges": 1, "features": 2}),
            "must be resumed with the graph it was saved with; found 3 nodes, 1 edges, 2 features then, 24 nodes",
        ),
    ],
)
def test_a_damaged_record_is_told(
    graph: fp.Graph, tmp_path: Path, change: Callable[[dict[str, Any]], str], message: str
) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    learner.save(tmp_path)
    record = tmp_path / "learner.json"
    record.write_text(change(json.loads(record.read_text())))
    with pytest.raises((FileError, GraphError, ParameterError), match=message):
        ActiveLearner.resume(tmp_path, graph)


def test_folders_of_other_things_are_left_alone(graph: fp.Graph, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear diary")
    with pytest.raises(FileError, match=r"one that holds a saved learner only; found diary.txt"):
        ActiveLearner(graph).save(tmp_path)
    with pytest.raises(FileError, match=r"must be a saved learner with a learner.json; found no learner.json"):
        ActiveLearner.resume(tmp_path, graph)
    with pytest.raises(FileError, match="found no such folder"):
        ActiveLearner.resume(tmp_path / "nowhere", graph)
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_a_failed_save_leaves_what_was_there(graph: fp.Graph, tmp_path: Path) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    learner.save(tmp_path / "rounds")
    before = (tmp_path / "rounds" / "learner.json").read_bytes()
    learner.tell({"n01": ("a", "tuple", object())})
    with pytest.raises(LabelError, match="Labels must be text or numbers to be saved"):
        learner.save(tmp_path / "rounds")
    assert (tmp_path / "rounds" / "learner.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["rounds"]


def test_a_strategy_without_a_name_cannot_be_saved(graph: fp.Graph, tmp_path: Path) -> None:
    class Mine(fp.Strategy):
        def select(self, situation: Any, budget: int, generator: np.random.Generator) -> Any:
            return situation.candidates[:budget]

    learner = ActiveLearner(graph, Mine())
    assert learner.ask(2).nodes.tolist() == ["n00", "n01"]
    with pytest.raises(ParameterError, match="strategy must be registered under a name to be saved; found Mine"):
        learner.save(tmp_path / "rounds")
