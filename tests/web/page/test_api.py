"""The JSON API and its errors."""

import asyncio
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.ids import from_jsonable
from featprop.labels import LabelLog
from featprop.web.page.api import actions_of
from featprop.web.page.fields import node_address
from featprop.web.page.trainer import compute_advice
from tests.web.page.conftest import PORT, learn, payments

MakePage = Callable[..., Any]


def test_next_question_follows_an_answer(page: Any, script: Any) -> None:
    first = script.get("/api/next").json()
    assert first["classes"] == ["ok", "review", "fraud"]
    assert first.keys() == {
        "node", "address", "rank", "represents", "why", "audit", "prediction", "classes",
    }  # fmt: skip
    node = first["node"]
    assert script.get("/api/next").json() == first
    answer = script.post("/api/labels", {"node": node, "label": "fraud", "key": "1"})
    following = script.get("/api/next").json()
    assert answer.status_code == 200
    assert answer.json() == {"saved": "label", "node": node, "before": None, "next": following}
    assert page.log.labels() == {node: "fraud"}
    assert following["node"] != node


def test_response_comes_after_the_commit(make_page: MakePage, tmp_path: Path) -> None:
    page = make_page(path=tmp_path / "a.labels")
    page.script().post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    with LabelLog(tmp_path / "a.labels") as another:
        assert another.labels() == {"n1": "ok"}


def test_repeated_key_changes_nothing(page: Any, script: Any) -> None:
    for _ in range(3):
        assert script.post("/api/labels", {"node": "n1", "label": "ok", "key": "1"}).status_code == 200
        assert script.post("/api/skips", {"node": "n2", "reason": "unsure", "key": "2"}).status_code == 200
        assert script.post("/api/notes", {"node": "n1", "text": "odd", "key": "3"}).status_code == 200
    assert [act.kind for act in page.events()] == ["label", "skip", "note"]
    for _ in range(2):
        assert script.post("/api/undo", {"key": "4"}).json()["node"] == "n2"
    assert page.log.labels() == {"n1": "ok"}


def test_answers_of_others_are_hidden_before_answering(make_page: MakePage) -> None:
    page = make_page(annotators=("ada", "grace"))
    page.script("ada").post("/api/labels", {"node": "n1", "label": "fraud", "key": "1"})
    page.script("ada").post("/api/notes", {"node": "n1", "text": "surely fraud", "key": "2"})
    grace = page.script("grace")
    assert "fraud" not in json.dumps(grace.get("/api/nodes/%22n1%22").json())
    drawn = grace.get("/nodes/%22n1%22").text
    assert "neighbour-centre class-none" in drawn
    assert "surely" not in drawn
    grace.post("/api/labels", {"node": "n1", "label": "ok", "key": "3"})
    assert "neighbour-centre class-none" not in grace.get("/nodes/%22n1%22").text


def test_only_the_owner_adds_classes_to_a_fixed_set(make_page: MakePage) -> None:
    page = make_page(annotators=("ada", "grace"), open_classes=False)
    refused = page.script("grace").post("/api/classes", {"name": "mule"})
    assert refused.status_code == 403
    assert refused.json()["parameter"] == "annotator"
    added = page.script("ada").post("/api/classes", {"name": "mule"})
    assert added.json() == {"class": "mule", "new": True, "classes": ["ok", "review", "fraud", "mule"]}
    page.script("grace").post("/api/labels", {"node": "n1", "label": "mule", "key": "1"})
    assert page.log.labels() == {"n1": "mule"}


def test_only_the_owner_manages_classes_and_downloads(make_page: MakePage) -> None:
    page = make_page(annotators=("ada", "grace"))
    ada, grace = page.script("ada"), page.script("grace")
    grace.post("/api/labels", {"node": "n1", "label": "review", "key": "1"})
    ada.post("/api/labels", {"node": "n1", "label": "ok", "key": "2"})
    apart = {"node": "n1", "answers": {"grace": "review", "ada": "ok"}}
    assert ada.get("/api/disagreements").json() == {"disagreements": [apart]}
    for path, body in (
        ("/api/adjudications", {"node": "n1", "label": "ok", "key": "3"}),
        ("/api/classes/rename", {"label": "ok", "name": "fine"}),
        ("/api/classes/describe", {"label": "fine", "description": "Nothing suspicious."}),
        ("/api/classes/remove", {"label": "fraud"}),
    ):
        assert grace.post(path, body).status_code == 403
        assert ada.post(path, body).status_code == 200
    assert ada.get("/api/next").json()["classes"] == ["fine", "review"]
    assert page.log.labels() == {"n1": "fine"}
    assert ada.post("/api/classes/remove", {"label": "fine"}).status_code == 409
    assert "Nothing suspicious." in page.browser("ada").get("/classes").text
    for path in ("/api/export", "/api/disagreements", "/downloads", "/classes", "/review/disagreements"):
        assert grace.get(path).status_code == 403
        assert ada.get(path).status_code == 200
        assert f'href="{path}"' not in grace.get("/").text
    assert grace.get("/api/progress").json()["annotators"] == {"grace": 1}
    assert ada.get("/api/progress").json()["annotators"] == {"ada": 1, "grace": 1}


