"""Rounds: what is asked, told, corrected, skipped, learnt, saved and resumed."""

import datetime as dt
import json
import platform
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from featprop.active.saved_learner import alone_at
from featprop.io.labels import read_labels

import featprop as fp
from featprop.active.learner import ActiveLearner
from featprop.errors import FileError, GraphError, LabelError, ParameterError
from featprop.labels import LabelLog
from featprop.propagation import propagation
from featprop.strategies import available_strategies
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
    learner = ActiveLearner(graph, seed=4)
    first = learner.ask(3)
    assert first.nodes.tolist() == fp.select(graph, 3, seed=4).nodes.tolist()
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
    learner = ActiveLearner(graph, seed=2)
    told: dict[str, str] = {}
    for more in ({"n00": "red"}, {"n01": "red"}, {"n09": "green"}, {"n17": "blue"}):
        learner.tell(more)
        told |= more
        ours = learner.ask(3).nodes.tolist()
        learner.skip(*ours)
        names, labels = list(told), list(told.values())
        skipped = [node for node in learner.skipped if node not in ours]
        model = fp.GraphRidge().fit(graph, names, labels) if len(set(labels)) > 1 else None
        given = {"labelled": names, "exclude": skipped, "seed": 2}
        assert ours == fp.select(graph, 3, labels=labels, model=model, **given).nodes.tolist()
    assert learner.model_name == "ridge"


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
    learner.skip(picks[1])
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
    learner.skip("n01")
    assert "n01" not in learner.labels
    learner.tell({"n01": "red"})
    assert learner.skipped == []


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


@pytest.mark.parametrize("name", available_strategies())
def test_resumed_rounds_go_on_as_if_nothing_had_happened(graph: fp.Graph, tmp_path: Path, name: str) -> None:
    learner = ActiveLearner(graph, name, model=fp.GCN(hidden=4, epochs=10), seed=2)
    learner.tell(answer(["n00", "n08", "n16"]))
    learner.tell(answer(learner.ask(3).nodes))
    learner.ask(2)
    learner.skip("n05")
    learner.save(tmp_path / "rounds")
    resumed = ActiveLearner.resume(tmp_path / "rounds", graph)
    assert resumed.labels == learner.labels
    assert (resumed.asked, resumed.skipped, resumed.rounds) == (learner.asked, ["n05"], 2)
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
    with raises(LabelError):
        learner.predict()


def test_with_one_class_a_fresh_model_of_the_kind_given_is_looked_at(graph: fp.Graph) -> None:
    model = fp.SGC(epochs=10, seed=3)
    learner = ActiveLearner(graph, "coreset-greedy", model=model)
    learner.tell({"n00": "red", "n01": "red"})
    known = {"labelled": ["n00", "n01"], "labels": ["red", "red"]}
    expected = fp.select(graph, 3, strategy="coreset-greedy", model=fp.SGC(epochs=10, seed=3), **known)
    assert learner.ask(3).nodes.tolist() == expected.nodes.tolist()
    assert not model.is_fitted


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
        (lambda a: a.skip("n99"), GraphError, "must be ids of the graph"),
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
    assert (learner.asked, learner.skipped, learner.rounds) == ([], [], 0)


def damaged(record: dict[str, Any], **changes: Any) -> str:
    return json.dumps({**record, **changes})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: "{", "must be undamaged beside labels.sqlite, which holds the labels"),
        (lambda record: "[" * 100_000, "must be undamaged beside labels.sqlite"),
        (lambda record: damaged(record, format=9), "found this: format 9, not 1: mend it, or start anew"),
        (lambda record: damaged(record, asked=["n77"]), "must be ids of the graph"),
        (lambda record: damaged(record, strategy={"name": "best", "options": {}}), "strategy must be one of"),
        (lambda record: damaged(record, asked=3), "must be undamaged"),
        (
            lambda record: damaged(record, graph={"nodes": 3, "edges": 1, "features": 2}),
            "must be resumed with the graph it was saved with, or one that has grown; found 3 nodes, 1 edges, "
            "2 features then, 24 nodes",
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
    with raises(FileError):
        ActiveLearner(graph).save(tmp_path)
    with raises(FileError):
        ActiveLearner.resume(tmp_path, graph)
    with raises(FileError):
        ActiveLearner.resume(tmp_path / "nowhere", graph)
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]


