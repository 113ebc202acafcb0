"""Put the labelling page under load, and measure response times and lost answers.

    python benchmarks/labelling.py [--clients 64] [--seconds 60] [--nodes 2708 100000]

Uses real servers (`featprop label`) and real requests. *One person* labels node after node on a graph of the size of
Cora and on one of 100,000 nodes, with the page that follows (GET /). *Many*: every client has its address and labels as
fast as it can. `make crash` kills servers under load.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import numpy as np

from featprop.labels import LabelLog

sys.path.append(str(Path(__file__).parents[1]))

from crash.label_servers import CLASSES, Client, Server


def answer(client, key, turn, with_page):
    """Ask for a node, label it and fetch the page; return how long each took, or None if nothing is left."""
    start = time.perf_counter()
    node = client.ask("GET", "/api/next")["node"]
    if node is None:
        return None
    asked = time.perf_counter()
    client.ask("POST", "/api/labels", {"node": node, "label": CLASSES[turn % len(CLASSES)], "key": key})
    answered = time.perf_counter()
    if not with_page:
        return answered - asked, answered - start
    client.ask("GET", "/")
    return answered - asked, answered - start, time.perf_counter() - answered


def label_for(address, seconds, times, done, with_page):
    client, end, turn = Client(address), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        key = uuid.uuid4().hex
        taken = answer(client, key, turn, with_page)
        if taken is None:
            return
        times.append(taken)
        done.append(key)
        turn += 1


def under_load(graph, people, seconds, *, with_page=False):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "load.labels"
        server, times, done = Server(graph, log, people).ready(), [], []
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
            acts = [act for act in kept.events() if act.kind == "label"]
        lost = len(set(done) - {act.key for act in acts})
        doubled = len(acts) - len({act.node for act in acts})
    return times, lost, doubled


def print_times(name, times, lost, doubled):
    parts = []
    for what, order in zip(("an answer", "with the next question", "the page"), map(sorted, zip(*times, strict=True))):  # noqa: B905
        worst = order[int(0.95 * (len(order) - 1))]
        parts.append(f"{what} {1000 * statistics.median(order):.0f} ms in the median, {1000 * worst:.0f} ms for 95 %")
    print(f"{name}: {len(times):,} answers, {'; '.join(parts)}; {lost} lost, {doubled} doubled", flush=True)


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
    parser.add_argument("--nodes", type=int, nargs="*", default=[2708, 100_000])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graphs = {nodes: made(folder, nodes) for nodes in given.nodes}
        for nodes, graph in graphs.items():
            print_times(
                f"one person, {nodes:,} nodes", *under_load(graph, ["ada"], min(20, given.seconds), with_page=True)
            )
        largest = graphs[max(graphs)]
        people = [f"p{place}" for place in range(given.clients)]
        print_times(f"{given.clients} people, {max(graphs):,} nodes", *under_load(largest, people, given.seconds))


if __name__ == "__main__":
    main()
