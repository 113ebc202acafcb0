"""Time the FeatProp cells of Cora, 5 budgets × 5 seeds, selected, trained and scored in one process.

    python benchmarks/protocol.py [--authors FOLDER]

A round is one seed over the five budgets, without reading the graph. With `--authors`, the published program of the
paper's authors is timed as well: FOLDER is a copy of github.com/CrickWu/active_graph whose data/Cora/Cora/raw/ has the
eight ind.cora.* files. It runs unchanged except for a patch in memory of what fails without a GPU. Both may use all
cores. The last part trains the five seeds of a budget one after another and together, in one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # as in the processes of `featprop experiments run`

import numpy as np
import torch

from featprop.datasets import load
from featprop.experiments.protocol import Protocol
from featprop.experiments.settings import Spec, Trial
from featprop.experiments.training import fit_seeds
from featprop.graph import Graph
from featprop.models import GCN, SGC, NodeClassifier

BUDGETS, SEEDS = (10, 20, 40, 80, 160), (0, 1, 2, 3, 4)
AUTHORS_ROUNDS = 2
AUTHORS = """
import runpy, sys, warnings
warnings.simplefilter("ignore")
import torch
torch.Tensor.get_device = lambda tensor: tensor.device  # -1 on a CPU, which .to() does not take
sys.path.insert(0, ".")
sys.argv[0] = "active_graph.py"
runpy.run_path("active_graph.py", run_name="__main__")
"""


def authors(folder: Path) -> float:
    """Run FeatProp of the authors' program (K-Means on S²X, then a GCN) and return its seconds per round."""
    written = set(folder.glob("GCN/Cora/kmeans/*.json"))
    method = "--method kmeans --cluster_method kmeans --kmeans_num_layer 2 --self_loop_coeff 1 --model GCN"
    run = f"--dataset Cora --lr 0.01 --epoch 200 --rand_rounds {AUTHORS_ROUNDS} --label_list 10 20 40 80 160"
    command = [sys.executable, "-c", AUTHORS, *method.split(), *run.split()]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (result,) = set(folder.glob("GCN/Cora/kmeans/*.json")) - written
    output = json.loads(result.read_text())
    each = float(output["time"]) / AUTHORS_ROUNDS
    scores = dict(zip(output["metric_names"], 100 * np.mean(output["avg"], axis=0), strict=True))
    print(f"the authors' program: {each:.1f} s per round; {', '.join(f'{k} {v:.2f}' for k, v in scores.items())}")
    return each


def fresh(graph: Graph) -> Graph:
    """Return the graph with an empty cache, so that every repetition propagates."""
    return replace(graph)


def rounds(graph: Graph, reference: float | None) -> None:
    trial = Trial("cora", graph.fingerprint, Spec("featprop"), (Spec("gcn"),), BUDGETS, SEEDS)
    for repeat in range(3):
        started = time.perf_counter()
        lines = [line for lines in Protocol(fresh(graph)).run(trial) for line in lines if line.protocol == "paper"]
        each = (time.perf_counter() - started) / len(SEEDS)
        macro = 100 * np.mean([line.macro_f1 for line in lines])
        training = sum(line.seconds_train for line in lines)
        ratio = f", {reference / each:.1f} × as fast as the authors' program" if reference else ""
        print(
            f"run {repeat + 1}: {each:.2f} s per round ({training:.1f} s training in all){ratio}; Macro-F1 {macro:.2f}"
        )


def side_by_side(graph: Graph, kind: type[NodeClassifier]) -> None:
    names = graph.class_names()
    ratios = []
    for budget in BUDGETS:
        pools = [np.random.default_rng(seed).choice(graph.n_nodes, budget, replace=False) for seed in SEEDS]
        started = time.perf_counter()
        for seed, pool in zip(SEEDS, pools, strict=True):
            kind(seed=seed).fit(graph, graph.ids[pool], [names[node] for node in pool])
        apart = time.perf_counter() - started
        started = time.perf_counter()
        fit_seeds([kind(seed=seed) for seed in SEEDS], graph, pools)
        ratios.append(apart / (time.perf_counter() - started))
    by_budget = ", ".join(f"{ratio:.1f}" for ratio in ratios)
    print(
        f"{kind.name}: five seeds side by side {np.median(ratios):.1f} × as fast as one by one (by budget: {by_budget})"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--authors", type=Path)
    folder = parser.parse_args().authors
    reference = authors(folder) if folder else None
    GCN(epochs=1).fit(load("digits"), [0, 1], [0, 1])  # PyTorch imports much at the first step
    graph = load("cora")
    rounds(graph, reference)
    torch.set_num_threads(1)
    for kind in (GCN, SGC):
        side_by_side(graph, kind)


if __name__ == "__main__":
    main()
