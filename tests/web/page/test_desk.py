"""The desk: who is asked what next, what an answer does, and that nothing a person says is lost or doubled."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import FeatpropError, LabelError, ParameterError
from featprop.graph import Graph
from featprop.labels import LabelLog
from featprop.labels.agreement import alpha, consensus, disagreements
from featprop.web.page.api import jsonable_progress
from featprop.web.page.desk import AHEAD, Desk
from featprop.web.page.leases import LEASE
from featprop.web.page.trainer import Snapshot, ranked

N = 60


@pytest.fixture(scope="module")
def graph() -> Graph:
    generator = np.random.default_rng(0)
    classes = np.arange(N) % 3
    features = 2 * np.eye(3)[classes] + generator.normal(size=(N, 3))
    near = (classes[:, None] == classes[None]) & (generator.random((N, N)) < 0.2)
    return Graph.from_scipy(sp.csr_array(np.triu(near, 1).astype(float)), features, ids=[f"n{i}" for i in range(N)])


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


Make = Callable[..., Desk]


@pytest.fixture
def make(graph: Graph, tmp_path: Path) -> Iterator[Make]:
    """Return desks on one file; their model is not started unless a test does."""
    opened: list[Desk] = []

    def desk(**options: object) -> Desk:
        found = Desk(graph, LabelLog(tmp_path / "a.labels"), **({"classes": ["a", "b", "c"]} | options))
        opened.append(found)
        return found

    yield desk
    for each in opened:
        each.close()
        each.log.close()


def with_ranking(desk: Desk, wanted: int = 10) -> Desk:
    desk._take(ranked(desk.graph, "featprop-diffused", "ridge", 0, Snapshot(desk.log.labels(), (), wanted)))
    return desk


def test_the_question_stays_until_it_is_answered_and_is_the_best_ranked(make: Make) -> None:
    desk = with_ranking(make())
    first = desk.next("")
    assert first is not None
    assert first.node == desk.graph.ids[desk.ranking.nodes[0]]
    assert (first.rank, first.represents) == (1, int(desk.ranking.represents[0]))
    assert desk.next("") == first
    desk.label("", first.node, "a", "k1")
    second = desk.next("")
    assert second is not None
    assert second.rank == 2
    assert desk.log.labels() == {first.node: "a"}


def test_an_answer_is_on_the_disk_when_the_call_returns(make: Make, tmp_path: Path) -> None:
    desk = with_ranking(make())
    question = desk.next("")
    desk.label("", question.node, "b", "k1")
    with LabelLog(tmp_path / "a.labels") as other:
        assert other.labels() == {question.node: "b"}


def test_the_same_key_again_changes_nothing(make: Make) -> None:
    desk = with_ranking(make())
    desk.label("", "n1", "a", "k1")
    desk.label("", "n1", "b", "k2")
    desk.label("", "n1", "a", "k1")
    desk.skip("", "n2", "unsure", "k3")
    desk.skip("", "n2", "unsure", "k3")
    assert [(act.kind, act.label) for act in desk.log.events()] == [("label", "a"), ("label", "b"), ("skip", None)]
    assert desk.log.labels() == {"n1": "b"}


def test_undo_asks_again(make: Make) -> None:
    desk = with_ranking(make())
    question = desk.next("")
    desk.label("", question.node, "a", "k1")
    assert desk.undo("", "k2").node == question.node
    assert desk.undo("", "k2").node == question.node
    assert desk.log.labels() == {}
    assert desk.next("").node == question.node
    assert desk.undo("", "k3") is None


def test_a_skipped_node_does_not_come_back_and_nobody_waits_while_nodes_are_left(make: Make) -> None:
    desk = with_ranking(make(), wanted=2)
    asked = []
    while (question := desk.next("")) is not None:
        asked.append(question.node)
        desk.skip("", question.node, "unsure", f"k{len(asked)}")
    assert sorted(asked) == sorted(desk.graph.ids.tolist())


def test_before_any_ranking_there_is_a_question_too(make: Make) -> None:
    assert "not ready" in make().next("").why


def test_a_budget_ends_the_questions(make: Make) -> None:
    desk = with_ranking(make(budget=2))
    for key in "ab":
        desk.label("", desk.next("").node, "a", key)
    assert desk.next("") is None


def test_two_people_never_get_one_node(make: Make) -> None:
    desk = with_ranking(make(annotators=["ada", "grace"]))
    seen: list[object] = []
    for turn in range(N // 2):
        for name in ("ada", "grace"):
            question = desk.next(name)
            seen.append(question.node)
        for name in ("ada", "grace"):
            desk.label(name, desk.next(name).node, "a", f"{name}{turn}")
    assert len(set(seen)) == len(seen) == N
    assert desk.next("ada") is None


def test_overlap_gives_a_share_to_several_people(make: Make) -> None:
    desk = with_ranking(make(annotators=["ada", "grace"], overlap=2))
    for name in ("ada", "grace"):
        turn = 0
        while (question := desk.next(name)) is not None:
            desk.label(name, question.node, "a", f"{name}{turn}")
            turn += 1
    answers = desk.log.answers()
    both = len(answers) - len({act.node for act in answers})
    assert len({act.node for act in answers}) == N
    assert 3 <= both <= 25


def test_a_lease_runs_out_and_a_late_answer_still_counts(make: Make) -> None:
    clock = Clock()
    desk = with_ranking(make(annotators=["ada", "grace"], clock=clock))
    question = desk.next("ada")
    assert desk.next("grace").node != question.node
    clock.now = LEASE - 1
    assert desk.heartbeat("ada", question.node)
    clock.now = 2 * LEASE - 2
    assert desk.next("ada") == question
    clock.now = 4 * LEASE
    assert not desk.heartbeat("ada", question.node)
    assert desk.next("grace").node == question.node
    desk.label("ada", question.node, "a", "late")
    assert desk.log.labels() == {question.node: "a"}


def test_starting_again_goes_on(make: Make) -> None:
    desk = with_ranking(make())
    desk.label("", "n3", "c", "k1")
    desk.skip("", "n4", "unsure", "k2")
    again = with_ranking(make(classes=[]))
    assert list(again.classes) == ["c"]
    assert [act.node for act in again.history("")] == ["n4", "n3"]
    assert again.next("").node not in ("n3", "n4")


def test_disagreements_are_settled(make: Make) -> None:
    desk = with_ranking(make(annotators=["ada", "grace"]))
    desk.label("ada", "n1", "a", "k1")
    desk.label("grace", "n1", "b", "k2")
    assert [each.node for each in desk.disagreements()] == ["n1"]
    desk.adjudicate("grace", "n1", "c", "k3")
    assert desk.disagreements() == []
    assert desk.log.labels() == {"n1": "c"}


def test_classes(make: Make) -> None:
    desk = make()
    assert desk.add_class("  new   one ") == ("new one", True)
    assert desk.add_class("A") == ("a", False)
    assert desk.add_class("New\u00a0One") == ("new one", False)
    assert desk.add_class("7") == (7, True)
    assert desk.add_class("7.0") == (7, False)
    assert list(desk.classes) == ["a", "b", "c", "new one", 7]
    desk.label("", "n1", "7", "k1")
    assert desk.log.labels() == {"n1": 7}
    with pytest.raises(LabelError, match="must be one of the classes"):
        desk.label("", "n1", "zebra", "k2")
    with pytest.raises(ParameterError, match="named at the start"):
        make(open_classes=False).add_class("x")


@pytest.mark.parametrize(
    "act",
    [
        lambda desk: desk.next("eve"),
        lambda desk: desk.label("eve", "n1", "a", "k"),
        lambda desk: desk.label("", "nowhere", "a", "k"),
        lambda desk: desk.skip("", "nowhere", "", "k"),
        lambda desk: desk.note("eve", "n1", "x", "k"),
        lambda desk: desk.undo("eve", "k"),
    ],
)
def test_who_or_what_is_not_there(make: Make, act: Callable[[Desk], object]) -> None:
    desk = make()
    with pytest.raises(FeatpropError):
        act(desk)
    assert desk.log.events() == []


def test_it_is_said_how_good_the_model_is_when_there_are_enough_labels(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featprop.web.page.trainer.QUICK", float("inf"))
    desk = make()
    desk.start()
    for turn in range(24):
        node = desk.next("").node
        desk.label("", node, "abc"[int(str(node)[1:]) % 3], f"k{turn}")
    assert desk.progress().advice is None or desk.progress().advice.curve.now.n_labels >= 20
    deadline = time.monotonic() + 300
    while desk.progress().advice is None and time.monotonic() < deadline:
        time.sleep(0.1)
    advice = desk.progress().advice
    assert advice is not None
    assert 20 <= advice.curve.now.n_labels <= 24
    assert 0.5 < advice.curve.now.accuracy.value <= 1
    assert desk.progress().failure == ""
    said = jsonable_progress(desk.progress())["advice"]
    assert said["headline"] == advice.headline
    assert said["accuracy"]["value"] == advice.curve.now.accuracy.value


def test_the_model_learns_while_people_label(make: Make, graph: Graph) -> None:
    desk = make()
    desk.start()
    assert desk.ranking is not None
    assert len(desk.ranking.nodes) >= AHEAD
    for turn in range(12):
        node = desk.next("").node
        desk.label("", node, "abc"[int(str(node)[1:]) % 3], f"k{turn}")
    deadline = time.monotonic() + 300
    while desk.progress().seen < 12 and time.monotonic() < deadline:
        time.sleep(0.05)
    progress = desk.progress()
    assert (progress.seen, progress.labelled, progress.failure) == (12, 12, "")
    assert sum(count for _, count in progress.classes) == 12
    assert progress.coverage[-1][0] == 12
    right = [desk.prediction(node).label == "abc"[int(node[1:]) % 3] for node in graph.ids.tolist()]
    assert np.mean(right) > 0.8
    unsure = [prediction.confidence for _, prediction in desk.doubtful(5)]
    assert unsure == sorted(unsure)
    assert desk.contradicted(5) == [], "edges stay inside classes here, so neighbours agree"
    assert not {node for node, _ in desk.doubtful(50)} & set(desk.log.labels())
    question = desk.next("")
    assert len(desk.represented(question.node)) == question.represents


def test_a_training_that_dies_is_told_and_labels_go_on(make: Make) -> None:
    desk = make()
    desk.start()
    trainer = desk._trainer
    trainer._process.kill()
    trainer._process.join()
    for turn in range(3):
        desk.label("", desk.next("").node, "abc"[turn], f"k{turn}")
    deadline = time.monotonic() + 300
    while desk.progress().seen < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert desk.progress().seen == 3
    assert len(desk.log.labels()) == 3


def test_a_training_that_fails_never_holds_up_a_label(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make()
    monkeypatch.setattr(desk._trainer, "_ask", lambda snapshot: 1 / 0)
    desk.start(patience=1)
    desk.label("", desk.next("").node, "a", "k1")
    assert len(desk.log.labels()) == 1
    assert "division" in desk.progress().failure


def test_many_at_once(make: Make) -> None:
    names = [f"p{place}" for place in range(8)]
    desk = with_ranking(make(annotators=names))

    def work(name: str) -> None:
        turn = 0
        while (question := desk.next(name)) is not None:
            desk.label(name, question.node, "a", f"{name}-{turn}")
            desk.label(name, question.node, "a", f"{name}-{turn}")
            turn += 1

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    acts = desk.log.events()
    assert len(acts) == len({act.node for act in acts}) == N


def test_a_key_of_another_answer_is_refused_and_says_what_to_do(make: Make) -> None:
    desk = make()
    desk.label("", "n1", "a", "k1")
    for act in (
        lambda: desk.label("", "n1", "b", "k1"),
        lambda: desk.label("", "n2", "a", "k1"),
        lambda: desk.skip("", "n1", "unsure", "k1"),
        lambda: desk.note("", "n1", "odd", "k1"),
        lambda: desk.adjudicate("", "n1", "a", "k1"),
    ):
        with pytest.raises(LabelError, match="key"):
            act()
    assert len(desk.log.events()) == 1
    assert desk.labels() == {"n1": "a"}


def test_nobody_is_stuck_on_what_came_into_the_log_another_way(make: Make, tmp_path: Path) -> None:
    desk = make()
    with LabelLog(tmp_path / "a.labels") as other:
        other.answer("n1", "a")
    before = desk.label("", "n1", "b", "k1")
    assert before is not None
    assert before.label == "a"
    assert desk.labels() == {"n1": "b"}
    assert [act.kind for act in desk.log.events()] == ["label", "label"]


def test_every_node_that_was_taken_back_is_asked_again(make: Make) -> None:
    desk = make()
    asked = []
    for turn in range(N):
        asked.append(desk.next("").node)
        desk.label("", asked[-1], "a", f"k{turn}")
    assert desk.next("") is None
    for turn in range(3):
        desk.undo("", f"u{turn}")
    again = []
    while (question := desk.next("")) is not None:
        assert "taken back" in question.why
        again.append(question.node)
        desk.label("", question.node, "b", f"again{len(again)}")
    assert sorted(again) == sorted(asked[-3:])


def test_what_one_took_back_goes_to_another_when_they_leave(make: Make) -> None:
    clock = Clock()
    desk = make(annotators=["ada", "grace"], clock=clock)
    while (question := desk.next("ada")) is not None:
        desk.label("ada", question.node, "a", f"k{question.node}")
    taken_back = desk.undo("ada", "u").node
    assert desk.next("grace") is None
    clock.now = 2 * LEASE
    assert desk.next("grace").node == taken_back


def test_a_verdict_taken_back_opens_the_disagreement_and_asks_nobody(make: Make) -> None:
    desk = make(annotators=["ada", "grace", "eve"])
    desk.label("ada", "n1", "a", "k1")
    desk.label("grace", "n1", "b", "k2")
    question = desk.next("eve").node
    desk.adjudicate("eve", "n1", "c", "k3")
    assert [(act.kind, act.label) for act in desk.history("eve")] == [("adjudicate", "c")]
    assert [act.node for act in desk.settled()] == ["n1"]
    assert desk.undo("eve", "k4").kind == "adjudicate"
    assert [each.node for each in desk.disagreements()] == ["n1"]
    assert desk.next("eve").node == question


def test_every_class_there_was_is_there_after_a_restart_in_its_order(make: Make) -> None:
    desk = make(classes=["z", "a"], annotators=["ada", "grace", "eve"])
    desk.start()
    desk.add_class("new", "ada")
    desk.label("ada", "n1", "a", "k1")
    desk.label("grace", "n1", "a", "k2")
    desk.label("eve", "n1", "z", "k3")
    desk.close()
    assert list(make(classes=[]).classes) == ["z", "a", "new"]
    assert list(make(classes=["new", "a"]).classes) == ["new", "a", "z"]
    assert desk.log.classes() == ["z", "a", "new"]


def test_a_class_that_the_log_knows_in_another_spelling_is_that_one(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="featprop")
    make().log.tell({"n1": "fraud", "n2": "Fraud", "n3": 1, "n4": "not ok"})
    desk = make(classes=["FRAUD", "legit", "Fraud", "1", "1.0", "not  OK"])
    assert list(map(repr, desk.classes)) == ["'fraud'", "'legit'", "'Fraud'", "'1'", "1", "'not ok'"], "types stay"
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.endswith("'FRAUD' is 'fraud', '1.0' is 1, 'not  OK' is 'not ok'")


def test_a_class_is_meant_by_its_very_name_before_how_it_is_written(make: Make) -> None:
    desk = make(classes=[1, "1", 2])
    desk.label("", "n1", "1", "k1")
    desk.label("", "n2", 1, "k2")
    desk.label("", "n3", "2", "k3")
    assert [desk.labels()[node] for node in ("n1", "n2", "n3")] == ["1", 1, 2]
    assert [type(desk.labels()[node]) for node in ("n1", "n2", "n3")] == [str, int, int]
    assert desk.progress().classes == [(1, 1), ("1", 1), (2, 1)]


def test_an_answer_that_cannot_be_read_again_is_not_lost_in_memory(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = make()
    desk.label("", "n1", "a", "k1")
    desk.log._connection.execute("PRAGMA query_only = 1")
    with pytest.raises(FeatpropError):
        desk.label("", "n1", "b", "k2")
    assert desk.labels() == {"n1": "a"}
    assert [act.node for act in desk.history("")] == ["n1"]


def test_nobody_sees_labels_of_nodes_they_may_be_asked_for(make: Make) -> None:
    desk = make(annotators=["ada", "grace"], overlap=2)
    shared = [node for node in desk.graph.ids.tolist() if desk._questions.wanted(node) == 2][:2]
    for turn, node in enumerate(shared):
        desk.label("ada", node, "b", f"k{turn}")
    places = desk.graph.positions(shared)
    assert desk.codes("ada")[places].tolist() == [1, 1]
    assert desk.codes("grace")[places].tolist() == [-1, -1]
    desk.label("grace", shared[0], "a", "k9")
    assert (desk.codes("grace")[places] >= 0).tolist() == [True, False]


def test_a_tie_is_the_latest_answer_and_no_model_learns_from_it(make: Make) -> None:
    desk = make(annotators=["ada", "grace"])
    for place in range(6, 30):
        desk.label("ada", f"n{place}", "abc"[place % 3], f"k{place}")
    desk.label("ada", "n0", "a", "t1")
    desk.label("grace", "n0", "c", "t2")
    assert desk.labels()["n0"] == "c"
    snapshot = desk._snapshot()
    assert "n0" not in snapshot.labels
    assert "n0" in snapshot.out
    assert desk.progress().disagreements == 1


def test_nodes_in_hand_count_towards_the_budget(make: Make) -> None:
    desk = make(annotators=["ada", "grace", "eve"], budget=2)
    assert desk.next("ada") is not None
    assert desk.next("grace") is not None
    assert desk.next("eve") is None
    desk.skip("ada", desk.next("ada").node, "unsure", "k1")
    assert desk.next("eve") is not None


def test_counts_are_those_of_the_log_whatever_is_done(make: Make) -> None:
    desk = make(annotators=["ada", "grace"], overlap=2)
    chance = np.random.default_rng(0)
    for turn in range(300):
        name, node = ["ada", "grace"][chance.integers(2)], f"n{chance.integers(8)}"
        act = chance.integers(5)
        if act == 0:
            desk.undo(name, f"k{turn}")
        elif act == 1:
            desk.skip(name, node, "unsure", f"k{turn}")
        elif act == 2:
            desk.adjudicate(name, node, "abc"[chance.integers(3)], f"k{turn}")
        else:
            desk.label(name, node, "abc"[chance.integers(3)], f"k{turn}")
    holding = desk.log.holding()
    counts = consensus(holding)
    assert desk.labels() == counts.labels
    progress = desk.progress()
    assert dict(progress.classes) == {name: list(counts.labels.values()).count(name) for name in "abc"}
    given = [act for act in holding if act.kind != "adjudicate"]
    assert progress.annotators == {name: sum(act.annotator == name for act in given) for name in ("ada", "grace")}
    assert sum(progress.hours.values()) == len(given)
    assert progress.skipped == len(counts.skips)
    assert progress.alpha == pytest.approx(alpha(holding))
    assert {each.node for each in desk.disagreements()} == {each.node for each in disagreements(holding)}
    for name in ("ada", "grace"):
        mine = sorted((act.number for act in holding if act.annotator == name), reverse=True)
        assert [act.number for act in desk.history(name)] == mine
    again = make(annotators=["ada", "grace"], overlap=2)
    assert again.progress() == progress


def test_a_training_that_hangs_is_ended_told_and_begun_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.web.page.trainer.LONGEST", 0.3)
    desk = make()
    trainer = desk._trainer
    begin = trainer._begin
    hung = []

    def begin_hung() -> None:
        begin()
        if not hung:
            hung.append(trainer._process.pid)
            os.kill(trainer._process.pid, signal.SIGSTOP)

    monkeypatch.setattr(trainer, "_begin", begin_hung)
    desk.start(patience=5)
    assert "more than 0 s and was ended" in desk.progress().failure
    monkeypatch.setattr("featprop.web.page.trainer.LONGEST", 60.0)
    desk.label("", desk.next("").node, "a", "k1")
    deadline = time.monotonic() + 300
    while desk.progress().seen < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (desk.progress().seen, desk.progress().failure) == (1, "")


def test_a_node_among_others_is_contradicted(make: Make, graph: Graph) -> None:
    desk = make()
    desk.log.tell({f"n{i}": "abc"[i % 3] for i in range(12)}, annotator="")
    with_ranking(desk)
    assert desk.ranking is not None
    probabilities = np.tile(np.float32([0.8, 0.1, 0.1]), (N, 1))
    alone = int(np.diff(graph.adjacency.indptr)[20:].argmax()) + 20
    probabilities[alone] = [0.1, 0.8, 0.1]
    desk._questions.ranking = replace(desk.ranking, probabilities=probabilities)
    assert desk.contradicted(5)[0][0] == f"n{alone}"
    assert desk.contradicted(5)[0][1].label == "b"
