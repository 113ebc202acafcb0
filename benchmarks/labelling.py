"""The labelling page under load: how long an answer takes, and whether any is lost when the server is killed.

    python benchmarks/labelling.py [--clients 64] [--seconds 60] [--kills 50] [--nodes 2708 100000]

Real servers (`featprop label`), real requests. *One person*: label after label on a graph the size of Cora and on one
of 100,000 nodes, with the page that follows (GET /). *Many*: every client has an address of its own and labels as fast
as it can. *Kills*: four clients label while the server is killed (SIGKILL) at random moments and started again; every
answer that was acknowledged must be in the log once, also those that were sent again under their key because no reply
came.
"""

import argparse
import http.client
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid
from pathlib import Path

import numpy as np

from featprop.labelling import LabelLog

CLASSES = ["a", "b", "c", "d", "e"]


class Server:
    """A real server on a graph, and the address of each person."""

    def __init__(self, graph, log, people):
        names = [part for name in people for part in ("--annotator", name)]
        command = [sys.executable, "-m", "featprop", "label", str(graph), "--no-browser", "--port", "0"]
        command += ["--classes", ",".join(CLASSES), "--labels", str(log), *names]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addresses = {}
        for name in people:
            assert self.process.stdout.readline().strip() == name
            self.addresses[name] = urllib.parse.urlsplit(self.process.stdout.readline().strip())

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        self.process.wait()
        self.process.stdout.close()


class Client:
    """One person's connection."""

    def __init__(self, address):
        self.token = urllib.parse.parse_qs(address.query)["token"][0]
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)

    def ask(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        reply = self.connection.getresponse()
        text = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{reply.status}: {text.decode()}")
        return json.loads(text) if path.startswith("/api/") else text

    def answer(self, key, turn, *, with_page=False):
        """Ask for a node, label it and fetch the page; return how long each took, or None if nothing is left."""
        start = time.perf_counter()
        node = self.ask("GET", "/api/next")["node"]
        if node is None:
            return None
        asked = time.perf_counter()
        self.ask("POST", "/api/labels", {"node": node, "label": CLASSES[turn % len(CLASSES)], "key": key})
        answered = time.perf_counter()
        if not with_page:
            return answered - asked, answered - start
        self.ask("GET", "/")
        return answered - asked, answered - start, time.perf_counter() - answered


def label_for(address, seconds, times, done, with_page):
    client, end, turn = Client(address), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        key = uuid.uuid4().hex
        taken = client.answer(key, turn, with_page=with_page)
        if taken is None:
            return
        times.append(taken)
        done.append(key)
        turn += 1


def under_load(graph, people, seconds, *, with_page=False):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "load.labels"
        server, times, done = Server(graph, log, people), [], []
        threads = [
            threading.Thread(target=label_for, args=(address, seconds, times, done, with_page))
            for address in server.addresses.values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.end()
        with LabelLog(log) as kept:
            acts = [act for act in kept.acts() if act.kind == "label"]
        lost = len(set(done) - {act.key for act in acts})
        doubled = len(acts) - len({act.node for act in acts})
    return times, lost, doubled


def told(name, times, lost, doubled):
    parts = []
    for what, order in zip(("an answer", "with the next question", "the page"), map(sorted, zip(*times, strict=True))):  # noqa: B905
        worst = order[int(0.95 * (len(order) - 1))]
        parts.append(f"{what} {1000 * statistics.median(order):.0f} ms in the median, {1000 * worst:.0f} ms for 95 %")
    print(f"{name}: {len(times):,} answers, {'; '.join(parts)}; {lost} lost, {doubled} doubled", flush=True)


def kill_campaign(graph, kills, seed=0):
    """Kill the server again and again; return how many answers were acknowledged, lost and doubled."""
    people, generator = ["p1", "p2", "p3", "p4"], random.Random(seed)
    acknowledged, sent = set(), set()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "kills.labels"
        pending = dict.fromkeys(people)
        for _ in range(kills):
            server = Server(graph, log, people)

            def work(name, server=server):
                client = Client(server.addresses[name])
                turn = 0
                try:
                    if pending[name] is not None:
                        client.ask("POST", "/api/labels", pending[name])
                        acknowledged.add(pending[name]["key"])
                        pending[name] = None
                    while True:
                        node = client.ask("GET", "/api/next")["node"]
                        if node is None:
                            return
                        body = {"node": node, "label": CLASSES[turn % 5], "key": uuid.uuid4().hex}
                        pending[name] = body
                        sent.add(body["key"])
                        client.ask("POST", "/api/labels", body)
                        acknowledged.add(body["key"])
                        pending[name] = None
                        turn += 1
                except (OSError, http.client.HTTPException):
                    return
                finally:
                    client.connection.close()

            threads = [threading.Thread(target=work, args=(name,)) for name in people]
            for thread in threads:
                thread.start()
            time.sleep(generator.uniform(0.05, 1.0))
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
        with LabelLog(log) as kept:
            acts = [act for act in kept.acts() if act.kind != "class"]
    keys = [act.key for act in acts]
    return len(acknowledged), len(acknowledged - set(keys)), len(keys) - len(set(keys)), len(set(keys) - sent)


def made(folder, nodes):
    """Return the folder of a graph of that many nodes."""
    rng = np.random.default_rng(0)
    place = Path(folder) / f"graph-{nodes}"
    place.mkdir()
    classes = rng.integers(5, size=nodes)
    features = rng.normal(size=(nodes, 16)) + 1.5 * np.eye(5, 16)[classes]
    rows = [f"{node}," + ",".join(f"{value:.3f}" for value in row) for node, row in enumerate(features)]
    titles = ",".join(f"w{place}" for place in range(16))
    (place / "nodes.csv").write_text(f"id,{titles}\n" + "\n".join(rows) + "\n")
    ends = rng.integers(nodes, size=(3 * nodes, 2))
    (place / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in ends))
    return place


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--nodes", type=int, nargs="*", default=[2708, 100_000])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graphs = {nodes: made(folder, nodes) for nodes in given.nodes}
        for nodes, graph in graphs.items():
            told(f"one person, {nodes:,} nodes", *under_load(graph, ["ada"], min(20, given.seconds), with_page=True))
        largest = graphs[max(graphs)]
        people = [f"p{place}" for place in range(given.clients)]
        told(f"{given.clients} people, {max(graphs):,} nodes", *under_load(largest, people, given.seconds))
        if given.kills:
            acknowledged, lost, doubled, strange = kill_campaign(graphs[max(graphs)], given.kills)
            print(
                f"{given.kills} kills: {acknowledged:,} answers acknowledged, {lost} lost, {doubled} doubled, "
                f"{strange} that nobody sent"
            )


if __name__ == "__main__":
    main()
