"""The JSON API: what a program can do, and the sentence it gets for everything that is wrong."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.labels import LabelLog

MakePage = Callable[..., Any]


def test_a_question_is_asked_answered_and_followed_by_the_next(page: Any) -> None:
    script = page.script()
    first = script.get("/api/next").json()
    assert first["classes"] == ["ok", "review", "fraud"]
    assert first.keys() == {"node", "address", "rank", "represents", "why", "audit", "prediction", "classes"}
    node = first["node"]
    assert script.get("/api/next").json() == first
    answer = script.post("/api/labels", {"node": node, "label": "fraud", "key": "1"})
    assert (answer.status_code, answer.json()) == (200, {"saved": "label", "node": node, "before": None})
    assert page.log.labels() == {node: "fraud"}
    assert script.get("/api/next").json()["node"] != node


def test_the_reply_comes_after_the_commit(page: Any, tmp_path: Path) -> None:
    page.script().post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    with LabelLog(tmp_path / "0.labels") as another:
        assert another.labels() == {"n1": "ok"}


def test_the_same_key_sent_again_changes_nothing(page: Any) -> None:
    script = page.script()
    for _ in range(3):
        assert script.post("/api/labels", {"node": "n1", "label": "ok", "key": "1"}).status_code == 200
        assert script.post("/api/skips", {"node": "n2", "reason": "unsure", "key": "2"}).status_code == 200
        assert script.post("/api/notes", {"node": "n1", "text": "odd", "key": "3"}).status_code == 200
    assert [act.kind for act in page.log.events()] == ["label", "skip", "note"]
    for _ in range(2):
        assert script.post("/api/undo", {"key": "4"}).json() == {"saved": "undo", "node": "n2"}
    assert page.log.labels() == {"n1": "ok"}


def test_a_second_label_is_a_correction(page: Any) -> None:
    script = page.script()
    script.post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    script.post("/api/labels", {"node": "n1", "label": "fraud", "key": "2"})
    history = script.get("/api/history").json()["answers"]
    assert [(each["node"], each["kind"], each["label"]) for each in history] == [("n1", "correct", "fraud")]
    again = script.post("/api/labels", {"node": "n1", "label": "ok", "key": "3"}).json()
    assert again["before"] == "fraud"


def test_undo_brings_the_node_back(page: Any) -> None:
    script = page.script()
    node = script.get("/api/next").json()["node"]
    script.post("/api/labels", {"node": node, "label": "ok", "key": "1"})
    script.get("/api/next")
    assert script.post("/api/undo", {"key": "2"}).json()["node"] == node
    assert script.get("/api/next").json()["node"] == node
    assert script.post("/api/undo", {"key": "3"}).json() == {"saved": "undo", "node": None}


def test_a_skip_leaves_the_pool_and_has_its_reason(page: Any) -> None:
    script = page.script()
    node = script.get("/api/next").json()["node"]
    script.post("/api/skips", {"node": node, "reason": "bad data", "key": "1"})
    assert script.get("/api/next").json()["node"] != node
    assert page.log.skips() == {node: "bad data"}
    assert script.get("/api/progress").json()["skipped"] == 1


def test_a_heartbeat_keeps_a_question(page: Any) -> None:
    script = page.script()
    node = script.get("/api/next").json()["node"]
    assert script.post("/api/heartbeat", {"node": node}).json() == {"held": True}
    other = "n1" if node != "n1" else "n2"
    assert script.post("/api/heartbeat", {"node": other}).json() == {"held": False}


def test_two_people_get_two_nodes_and_settle_what_they_disagree_on(make_page: MakePage) -> None:
    page = make_page(annotators=("ada", "grace"))
    ada, grace = page.script("ada"), page.script("grace")
    assert ada.get("/api/next").json()["node"] != grace.get("/api/next").json()["node"]
    ada.post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    grace.post("/api/labels", {"node": "n1", "label": "fraud", "key": "2"})
    found = grace.get("/api/disagreements").json()["disagreements"]
    assert found == [{"node": "n1", "answers": {"ada": "ok", "grace": "fraud"}}]
    assert ada.post("/api/adjudications", {"node": "n1", "label": "fraud", "key": "3"}).status_code == 200
    assert ada.get("/api/disagreements").json() == {"disagreements": []}
    assert page.log.labels() == {"n1": "fraud"}


def test_nobody_sees_what_others_say_before_they_answer(make_page: MakePage) -> None:
    page = make_page(annotators=("ada", "grace"))
    page.script("ada").post("/api/labels", {"node": "n1", "label": "fraud", "key": "1"})
    page.script("ada").post("/api/notes", {"node": "n1", "text": "surely fraud", "key": "2"})
    grace = page.script("grace")
    assert "fraud" not in json.dumps(grace.get("/api/nodes/%22n1%22").json())
    drawn = grace.get("/nodes/%22n1%22").text
    assert "labelled fraud" not in drawn
    assert "surely" not in drawn
    grace.post("/api/labels", {"node": "n1", "label": "ok", "key": "3"})
    assert "this node; labelled" in grace.get("/nodes/%22n1%22").text


def test_a_class_is_added_by_those_who_may(make_page: MakePage) -> None:
    page = make_page(annotators=("ada", "grace"), adding=["ada"])
    refused = page.script("grace").post("/api/classes", {"name": "mule"})
    assert refused.status_code == 403
    assert refused.json()["error"].startswith("A class must be added by those who may; found 'grace'")
    added = page.script("ada").post("/api/classes", {"name": "mule"})
    assert added.json() == {"class": "mule", "new": True, "classes": ["ok", "review", "fraud", "mule"]}
    page.script("grace").post("/api/labels", {"node": "n1", "label": "mule", "key": "1"})
    assert page.log.labels() == {"n1": "mule"}


def test_nobody_adds_a_class_to_a_closed_desk(make_page: MakePage) -> None:
    assert make_page(open_classes=False).script().post("/api/classes", {"name": "mule"}).status_code == 403


def test_progress_counts_what_was_said(page: Any) -> None:
    script = page.script()
    for place, label in enumerate(["ok", "ok", "fraud"]):
        script.post("/api/labels", {"node": f"n{place}", "label": label, "key": f"{place}"})
    found = script.get("/api/progress").json()
    assert (found["labelled"], found["nodes"], found["seen"], found["budget"]) == (3, 60, 0, None)
    assert found["classes"] == [
        {"class": "ok", "labels": 2},
        {"class": "review", "labels": 0},
        {"class": "fraud", "labels": 1},
    ]
    assert found["annotators"] == {"": 3}
    assert sum(found["hours"].values()) == 3


def test_the_budget_ends_the_questions(make_page: MakePage) -> None:
    script = make_page(budget=1).script()
    script.post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    assert script.get("/api/next").json()["node"] is None


def test_a_node_is_told_with_its_fields_neighbours_and_notes(page: Any) -> None:
    script = page.script()
    script.post("/api/labels", {"node": "n4", "label": "ok", "key": "1"})
    script.post("/api/notes", {"node": "n1", "text": "look again", "key": "2"})
    found = script.get("/api/nodes/%22n1%22").json()
    assert (found["node"], found["title"], found["notes"]) == ("n1", "Account 1", ["look again"])
    assert {field["name"] for field in found["fields"]} == {"id", "about", "amount", "speed"}
    amount = next(field for field in found["fields"] if field["name"] == "amount")
    assert amount["kind"] == "number"
    assert 0 <= amount["place"] <= 1
    near = {row["name"]: (row["label"], row["how"]) for row in found["neighbours"]["shown"] if row["ring"] == 1}
    assert near["Account 4"] == ("ok", "labelled")
    assert found["neighbours"]["total"] == len(near)
    assert found["answer"] is None
    assert found["prediction"] is None


def test_predictions_come_with_the_model_unless_it_is_blind(make_page: MakePage) -> None:
    page = make_page(blind=True)
    script = page.script()
    for place in range(12):
        label = ("ok", "review", "fraud")[place % 3]
        script.post("/api/labels", {"node": f"n{place}", "label": label, "key": f"{place}"})
    page.desk.start()
    assert script.get("/api/progress").json()["seen"] == 12
    assert script.get("/api/next").json()["prediction"] is None
    assert script.get("/api/nodes/%22n20%22").json()["prediction"] is None
    shown = script.get("/api/nodes/%22n20%22?suggestion=true").json()
    assert shown["prediction"]["label"] == "fraud"
    assert sum(each["probability"] for each in shown["prediction"]["probabilities"]) == pytest.approx(1, abs=1e-3)
    hidden = script.get("/api/nodes/%22n20%22").json()
    assert {row["how"] for row in hidden["neighbours"]["shown"]} <= {"", "labelled"}
    assert {row["how"] for row in shown["neighbours"]["shown"]} <= {"predicted", "labelled"}
    assert script.get("/api/predictions?limit=3").json() == {"doubtful": [], "contradicted": []}
    listed = script.get("/api/predictions?limit=3&suggestion=true").json()
    assert len(listed["doubtful"]) == 3
    assert len(listed["contradicted"]) <= 3
    assert page.script().get("/").text.count("The model thinks") == 0
    assert page.script().get("/?suggestion=true").text.count("The model thinks") == 1
    assert "Show the predictions" in page.script().get("/predictions").text


@pytest.mark.parametrize(
    ("kind", "name", "media"),
    [
        ("csv", "0-csv.csv", "text/csv; charset=utf-8"),
        ("jsonl", "0-jsonl.jsonl", "application/x-ndjson"),
        ("label-studio", "0-label-studio.json", "application/json"),
        ("label-studio-config", "0-label-studio-config.xml", "application/xml"),
    ],
)
def test_every_export_can_be_downloaded(page: Any, kind: str, name: str, media: str) -> None:
    script = page.script()
    script.post("/api/labels", {"node": "n1", "label": "fraud", "key": "1"})
    answer = script.get(f"/api/export?format={kind}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["content-type"] == media
    assert "fraud" in answer.text
    if kind == "csv":
        assert next(csv.DictReader(answer.text.splitlines()))["id"] == "n1"
    assert f"format={kind}" in script.get("/downloads").text


def test_ids_and_classes_keep_their_types(make_page: MakePage) -> None:
    ids = np.fromiter([1, "1", (0, 1), "a/b?c#d", "..", "é <b>"], dtype=object, count=6)
    ring = sp.diags_array([np.ones(5), np.ones(5)], offsets=[-1, 1], format="csr")
    graph = Graph.from_scipy(ring, np.eye(6), ids=ids)
    page = make_page(graph, classes=[1, 2])
    script = page.script()
    for place, node in enumerate([1, "1", {"tuple": [0, 1]}, "a/b?c#d", "..", "é <b>"]):
        answer = script.post("/api/labels", {"node": node, "label": 1 + place % 2, "key": f"{place}"})
        assert answer.json()["node"] == node, answer.text
    assert page.log.labels() == dict(zip(ids.tolist(), [1, 2] * 3, strict=True))
    for act in script.get("/api/history").json()["answers"]:
        found = script.get(f"/api{_address(script, act['node'])}").json()
        assert found["node"] == act["node"]
    assert len(script.get("/history").text.split("/nodes/")) > 6


def _address(script: Any, node: Any) -> str:
    history = script.get("/api/history").json()["answers"]
    assert node in [act["node"] for act in history]
    from featprop.names import from_jsonable
    from featprop.web.page.addresses import node_address

    return node_address(from_jsonable(node))


BAD = [
    ("POST", "/api/labels", {"node": "zz", "label": "ok", "key": "k"}, 404, "must be an id of the graph"),
    ("POST", "/api/labels", {"node": None, "label": "ok", "key": "k"}, 422, "node must be text, a number"),
    ("POST", "/api/labels", {"node": ["n1"], "label": "ok", "key": "k"}, 422, "node must be text, a number"),
    ("POST", "/api/labels", {"node": {"evil": 1}, "label": "ok", "key": "k"}, 422, "node must be text, a number"),
    ("POST", "/api/labels", {"node": {"tuple": [1]}, "label": "ok", "key": "k"}, 404, "must be an id of the graph"),
    ("POST", "/api/labels", {"node": "n1", "label": "maybe", "key": "k"}, 409, "must be one of the classes"),
    ("POST", "/api/labels", {"node": "n1", "label": None, "key": "k"}, 422, "label must be text, a number"),
    ("POST", "/api/labels", {"node": "n1", "label": "ok"}, 422, "key must be as the API says: field required"),
    ("POST", "/api/labels", {"node": "n1", "label": "ok", "key": 7}, 422, "key must be as the API says"),
    (
        "POST",
        "/api/labels",
        {"node": "n1", "label": "ok", "key": "k", "who": "eve"},
        422,
        "who must be as the API says",
    ),
    ("POST", "/api/labels", [1], 422, "must be as the API says"),
    ("POST", "/api/labels", b"{", 400, "The request must be JSON"),
    ("POST", "/api/labels", b"node=n1", 400, "The request must be JSON"),
    ("POST", "/api/notes", {"node": "n1", "text": "", "key": "k"}, 422, "text must be as the API says"),
    ("GET", "/api/nodes/zz", None, 404, "must be an id of the graph"),
    ("GET", "/api/nodes/", None, 404, "must be an id of the graph"),
    ("GET", "/api/history?limit=0", None, 422, "limit must be as the API says"),
    ("GET", "/api/export?format=xml", None, 422, "format must be one of csv"),
    ("GET", "/api/nothing", None, 404, "must be something this server does"),
    ("PUT", "/api/labels", {}, 405, "must be something this server does"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "sentence"), BAD)
def test_what_is_wrong_is_one_sentence(
    page: Any, method: str, path: str, body: Any, status: int, sentence: str
) -> None:
    sent = {"content": body if isinstance(body, bytes) else json.dumps(body)} if body is not None else {}
    answer = page.script()(method, path, headers={"Content-Type": "application/json"}, **sent)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    assert sentence in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert page.log.events() == []


def test_a_body_that_does_not_say_what_it_is_is_told_so(page: Any) -> None:
    body = json.dumps({"node": "n1", "label": "ok", "key": "k"})
    answer = page.script().post("/api/labels", content=body)
    assert answer.status_code == 400
    assert "found no Content-Type: send Content-Type: application/json" in answer.json()["error"]


def test_a_key_of_another_act_is_a_conflict(page: Any) -> None:
    script = page.script()
    script.post("/api/skips", {"node": "n1", "key": "k"})
    answer = script.post("/api/undo", {"key": "k"})
    assert answer.status_code == 409
    assert "'k'" in answer.json()["error"]


def test_a_full_disk_is_a_message_and_nothing_half_done(page: Any) -> None:
    pages = page.log._connection.execute("PRAGMA page_count").fetchone()[0]
    page.log._connection.execute(f"PRAGMA max_page_count = {pages}")
    script = page.script()
    answers = [script.post("/api/notes", {"node": "n1", "text": "x" * 9000, "key": f"{place}"}) for place in range(3)]
    assert {answer.status_code for answer in answers} == {507}
    assert "full" in answers[0].json()["error"]
    assert page.log.events() == []
    page.log._connection.execute("PRAGMA max_page_count = 100000")
    assert script.post("/api/notes", {"node": "n1", "text": "x" * 9000, "key": "0"}).status_code == 200


def test_a_log_that_cannot_be_written_is_said_and_can_be_tried_again(page: Any, tmp_path: Path) -> None:
    page.log._connection.execute("PRAGMA query_only = 1")
    answer = page.script().post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    assert answer.status_code == 503
    assert "readonly" in answer.json()["error"]


def test_a_fault_of_ours_is_a_sentence_too(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(page.desk, "progress", fail)
    answer = page.script().get("/api/progress")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.json()["error"]
    assert "secret" not in answer.text


def test_the_api_is_described(page: Any) -> None:
    described = page.script().get("/api/openapi.json").json()
    wanted = {
        "/api/next",
        "/api/labels",
        "/api/skips",
        "/api/undo",
        "/api/notes",
        "/api/adjudications",
        "/api/heartbeat",
        "/api/classes",
        "/api/progress",
        "/api/history",
        "/api/disagreements",
        "/api/predictions",
        "/api/nodes/{name}",
        "/api/export",
    }
    assert set(described["paths"]) == wanted
    assert all(way["description"] for path in described["paths"].values() for way in path.values())
