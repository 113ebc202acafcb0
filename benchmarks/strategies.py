"""Time and memory of every strategy on Cora, PubMed and Coauthor CS, and the paper's running times.

    python benchmarks/strategies.py [--budget 40] [--sets cora pubmed coauthor-cs] [--strategies featprop age ...]

Each selection runs in a separate process, which prints its peak memory (Linux only). The time includes training the
model of a strategy that needs one on 20 labels, but not reading the graph. The paper's seconds are for 5 runs over its
five budgets on its machine, so only ratios to its FeatProp are comparable.
"""

import argparse
import json
import subprocess
import sys

from featprop.experiments.paper import printed_seconds
from featprop.strategies import available_strategies

CHOOSE = """
import json, re, sys, time, logging
from pathlib import Path
import numpy as np
import featprop as fp
from featprop.datasets import load
from featprop.strategies import get_strategy
logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
name, data, budget = sys.argv[1], sys.argv[2], int(sys.argv[3])
strategy = get_strategy(name)
graph = load(data)
classes = np.array(graph.class_names(), dtype=object)
known = np.random.default_rng(0).choice(graph.n_nodes, size=20 if strategy.needs else 0, replace=False)
labelled, labels = graph.ids[known].tolist(), classes[known].tolist()
small = fp.datasets.digits()
few = dict(labelled=[0, 1, 2], labels=["a", "b", "a"]) if strategy.needs else {}
options = {"time_limit": 1.0} if name == "coreset-mip" else {}
fp.select(small, 5, strategy=get_strategy(name, **options), **few)
start = time.perf_counter()
picks = fp.select(graph, budget, strategy=strategy, labelled=labelled, labels=labels)
seconds = time.perf_counter() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(json.dumps({"seconds": seconds, "peak": peak / 1024, "mean": picks.mean_distance, "max": picks.max_distance}))
"""


def measured(name: str, data: str, budget: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", CHOOSE, name, data, str(budget)], capture_output=True, text=True, check=False
    )
    notes = [line for line in done.stderr.splitlines() if line.startswith("K-Center")]
    if notes:
        print(f"{'':>17} {notes[-1]}")
    if done.returncode:
        raise SystemExit(f"{name} on {data} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--budget", type=int, default=40)
    parser.add_argument("--sets", nargs="+", default=["cora", "pubmed", "coauthor-cs"])
    parser.add_argument("--strategies", nargs="+", default=available_strategies())
    arguments = parser.parse_args()
    names = ["featprop", *(name for name in arguments.strategies if name != "featprop")]
    for data in arguments.sets:
        print(f"\n{data}, {arguments.budget} nodes")
        print(f"{'strategy':>17} {'seconds':>9} {'peak MB':>9} {'to featprop':>12} {'in the paper':>13}")
        base = 0.0
        for name in names:
            found = measured(name, data, arguments.budget)
            base = found["seconds"] if name == "featprop" else base
            paper, ours = printed_seconds(name, data), printed_seconds("featprop", data)
            ratio = f"{paper / ours:.2f}" if paper and ours else ""
            if name == "coreset-mip" and data == "pubmed":
                ratio = "out of time"
            print(
                f"{name:>17} {found['seconds']:9.2f} {found['peak']:9,.0f} {found['seconds'] / base:12.2f} {ratio:>13}",
                flush=True,
            )


if __name__ == "__main__":
    main()
