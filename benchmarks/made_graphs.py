"""Make the synthetic graphs on which the default is measured.

    python benchmarks/made_graphs.py --out FOLDER

Makes the missing graphs and prints, for each, its statistics and the accuracy and Macro-F1 of logistic regression on
its features alone (160 random labels, balanced classes, mean of five draws). The signal is chosen so that both features
and edges contribute; Macro-F1 shows the effect of a rare class.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from featprop.datasets import make, statistics
from featprop.graph import Graph
from featprop.sources import read_graph

LABELS, DRAWS = 160, 5
WORDS: dict[str, Any] = {"kind": "words", "features": 1000}
POINTS: dict[str, Any] = {"kind": "gaussian", "features": 16}
RARE: dict[str, Any] = {"classes": 2, "smallest": 0.05, "edges": 9000, "homophily": 0.9}
MANY: dict[str, Any] = {"nodes": 5000, "classes": 70, "smallest": 0.004, "edges": 15_000, "homophily": 0.7}
GRAPHS: dict[str, dict[str, Any]] = {
    "made-words": WORDS | {"classes": 5, "edges": 6000, "homophily": 0.8, "random_state": 1},
    "made-words-half": WORDS | {"classes": 5, "edges": 12_000, "homophily": 0.5, "random_state": 2},
    "made-heterophilous": WORDS | {"classes": 5, "edges": 9000, "homophily": 0.05, "signal": 2, "random_state": 3},
    "made-heterophilous-dense": POINTS
    | {"classes": 2, "edges": 15_000, "homophily": 0.1, "signal": 0.6, "random_state": 4},
    "made-gaussian": POINTS | {"classes": 5, "edges": 15_000, "homophily": 0.8, "random_state": 5},
    "made-rare": WORDS | RARE | {"features": 300, "signal": 2, "random_state": 6},
    "made-rare-dense": POINTS | RARE | {"random_state": 7},
    "made-70-classes": WORDS | MANY | {"features": 1500, "signal": 4, "random_state": 8},
    "made-no-edges": WORDS | {"classes": 5, "edges": 0, "random_state": 9},
    "made-isolated": WORDS | {"classes": 5, "edges": 6000, "homophily": 0.8, "isolated": 0.5, "random_state": 10},
    "made-unequal": WORDS | {"classes": 6, "smallest": 0.03, "edges": 4500, "homophily": 0.7, "random_state": 11},
    "made-dense-edges": WORDS | {"classes": 4, "edges": 60_000, "homophily": 0.4, "random_state": 12},
}
"""Parameters of each graph; 3,000 nodes by default."""


def without_edges(graph: Graph) -> tuple[float, float]:
    """Return accuracy and macro-F1 of logistic regression on the features alone."""
    scores = []
    for seed in range(DRAWS):
        order = np.random.default_rng(seed).permutation(graph.n_nodes)
        known, rest = order[:LABELS], order[LABELS:]
        model = LogisticRegression(max_iter=1000, class_weight="balanced").fit(
            graph.features[known], graph.labels[known]
        )
        guesses = model.predict(graph.features[rest])
        right = (guesses == graph.labels[rest]).mean()
        scores.append((right, f1_score(graph.labels[rest], guesses, average="macro", zero_division=0)))
    accuracy, macro = np.mean(scores, axis=0)
    return accuracy, macro


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, order in GRAPHS.items():
        place = out / name
        graph = read_graph(place) if place.exists() else make(place, **{"nodes": 3000} | order)
        counted, (accuracy, macro) = statistics(graph), without_edges(graph)
        most = np.bincount(graph.labels).max() / graph.n_nodes
        print(
            f"{name}: {counted.nodes:,} nodes, {counted.edges:,} edges, {counted.isolated:,} isolated, homophily "
            f"{counted.homophily:.2f}, {counted.classes} classes, the largest {most:.2f}; "
            f"accuracy {accuracy:.3f}, macro-F1 {macro:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
