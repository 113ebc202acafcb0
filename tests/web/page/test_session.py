"""The session: who is asked what next, what an answer does, and that nothing a person says is lost or doubled."""

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
from featprop.web.page.api import to_json_progress
from featprop.web.page.session import AHEAD, Session
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


Make = Callable[..., Session]


@pytest.fixture
def make(graph: Graph, tmp_path: Path) -> Iterator[Make]:
    """Return desks on one file; their model is not started unless a test does."""
    opened: list[Session] = []

    def session(**options: object) -> Session:
        found = Session(graph, LabelLog(tmp_path / "a.labels"), **({"classes": ["a", "b", "c"]} | options))
        opened.append(found)
        return found

    yield session
    for each in opened:
        each.close()
        each.log.close()


def with_ranking(session: Session, wanted: int = 10) -> Session:
    session._take(ranked(session.graph, "featprop-diffused", "ridge", 0, Snapshot(session.log.labels(), (), wanted)))
    return session


def test_the_question_stays_until_it_is_answered_and_is_the_best_ranked(make: Make) -> None:
    session = with_ranking(make())
    first = session.next("")
    assert first is not None
    assert first.node == session.graph.ids[session.ranking.nodes[0]]
    assert (first.rank, first.represents) == (1, int(session.ranking.represents[0]))
    assert session.next("") == first
    session.label("", first.node, "a", "k1")
    second = session.next("")
    assert second is not None
    assert second.rank == 2
    assert session.log.labels() == {first.node: "a"}


def test_an_answer_is_on_the_disk_when_the_call_returns(make: Make, tmp_path: Path) -> None:
    session = with_ranking(make())
    question = session.next("")
    session.label("", question.node, "b", "k1")
    with LabelLog(tmp_path / "a.labels") as other:
        assert other.labels() == {question.node: "b"}


def test_the_same_key_again_changes_nothing(make: Make) -> None:
    session = with_ranking(make())
    session.label("", "n1", "a", "k1")
    session.label("", "n1", "b", "k2")
    session.label("", "n1", "a", "k1")
    session.skip("", "n2", "unsure", "k3")
    session.skip("", "n2", "unsure", "k3")
    assert [(act.kind, act.label) for act in session.log.acts()] == [("label", "a"), ("correct", "b"), ("skip", None)]
    assert session.log.labels() == {"n1": "b"}


def test_undo_asks_again(make: Make) -> None:
    session = with_ranking(make())
    question = session.next("")
    session.label("", question.node, "a", "k1")
    assert session.undo("", "k2").node == question.node
    assert session.undo("", "k2").node == question.node
    assert session.log.labels() == {}
    assert session.next("").node == question.node
    assert session.undo("", "k3") is None


def test_a_skipped_node_does_not_come_back_and_nobody_waits_while_nodes_are_left(make: Make) -> None:
    session = with_ranking(make(), wanted=2)
    asked = []
    while (question := session.next("")) is not None:
        asked.append(question.node)
        session.skip("", question.node, "unsure", f"k{len(asked)}")
    assert sorted(asked) == sorted(session.graph.ids.tolist())


def test_before_any_ranking_there_is_a_question_too(make: Make) -> None:
    assert "not ready" in make().next("").why


def test_a_budget_ends_the_questions(make: Make) -> None:
    session = with_ranking(make(budget=2))
    for key in "ab":
        session.label("", session.next("").node, "a", key)
    assert session.next("") is None


