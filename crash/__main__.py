"""Kill featprop at random moments while it writes, and look for what is lost, doubled or left behind.

    python -m crash [--kills 100] [--only convert …] [--seed 0]

Each task is killed (SIGKILL) before a random change to the disk, or after a random time. Afterwards a reader must find
everything as before or as after the task; the task runs again, and must leave what an undisturbed run leaves. Label
servers are killed while four people label. Exit code 1 means that something is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

from crash.harness import KINDS, Tally, kill_task
from crash.label_servers import kill_servers
from crash.tasks import TASKS, make_inputs, write_graph

SERVERS = "label servers"
SHOWN_NOTES = 5


def main() -> int:
    """Run the campaign; return 1 if something is wrong."""
    names = [*(task.name for task in TASKS), SERVERS]
    parser = argparse.ArgumentParser(prog="python -m crash", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100, help="number of kills of each task (100)")
    parser.add_argument("--only", action="append", choices=names, help="only this task; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    asked = parser.parse_args()
    pa.set_cpu_count(1)
    wrong = 0
    print(
        f"Seed {asked.seed}\n| task | {' | '.join(KINDS)} | seconds |\n| --- |{' ---: |' * (len(KINDS) + 1)}",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="featprop-crash-") as name:
        folder = Path(name)
        make_inputs(folder / "inputs")
        for task in TASKS:
            if task.name in (asked.only or names):
                began = time.monotonic()
                tally = kill_task(task, folder / "inputs", folder / task.name, asked.kills, asked.seed)
                wrong += _print_row(task.name, tally, time.monotonic() - began)
        if SERVERS in (asked.only or names):
            began, graph = time.monotonic(), write_graph(folder / "servers" / "graph", nodes=4000)
            tally, answers = kill_servers(graph, folder / "servers", asked.kills, asked.seed)
            wrong += _print_row(SERVERS, tally, time.monotonic() - began)
            print(f"Label servers acknowledged {answers:,} answers.")
    print(f"{wrong} tasks with something wrong." if wrong else "Nothing is wrong.")
    return int(wrong > 0)


def _print_row(name: str, tally: Tally, seconds: float) -> int:
    """Print the row of a task and what is wrong with it; return whether anything is."""
    print(f"| {name} | {' | '.join(str(tally.counts[kind]) for kind in KINDS)} | {seconds:.0f} |", flush=True)
    for note in tally.notes[:SHOWN_NOTES]:
        print(f"    {' '.join(note.split())}", file=sys.stderr, flush=True)
    return int(bool(tally.notes))


if __name__ == "__main__":
    sys.exit(main())
