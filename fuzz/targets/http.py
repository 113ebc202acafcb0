"""Requests to the labelling page, at a real port of this machine only."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_plus, urlencode

from fuzz.case import Case, target
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import TEXTS, extreme, extreme_text
from fuzz.mutations.trees import mutated_json
from fuzz.patience import looks

__all__ = []

REQUESTS = 12
"""Of one case, to one server."""
PATIENCE = 20.0
"""Seconds for an answer to a request that is whole."""
CHANGES = ("labels", "skips", "undo", "notes", "adjudications", "classes", "heartbeat")
NAMES = ("node", "label")
"""Fields of a form that hold JSON."""
PLACES = (
    "/", "/history", "/progress", "/disagreements", "/predictions", "/downloads", "/help", "/nodes/%22n1%22", "/static/page.css",
    "/static/../../x", "/static/%2e%2e/x", "/images/../x", "/api/next", "/api/progress", "/api/history?limit=3", "/api/openapi.json",
    "/api/predictions?limit=2", "/api/disagreements", "/api/nodes/%22n1%22", "/api/export?format=csv", "/api/export?format=jsonl",
    "/api/export?format=label-studio", "/api/export?format=label-studio-config", "/api/nothing", "/%00", "//", "/?token=x",
)  # fmt: skip


@target("http", 4)
def http(random: random.Random, seeds: Path, folder: Path) -> Case:
    """Send requests that are not quite right, and see that the server answers and keeps what it acknowledged."""
    shutil.copytree(seeds / "csv", folder / "graph")
    people = [] if random.random() < 0.5 else ["--annotator", "Ann", "--annotator", "Bob", "--overlap", "2"]
    options = random.choice([[], ["--blind"], ["--audit", "4"], ["--classes", "ok,review,fraud"]])
    words = ["label", "graph", "--port", "0", "--no-browser", "--labels", "log.labels", *people, *options]

    talks: list[_Talk] = []

    def talk(process: int, folder: Path, out: Path) -> list[str]:  # noqa: ARG001
        try:
            if (found := _address(out, process)) is None:
                return ["the server did not start"]
            talks.append(_Talk(random, *found))
            return talks[0].hold()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)

    def check(folder: Path) -> list[str]:
        return [problem for each in talks for problem in each.of_log(folder / "log.labels")]

    return Case(words, ("log.labels",), talk=talk, check=check)


def _address(out: Path, process: int) -> tuple[int, str] | None:
    """Wait until the server prints its first address; None if it ends before."""
    for _ in looks(100, 0.02):
        text = out.read_text() if out.exists() else ""
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)\n", text):
            return int(found[1]), found[2]
        if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return None
    return None


class _Talk:
    """What is said to one server, and what it acknowledged."""

    def __init__(self, random: random.Random, port: int, token: str) -> None:
        self.random, self.port, self.token = random, port, token
        self.sent = ""
        self.acknowledged: set[str] = set()

    def hold(self) -> list[str]:
        problems = []
        for _ in range(REQUESTS):
            problems += self._ask()
        status, _ = self._answer(self._written("GET", "/api/progress", self._headers(), b""), PATIENCE)
        if status != 200:
            problems.append(f"answered {status} to a right request in the end")
        return problems

    def of_log(self, log: Path) -> list[str]:
        with contextlib.closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as database:
            kinds = "('label', 'skip', 'adjudicate', 'undo', 'note')"
            kept = {key for (key,) in database.execute(f"SELECT key FROM events WHERE kind IN {kinds}")}
        lost = self.acknowledged - kept
        strange = {key for key in kept if key not in self.sent and json.dumps(key)[1:-1] not in self.sent}
        return [f"acknowledged and not kept: {sorted(lost)[:3]}"] * bool(lost) + [
            f"kept and never sent: {sorted(strange)[:3]}"
        ] * bool(strange)

    def _headers(self) -> dict[str, str]:
        return {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Connection": "close",
        }

    def _ask(self) -> list[str]:
        """Send a request, most often changed in one way, and judge the answer."""
        chance = self.random
        headers, body, method, path = self._headers(), b"", "GET", chance.choice(PLACES)
        name = ""
        if chance.random() < 0.7:
            name, method = chance.choice(CHANGES), "POST"
            body, path = self._body(name), f"/api/{name}"
            headers["Content-Type"] = "application/json"
            if chance.random() < 0.25:
                path, headers["Content-Type"] = f"/{name}", "application/x-www-form-urlencoded"
                fields = json.loads(body).items()
                body = urlencode({key: json.dumps(value) if key in NAMES else value for key, value in fields}).encode()
            headers["Content-Length"] = str(len(body))
        whole = True
        way = chance.randrange(10)
        if way == 0:
            body = mutated_bytes(chance, body)
            headers["Content-Length"] = str(len(body))
        elif way <= 3 and path.startswith("/api/") and body:
            body = mutated_json(chance, body)
            headers["Content-Length"] = str(len(body))
        elif way == 4:
            whole = False
            headers["Content-Length"] = chance.choice(
                ["0", "1", "-1", "99999999", "9" * 5000, "x", "", "1, 2", "٣", "65537"]
            )
        elif way == 5:
            key = chance.choice(
                [*headers, "Cookie", "Origin", "Sec-Fetch-Site", "Accept", "Transfer-Encoding", "Expect"]
            )
            headers[key], whole = (
                chance.choice([extreme_text(chance), "Bearer x", "chunked", "evil.example", "null"]),
                False,
            )
        elif way == 6:
            path = chance.choice(
                ["/nodes/", "/api/nodes/", "/", "/api/export?format=", "/api/history?limit=", "/images/"]
            )
            path += quote(extreme_text(chance)[:3000], safe=chance.choice(["", "/?&%"]))
            whole = path.isascii() and path.isprintable()
        elif way == 7:
            method, whole = (
                chance.choice(["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "get", "X" * 500, ""]),
                False,
            )
        request = self._written(method, path, headers, body)
        if way == 8:
            request, whole = mutated_bytes(chance, request), False
        for encoding in ("utf-8", "latin-1"):
            text = request.decode(encoding, "replace")
            self.sent += f"{text}\n{unquote_plus(text, encoding)}\n"
        status, answer = self._answer(request, PATIENCE if whole else 0.4)
        if status == 200 and method == "POST" and path.startswith("/api/") and b'"saved"' in answer:
            body = request.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
            with contextlib.suppress(ValueError):  # bytes moved in front of it
                said, _ = json.JSONDecoder().raw_decode(body.lstrip())  # what comes after its length is not of it
                if b'"saved":"undo","node":null' not in answer:
                    self.acknowledged.add(said["key"])
        return self._judged(status, answer, request, whole=whole, is_api=path.startswith("/api/"))

    def _judged(self, status: int | None, answer: bytes, request: bytes, *, whole: bool, is_api: bool) -> list[str]:
        if status is None:
            return [f"no answer to {request[:300]!r}"] if whole else []
        if not 200 <= status < 500:
            return [f"answered {status} to {request[:600]!r}"]
        if whole and is_api and status >= 400 and answer.strip():
            try:
                sentence = json.loads(answer)["error"]
            except (ValueError, KeyError, TypeError):
                return [f"no sentence with {status} to {request[:300]!r}"]
            if not sentence or "\n" in sentence:
                return [f"not one sentence with {status}: {sentence!r}"]
        return []

    def _body(self, name: str) -> bytes:
        chance = self.random
        body: dict[str, Any] = {"node": f"n{chance.randrange(50)}", "key": f"{chance.random()}"}
        if name in ("labels", "adjudications"):
            body["label"] = chance.choice(["ok", "review", "fraud", "new", 1])
        elif name == "notes":
            body["text"] = chance.choice([*TEXTS, "a note"])[:5000]
        elif name == "skips":
            body["reason"] = chance.choice([*TEXTS, "unsure"])[:500]
        elif name == "classes":
            body = {"name": chance.choice(TEXTS)[:150]}
        elif name == "undo":
            del body["node"]
        elif name == "heartbeat":
            del body["key"]
        if chance.random() < 0.1:
            body[chance.choice(list(body))] = extreme(chance)
        return json.dumps(body).encode()

    @staticmethod
    def _written(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body

    def _answer(self, request: bytes, patience: float) -> tuple[int | None, bytes]:
        """Return the status and the body of the answer, None if there was none."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            try:
                connection.sendall(request)
                connection.settimeout(patience)
                while part := connection.recv(1 << 16):
                    answer += part
            except (TimeoutError, ConnectionError):
                pass
        head, _, body = answer.partition(b"\r\n\r\n")
        found = re.match(rb"HTTP/1\.1 (\d{3})", head)
        return (int(found[1]) if found else None), body
