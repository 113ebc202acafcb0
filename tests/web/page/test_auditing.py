"""The audit in a session."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.web.page.questions import Why
from featprop.web.page.session import Session
from tests.web.page.conftest import learn

Make = Callable[..., Any]


def kind_of(node: str) -> str:
    return ("ok", "review", "fraud")[int(node[1:]) % 3]


def answer(session: Session, count: int, annotator: str = "") -> list[Any]:
    """Answer `count` questions and return them."""
    asked = []
    for number in range(count):
        question = session.next(annotator)
        assert question is not None
        session.label(annotator, question.node, kind_of(str(question.node)), f"{annotator}{question.node}{number}")
        asked.append(question)
    return asked


def test_every_fifth_question_is_an_audit_question(make_page: Make) -> None:
    session = make_page(audit=3).session
    learn(session)
    asked = answer(session, 20)
    assert [number for number, question in enumerate(asked, 1) if question.is_audit] == [5, 10, 15]
    drawn = asked[4]
    assert (drawn.rank, drawn.represents, drawn.why) == (0, None, Why.AUDIT)
    assert len({question.node for question in asked}) == 20


def test_restart_keeps_the_audit_nodes(make_page: Make, tmp_path: Path) -> None:
    path = tmp_path / "a.labels"
    first = make_page(path=path, audit=6).session
    drawn = set(first.log.audit())
    answer(first, 5)
    for options in ({"audit": 6}, {}):
        again = make_page(path=path, **options).session
        assert set(again.log.audit()) == drawn
        assert again.progress()["audit"]["answered"] == 1
    more = make_page(path=path, audit=8).session
    assert drawn < set(more.log.audit())
    assert (len(more.log.audit()), len(set(more.log.audit().values()))) == (8, 1)


def test_model_neither_learns_from_nor_ranks_audit_nodes(make_page: Make) -> None:
    session = make_page(audit=20).session
    answer(session, 15)
    learn(session)
    answer(session, 10)
    snapshot = session.snapshot()
    assert not set(snapshot.labels) & set(session.log.audit())
    assert set(session.log.audit()) <= set(snapshot.excluded)
    assert (len(snapshot.labels), session.progress()["labelled"], session.progress()["audit"]["answered"]) == (
        20,
        20,
        5,
    )
    learn(session)
    assert not set(session.graph.ids[session.ranking.nodes].tolist()) & set(session.log.audit())
    listed = {node for nodes in session.predictions("", 60).values() for node in nodes}
    assert listed
    assert not listed & set(session.log.audit())
    assert {session.prediction(node) for node in session.log.audit()} == {None}
    assert session.log.labels().keys() == snapshot.labels.keys()


def test_audit_continues_after_the_budget(make_page: Make) -> None:
    session = make_page(audit=4, budget=8).session
    asked = []
    while (question := session.next("")) is not None:
        asked.append(question)
        session.label("", question.node, "ok", str(len(asked)))
    assert [question.is_audit for question in asked] == [*[False] * 4, True] * 2 + [True, True]
    assert len(session.log.labels()) == 8


def test_each_audit_node_goes_to_one_annotator(make_page: Make) -> None:
    session = make_page(audit=4, annotators=("ada", "grace")).session
    asked = [each.node for name in ("ada", "grace") for each in answer(session, 10, name) if each.is_audit]
    assert sorted(asked) == sorted(session.log.audit())


def test_undone_audit_answer_is_asked_again(make_page: Make) -> None:
    session = make_page(audit=2).session
    drawn = answer(session, 5)[-1]
    assert session.undo("", "u")["node"] == drawn.node
    assert session.next("").is_audit
    session.skip("", drawn.node, "unsure", "s")
    assert session.progress()["audit"]["answered"] == 0
    assert not session.next("").is_audit


def test_audit_score(make_page: Make) -> None:
    page = make_page(audit=12)
    session, caller = page.session, page.script()
    learn(session)
    answer(session, 49)
    found = caller.get("/api/progress").json()["audit"]
    assert found == {"size": 12, "answered": 9, "score": None}, "nine labels are too few"
    answer(session, 1)
    assert caller.get("/api/progress").json()["audit"]["score"] is None, "there is no model"
    learn(session)
    found = caller.get("/api/progress").json()["audit"]["score"]
    best = session.ranking.probabilities.argmax(axis=1)
    positions = session.graph.positions(session.log.audited())
    right = [session.ranking.classes[best[place]] == kind_of(session.graph.ids[place]) for place in positions]
    assert found["accuracy"]["value"] == pytest.approx(sum(right) / 10)
    assert 0 <= found["accuracy"]["low"] < found["accuracy"]["high"] <= 1
    assert found["to_halve"] > 0
    text = page.browser().get("/progress").text
    assert '<li id="audit-labels"><strong>10 of 12</strong>' in text
    assert str(session.progress()["audit"]["score"]) in text
    session.rename_class("", session.classes[-1], session.classes[0])
    assert session.progress()["audit"]["score"] is not None, "merging a class leaves the score of the last model"
    assert make_page().script().get("/api/progress").json()["audit"] is None


@pytest.mark.parametrize("asks", ["/", "/?suggestion=true"])
def test_predictions_of_audit_nodes_are_hidden(make_page: Make, asks: str) -> None:
    page = make_page(audit=10)
    session, caller, browser = page.session, page.script(), page.browser()
    answer(session, 8)
    learn(session)
    assert 'data-prediction="shown"' in browser.get(asks).text
    answer(session, 1)
    text = browser.get(asks).text
    assert 'data-why="audit"' in text
    assert 'data-prediction="audit"' in text
    assert "predicted</span>" not in text
    assert "suggestion=true" not in text
    asked = caller.get("/api/next").json()
    assert (asked["audit"], asked["prediction"], asked["rank"]) == (True, None, 0)
    seen = caller.get(f"/api{asked['address']}?suggestion=true").json()
    assert (seen["audit"], seen["prediction"]) == (True, None)
    assert 'data-prediction="audit"' in browser.get(f"{asked['address']}?suggestion=true").text
    tasks = caller.get("/api/export?format=label-studio").json()
    drawn = [task for task in tasks if task["data"]["node_id"] in session.log.audit()]
    assert len(drawn) == 10
    assert not any("predictions" in task for task in drawn)
