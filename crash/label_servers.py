"""Kill label servers while people answer: what was acknowledged is in the log, once.

The server is started again, and an answer without a response is sent again under its key.
"""

from __future__ import annotations

import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid
from pathlib import Path
from typing import Any

from crash.harness import Tally
from featprop.labels import LabelLog

CLASSES = ["a", "b", "c", "d", "e"]
PEOPLE = ["p1", "p2", "p3", "p4"]
MAX_SECONDS = 1.0
"""Time that a server runs at most before it is killed."""


class Server:
    """A real server, and the address of each annotator."""

    def __init__(self, graph: Path, log: Path, people: list[str], *options: str) -> None:
        names = [part for name in people for part in ("--annotator", name)]
        command = [sys.executable, "-m", "featprop", "label", str(graph), "--no-browser", "--port", "0"]
        command += ["--classes", ",".join(CLASSES), "--labels", str(log), *names, *options]
        self.people = people
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addresses: dict[str, urllib.parse.SplitResult] = {}

    def ready(self) -> Server:
        """Wait until it prints its addresses."""
        assert self.process.stdout is not None
        for name in self.people:
            assert self.process.stdout.readline().strip() == name, "a server did not start"
            self.addresses[name] = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        return self

    def end(self, how: int = signal.SIGINT) -> None:
        """End it with a signal."""
        self.process.send_signal(how)
        self.process.communicate()


class Client:
    """The connection of one annotator."""

    def __init__(self, address: urllib.parse.SplitResult) -> None:
        self.token = urllib.parse.parse_qs(address.query)["token"][0]
        self.connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
        self.asked: dict[str, Any] | None = None

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the response; a refusal is an error."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{reply.status}: {text.decode()}")
        return json.loads(text) if path.startswith("/api/") else text

    def answer(self, key: str, turn: int, *, with_page: bool = False) -> tuple[float, ...] | None:
        """Label the node asked for; return how long the reply with the next node and then its page took, or None."""
        self.asked = self.asked or self.ask("GET", "/api/next")
        if self.asked["node"] is None:
            return None
        begun = time.perf_counter()
        body = {"node": self.asked["node"], "label": CLASSES[turn % len(CLASSES)], "key": key}
        self.asked = self.ask("POST", "/api/labels", body)["next"]
        answered = time.perf_counter()
        if not with_page:
            return (answered - begun,)
        self.ask("GET", "/?ahead=true")
        return answered - begun, time.perf_counter() - answered


class People:
    """Annotators who remember what they sent and what was acknowledged."""

    def __init__(self) -> None:
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()
        self.pending: dict[str, Any] = dict.fromkeys(PEOPLE)

    def label(self, server: Server, name: str) -> None:
        """Answer as fast as responses come, until the server is gone or nothing is left."""
        client = Client(server.addresses[name])
        try:
            while True:
                if self.pending[name] is None:
                    node = client.ask("GET", "/api/next")["node"]
                    if node is None:
                        return
                    label = CLASSES[len(self.sent) % len(CLASSES)]
                    self.pending[name] = {"node": node, "label": label, "key": uuid.uuid4().hex}
                    self.sent.add(self.pending[name]["key"])
                client.ask("POST", "/api/labels", self.pending[name])
                self.acknowledged.add(self.pending[name]["key"])
                self.pending[name] = None
        except (OSError, http.client.HTTPException):
            return
        finally:
            client.connection.close()


def kill_servers(graph: Path, folder: Path, kills: int, seed: int = 0) -> tuple[Tally, int]:
    """Kill servers of one log again and again, one in five while it starts; return also the number of answers."""
    chance, tally, people, log, starting = random.Random(seed), Tally(), People(), folder / "log.labels", 0.0
    while tally.kills < kills:
        began, server = time.monotonic(), Server(graph, log, PEOPLE)
        if starting and chance.random() < 0.2:
            time.sleep(chance.uniform(0, starting))
            server.end(signal.SIGKILL)
            tally.before += 1
        else:
            server.ready()
            starting = time.monotonic() - began
            threads = [threading.Thread(target=people.label, args=(server, name)) for name in PEOPLE]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0, MAX_SECONDS))
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            tally.during += 1
        tally.kills += 1
    with LabelLog(log) as kept:
        events = [event for event in kept.events() if event.kind == "label"]
    keys, answers = {event.key for event in events}, {(event.node, event.annotator) for event in events}
    for kind, count in (
        ("lost", len(people.acknowledged - keys)),
        ("different", len(events) - len(answers) + len(keys - people.sent)),
        ("left", len(list(folder.glob("log.labels?*")))),
    ):
        if count:
            tally.note(kind, f"{count} of {len(people.acknowledged):,} answers", count)
    return tally, len(people.acknowledged)
