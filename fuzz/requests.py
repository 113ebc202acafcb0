"""Requests to the labelling page: each is answered without a server error, and what it saved is in the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fuzz.damage import damaged_bytes, damaged_json, texts, values
from tests.web.page.conftest import Page, payments

FIELDS = {
    "labels": ("node", "label", "key"), "adjudications": ("node", "label", "key"), "notes": ("node", "text", "key"),
    "skips": ("node", "reason", "key"), "undo": ("key",), "classes": ("name",), "heartbeat": ("node",),
}  # fmt: skip
PATHS = (
    "/", "/history", "/progress", "/disagreements", "/predictions", "/downloads", "/help", "/nodes/%22n1%22", "/status",
    "/static/page.css", "/static/../../x", "/static/%2e%2e/x", "/images/../x", "/api/next", "/api/progress", "/api/nothing",
    "/api/history?limit=3", "/api/openapi.json", "/api/predictions?limit=2", "/api/disagreements", "/api/nodes/%22n1%22",
    "/api/export?format=csv", "/api/export?format=jsonl", "/api/export?format=label-studio", "/%00", "//", "/?token=x",
)  # fmt: skip
PREFIXES = ("/nodes/", "/api/nodes/", "/api/export?format=", "/api/history?limit=", "/images/")
HEADERS = ("Authorization", "Cookie", "Origin", "Sec-Fetch-Site", "Host", "Content-Type", "Accept")
METHODS = ("GET", "GET", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "get")


class Sent(NamedTuple):
    """One request."""

    method: str
    path: str
    body: bytes
    headers: dict[str, str]


@st.composite
def changes(draw: DrawFn) -> Sent:
    """Answer, skip, undo and so on, often with a damaged body."""
    name = draw(st.sampled_from(list(FIELDS)))
    body: dict[str, Any] = {field: draw(texts) for field in FIELDS[name]}
    body |= {"node": f"n{draw(st.integers(0, 60))}"} if "node" in body else {}
    body |= {"key": draw(st.uuids()).hex} if "key" in body else {}
    body |= {"label": draw(st.sampled_from(["ok", "review", "new"]))} if "label" in body else {}
    if draw(st.integers(0, 5)) == 0:
        body[draw(st.sampled_from(list(body)))] = draw(values)
    content = json.dumps(body).encode()
    content = draw(st.one_of(st.just(content), st.just(content), damaged_json(content), damaged_bytes(content)))
    return Sent("POST", f"/api/{name}", content, {"Content-Type": "application/json"})


@st.composite
def visits(draw: DrawFn) -> Sent:
    """Get a page, at times with a damaged path, method or header."""
    path = draw(st.sampled_from(PATHS) | st.builds("{}{}".format, st.sampled_from(PREFIXES), st.text(max_size=30)))
    value = st.text(st.characters(max_codepoint=255), max_size=20) | st.sampled_from(["Bearer x", "evil.example"])
    headers = draw(st.dictionaries(st.sampled_from(HEADERS), value, max_size=1))
    return Sent(draw(st.sampled_from(METHODS)), path, b"", headers)


request_lists = st.lists(changes() | visits(), min_size=1, max_size=12)


def send_all(requests: list[Sent]) -> None:
    """Send requests to the application in this process and judge the responses."""
    page, saved = Page(payments(), Path("log.labels"), annotators=["ada"]), set()
    client = page.script("ada")
    for sent in requests:
        try:
            reply = client.request(sent.method, sent.path, content=sent.body, headers=sent.headers)
        except (httpx.InvalidURL, ValueError):  # what no client can send
            continue
        assert 200 <= reply.status_code < 500, f"{reply.status_code} to {sent}"
        is_refused = reply.status_code >= 400 and "Host" not in sent.headers  # Starlette refuses a foreign host itself
        if sent.path.startswith("/api/") and is_refused and sent.method != "HEAD":
            assert len(reply.json()["error"].splitlines()) == 1, f"not one message: {reply.text}"
        if reply.status_code == 200 and b'"saved"' in reply.content and reply.json()["node"] is not None:
            saved.add(json.loads(sent.body)["key"])
    assert client.get("/api/progress").status_code == 200, "no answer in the end"
    assert saved <= {event.key for event in page.log.events()}, "something saved is not in the log"
    page.close()