def test_ids_can_have_any_length(make_page: MakePage) -> None:
    ids = ["节点" * 20_000, *(f"n{place}" for place in range(1, 60))]
    page = make_page(payments(id=ids))
    script = page.script()
    assert script.post("/api/labels", {"node": ids[0], "label": "ok", "key": "1"}).status_code == 200
    assert page.log.labels() == {ids[0]: "ok"}
    (answer,) = script.get("/api/history").json()["answers"]
    address = node_address(answer["node"])
    assert len(address) < 100
    assert script.get(f"/api{address}").json()["node"] == ids[0]
    assert script.get(address).status_code == 200


def test_node_has_fields_neighbours_and_notes(script: Any) -> None:
    script.post("/api/labels", {"node": "n4", "label": "ok", "key": "1"})
    script.post("/api/notes", {"node": "n1", "text": "look again", "key": "2"})
    found = script.get("/api/nodes/%22n1%22").json()
    assert (found["node"], found["title"], found["notes"]) == ("n1", "Account 1", ["look again"])
    assert {field["name"] for field in found["fields"]} == {"id", "about", "amount", "speed"}
    amount = next(field for field in found["fields"] if field["name"] == "amount")
    assert amount["kind"] == "number"
    assert 0 <= amount["place"] <= 1
    near = {row["name"]: (row["label"], row["how"]) for row in found["neighbours"]["shown"]}
    assert near["Account 4"] == ("ok", "labelled")
    assert found["neighbours"]["total"] == len(near)
    assert found["answer"] is None
    assert found["prediction"] is None


def test_blind_session_hides_predictions(make_page: MakePage) -> None:
    page = make_page(blind=True)
    script = page.script()
    for place in range(12):
        label = ("ok", "review", "fraud")[place % 3]
        script.post("/api/labels", {"node": f"n{place}", "label": label, "key": f"{place}"})
    learn(page.session)
    assert script.get("/api/progress").json()["seen"] == 12
    assert script.get("/api/next").json()["prediction"] is None
    assert script.get("/api/nodes/%22n20%22").json()["prediction"] is None
    shown = script.get("/api/nodes/%22n20%22?suggestion=true").json()
    assert shown["prediction"]["label"] == "fraud"
    assert sum(each["probability"] for each in shown["prediction"]["probabilities"]) == pytest.approx(1, abs=1e-3)
    hidden = script.get("/api/nodes/%22n20%22").json()
    assert {row["how"] for row in hidden["neighbours"]["shown"]} <= {"", "labelled"}
    assert {row["how"] for row in shown["neighbours"]["shown"]} <= {"predicted", "labelled"}
    assert script.get("/api/predictions?limit=3").json() == {}
    listed = script.get("/api/predictions?limit=3&suggestion=true").json()
    assert len(listed["least_certain"]) == 3
    assert len(listed["contradicted"]) <= 3
    assert 'data-prediction="hidden"' in page.script().get("/").text
    assert 'data-prediction="shown"' in page.script().get("/?suggestion=true").text
    assert "/review?suggestion=true" in page.script().get("/review").text


def test_progress_has_the_estimate_and_advice(page: Any, script: Any) -> None:
    for place in range(20):
        page.session.label("", f"n{place}", ("ok", "review", "fraud")[place % 3], f"{place}")
    advice = page.session.advice = compute_advice(page.session.graph, page.log.labels())
    found = script.get("/api/progress").json()["advice"]
    assert found["headline"] == advice.headline
    assert found["may_stop"] == advice.may_stop
    assert found["curve"]["estimates"][-1]["accuracy"]["value"] == advice.curve.now.accuracy.value
    assert advice.headline in script.get("/progress").text


@pytest.mark.parametrize(
    ("kind", "name", "media"),
    [
        ("csv", "labels-csv.csv", "text/csv; charset=utf-8"),
        ("jsonl", "labels-jsonl.jsonl", "application/x-ndjson"),
        ("label-studio", "labels-label-studio.json", "application/json"),
        ("label-studio-config", "labels-label-studio-config.xml", "application/xml"),
    ],
)
def test_downloads(script: Any, kind: str, name: str, media: str) -> None:
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
        found = script.get(f"/api{node_address(from_jsonable(act['node']))}").json()
        assert found["node"] == act["node"]
    assert len(script.get("/history").text.split("/nodes/")) > 6


