"""Access control: each test is an attack."""

import asyncio
import json
import logging
import re
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from featprop.web.page.security import (
    MAX_BODY_BYTES,
    Tokens,
    allowed_hosts,
)
from tests.web.page.conftest import Caller

PORT = 8765
ANSWER = {"node": "n1", "label": "fraud", "key": "k"}
FORM = {"node": '"n1"', "label": '"fraud"', "key": "k"}


def labels(page: Any) -> dict[object, object]:
    return page.log.labels()


# Without a token


PAGES = ["/", "/history", "/progress", "/downloads", "/nodes/%22n1%22", "/images/a.png", "/nowhere"]
ENDPOINTS = ["next", "nodes/%22n1%22", "export?format=csv", "openapi.json"]


@pytest.mark.parametrize("path", [*PAGES, *(f"/api/{name}" for name in ENDPOINTS)])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_everything_needs_a_token(page: Any, method: str, path: str) -> None:
    stranger = page.stranger({"Sec-Fetch-Site": "same-origin"})
    answer = stranger.request(method, path)
    assert answer.status_code == 401
    assert "n1" not in answer.text.replace("%22n1%22", "")
    if path.startswith("/api/"):
        assert answer.json()["parameter"] == "token"


@pytest.mark.parametrize("guess", ["", " ", "x", "é", "\u200b", "None", "0" * 43])
def test_guessed_token_is_refused(page: Any, guess: str) -> None:
    stranger = page.stranger()
    assert stranger.get("/", params={"token": guess}).status_code == 401
    assert stranger.get("/api/next", headers={"Authorization": f"Bearer {guess}".encode()}).status_code == 401
    assert stranger.get("/", headers={"Cookie": f"featprop-{PORT}={guess}".encode()}).status_code == 401
    assert not stranger.cookies


def test_tokens_are_long_random_and_not_in_repr() -> None:
    tokens = Tokens(["ada", "grace"])
    assert len(tokens.of("ada")) >= 43
    assert tokens.of("ada") != tokens.of("grace") != Tokens(["grace"]).of("grace")
    assert tokens.of("ada") not in repr(tokens)
    assert tokens.annotator(tokens.of("grace")) == "grace"


# The token becomes a cookie


def test_token_becomes_a_cookie_and_leaves_the_address(page: Any) -> None:
    visitor = page.stranger()
    answer = visitor.get(f"/?token={page.tokens.of('')}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"featprop-{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Path=/" in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert visitor.get("/").status_code == 200


def test_cookie_is_invalid_after_a_restart(make_page: Callable[..., Any]) -> None:
    before, after = make_page(), make_page()
    assert Caller(after.app, cookies=before.browser().cookies).get("/").status_code == 401


def test_no_page_contains_the_token(page: Any) -> None:
    browser = page.browser()
    for path in ("/", "/history", "/help", "/downloads", "/api/next", "/nodes/nobody", "/?token=wrong"):
        assert page.tokens.of("") not in browser.get(path).text


def test_no_log_contains_the_token(page: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    page.browser().get("/")
    page.stranger().get("/?token=guess-of-a-token")
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore", "asyncio"))]
    assert not [record for record in ours if page.tokens.of("") in record.getMessage()]
    assert not [record for record in ours if "guess-of-a-token" in record.getMessage()]


# DNS rebinding: evil.example points to 127.0.0.1, so the browser of a visitor sends its requests here


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        "localhost.evil.example",
        f"evil.example#@127.0.0.1:{PORT}",
        "127.0.0.1:8765:80",
        "[::1",
        "[::1]evil.example",
        "192.168.1.7",
        "0.0.0.0",
        "2130706433",
        "",
    ],
)
def test_foreign_host_names_are_refused(page: Any, host: str) -> None:
    token = {"Authorization": f"Bearer {page.tokens.of('')}"}
    rebound = page.stranger({"Host": host, **token})
    assert rebound.get("/api/next").status_code == 400
    assert rebound.post("/api/labels", ANSWER).status_code == 400
    assert rebound.get(f"/?token={page.tokens.of('')}").status_code == 400
    assert labels(page) == {}


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", "LOCALHOST", "localhost:9000", "[::1]", f"[::1]:{PORT}"])
def test_local_host_names_are_accepted_with_any_port(page: Any, host: str) -> None:
    caller = page.stranger({"Host": host, "Authorization": f"Bearer {page.tokens.of('')}"})
    assert caller.get("/api/next").status_code == 200


def test_host_names_by_bound_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Desktop")
    assert {"127.0.0.1", "[::1]", "localhost", "desktop", "desktop.local"} <= set(allowed_hosts("0.0.0.0"))
    assert "127.0.0.2" in allowed_hosts("127.0.0.2")
    assert allowed_hosts("192.168.1.7") == ["192.168.1.7"]
    assert allowed_hosts("[2001:DB8::0:1]") == ["[2001:db8::1]"]
    assert allowed_hosts("Labels.Example") == ["labels.example"]


# Cross-site requests: a page on evil.example sends a form here, and the browser adds the cookie


FOREIGN = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:9999"},
    {"Sec-Fetch-Site": ""},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": f"https://127.0.0.1:{PORT}"},
    {"Origin": f"http://127.0.0.1:{PORT}.evil.example"},
    {"Referer": f"http://127.0.0.1:{PORT}/"},
    {},
]
OWN = [
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": f"http://127.0.0.1:{PORT}"},
    {"Origin": f"HTTP://127.0.0.1:{PORT}"},
]


