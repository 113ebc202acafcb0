"""Millions of nodes: time and peak memory of selection and prediction, growth of time, and two Dask workers.

    python benchmarks/scale.py [--only 1m 10m growth dask] [--graphs FOLDER]

Makes missing synthetic graphs (degree-corrected stochastic block models, Gaussian features) in FOLDER, 4 GB in all.
Every run is a separate process with the command a user would type; its peak is the largest resident memory, including
mapped pages of files.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import featprop as fp

GRAPHS = {
    "1m-64": {"nodes": 1_000_000, "edges": 10_000_000, "features": 64},
    "1m": {"nodes": 1_000_000, "edges": 10_000_000, "features": 32},
    "2m": {"nodes": 2_000_000, "edges": 20_000_000, "features": 32},
    "10m": {"nodes": 10_000_000, "edges": 100_000_000, "features": 32},
}
PREDICT = """
import sys
import featprop as fp
from featprop.active import write_predictions
from featprop.compute import compute_on
folder, picks, out, bound = sys.argv[1:]
graph = fp.read_graph(folder)
nodes = [int(line.split(",")[1]) for line in open(picks).read().splitlines()[1:]]
labels = [graph.classes[graph.labels[node]] for node in nodes]
with compute_on(max_memory=bound):
    model = fp.GraphRidge().fit(graph, nodes, labels)
    write_predictions(out, model, graph, force=True)
"""


def measured(command: list[str]) -> tuple[float, float]:
    """Return the seconds a command takes and its peak memory in GB."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode()[-2000:]}")
    return time.perf_counter() - started, usage.ru_maxrss * 1024 / 1e9


def graph(folder: Path, name: str) -> Path:
    if not (folder / name).exists():
        print(f"making {folder / name}", flush=True)
        fp.datasets.make(folder / name, **GRAPHS[name])
    return folder / name


def select(place: Path, out: Path, *options: str) -> tuple[float, float]:
    command = ["select", str(place), "--budget", "1000", "--out", str(out), "--force", *options]
    return measured([sys.executable, "-m", "featprop", *command])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", choices=["1m", "10m", "growth", "dask"], default=["1m", "10m", "growth", "dask"]
    )
    parser.add_argument("--graphs", type=Path, default=Path(tempfile.gettempdir()) / "featprop-scale")
    given = parser.parse_args()
    given.graphs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        out = Path(made)
        select(graph(given.graphs, "1m"), out / "warm.csv", "--no-description")
        large: float | None = None
        if "1m" in given.only:
            spent, peak = select(graph(given.graphs, "1m-64"), out / "1m.csv", "--max-memory", "1.1GB")
            print(f"1M nodes, 10M edges, 64 columns, 1,000 picks: {spent:.0f} s, {peak:.2f} GB", flush=True)
        if "10m" in given.only:
            large, peak = select(graph(given.graphs, "10m"), out / "10m.csv", "--max-memory", "4GB")
            print(f"10M nodes, 100M edges, 32 columns, 1,000 picks: {large:.0f} s, {peak:.2f} GB", flush=True)
            table = str(out / "10m.parquet")
            spent, peak = measured(
                [sys.executable, "-c", PREDICT, str(given.graphs / "10m"), str(out / "10m.csv"), table, "4GB"]
            )
            print(f"  ridge fitted on them, all predicted to Parquet: {spent:.0f} s, {peak:.2f} GB", flush=True)
        if "growth" in given.only:
            small, _ = select(graph(given.graphs, "1m"), out / "small.csv", "--max-memory", "4GB")
            if large is None:
                large, _ = select(graph(given.graphs, "10m"), out / "10m.csv", "--max-memory", "4GB")
            print(
                f"1M to 10M nodes, 32 columns: {small:.0f} s to {large:.0f} s, exponent {math.log10(large / small):.2f}"
            )
        if "dask" in given.only:
            plain, _ = select(graph(given.graphs, "2m"), out / "plain.csv")
            there, _ = select(given.graphs / "2m", out / "dask.csv", "--workers", "2")
            same = (out / "plain.csv").read_bytes() == (out / "dask.csv").read_bytes()
            verdict = "equal picks" if same else "OTHER PICKS"
            print(f"2M nodes, two Dask workers: {there:.0f} s = {there / plain:.2f} x {plain:.0f} s, {verdict}")


if __name__ == "__main__":
    main()
