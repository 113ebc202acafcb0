"""Label servers killed while people answer: what was acknowledged is in the log, once.

Real servers (`featprop label`), real requests over HTTP. Four people label; the server is killed and started again, and
an answer that got no reply is sent again under its key. `benchmarks/labelling.py` measures the same servers.
"""

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

from crash.killing import Tally
from featprop.labels import LabelLog

__all__ = ["CLASSES", "Client", "Server", "kill_servers"]

CLASSES = ["a", "b", "c", "d", "e"]
PEOPLE = ["p1", "p2", "p3", "p4"]
LONGEST = 1.0
"""Seconds a server has at most before it is killed."""


class Server:
    """A real server on a graph, and the address of each person."""

    def __init__(self, graph, log, people, *options):
        names = [part for name in people for part in ("--annotator", name)]
        command = [sys.executable, "-m", "featprop", "label", str(graph), "--no-browser", "--port", "0"]
        command += ["--classes", ",".join(CLASSES), "--labels", str(log), *names, *options]
        self.people = people
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addresses = {}

    def ready(self):
        """Wait until it says where it is."""
        for name in self.people:
            assert self.process.stdout.readline().strip() == name, "a server did not start"
            self.addresses[name] = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        return self

    def end(self, how=signal.SIGINT):
        """End it, kindly or not."""
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()


class Client:
    """One person's connection."""

    def __init__(self, address):
        self.token = urllib.parse.parse_qs(address.query)["token"][0]
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        self.asked = None

    def ask(self, method, path, body=None):
        """Send a request and return what came back; a refusal is an error."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{reply.status}: {text.decode()}")
        return json.loads(text) if path.startswith("/api/") else text

    def answer(self, key, turn, *, with_page=False):
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
    """Those who label, and what they know: what they sent, what was acknowledged, and what got no reply."""

    def __init__(self, log):
        self.log = log
        self.sent, self.acknowledged, self.pending = set(), set(), dict.fromkeys(PEOPLE)
        self.has_ended = False

    def label(self, server):
        """Answer as fast as replies come, until the server is gone or nothing is left; returns the threads."""
        threads = [threading.Thread(target=self._label, args=(server, name)) for name in PEOPLE]
        for thread in threads:
            thread.start()
        return threads

    def _label(self, server, name):
        client, turn = Client(server.addresses[name]), 0
        try:
            while True:
                body = self.pending[name]
                if body is None:
                    node = client.ask("GET", "/api/next")["node"]
                    if node is None:
                        self.has_ended = True
                        return
                    body = {"node": node, "label": CLASSES[turn % len(CLASSES)], "key": uuid.uuid4().hex}
                    self.pending[name] = body
                    self.sent.add(body["key"])
                client.ask("POST", "/api/labels", body)
                self.acknowledged.add(body["key"])
                self.pending[name] = None
                turn += 1
        except (OSError, http.client.HTTPException):
            return
        finally:
            client.connection.close()

    def judge(self, tally):
        """Compare the log with what they know."""
        with LabelLog(self.log) as kept:
            acts = [act for act in kept.events() if act.kind != "class"]
        keys = [act.key for act in acts]
        answers = [(act.node, act.annotator) for act in acts]
        for kind, count in (
            ("lost", len(self.acknowledged - set(keys))),
            ("doubled", len(answers) - len(set(answers))),
            ("different", len(set(keys) - self.sent)),
        ):
            if count:
                tally.note(kind, f"{count} answers of {len(self.acknowledged):,} acknowledged", count)
        left = {path.name for path in self.log.parent.glob(f"{self.log.name}*")}
        strange = left - {self.log.name}
        if strange:
            tally.note("left", f"{sorted(strange)}", len(strange))


def kill_servers(graph: Path, folder: Path, kills: int, seed: int = 0, longest: float = LONGEST) -> tuple[Tally, int]:
    """Kill servers again and again, one in five while it starts; return the tally and how many answers there were."""
    chance, tally, answers = random.Random(seed), Tally(), 0
    people, starting = People(folder / "0.labels"), 0.0
    while tally.kills < kills:
        began, server = time.monotonic(), Server(graph, people.log, PEOPLE)
        if starting and chance.random() < 0.2:
            time.sleep(chance.uniform(0, starting))
            server.end(signal.SIGKILL)
            tally.before += 1
        else:
            threads = people.label(server.ready())
            starting = time.monotonic() - began
            time.sleep(chance.uniform(0, longest))
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            tally.after += people.has_ended
            tally.during += not people.has_ended
        tally.kills += 1
        if people.has_ended or tally.kills == kills:
            answers += len(people.acknowledged)
            people.judge(tally)
            people = People(folder / f"{tally.kills}.labels")
    return tally, answers
