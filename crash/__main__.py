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

from crash.harness import kill_task
from crash.label_servers import kill_servers
from crash.tasks import TASKS, make_inputs
from tests.graphs import write_class_folder

SERVERS = "label servers"
MAX_SHOWN = 5


def main() -> int:
    """Run the campaign; return 1 if something is wrong."""
    tasks = {task.name: task for task in TASKS}
    parser = argparse.ArgumentParser(prog="python -m crash", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100, help="number of kills of each task (100)")
    parser.add_argument("--only", action="append", choices=[*tasks, SERVERS], help="only this task; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    asked = parser.parse_args()
    pa.set_cpu_count(1)
    wrong = 0
    print(f"Seed {asked.seed}\n| task | kills | faults | seconds |\n| --- | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="featprop-crash-") as name:
        folder = Path(name)
        make_inputs(folder / "inputs")
        for task in asked.only or [*tasks, SERVERS]:
            began = time.monotonic()
            if task == SERVERS:
                graph = write_class_folder(folder / "servers" / "graph", 4000)
                faults = kill_servers(graph, folder / "servers", asked.kills, asked.seed)
            else:
                faults = kill_task(tasks[task], folder / "inputs", folder / task, asked.kills, asked.seed)
            print(f"| {task} | {asked.kills} | {len(faults)} | {time.monotonic() - began:.0f} |", flush=True)
            for fault in faults[:MAX_SHOWN]:
                print(f"    {' '.join(fault.split())}", file=sys.stderr, flush=True)
            wrong += bool(faults)
    print(f"{wrong} tasks with something wrong." if wrong else "Nothing is wrong.")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
