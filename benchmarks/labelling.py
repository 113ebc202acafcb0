"""Put the labelling page under load, and measure response times and lost answers.

    python benchmarks/labelling.py [--clients 64] [--seconds 60] [--nodes 2708 100000] [--text 22470] [--pause 1]
                                   [--answers 5000]

Uses real servers (`featprop label`) and real requests. *One person* labels node after node on a graph of the size of
Cora and on one of 100,000 nodes, with the page fetched in advance (GET /?ahead=true), and on the larger one again with
5,000 answers in the log. *Many*: every client has its address and labels as fast as it can. *Text*: on graphs with a
text column, the time from the start to the first question compared with `featprop select`, how many of 60 questions are
random nodes, and the accuracy of a model of these 60 labels compared with one of the 60 labels that `featprop select`
asks for. `make crash` kills servers under load.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from pathlib import Path

import numpy as np
import psutil

from featprop import GraphRidge, read_graph
from featprop.labels import LabelLog

sys.path.append(str(Path(__file__).parents[1]))

from crash.label_servers import CLASSES, Client, Server

CHOSEN = ("ranked", "uncertain", "similar")
"""Reasons to ask for a node that is not drawn at random."""


def label_for(address, seconds, times, done, with_page):
    """Label until the time is over; note how long each reply with the next node took, and then its page."""
    client, end, turn = Client(address), time.monotonic() + seconds, 0
    asked = client.ask("GET", "/api/next")
    while time.monotonic() < end and asked["node"] is not None:
        key, begun = uuid.uuid4().hex, time.perf_counter()
        body = {"node": asked["node"], "label": CLASSES[turn % len(CLASSES)], "key": key}
        asked = client.ask("POST", "/api/labels", body)["next"]
        answered = time.perf_counter()
        if with_page:
            client.ask("GET", "/?ahead=true")
        times.append((answered - begun, time.perf_counter() - answered) if with_page else (answered - begun,))
        done.append(key)
        turn += 1


def under_load(graph, people, seconds, *, with_page=False, answers=0):
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "load.labels"
        with LabelLog(log) as filled:
            filled.tell({node: CLASSES[node % len(CLASSES)] for node in range(answers)}, annotator=people[0])
        server, times, done = Server(graph, log, people).ready(), [], []
        cpu = psutil.Process(server.process.pid).cpu_times()
        started = cpu.user + cpu.system
        threads = [
            threading.Thread(target=label_for, args=(address, seconds, times, done, with_page))
            for address in server.addresses.values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        cpu = psutil.Process(server.process.pid).cpu_times()
        print(f"CPU of the server: {1000 * (cpu.user + cpu.system - started) / max(1, len(times)):.1f} ms per answer")
        server.end()
        with LabelLog(log) as kept:
            acts = [act for act in kept.events() if act.kind == "label"][answers:]
        lost = len(set(done) - {act.key for act in acts})
        doubled = len(acts) - len({act.node for act in acts})
    return times, lost, doubled


def print_times(name, times, lost, doubled):
    parts = []
    names = ("answer and next question", "the page in advance")
    for what, order in zip(names, map(sorted, zip(*times, strict=True))):  # noqa: B905
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


def made_of_text(folder, nodes):
    """Return the folder of a graph whose nodes have a text, and the class of each node."""
    rng = np.random.default_rng(0)
    place = Path(folder) / f"text-{nodes}"
    place.mkdir()
    classes = rng.integers(5, size=nodes)
    common, own = (
        rng.integers(3000, size=(nodes, 12)),
        3000 + 60 * classes[:, None] + rng.integers(120, size=(nodes, 3)),
    )
    lines = [
        f"{node}," + " ".join(f"word{word}" for word in row)
        for node, row in enumerate(np.hstack([common, own]).tolist())
    ]
    (place / "nodes.csv").write_text("id,description\n" + "\n".join(lines) + "\n")
    of_class = [np.flatnonzero(classes == code) for code in range(5)]
    source, ends = rng.integers(nodes, size=4 * nodes), rng.integers(nodes, size=4 * nodes)
    near = rng.random(len(ends)) < 0.6
    ends[near] = [rng.choice(of_class[classes[node]]) for node in source[near]]
    (place / "edges.csv").write_text(
        "source,target\n" + "".join(f"{a},{b}\n" for a, b in zip(source, ends, strict=True))
    )
    return place, [CLASSES[code] for code in classes]


def cpu_of(process):
    """Return the CPU seconds of a process and its children so far."""
    whole = [process, *process.children(recursive=True)]
    return sum(part.cpu_times().user + part.cpu_times().system for part in whole)


def accuracy(graph, labels, classes):
    model = GraphRidge().fit(graph, list(labels), list(labels.values()))
    found = model.predict(graph)
    return np.mean([one == other for one, other in zip(found, classes, strict=True)])


def with_text(folder, nodes, pause, budget=60):
    place, classes = made_of_text(folder, nodes)
    sheet, log = Path(folder) / f"{nodes}.csv", Path(folder) / f"{nodes}.labels"
    before, begun = os.times(), time.perf_counter()
    command = [sys.executable, "-m", "featprop", "select", str(place), "--budget", str(budget), "--out", str(sheet)]
    subprocess.run(command, check=True, capture_output=True)
    selecting, after = time.perf_counter() - begun, os.times()
    selecting_cpu = after.children_user + after.children_system - before.children_user - before.children_system
    begun = time.perf_counter()
    server = Server(place, log, ["ada"], "--budget", str(budget)).ready()
    client = Client(server.addresses["ada"])
    asked = client.ask("GET", "/api/next")
    first, first_cpu = time.perf_counter() - begun, cpu_of(psutil.Process(server.process.pid))
    print(
        f"{nodes:,} nodes with text: first question after {first:.1f} s ({first_cpu:.1f} s of CPU), "
        f"`featprop select` {selecting:.1f} s ({selecting_cpu:.1f} s): "
        f"ratio {first / selecting:.2f} ({first_cpu / selecting_cpu:.2f} of CPU)",
        flush=True,
    )
    reasons = Counter()
    while asked["node"] is not None:
        reasons[asked["why"]] += 1
        body = {"node": asked["node"], "label": classes[asked["node"]], "key": uuid.uuid4().hex}
        asked = client.ask("POST", "/api/labels", body)["next"]
        time.sleep(pause)
    server.end()
    graph = read_graph(place)
    picked = [int(line.split(",")[0]) for line in sheet.read_text().splitlines()[1:]]
    with LabelLog(log) as kept:
        by_page = accuracy(graph, kept.labels(), classes)
    by_sheet = accuracy(graph, {node: classes[node] for node in picked}, classes)
    n_random = sum(count for why, count in reasons.items() if why not in CHOSEN)
    print(f"{nodes:,} nodes with text: questions {dict(reasons)}; random nodes {n_random}", flush=True)
    print(f"accuracy after {budget} labels: {by_page:.1%} through the page, {by_sheet:.1%} from the sheet", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nodes", type=int, nargs="*", default=[2708, 100_000])
    parser.add_argument("--text", type=int, nargs="*", default=[22_470])
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--answers", type=int, default=5000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for nodes in given.text:
            with_text(folder, nodes, given.pause)
        graphs = {nodes: made(folder, nodes) for nodes in given.nodes}
        for nodes, graph in graphs.items():
            print_times(
                f"one person, {nodes:,} nodes", *under_load(graph, ["ada"], min(20, given.seconds), with_page=True)
            )
        if not graphs:
            return
        largest = graphs[max(graphs)]
        print_times(
            f"one person, {max(graphs):,} nodes, {given.answers:,} answers in the log",
            *under_load(largest, ["ada"], min(20, given.seconds), with_page=True, answers=given.answers),
        )
        people = [f"p{place}" for place in range(given.clients)]
        print_times(f"{given.clients} people, {max(graphs):,} nodes", *under_load(largest, people, given.seconds))


if __name__ == "__main__":
    main()