BAD = [
    ("POST", "/api/labels", {"node": "zz", "label": "ok", "key": "k"}, 404, None),
    ("POST", "/api/labels", {"node": None, "label": "ok", "key": "k"}, 422, "node"),
    ("POST", "/api/labels", {"node": ["n1"], "label": "ok", "key": "k"}, 422, "node"),
    ("POST", "/api/labels", {"node": {"evil": 1}, "label": "ok", "key": "k"}, 422, "node"),
    ("POST", "/api/labels", {"node": {"tuple": [1]}, "label": "ok", "key": "k"}, 404, None),
    ("POST", "/api/labels", {"node": "n1", "label": "maybe", "key": "k"}, 409, "label"),
    ("POST", "/api/labels", {"node": "n1", "label": None, "key": "k"}, 422, "label"),
    ("POST", "/api/labels", {"node": "n1", "label": "ok"}, 422, "key"),
    ("POST", "/api/labels", {"node": "n1", "label": "ok", "key": 7}, 422, "key"),
    ("POST", "/api/labels", {"node": "n1", "label": "ok", "key": "k", "who": "eve"}, 422, "who"),
    ("POST", "/api/labels", [1], 400, "body"),
    ("POST", "/api/labels", b"{", 400, "body"),
    ("POST", "/api/labels", b"node=n1", 400, "body"),
    ("POST", "/api/notes", {"node": "n1", "text": "", "key": "k"}, 422, "text"),
    ("POST", "/api/notes", {"node": "n1", "text": " ", "key": "k"}, 422, "text"),
    ("GET", "/api/nodes/zz", None, 404, None),
    ("GET", "/api/nodes/", None, 404, None),
    ("GET", "/api/history?limit=0", None, 422, "limit"),
    ("GET", "/api/export?format=xml", None, 422, "format"),
    ("GET", "/api/nothing", None, 404, "path"),
    ("PUT", "/api/labels", {}, 405, "path"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "parameter"), BAD)
def test_errors_have_a_status_and_a_parameter(
    page: Any, method: str, path: str, body: Any, status: int, parameter: str | None
) -> None:
    sent = {"content": body if isinstance(body, bytes) else json.dumps(body)} if body is not None else {}
    answer = page.script().request(method, path, headers={"Content-Type": "application/json"}, **sent)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error", "type", "parameter"}
    assert answer.json()["parameter"] == parameter
    assert not set("\n`") & set(answer.json()["error"])
    assert page.events() == []


def test_missing_content_type_is_refused(page: Any) -> None:
    body = json.dumps({"node": "n1", "label": "ok", "key": "k"})
    answer = page.script().post("/api/labels", content=body)
    assert (answer.status_code, answer.json()["parameter"]) == (400, "body")
    assert "Content-Type: application/json" in answer.json()["error"]


def test_requests_at_the_same_time_share_a_transaction_but_no_error(page: Any) -> None:
    """One request is refused: the others are saved, and each gets its own response."""
    headers = {"Authorization": f"Bearer {page.tokens.of('')}"}
    bodies = [{"node": f"n{place}", "label": "none" if place == 7 else "ok", "key": f"{place}"} for place in range(20)]
    transactions: list[str] = []
    page.log._connection.set_trace_callback(transactions.append)

    async def send() -> list[Any]:
        transport = httpx.ASGITransport(app=page.app)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://127.0.0.1:{PORT}", headers=headers
        ) as client:
            return await asyncio.gather(*(client.post("/api/labels", json=body) for body in bodies))

    answers = asyncio.run(send())
    assert [answer.status_code for answer in answers] == [200] * 7 + [409] + [200] * 12
    assert [answer.json()["node"] for answer in answers if answer.status_code == 200] == [
        f"n{place}" for place in range(20) if place != 7
    ]
    assert page.log.labels() == {f"n{place}": "ok" for place in range(20) if place != 7}
    assert transactions.count("COMMIT") < 10


def test_full_disk_saves_nothing_and_recovers(page: Any) -> None:
    pages = page.log._connection.execute("PRAGMA page_count").fetchone()[0]
    page.log._connection.execute(f"PRAGMA max_page_count = {pages}")
    script = page.script()
    answers = [script.post("/api/notes", {"node": "n1", "text": "x" * 9000, "key": f"{place}"}) for place in range(3)]
    assert {answer.status_code for answer in answers} == {507}
    assert page.events() == []
    page.log._connection.execute("PRAGMA max_page_count = 100000")
    assert script.post("/api/notes", {"node": "n1", "text": "x" * 9000, "key": "0"}).status_code == 200


def test_read_only_log_is_a_temporary_error(page: Any) -> None:
    page.log._connection.execute("PRAGMA query_only = 1")
    answer = page.script().post("/api/labels", {"node": "n1", "label": "ok", "key": "1"})
    assert (answer.status_code, answer.json()["type"]) == (503, "FileError")


def test_internal_error_hides_details(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(page.session, "progress", fail)
    answer = page.script().get("/api/progress")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.json()["error"]
    assert "secret" not in answer.text


def test_openapi_describes_every_endpoint(page: Any) -> None:
    described = page.script().get("/api/openapi.json").json()
    reads = ["next", "progress", "history", "disagreements", "predictions", "nodes/{name}", "export"]
    assert set(described["paths"]) == {f"/api/{name}" for name in [*reads, *actions_of(page.session)]}
    assert all(way["description"] for path in described["paths"].values() for way in path.values())