def test_a_label_that_no_file_can_hold_is_refused_when_it_is_told(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    with raises(ParameterError):
        learner.tell({"n00": "red", "n01": ("a", "tuple", object())})
    assert learner.labels == {}, "all of them or none"


def test_a_failed_save_leaves_what_was_there(graph: fp.Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    learner.save(tmp_path / "rounds")
    before = (tmp_path / "rounds" / "learner.json").read_bytes()
    learner.tell({"n01": "blue"})
    monkeypatch.setattr(learner.strategy, "state", lambda: {"not": object()})
    with pytest.raises(TypeError):
        learner.save(tmp_path / "rounds")
    assert (tmp_path / "rounds" / "learner.json").read_bytes() == before
    assert ActiveLearner.resume(tmp_path / "rounds", graph).labels == {"n00": "red", "n01": "blue"}
    assert [path.name for path in tmp_path.iterdir()] == ["rounds"]


def test_what_is_told_after_a_save_is_on_the_disk_at_once(graph: fp.Graph, tmp_path: Path) -> None:
    learner = ActiveLearner(graph)
    learner.save(tmp_path / "rounds")
    learner.tell({"n00": "red"})
    assert ActiveLearner.resume(tmp_path / "rounds", graph).labels == {"n00": "red"}


def test_the_folder_of_other_rounds_is_not_replaced(graph: fp.Graph, tmp_path: Path) -> None:
    ActiveLearner(graph).save(tmp_path / "rounds")
    first = ActiveLearner.resume(tmp_path / "rounds", graph)
    first.tell({"n00": "red"})
    with raises(FileError):
        ActiveLearner(graph).save(tmp_path / "rounds")
    assert ActiveLearner.resume(tmp_path / "rounds", graph).labels == {"n00": "red"}
    first.save(tmp_path / "copy")
    assert ActiveLearner.resume(tmp_path / "copy", graph).labels == {"n00": "red"}


def test_a_program_that_was_killed_while_it_saved_does_everything_again(graph: fp.Graph, tmp_path: Path) -> None:
    """The labels were there already, under other keys; learner.json was not."""
    for labels in ({"n00": "red"}, {"n00": "red"}, {"n00": "red", "n01": "blue"}):
        learner = ActiveLearner(graph)
        learner.tell(labels)
        learner.save(tmp_path / "rounds")
        (tmp_path / "rounds" / "learner.json").unlink()
    with LabelLog(tmp_path / "rounds" / "labels.sqlite") as kept:
        assert kept.labels() == {"n00": "red", "n01": "blue"}
    for labels in ({"n00": "red"}, {"n00": "red", "n01": "red"}, {"n01": "blue", "n00": "red"}):
        learner = ActiveLearner(graph)
        learner.tell(labels)
        with raises(FileError):
            learner.save(tmp_path / "rounds")


def test_who_was_asked_is_kept_when_the_block_has_ended_well(graph: fp.Graph, tmp_path: Path) -> None:
    learner = ActiveLearner(graph, seed=1)
    learner.save(tmp_path / "rounds")
    picks = learner.ask(3).nodes.tolist()
    with pytest.raises(KeyError), learner.saving(tmp_path / "rounds"):
        raise KeyError
    assert ActiveLearner.resume(tmp_path / "rounds", graph).ask(3).nodes.tolist() == picks, "asked for again"
    with learner.saving(tmp_path / "rounds"):
        assert ActiveLearner.resume(tmp_path / "rounds", graph).asked == []
    assert ActiveLearner.resume(tmp_path / "rounds", graph).asked == picks


def test_rounds_of_somebody_else_are_not_overwritten(graph: fp.Graph, tmp_path: Path) -> None:
    """Two programs that take up one learner: the second to save would ask the nodes of the first again."""
    ActiveLearner(graph, seed=1).save(tmp_path / "rounds")
    one, other = (ActiveLearner.resume(tmp_path / "rounds", graph) for _ in range(2))
    asked = one.ask(3).nodes.tolist()
    one.save(tmp_path / "rounds")
    other.tell({"n00": "red"})
    other.ask(2)
    with raises(FileError):
        other.save(tmp_path / "rounds")
    again = ActiveLearner.resume(tmp_path / "rounds", graph)
    assert (again.asked, again.rounds, again.labels) == (asked, 1, {"n00": "red"}), "what was told is kept at once"
    one.ask(2)
    one.save(tmp_path / "rounds")
    other.save(tmp_path / "other")
    assert ActiveLearner.resume(tmp_path / "other", graph).labels == {"n00": "red"}
    one.save(tmp_path / "copy")
    one.ask(1)
    one.save(tmp_path / "rounds")
    assert ActiveLearner.resume(tmp_path / "rounds", graph).rounds == 3, "its own rounds, which went on elsewhere"


def test_a_folder_is_saved_to_by_one_program_at_a_time(graph: fp.Graph, tmp_path: Path) -> None:
    learner = ActiveLearner(graph)
    with alone_at(tmp_path / "rounds"), raises(FileError):
        learner.save(tmp_path / "rounds")
    learner.save(tmp_path / "rounds")


def test_a_model_whose_replacement_was_killed_comes_back(graph: fp.Graph, tmp_path: Path) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red", "n01": "blue"})
    learner.retrain()
    learner.save(tmp_path / "rounds")
    aside = tmp_path / "rounds" / f".featprop-{zlib.crc32(platform.node().encode()):08x}-99999999-abc"
    (aside / "new" / "model").mkdir(parents=True)
    (aside / "old").mkdir()
    (tmp_path / "rounds" / "model").rename(aside / "old" / "model")
    ActiveLearner.resume(tmp_path / "rounds", graph)
    assert sorted(path.name for path in (tmp_path / "rounds" / "model").iterdir()) == [
        "model.json",
        "weights.safetensors",
    ]
    assert not aside.exists()


def test_an_undo_takes_back_the_last_act(graph: fp.Graph) -> None:
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


GRID = [(0, 0), (0, 1), (1, 0), (1, 1)]
NAMES = {
    "tuples": GRID,
    "floats": [0.5, 1.0, 2.25, -3.0],
    "whole numbers": [7, 0, -1, 10**12],
    "texts": ["1", "007", "ü", "a, b"],
    "dates": [dt.date(2026, 11, day) for day in range(1, 5)],
    "times": [dt.datetime(2026, 11, 16, hour) for hour in range(4)],
    "all kinds": [(1, "a"), 1.5, "1.5", 3],
}


@pytest.mark.parametrize("labels", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("ids", NAMES.values(), ids=NAMES)
def test_ids_and_classes_keep_their_type_through_rounds(ids: list[Any], labels: list[Any], tmp_path: Path) -> None:
    named = fp.Graph.from_scipy(sp.csr_array((4, 4)), np.eye(4), ids=ids)
    learner = ActiveLearner(named, model=fp.GCN(epochs=2))
    asked = learner.ask(1).nodes.tolist()
    learner.tell(dict(zip(ids[:2], labels[:2], strict=True)))
    learner.retrain()
    learner.save(tmp_path / "rounds")
    resumed = ActiveLearner.resume(tmp_path / "rounds", named)
    assert list(resumed.labels.items()) == list(zip(ids[:2], labels[:2], strict=True))
    assert [type(name) for pair in resumed.labels.items() for name in pair] == [
        type(name) for pair in zip(ids[:2], labels[:2], strict=True) for name in pair
    ]
    assert resumed.asked == [node for node in asked if node not in ids[:2]]
    assert resumed.model.classes_ == learner.model.classes_
    assert len(resumed.ask(4 - len({*asked, *ids[:2]}))) == 4 - len({*asked, *ids[:2]})


def test_the_first_nodes_of_a_strategy_with_a_model_come_from_the_default(
    graph: fp.Graph, caplog: pytest.LogCaptureFixture
) -> None:
    learner = ActiveLearner(graph, "age", model=fp.GCN(epochs=5))
    with caplog.at_level("INFO", logger="featprop"):
        picks = learner.ask(3)
    assert picks.nodes.tolist() == fp.select(graph, 3).nodes.tolist()
    assert "age looks at a model and there are no labels yet: these nodes are chosen by featprop" in caplog.text
    learner.tell(answer(picks.nodes))
    assert len(learner.ask(2)) == 2


def test_the_model_given_is_left_alone(graph: fp.Graph) -> None:
    model = fp.GCN(hidden=4, epochs=3)
    learner = ActiveLearner(graph, "uncertainty", model=model)
    learner.tell(answer(["n00", "n08", "n16"]))
    learner.ask(2)
    assert learner.model.get_params() == model.get_params()
    assert not model.is_fitted
    assert learner.model is not model


def test_a_subclass_without_a_name_is_not_saved_as_its_parent(graph: fp.Graph, tmp_path: Path) -> None:
    class Mine(type(fp.get_strategy("featprop"))):
        pass

    with raises(ParameterError):
        ActiveLearner(graph, Mine()).save(tmp_path / "rounds")
    assert not (tmp_path / "rounds").exists()


@pytest.mark.parametrize("litter", [".DS_Store", "Thumbs.db"])
def test_what_a_file_browser_leaves_does_not_count(graph: fp.Graph, tmp_path: Path, litter: str) -> None:
    learner = ActiveLearner(graph)
    learner.save(tmp_path / "rounds")
    (tmp_path / "rounds" / litter).write_bytes(b"\0")
    learner.save(tmp_path / "rounds")


def test_three_questions_propagate_once(graph: fp.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    original = propagation.normalised_adjacency
    monkeypatch.setattr(propagation, "normalised_adjacency", lambda graph: made.append(1) or original(graph))
    fresh = fp.Graph.from_scipy(graph.adjacency, graph.features, ids=graph.ids)
    learner = ActiveLearner(fresh, "featprop", model=fp.GCN(epochs=2))
    learner.tell(answer(learner.ask(3).nodes) | answer(["n00", "n08", "n16"]))
    learner.ask(2)
    learner.ask(2)
    learner.predict()
    assert len(made) == 1


def test_a_strategy_without_a_name_cannot_be_saved(graph: fp.Graph, tmp_path: Path) -> None:
    class Mine(fp.Strategy):
        def select(self, context: Any, budget: int, generator: np.random.Generator) -> Any:
            return context.candidates[:budget]

    learner = ActiveLearner(graph, Mine())
    assert learner.ask(2).nodes.tolist() == ["n00", "n01"]
    with raises(ParameterError):
        learner.save(tmp_path / "rounds")


def test_a_number_that_equals_an_id_is_that_id() -> None:
    """Ids that became floats in a data frame."""
    numbered = fp.Graph.from_scipy(sp.csr_array((4, 4)), np.eye(4))
    learner = ActiveLearner(numbered)
    learner.tell({1.0: "a"})
    with raises(LabelError):
        learner.tell({1: "b"})
    learner.correct(1, "b")
    assert [(node, type(node)) for node in learner.labels] == [(1, int)]


def test_a_correction_of_what_somebody_else_said_is_one_more_answer(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"}, annotator="ada")
    learner.correct("n00", "blue")
    assert learner.labels == {"n00": "blue"}
    assert len(learner.log.answers()) == 2


def test_what_was_told_after_a_save_is_not_asked_for_any_more(graph: fp.Graph, tmp_path: Path) -> None:
    learner = ActiveLearner(graph)
    picks = learner.ask(3).nodes.tolist()
    learner.save(tmp_path / "rounds")
    learner.tell(answer(picks[:1]))
    assert ActiveLearner.resume(tmp_path / "rounds", graph).asked == picks[1:]


def test_labels_go_out_into_a_sheet_and_come_back(tmp_path: Path) -> None:
    classes = [(0, "a"), 1.5, dt.date(2026, 11, 16), "1"]
    named = fp.Graph.from_scipy(sp.csr_array((4, 4)), np.eye(4), ids=GRID)
    learner = ActiveLearner(named)
    learner.tell(dict(zip(GRID, classes, strict=True)))
    learner.write_labels(tmp_path / "labels.csv")
    sheet = read_labels([tmp_path / "labels.csv"], named, classes)
    assert dict(zip(sheet.nodes, sheet.labels, strict=True)) == learner.labels
    assert [type(label) for label in sheet.labels] == [tuple, float, dt.date, str]
    with raises(FileError):
        learner.write_labels(tmp_path / "labels.csv")


def test_labels_that_were_kept_without_the_rest_are_taken_up(graph: fp.Graph, tmp_path: Path) -> None:
    """As a kill between the two leaves them."""
    learner = ActiveLearner(graph)
    learner.tell({"n00": "red"})
    learner.save(tmp_path / "rounds")
    (tmp_path / "rounds" / "learner.json").unlink()
    again = ActiveLearner.at(tmp_path / "rounds", graph, "featprop")
    assert again.labels == {"n00": "red"}
    again.save(tmp_path / "rounds")
    assert ActiveLearner.resume(tmp_path / "rounds", graph).labels == {"n00": "red"}
    (tmp_path / "empty").mkdir()
    assert ActiveLearner.at(tmp_path / "empty", graph, "featprop").labels == {}


def test_a_series_tells_labels_by_its_index(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph)
    learner.tell(pd.Series({"n00": "red", "n01": None, "n09": "green"}))
    assert learner.labels == {"n00": "red", "n09": "green"}
    learner.tell(pd.Series(dtype=object))
    with raises(GraphError):
        learner.tell(pd.Series({"x": "red"}))
    assert learner.labels == {"n00": "red", "n09": "green"}


def test_a_series_of_numbered_rows_is_not_taken_for_the_first_nodes() -> None:
    numbered = fp.Graph.from_scipy(sp.csr_array((5, 5)), np.eye(5))
    learner = ActiveLearner(numbered)
    learner.ask(2, candidates=[3, 4])
    with raises(LabelError):
        learner.tell(pd.Series(["red", "green"]))
    assert learner.labels == {}
    learner.tell(pd.Series([1, None, 2, None, None]))
    assert [repr(label) for label in learner.labels.values()] == ["1", "2"]


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (None, "None"),
        (["red"], "an object of type list"),
        (pd.DataFrame({"id": ["n00"], "label": ["red"]}), "an object of type DataFrame"),
    ],
)
def test_labels_that_are_told_in_another_form(graph: fp.Graph, labels: Any, found: str) -> None:
    with pytest.raises(LabelError) as caught:
        ActiveLearner(graph).tell(labels)
    assert str(caught.value) == (
        f"Labels told must be a dict or a pandas Series by node id; found {found}: "
        "pass {node: label}, or frame.set_index('id')['label'] of a data frame."
    )


def test_it_tells_how_far_it_is(graph: fp.Graph) -> None:
    learner = ActiveLearner(graph, "random")
    assert repr(learner) == "ActiveLearner(random, GraphRidge: 0 labels of 0 classes, 0 waiting, 0 skipped, 0 rounds)"
    picks = learner.ask(4).nodes.tolist()
    learner.tell({picks[0]: "<red>", picks[1]: "green"})
    learner.skip(picks[2])
    assert repr(learner) == "ActiveLearner(random, GraphRidge: 2 labels of 2 classes, 1 waiting, 1 skipped, 1 rounds)"
    shown = learner._repr_html_()
    assert "nodes so far" in shown
    assert "&lt;red&gt;" in shown
    assert "<red>" not in shown