def test_two_people_never_get_one_node(make: Make) -> None:
    session = with_ranking(make(annotators=["ada", "grace"]))
    seen: list[object] = []
    for turn in range(N // 2):
        for name in ("ada", "grace"):
            question = session.next(name)
            seen.append(question.node)
        for name in ("ada", "grace"):
            session.label(name, session.next(name).node, "a", f"{name}{turn}")
    assert len(set(seen)) == len(seen) == N
    assert session.next("ada") is None


def test_overlap_gives_a_share_to_several_people(make: Make) -> None:
    session = with_ranking(make(annotators=["ada", "grace"], overlap=2))
    for name in ("ada", "grace"):
        turn = 0
        while (question := session.next(name)) is not None:
            session.label(name, question.node, "a", f"{name}{turn}")
            turn += 1
    answers = session.log.answers()
    both = len(answers) - len({act.node for act in answers})
    assert len({act.node for act in answers}) == N
    assert 3 <= both <= 25


def test_a_lease_runs_out_and_a_late_answer_still_counts(make: Make) -> None:
    clock = Clock()
    session = with_ranking(make(annotators=["ada", "grace"], clock=clock))
    question = session.next("ada")
    assert session.next("grace").node != question.node
    clock.now = LEASE - 1
    assert session.heartbeat("ada", question.node)
    clock.now = 2 * LEASE - 2
    assert session.next("ada") == question
    clock.now = 4 * LEASE
    assert not session.heartbeat("ada", question.node)
    assert session.next("grace").node == question.node
    session.label("ada", question.node, "a", "late")
    assert session.log.labels() == {question.node: "a"}


def test_starting_again_goes_on(make: Make) -> None:
    session = with_ranking(make())
    session.label("", "n3", "c", "k1")
    session.skip("", "n4", "unsure", "k2")
    again = with_ranking(make(classes=[]))
    assert list(again.classes) == ["c"]
    assert [act.node for act in again.history("")] == ["n4", "n3"]
    assert again.next("").node not in ("n3", "n4")


def test_disagreements_are_settled(make: Make) -> None:
    session = with_ranking(make(annotators=["ada", "grace"]))
    session.label("ada", "n1", "a", "k1")
    session.label("grace", "n1", "b", "k2")
    assert [each.node for each in session.disagreements()] == ["n1"]
    session.adjudicate("grace", "n1", "c", "k3")
    assert session.disagreements() == []
    assert session.log.labels() == {"n1": "c"}


def test_classes(make: Make) -> None:
    session = make()
    assert session.add_class("  new   one ") == ("new one", True)
    assert session.add_class("A") == ("a", False)
    assert session.add_class("New\u00a0One") == ("new one", False)
    assert session.add_class("7") == (7, True)
    assert session.add_class("7.0") == (7, False)
    assert list(session.classes) == ["a", "b", "c", "new one", 7]
    session.label("", "n1", "7", "k1")
    assert session.log.labels() == {"n1": 7}
    with pytest.raises(LabelError, match="must be one of the classes"):
        session.label("", "n1", "zebra", "k2")
    with pytest.raises(ParameterError, match="named at the start"):
        make(open_classes=False).add_class("x")


@pytest.mark.parametrize(
    "act",
    [
        lambda session: session.next("eve"),
        lambda session: session.label("eve", "n1", "a", "k"),
        lambda session: session.label("", "nowhere", "a", "k"),
        lambda session: session.skip("", "nowhere", "", "k"),
        lambda session: session.note("eve", "n1", "x", "k"),
        lambda session: session.undo("eve", "k"),
    ],
)
def test_who_or_what_is_not_there(make: Make, act: Callable[[Session], object]) -> None:
    session = make()
    with pytest.raises(FeatpropError):
        act(session)
    assert session.log.acts() == []


def test_it_is_said_how_good_the_model_is_when_there_are_enough_labels(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featprop.web.page.trainer.QUICK", float("inf"))
    session = make()
    session.start()
    for turn in range(24):
        node = session.next("").node
        session.label("", node, "abc"[int(str(node)[1:]) % 3], f"k{turn}")
    assert session.progress().advice is None or session.progress().advice.curve.now.n_labels >= 20
    deadline = time.monotonic() + 300
    while session.progress().advice is None and time.monotonic() < deadline:
        time.sleep(0.1)
    advice = session.progress().advice
    assert advice is not None
    assert 20 <= advice.curve.now.n_labels <= 24
    assert 0.5 < advice.curve.now.accuracy.value <= 1
    assert session.progress().failure == ""
    said = to_json_progress(session.progress())["advice"]
    assert said["headline"] == advice.headline
    assert said["accuracy"]["value"] == advice.curve.now.accuracy.value


def test_the_model_learns_while_people_label(make: Make, graph: Graph) -> None:
    session = make()
    session.start()
    assert session.ranking is not None
    assert len(session.ranking.nodes) >= AHEAD
    for turn in range(12):
        node = session.next("").node
        session.label("", node, "abc"[int(str(node)[1:]) % 3], f"k{turn}")
    deadline = time.monotonic() + 300
    while session.progress().seen < 12 and time.monotonic() < deadline:
        time.sleep(0.05)
    progress = session.progress()
    assert (progress.seen, progress.labelled, progress.failure) == (12, 12, "")
    assert sum(count for _, count in progress.classes) == 12
    assert progress.coverage[-1][0] == 12
    right = [session.prediction(node).label == "abc"[int(node[1:]) % 3] for node in graph.ids.tolist()]
    assert np.mean(right) > 0.8
    unsure = [prediction.confidence for _, prediction in session.doubtful(5)]
    assert unsure == sorted(unsure)
    assert session.contradicted(5) == [], "edges stay inside classes here, so neighbours agree"
    assert not {node for node, _ in session.doubtful(50)} & set(session.log.labels())
    question = session.next("")
    assert len(session.represented(question.node)) == question.represents


def test_a_training_that_dies_is_told_and_labels_go_on(make: Make) -> None:
    session = make()
    session.start()
    trainer = session._trainer
    trainer._process.kill()
    trainer._process.join()
    for turn in range(3):
        session.label("", session.next("").node, "abc"[turn], f"k{turn}")
    deadline = time.monotonic() + 300
    while session.progress().seen < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert session.progress().seen == 3
    assert len(session.log.labels()) == 3


def test_a_training_that_fails_never_holds_up_a_label(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make()
    monkeypatch.setattr(session._trainer, "_ask", lambda snapshot: 1 / 0)
    session.start(patience=1)
    session.label("", session.next("").node, "a", "k1")
    assert len(session.log.labels()) == 1
    assert "division" in session.progress().failure


def test_many_at_once(make: Make) -> None:
    names = [f"p{place}" for place in range(8)]
    session = with_ranking(make(annotators=names))

    def work(name: str) -> None:
        turn = 0
        while (question := session.next(name)) is not None:
            session.label(name, question.node, "a", f"{name}-{turn}")
            session.label(name, question.node, "a", f"{name}-{turn}")
            turn += 1

    threads = [threading.Thread(target=work, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    acts = session.log.acts()
    assert len(acts) == len({act.node for act in acts}) == N


def test_a_key_of_another_answer_is_refused_and_says_what_to_do(make: Make) -> None:
    session = make()
    session.label("", "n1", "a", "k1")
    for act in (
        lambda: session.label("", "n1", "b", "k1"),
        lambda: session.label("", "n2", "a", "k1"),
        lambda: session.skip("", "n1", "unsure", "k1"),
        lambda: session.note("", "n1", "odd", "k1"),
        lambda: session.adjudicate("", "n1", "a", "k1"),
    ):
        with pytest.raises(LabelError, match="change that under Your answers"):
            act()
    assert len(session.log.acts()) == 1
    assert session.labels() == {"n1": "a"}


def test_nobody_is_stuck_on_what_came_into_the_log_another_way(make: Make, tmp_path: Path) -> None:
    session = make()
    with LabelLog(tmp_path / "a.labels") as other:
        other.answer("n1", "a")
    before = session.label("", "n1", "b", "k1")
    assert before is not None
    assert before.label == "a"
    assert session.labels() == {"n1": "b"}
    assert [act.kind for act in session.log.acts()] == ["label", "correct"]


def test_every_node_that_was_taken_back_is_asked_again(make: Make) -> None:
    session = make()
    asked = []
    for turn in range(N):
        asked.append(session.next("").node)
        session.label("", asked[-1], "a", f"k{turn}")
    assert session.next("") is None
    for turn in range(3):
        session.undo("", f"u{turn}")
    again = []
    while (question := session.next("")) is not None:
        assert "taken back" in question.why
        again.append(question.node)
        session.label("", question.node, "b", f"again{len(again)}")
    assert sorted(again) == sorted(asked[-3:])


def test_what_one_took_back_goes_to_another_when_they_leave(make: Make) -> None:
    clock = Clock()
    session = make(annotators=["ada", "grace"], clock=clock)
    while (question := session.next("ada")) is not None:
        session.label("ada", question.node, "a", f"k{question.node}")
    taken_back = session.undo("ada", "u").node
    assert session.next("grace") is None
    clock.now = 2 * LEASE
    assert session.next("grace").node == taken_back


def test_a_verdict_taken_back_opens_the_disagreement_and_asks_nobody(make: Make) -> None:
    session = make(annotators=["ada", "grace", "eve"])
    session.label("ada", "n1", "a", "k1")
    session.label("grace", "n1", "b", "k2")
    question = session.next("eve").node
    session.adjudicate("eve", "n1", "c", "k3")
    assert [(act.kind, act.label) for act in session.history("eve")] == [("adjudicate", "c")]
    assert [act.node for act in session.settled()] == ["n1"]
    assert session.undo("eve", "k4").kind == "adjudicate"
    assert [each.node for each in session.disagreements()] == ["n1"]
    assert session.next("eve").node == question


def test_every_class_there_was_is_there_after_a_restart_in_its_order(make: Make) -> None:
    session = make(classes=["z", "a"], annotators=["ada", "grace", "eve"])
    session.start()
    session.add_class("new", "ada")
    session.label("ada", "n1", "a", "k1")
    session.label("grace", "n1", "a", "k2")
    session.label("eve", "n1", "z", "k3")
    session.close()
    assert list(make(classes=[]).classes) == ["z", "a", "new"]
    assert list(make(classes=["new", "a"]).classes) == ["new", "a", "z"]
    assert session.log.classes() == ["z", "a", "new"]


def test_a_class_that_the_log_knows_in_another_spelling_is_that_one(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="featprop")
    make().log.tell({"n1": "fraud", "n2": "Fraud", "n3": 1, "n4": "not ok"})
    session = make(classes=["FRAUD", "legit", "Fraud", "1", "1.0", "not  OK"])
    assert list(map(repr, session.classes)) == ["'fraud'", "'legit'", "'Fraud'", "'1'", "1", "'not ok'"], "types stay"
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.endswith(" stay as they are there: 'FRAUD' is 'fraud', '1.0' is 1, 'not  OK' is 'not ok'")


def test_a_class_is_meant_by_its_very_name_before_how_it_is_written(make: Make) -> None:
    session = make(classes=[1, "1", 2])
    session.label("", "n1", "1", "k1")
    session.label("", "n2", 1, "k2")
    session.label("", "n3", "2", "k3")
    assert [session.labels()[node] for node in ("n1", "n2", "n3")] == ["1", 1, 2]
    assert [type(session.labels()[node]) for node in ("n1", "n2", "n3")] == [str, int, int]
    assert session.progress().classes == [(1, 1), ("1", 1), (2, 1)]


def test_an_answer_that_cannot_be_read_again_is_not_lost_in_memory(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make()
    session.label("", "n1", "a", "k1")
    session.log._connection.execute("PRAGMA query_only = 1")
    with pytest.raises(FeatpropError):
        session.label("", "n1", "b", "k2")
    assert session.labels() == {"n1": "a"}
    assert [act.node for act in session.history("")] == ["n1"]


def test_nobody_sees_labels_of_nodes_they_may_be_asked_for(make: Make) -> None:
    session = make(annotators=["ada", "grace"], overlap=2)
    shared = [node for node in session.graph.ids.tolist() if session._questions.wanted(node) == 2][:2]
    for turn, node in enumerate(shared):
        session.label("ada", node, "b", f"k{turn}")
    places = session.graph.positions(shared)
    assert session.codes("ada")[places].tolist() == [1, 1]
    assert session.codes("grace")[places].tolist() == [-1, -1]
    session.label("grace", shared[0], "a", "k9")
    assert (session.codes("grace")[places] >= 0).tolist() == [True, False]


def test_a_tie_is_decided_by_the_model_which_has_not_learnt_from_it(make: Make) -> None:
    session = make(annotators=["ada", "grace"])
    for place in range(6, 30):
        session.label("ada", f"n{place}", "abc"[place % 3], f"k{place}")
    session.label("ada", "n0", "a", "t1")
    session.label("grace", "n0", "c", "t2")
    assert session.labels()["n0"] == "c"
    snapshot = session._snapshot()
    assert "n0" not in snapshot.labels
    assert "n0" in snapshot.out
    session._take(ranked(session.graph, "featprop-diffused", "ridge", 0, snapshot))
    assert session.prediction("n0").label == "a"
    assert session.labels()["n0"] == "a"
    assert session.progress().disagreements == 1


def test_nodes_in_hand_count_towards_the_budget(make: Make) -> None:
    session = make(annotators=["ada", "grace", "eve"], budget=2)
    assert session.next("ada") is not None
    assert session.next("grace") is not None
    assert session.next("eve") is None
    session.skip("ada", session.next("ada").node, "unsure", "k1")
    assert session.next("eve") is not None


def test_counts_are_those_of_the_log_whatever_is_done(make: Make) -> None:
    session = make(annotators=["ada", "grace"], overlap=2)
    chance = np.random.default_rng(0)
    for turn in range(300):
        name, node = ["ada", "grace"][chance.integers(2)], f"n{chance.integers(8)}"
        act = chance.integers(5)
        if act == 0:
            session.undo(name, f"k{turn}")
        elif act == 1:
            session.skip(name, node, "unsure", f"k{turn}")
        elif act == 2:
            session.adjudicate(name, node, "abc"[chance.integers(3)], f"k{turn}")
        else:
            session.label(name, node, "abc"[chance.integers(3)], f"k{turn}")
    holding = session.log.holding()
    counts = consensus(holding)
    assert session.labels() == counts.labels
    progress = session.progress()
    assert dict(progress.classes) == {name: list(counts.labels.values()).count(name) for name in "abc"}
    given = [act for act in holding if act.kind != "adjudicate"]
    assert progress.annotators == {name: sum(act.annotator == name for act in given) for name in ("ada", "grace")}
    assert sum(progress.hours.values()) == len(given)
    assert progress.skipped == len(counts.skips)
    assert progress.alpha == pytest.approx(alpha(holding))
    assert {each.node for each in session.disagreements()} == {each.node for each in disagreements(holding)}
    for name in ("ada", "grace"):
        mine = sorted((act.number for act in holding if act.annotator == name), reverse=True)
        assert [act.number for act in session.history(name)] == mine
    again = make(annotators=["ada", "grace"], overlap=2)
    assert again.progress() == progress


def test_a_training_that_hangs_is_ended_told_and_begun_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.web.page.trainer.LONGEST", 0.3)
    session = make()
    trainer = session._trainer
    begin = trainer._begin
    hung = []

    def begin_hung() -> None:
        begin()
        if not hung:
            hung.append(trainer._process.pid)
            os.kill(trainer._process.pid, signal.SIGSTOP)

    monkeypatch.setattr(trainer, "_begin", begin_hung)
    session.start(patience=5)
    assert "more than 0 s and was ended" in session.progress().failure
    monkeypatch.setattr("featprop.web.page.trainer.LONGEST", 60.0)
    session.label("", session.next("").node, "a", "k1")
    deadline = time.monotonic() + 300
    while session.progress().seen < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (session.progress().seen, session.progress().failure) == (1, "")


def test_a_node_among_others_is_contradicted(make: Make, graph: Graph) -> None:
    session = make()
    session.log.tell({f"n{i}": "abc"[i % 3] for i in range(12)}, annotator="")
    with_ranking(session)
    assert session.ranking is not None
    probabilities = np.tile(np.float32([0.8, 0.1, 0.1]), (N, 1))
    alone = int(np.diff(graph.adjacency.indptr)[20:].argmax()) + 20
    probabilities[alone] = [0.1, 0.8, 0.1]
    session._questions.ranking = replace(session.ranking, probabilities=probabilities)
    assert session.contradicted(5)[0][0] == f"n{alone}"
    assert session.contradicted(5)[0][1].label == "b"
