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
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from featprop.labels import LabelLog
from tests.graphs import write_class_folder

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

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the response; a refusal is an error."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{reply.status}: {text.decode()}")
        return json.loads(text) if path.startswith("/api/") else text


class Annotator:
    """Someone who remembers what they sent and what was acknowledged, and sends again what was not."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: set[str] = set()
        self.acknowledged: set[str] = set()
        self.pending: dict[str, Any] | None = None

    def label(self, server: Server) -> None:
        """Answer as fast as responses come, until the server is gone or nothing is left."""
        client = Client(server.addresses[self.name])
        with suppress(OSError, http.client.HTTPException), closing(client.connection):
            while self.pending or (node := client.ask("GET", "/api/next")["node"]) is not None:
                if self.pending is None:
                    self.pending = {"node": node, "label": CLASSES[len(self.sent) % 5], "key": uuid.uuid4().hex}
                    self.sent.add(self.pending["key"])
                client.ask("POST", "/api/labels", self.pending)
                self.acknowledged.add(self.pending["key"])
                self.pending = None


def kill_servers(_: Path, folder: Path, kills: int, seed: int) -> list[str]:
    """Kill servers of one log again and again, one in five while it starts; return what is wrong."""
    chance, log, starting = random.Random(seed), folder / "log.labels", 0.0
    graph = write_class_folder(folder / "graph", 4000)
    people = [Annotator(name) for name in PEOPLE]
    for _ in range(kills):
        began, server = time.monotonic(), Server(graph, log, PEOPLE)
        if starting and chance.random() < 0.2:
            time.sleep(chance.uniform(0, starting))
            server.end(signal.SIGKILL)
        else:
            server.ready()
            starting = time.monotonic() - began
            threads = [threading.Thread(target=person.label, args=(server,)) for person in people]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0, MAX_SECONDS))
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
    with LabelLog(log) as kept:
        events = [event for event in kept.events() if event.kind == "label"]
    acknowledged = {key for person in people for key in person.acknowledged}
    sent = {key for person in people for key in person.sent}
    keys, answers = {event.key for event in events}, {(event.node, event.annotator) for event in events}
    print(f"Label servers acknowledged {len(acknowledged):,} answers.")
    counts = {
        "lost": len(acknowledged - keys),
        "different": len(events) - len(answers) + len(keys - sent),
        "left": len(list(folder.glob("log.labels?*"))),
    }
    return [f"{kind}: {count} of {len(acknowledged):,} answers" for kind, count in counts.items() if count]
