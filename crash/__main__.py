"""Kill featprop at random moments while it writes, and look for what is lost, doubled or left behind.

    python -m crash [--kills 100] [--only convert …] [--seed 0]

Each task is killed (SIGKILL) before a random change to the disk, or after a random time. Afterwards a reader must find
everything as before or as after the task; the task runs again, and must leave what an undisturbed run leaves. Label
servers are killed while four people label. Exit code 1 means that there are faults.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import pyarrow as pa

from crash.harness import kill_task
from crash.label_servers import kill_servers
from crash.tasks import TASKS, make_inputs

MAX_SHOWN = 5


def main() -> int:
    """Run the campaign; return 1 if there are faults."""
    campaigns = {task.name: partial(kill_task, task) for task in TASKS} | {"label servers": kill_servers}
    parser = argparse.ArgumentParser(prog="python -m crash", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100, help="number of kills of each task (100)")
    parser.add_argument("--only", action="append", choices=campaigns, help="only this task; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="seed of the moments (0)")
    asked = parser.parse_args()
    pa.set_cpu_count(1)
    found = []
    print(f"Seed {asked.seed}\n| task | kills | faults | seconds |\n| --- | ---: | ---: | ---: |", flush=True)
    with tempfile.TemporaryDirectory(prefix="featprop-crash-") as name:
        folder, chosen = Path(name), asked.only or list(campaigns)
        make_inputs(folder / "inputs")
        for task in chosen:
            began = time.monotonic()
            faults = campaigns[task](folder / "inputs", folder / task, asked.kills, asked.seed)
            print(f"| {task} | {asked.kills} | {len(faults)} | {time.monotonic() - began:.0f} |", flush=True)
            for fault in faults[:MAX_SHOWN]:
                print(f"    {' '.join(fault.split())}", file=sys.stderr, flush=True)
            found += faults
    print(f"{len(chosen)} tasks, {asked.kills * len(chosen):,} kills, {len(found)} faults")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