@pytest.mark.parametrize(("headers", "is_own"), [*((each, False) for each in FOREIGN), *((each, True) for each in OWN)])
def test_only_the_page_itself_can_change_anything(page: Any, headers: dict[str, str], is_own: bool) -> None:
    victim = page.browser()
    victim.headers = headers
    assert victim.post("/labels", data=FORM).status_code == (303 if is_own else 403)
    assert victim.post("/api/labels", ANSWER).status_code == (200 if is_own else 403)
    assert labels(page) == ({"n1": "fraud"} if is_own else {})


def test_get_requests_change_nothing(page: Any) -> None:
    browser = page.browser()
    for path in ("/labels", "/api/labels", "/undo", "/skips"):
        assert browser.get(path, params=FORM).status_code == 405
    assert page.events() == []


# What a browser may do with an answer


@pytest.mark.parametrize("path", ["/", "/help", "/api/next", "/nowhere", "/static/page.css", "/static/colours.css"])
def test_every_response_has_security_headers(page: Any, path: str) -> None:
    answer = page.browser().get(path)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def test_no_page_has_inline_scripts_or_styles(page: Any) -> None:
    browser = page.browser()
    for path in ("/", "/history", "/progress", "/review", "/downloads", "/help", "/nodes/%22n1%22", "/nowhere"):
        text = browser.get(path).text
        assert not re.search(r"<script(?![^>]* src=\"/static/)|<style|\sstyle=|\son[a-z]+=|javascript:", text), path
        assert not re.search(r'(src|href)="(https?:)?//', text), path


# Sizes


def test_endless_body_is_cut(page: Any) -> None:
    sent = 0

    async def body():  # type: ignore[no-untyped-def]
        nonlocal sent
        while True:
            sent += 10_000
            yield b"x" * 10_000

    async def send() -> int:
        headers = {"Authorization": f"Bearer {page.tokens.of('')}"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=page.app), headers=headers) as client:
            return (await client.post(f"http://127.0.0.1:{PORT}/api/notes", content=body())).status_code

    assert asyncio.run(send()) == 413
    assert sent <= MAX_BODY_BYTES + 20_000


# Connections


def connect(live: Any, sent: bytes) -> socket.socket:
    connection = socket.create_connection((live.host, live.port), timeout=30)
    connection.sendall(sent)
    return connection


def test_truncated_form_is_refused(make_live: Callable[..., Any]) -> None:
    live = make_live(classes=[1, 12])
    head = f"POST /labels HTTP/1.1\r\nHost: {live.host}\r\nAuthorization: Bearer {live.page.tokens.of('')}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 60\r\n\r\n"
    connection = connect(live, f"{head}key=k&node=%22n1%22&label=1".encode())
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1000)
    connection.close()
    assert live.page.events() == []


def test_half_open_connections_close(make_live: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.web.page.server.REQUEST_TIMEOUT_S", 0.3)
    live = make_live()
    with connect(live, b"GET / HT") as connection:
        assert connection.recv(1) == b""
    monkeypatch.setattr("featprop.web.page.server.REQUEST_TIMEOUT_S", 60)
    monkeypatch.setattr("featprop.web.page.server.MAX_CONNECTIONS", 3)
    waiting = [connect(live, b"GET / HT") for _ in range(8)]
    assert httpx.get(live.address()).status_code == 303
    for connection in waiting:
        connection.close()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/notes", {"node": "n1", "text": "x" * 10_001, "key": "k"}),
        ("/api/skips", {"node": "n1", "reason": "x" * 1001, "key": "k"}),
        ("/api/labels", {"node": "n1", "label": "ok", "key": "k" * 101}),
        ("/api/labels", {"node": "n1", "label": "ok", "key": ""}),
        ("/api/classes", {"name": "x" * 201}),
        ("/api/notes", {"node": "n1", "text": "half a letter: \ud800", "key": "k"}),
    ],
)
def test_texts_are_bounded(page: Any, path: str, body: dict[str, str]) -> None:
    sent = page.script().post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert sent.status_code == 422
    assert page.events() == []


# Where a form leads on to


@pytest.mark.parametrize("back", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_forms_never_redirect_to_foreign_addresses(page: Any, back: str) -> None:
    answer = page.browser().post("/labels", data={**FORM, "back": back[:20]})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
