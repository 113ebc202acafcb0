"""The FeatProp cells of Cora, 5 budgets × 5 seeds, selected, trained and scored in one process and one thread.

A round is one seed over the five budgets; the authors' published program took 39 s for one on two cores of the machine
this was written on. The second part trains the five seeds of a budget one after another and together.
"""

from __future__ import annotations

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = "1"

import time  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402

from featprop.datasets import load  # noqa: E402
from featprop.experiments.protocol import Bench  # noqa: E402
from featprop.experiments.tasks import Task  # noqa: E402
from featprop.experiments.training import warm_up  # noqa: E402
from featprop.models import GCN, SGC, NodeClassifier  # noqa: E402
from featprop.models.prepared import PreparedGraph  # noqa: E402
from featprop.models.together import fit_together  # noqa: E402

AUTHORS_ROUND = 39.0
BUDGETS, SEEDS = (10, 20, 40, 80, 160), (0, 1, 2, 3, 4)


def rounds(bench: Bench) -> None:
    task = Task("cora", "featprop", ("gcn",), BUDGETS, SEEDS)
    for repeat in range(3):
        started = time.perf_counter()
        lines = [line for lines in bench.walk(task) for line in lines if line.protocol == "paper"]
        each = (time.perf_counter() - started) / len(SEEDS)
        macro = 100 * np.mean([line.macro_f1 for line in lines])
        training = sum(line.seconds_train for line in lines)
        print(
            f"run {repeat + 1}: {each:.2f} s a round ({training:.1f} s training in all), "
            f"{AUTHORS_ROUND / each:.0f} × the authors' {AUTHORS_ROUND:.0f} s (target: 15); Macro-F1 {macro:.2f}"
        )


def together(bench: Bench, kind: type[NodeClassifier]) -> None:
    graph, names = bench.graph, bench.graph.class_names()
    ratios = []
    for budget in BUDGETS:
        pools = [np.random.default_rng(seed).choice(graph.n_nodes, budget, replace=False) for seed in SEEDS]
        started = time.perf_counter()
        for seed, pool in zip(SEEDS, pools, strict=True):
            kind(seed=seed).fit(graph, graph.ids[pool], [names[node] for node in pool])
        apart = time.perf_counter() - started
        started = time.perf_counter()
        fit_together([kind(seed=seed) for seed in SEEDS], PreparedGraph(graph), pools)
        ratios.append(apart / (time.perf_counter() - started))
    by_budget = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    print(f"{kind.name}: five seeds together {np.median(ratios):.1f} × as fast as one by one (by budget: {by_budget})")


def main() -> None:
    torch.set_num_threads(1)
    warm_up()
    bench = Bench(load("cora"))
    rounds(bench)
    for kind in (GCN, SGC):
        together(bench, kind)


if __name__ == "__main__":
    main()
