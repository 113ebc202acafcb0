"""Requests to the labelling page: each is answered without a server error, and what it saved is in the log."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, NamedTuple

import httpx
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from fuzz.case import Case
from fuzz.checks import events
from fuzz.damage import damaged_bytes, damaged_json, texts, values
from fuzz.seeds import CLASSES

ACTIONS = ("labels", "skips", "undo", "notes", "adjudications", "classes", "heartbeat")
PATHS = (
    "/", "/history", "/progress", "/disagreements", "/predictions", "/downloads", "/help", "/nodes/%22n1%22", "/status",
    "/static/page.css", "/static/../../x", "/static/%2e%2e/x", "/images/../x", "/api/next", "/api/progress", "/api/nothing",
    "/api/history?limit=3", "/api/openapi.json", "/api/predictions?limit=2", "/api/disagreements", "/api/nodes/%22n1%22",
    "/api/export?format=csv", "/api/export?format=jsonl", "/api/export?format=label-studio", "/%00", "//", "/?token=x",
)  # fmt: skip
PREFIXES = ("/nodes/", "/api/nodes/", "/api/export?format=", "/api/history?limit=", "/images/")
HEADERS = ("Authorization", "Cookie", "Origin", "Sec-Fetch-Site", "Host", "Content-Type", "Accept")
METHODS = ("PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "get")


class Sent(NamedTuple):
    """One request."""

    method: str
    path: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@st.composite
def changes(draw: DrawFn) -> Sent:
    """Answer, skip, undo and so on; often with a damaged body."""
    name = draw(st.sampled_from(ACTIONS))
    fields = {"node": f"n{draw(st.integers(0, 50))}", "key": draw(st.uuids()).hex}
    fields |= {"label": draw(st.sampled_from([*CLASSES, "new"])), "text": draw(texts), "reason": draw(texts)}
    fields["name"] = draw(texts)
    used = {"labels": "node label key", "adjudications": "node label key", "notes": "node text key", "undo": "key"}
    used |= {"skips": "node reason key", "classes": "name", "heartbeat": "node"}
    body: dict[str, Any] = {field: fields[field] for field in used[name].split()}
    if draw(st.integers(0, 5)) == 0:
        body[draw(st.sampled_from(list(body)))] = draw(values)
    content = json.dumps(body).encode()
    content = draw(st.one_of(st.just(content), st.just(content), damaged_json(content), damaged_bytes(content)))
    return Sent("POST", f"/api/{name}", content, (("Content-Type", "application/json"),))


@st.composite
def visits(draw: DrawFn) -> Sent:
    """Get a page, with a damaged path, method or header at times."""
    path = draw(st.sampled_from(PATHS) | st.builds("{}{}".format, st.sampled_from(PREFIXES), st.text(max_size=30)))
    method = draw(st.sampled_from(["GET"] * 4 + list(METHODS)))
    latin = texts.map(lambda text: text.encode("latin-1", "replace").decode("latin-1"))
    header = st.tuples(st.sampled_from(HEADERS), latin | st.sampled_from(["Bearer x", "null", "evil.example"]))
    return Sent(method, path, b"", tuple(draw(st.lists(header, max_size=1))))


def request_lists(seeds: Path) -> SearchStrategy[Case]:
    """Send some requests to one page."""
    graph = str(seeds / "csv")
    lists = st.lists(changes() | visits(), min_size=1, max_size=12)
    return lists.map(lambda sent: Case(("http", repr(sent)), changes=("log.labels",), action=Talk(graph, sent)))


class Talk:
    """Send requests to the application in this process and judge the responses."""

    def __init__(self, graph: str, sent: list[Sent]) -> None:
        self.graph, self.sent = graph, sent

    def __call__(self) -> None:
        from featprop import LabelLog, read_graph
        from featprop.web.page.security import Hosts, Tokens
        from featprop.web.page.server import build_application
        from featprop.web.page.session import Session

        with LabelLog("log.labels") as log:
            session = Session(read_graph(self.graph), log, classes=list(CLASSES), annotators=["ada"])
            tokens = Tokens(["ada"])
            app = build_application(session, tokens, hosts=Hosts.of("127.0.0.1"), port=8765)
            saved = asyncio.run(self._send_all(app, {"Authorization": f"Bearer {tokens.of('ada')}"}))
            session.close()
        lost = saved - {event[1] for event in events(Path("log.labels"))}
        assert not lost, f"saved and not in the log: {lost}"

    async def _send_all(self, app: Any, token: dict[str, str]) -> set[str]:
        """Send the requests; return the keys of what was saved."""
        saved = set()
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
            for sent in self.sent:
                try:
                    request = client.build_request(
                        sent.method, sent.path, content=sent.body, headers=token | dict(sent.headers)
                    )
                except (httpx.InvalidURL, ValueError):  # what no client can send
                    continue
                reply = await client.send(request)
                assert 200 <= reply.status_code < 500, f"{reply.status_code} to {sent}"
                if sent.path.startswith("/api/") and reply.status_code >= 400 and sent.method != "HEAD":
                    message = reply.json()["error"]
                    assert message and "\n" not in message, f"not one message: {message!r}"
                if reply.status_code == 200 and b'"saved"' in reply.content and reply.json()["node"] is not None:
                    saved.add(json.loads(sent.body)["key"])
            assert (await client.get("/api/progress", headers=token)).status_code == 200, "no answer in the end"
        return saved
