"""Labelling sessions: questions, answers, training, and that no answer is lost or counted twice."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.errors import LabelError, ModelError, ParameterError
from featprop.graph import Graph
from featprop.ids import name_from_text
from featprop.labels import Annotation, LabelLog
from featprop.labels.agreement import alpha, consensus, find_conflicts
from featprop.labels.log import ClassEntry
from featprop.web.page.questions import LEASE_S, Why
from featprop.web.page.session import MAX_RANKED, Session
from featprop.web.page.trainer import NO_RANKING, Worker, compute_ranking
from tests.helpers import raises
from tests.web.page.conftest import payments

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
def make(graph: Graph, make_page: Callable[..., Any], tmp_path: Path) -> Make:
    """Return a maker of sessions on one file, with a first ranking and without a running model."""

    def make_session(**options: Any) -> Session:
        return with_ranking(make_page(graph, tmp_path / "a.labels", **({"classes": ["a", "b", "c"]} | options)).session)

    return make_session


@pytest.fixture
def session(make: Make) -> Session:
    return make()


def with_ranking(session: Session, wanted: int = 10) -> Session:
    snapshot = session.snapshot()._replace(wanted=wanted)
    session.take_ranking(compute_ranking(session.graph, snapshot))
    return session


def events(session: Session) -> list[Annotation]:
    """All events except the names of the classes."""
    return [act for act in session.log.events() if act.kind != "classes"]


def test_question_is_the_best_ranked_and_stays_until_answered(session: Session) -> None:
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


def test_skipped_nodes_do_not_come_back(make: Make) -> None:
    session = with_ranking(make(), wanted=2)
    asked = []
    while (question := session.next("")) is not None:
        asked.append(question.node)
        session.skip("", question.node, "unsure", f"k{len(asked)}")
    assert sorted(asked) == sorted(session.graph.ids.tolist())


def test_no_question_is_a_random_node(make: Make) -> None:
    """The ranking runs out and no training ends: then come similar nodes, and with a model its least certain ones."""
    session = with_ranking(make(), wanted=3)
    reasons = []
    for turn in range(12):
        question = session.next("")
        reasons.append(question.why)
        session.label("", question.node, "abc"[int(question.node[1:]) % 3], f"k{turn}")
    assert reasons == [Why.RANKED] * 3 + [Why.SIMILAR] * 9
    with_ranking(session, wanted=3)
    first = session.next("")
    session.label("", first.node, "a", "first")
    assert session.questions("", ahead=9)[-1].why is Why.UNCERTAIN
    asked = [each.node for each in session.questions("", ahead=9) if each.why is Why.UNCERTAIN]
    order = list(session.predictions("", 60)["least_certain"])
    assert asked == [node for node in order if node in asked]


def test_questions_in_advance_leave_enough_for_others(make: Make) -> None:
    session = make(annotators=["ada", "grace"], budget=3)
    assert len(session.questions("ada")) == 2
    assert len(session.questions("grace")) == 1
    session.label("ada", session.next("ada").node, "a", "k")
    assert len({question.node for name in ("ada", "grace") for question in session.questions(name)}) == 2


def test_overlap_shares_some_nodes(make: Make) -> None:
    session = make(annotators=["ada", "grace"], overlap=2)
    for name in ("ada", "grace"):
        turn = 0
        while (question := session.next(name)) is not None:
            session.label(name, question.node, "a", f"{name}{turn}")
            turn += 1
    answers = session.log.holding()
    both = len(answers) - len({act.node for act in answers})
    assert len({act.node for act in answers}) == N
    assert 3 <= both <= 25


def test_lease_expires_and_late_answer_counts(make: Make) -> None:
    clock = Clock()
    session = make(annotators=["ada", "grace"], clock=clock)
    question = session.next("ada")
    assert session.next("grace").node != question.node
    clock.now = LEASE_S - 1
    assert session.heartbeat("ada", question.node)["held"]
    clock.now = 2 * LEASE_S - 2
    assert session.next("ada") == question
    clock.now = 4 * LEASE_S
    assert not session.heartbeat("ada", question.node)["held"]
    assert session.next("grace").node == question.node
    session.label("ada", question.node, "a", "late")
    assert session.log.labels() == {question.node: "a"}


def test_classes(session: Session) -> None:
    def add(name: str) -> tuple[object, bool]:
        added = session.add_class("", name)
        return added["class"], added["new"]

    assert add("  new   one ") == ("new one", True)
    assert add("A") == ("a", False)
    assert add("New\u00a0One") == ("new one", False)
    assert add("7") == (7, True)
    assert add("7.0") == (7, False)
    assert list(session.classes) == ["a", "b", "c", "new one", 7]
    session.label("", "n1", "7", "k1")
    assert session.log.labels() == {"n1": 7}
    with raises(LabelError, parameter="label", value="zebra"):
        session.label("", "n1", "zebra", "k2")


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 300
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert condition()


def test_model_trains_and_advises_in_the_background(session: Session, graph: Graph) -> None:
    session.start()
    assert session.ranking is not None
    assert len(session.ranking.nodes) == min(MAX_RANKED, N)
    for turn in range(24):
        node = session.next("").node
        session.label("", node, "abc"[int(str(node)[1:]) % 3], f"k{turn}")
    wait_until(lambda: session.progress()["seen"] == 24 and session.advice is not None)
    progress, advice = session.progress(), session.advice
    assert (progress["labelled"], progress["failure"]) == (24, "")
    assert 20 <= advice.curve.now.n_labels <= 24
    right = [session.prediction(node).label == "abc"[int(node[1:]) % 3] for node in graph.ids.tolist()]
    assert np.mean(right) > 0.8
    listed = session.predictions("", 50)
    unsure = [prediction.confidence for prediction in listed["least_certain"].values()]
    assert unsure == sorted(unsure)
    assert listed["contradicted"] == {}, "edges stay within classes"
    assert not listed["least_certain"].keys() & set(session.log.labels())


def test_dead_training_process_is_replaced(session: Session) -> None:
    session.start()
    session.trainer._worker.close()
    for turn in range(3):
        session.label("", session.next("").node, "abc"[turn], f"k{turn}")
    wait_until(lambda: session.progress()["seen"] == 3)


class BrokenWorker(Worker):
    """A process that can rank but not fit a model."""

    def compute(self, function: Any, graph: Graph, given: Any, until: threading.Event) -> Any:
        if given.labels:
            raise ModelError("It is broken.")
        return super().compute(function, graph, given, until)


def test_failed_training_does_not_delay_labels(make: Make) -> None:
    session = make(worker=BrokenWorker())
    session.start()
    session.label("", session.next("").node, "a", "k")
    assert len(session.log.labels()) == 1
    wait_until(lambda: session.progress()["failure"] == "It is broken.")
    assert session.next("").why is Why.RANKED


def test_failed_first_ranking_is_an_error(make: Make) -> None:
    session = make(worker=BrokenWorker())
    session.label("", "n1", "a", "k")
    with pytest.raises(ModelError):
        session.start()


def test_an_answer_takes_as_many_steps_in_a_long_log() -> None:
    """Steps of SQLite for an answer and the next question, with a few and with many answers in the log."""
    graph = payments(2000)

    def count_steps(count: int) -> int:
        steps: list[int] = []
        with LabelLog() as log:
            log.tell({f"n{place}": "abc"[place % 3] for place in range(count)}, annotator="ada")
            session = Session(graph, log, annotators=["ada", "grace"])
            ranked = replace(NO_RANKING, nodes=np.arange(1600, 1700), represents=np.ones(100, dtype=np.int64))
            session.take_ranking(ranked)
            first, _ = session.questions("ada")
            log._connection.set_progress_handler(lambda: steps.append(1), 1)
            session.label("ada", first.node, "a", "k")
            log._connection.set_progress_handler(None, 1)
        return len(steps)

    assert count_steps(1500) < 1.1 * count_steps(20)


def test_concurrent_annotators(make: Make) -> None:
    names = [f"p{place}" for place in range(8)]
    session = make(annotators=names)

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
    acts = events(session)
    assert len(acts) == len({act.node for act in acts}) == N


def test_undone_nodes_are_asked_again(session: Session) -> None:
    asked: list[object] = []
    for turn in range(N):
        asked.append(session.next("").node)
        session.label("", asked[-1], "a", f"k{turn}")
    assert session.next("") is None
    for turn in range(3):
        session.undo("", f"u{turn}")
    again = []
    while (question := session.next("")) is not None:
        assert question.why is Why.UNDONE
        again.append(question.node)
        session.label("", question.node, "b", f"again{len(again)}")
    assert sorted(again) == sorted(asked[-3:])


def test_classes_with_another_spelling_are_those_of_the_log(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="featprop")
    make(classes=[]).log.tell({"n1": "fraud", "n2": "Fraud", "n3": 1, "n4": "not ok"})
    session = make(classes=["FRAUD", "legit", "Fraud", "1", "1.0", "not  OK"])
    assert list(map(repr, session.classes)) == ["'fraud'", "'legit'", "'Fraud'", "'1'", "1", "'not ok'"], "types stay"
    (record,) = [each for each in caplog.records if each.name == "featprop.labels.classes"]
    assert all(name in record.getMessage() for name in ("'FRAUD'", "'fraud'", "'1.0'", "'not  OK'"))


def test_exact_class_name_wins_over_its_text(make: Make) -> None:
    session = make(classes=[1, "1", 2])
    session.label("", "n1", "1", "k1")
    session.label("", "n2", 1, "k2")
    session.label("", "n3", "2", "k3")
    assert [session.log.labels()[node] for node in ("n1", "n2", "n3")] == ["1", 1, 2]
    assert [type(session.log.labels()[node]) for node in ("n1", "n2", "n3")] == [str, int, int]
    assert session.progress()["classes"] == [(1, 1), ("1", 1), (2, 1)]


def test_labels_of_open_questions_are_hidden(make: Make) -> None:
    session = make(annotators=["ada", "grace"], overlap=2)
    shared = [name_from_text(node) for (node,) in session.log.query("SELECT node FROM shared LIMIT 2")]
    for turn, node in enumerate(shared):
        session.label("ada", node, "b", f"k{turn}")
    assert session.visible_labels("ada") == dict.fromkeys(shared, "b")
    assert session.visible_labels("grace", shared) == {}
    session.label("grace", shared[0], "a", "k9")
    assert session.visible_labels("grace").keys() == {shared[0]}


def test_tie_counts_as_the_latest_answer_and_no_model_learns_from_it(make: Make) -> None:
    session = make(annotators=["ada", "grace"])
    for place in range(6, 30):
        session.label("ada", f"n{place}", "abc"[place % 3], f"k{place}")
    session.label("ada", "n0", "a", "t1")
    session.label("grace", "n0", "c", "t2")
    assert session.log.labels()["n0"] == "c"
    snapshot = session.snapshot()
    assert "n0" not in snapshot.labels
    assert "n0" in snapshot.excluded
    assert session.progress()["disagreements"] == 1


def test_reserved_nodes_count_towards_the_budget(make: Make) -> None:
    session = make(annotators=["ada", "grace", "eve"], budget=2)
    assert session.next("ada") is not None
    assert session.next("grace") is not None
    assert session.next("eve") is None
    session.skip("ada", session.next("ada").node, "unsure", "k1")
    assert [session.next(name) is None for name in ("ada", "grace", "eve")] == [False, False, True]


def test_counts_match_the_log_after_random_actions(make: Make) -> None:
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
            session.adjudicate("ada", node, "abc"[chance.integers(3)], f"k{turn}")
        else:
            session.label(name, node, "abc"[chance.integers(3)], f"k{turn}")
    check_counts(session)
    session.rename_class("ada", "a", "z")
    session.rename_class("ada", "z", "b")
    session.label("ada", "n1", "c", "last")
    check_counts(session)
    again = make(annotators=["ada", "grace"], overlap=2)
    assert {**again.progress(), "seen": 0} == {**session.progress(), "seen": 0}


def check_counts(session: Session) -> None:
    """Compare every count with the one computed from all answers that hold."""
    holding = session.log.holding()
    counts = consensus(holding)
    assert session.log.labels() == counts.labels
    progress = session.progress()
    assert dict(progress["classes"]) == {name: list(counts.labels.values()).count(name) for name in session.classes}
    given = [act for act in holding if act.kind != "adjudicate"]
    assert progress["annotators"] == {name: sum(act.annotator == name for act in given) for name in ("ada", "grace")}
    assert progress["skipped"] == len(counts.skips)
    assert progress["alpha"] == pytest.approx(alpha(holding))
    assert {each.node for each in session.disagreements()} == find_conflicts(holding).keys()
    for name in ("ada", "grace"):
        mine = sorted((act.number for act in holding if act.annotator == name), reverse=True)
        assert [act.number for act in session.log.history(name)] == mine


def test_classes_are_renamed_merged_described_and_removed(session: Session, make: Make) -> None:
    for place in range(12):
        session.label("", f"n{place}", "abc"[place % 3], f"k{place}")
    with_ranking(session)
    assert session.rename_class("", "a", "alpha")["class"] == "alpha"
    assert list(session.classes) == ["alpha", "b", "c"]
    assert session.log.labels()["n0"] == "alpha"
    assert session.prediction("n30").probabilities.keys() == {"alpha", "b", "c"}
    assert session.rename_class("", "c", "B")["class"] == "b"
    assert list(session.classes) == ["alpha", "b"]
    assert dict(session.progress()["classes"]) == {"alpha": 4, "b": 8}
    assert sum(session.prediction("n30").probabilities.values()) == pytest.approx(1, abs=1e-3)
    assert session.ranking.best.max() < len(session.ranking.classes)
    session.describe_class("", "b", "everything else")
    session.add_class("", "spare")
    assert [entry.description for entry in session.classes.entries] == ["", "everything else", ""]
    with raises(LabelError, value="b"):
        session.remove_class("", "b")
    session.remove_class("", "spare")
    assert list(session.classes) == ["alpha", "b"]
    again = make(classes=[])
    assert list(again.classes) == ["alpha", "b"]
    assert again.classes.entries[1].description == "everything else"


@pytest.mark.parametrize("name", ["", " ", "\0", "\u200b", "\u202eok", "\u043ek", "o\u043a\n"])
def test_invisible_and_look_alike_names_are_refused(make: Make, name: str) -> None:
    session = make(classes=["ok", "ox"])
    with raises(ParameterError, parameter="name"):
        session.add_class("", name)
    assert len(session.classes) == 2


def test_moved_keys_are_known(make: Make) -> None:
    assert make(classes=["ok", "fraud"]).moved_keys == {}
    assert make(classes=[]).moved_keys == {}
    again = make(classes=[ClassEntry("fraud", "f", "steals"), ClassEntry("new")])
    assert again.moved_keys == {"ok": ("1", "2"), "fraud": ("2", "f")}
    assert again.classes.shortcuts() == ["f", "1", "2"]
