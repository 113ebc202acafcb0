"""Measure whether the K-Medoids search moves the scores of FeatProp with a GCN on PubMed.

Each search selects the same number of nodes with the same 20 seeds, and the same GCN learns from them:

projected
    `featprop select`: candidates ranked in a projection, swaps on exact losses.
unprojected
    The same, with candidates ranked on the rows themselves, as version 0.1 did. From 28 medoids on, it is the same.
settled
    The medoids of `projected`, swapped on all exact distances until no swap lowers the loss.
fasterpam
    FasterPAM of the `kmedoids` package on the exact distance matrix, from random medoids, until it converges.

Every result is one line of ``experiments/search/pubmed.jsonl``; a second run continues where the first stopped.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.stats import ttest_rel

import featprop as fp
from featprop.clustering import Points, solver
from featprop.clustering.swaps import Search
from featprop.experiments.protocol import score
from featprop.experiments.settings import Spec
from featprop.experiments.training import train_seeds
from featprop.propagation import measure_coverage, propagate

LINES = Path("experiments/search/pubmed.jsonl")
SEARCHES = {
    **dict.fromkeys((10, 20), ("projected", "unprojected", "settled", "fasterpam")),
    **dict.fromkeys((40, 80, 160), ("projected", "fasterpam")),
}
"""Searches by budget."""
SEEDS_PER_BATCH = 5
"""Seeds trained together, as in the experiments."""


class Searches:
    """The searches on one graph, which share the exact distance matrix."""

    def __init__(self, graph: fp.Graph) -> None:
        self.graph = graph
        self.points = Points(propagate(graph, 2))
        self.matrix = self.points.distance_matrix(np.arange(len(self.points)))

    def projected(self, budget: int, seed: int) -> np.ndarray:
        return fp.select(self.graph, budget, strategy="featprop", random_state=seed).positions

    def unprojected(self, budget: int, seed: int) -> np.ndarray:
        with patch.object(solver, "MIN_WIDTH_RATIO", 10**9):
            return self.projected(budget, seed)

    def settled(self, budget: int, seed: int) -> np.ndarray:
        n = len(self.points)
        medoids = self.projected(budget, seed)
        covered, weights = np.full(n, np.inf, dtype=np.float32), np.ones(n, dtype=np.float32)
        search = Search(medoids, self.matrix[medoids], covered, weights)
        while search.improve(np.arange(n), self.matrix, search.gains(self.matrix)):
            pass
        return search.medoids

    def fasterpam(self, budget: int, seed: int) -> np.ndarray:
        import kmedoids

        return np.asarray(kmedoids.fasterpam(self.matrix, budget, random_state=seed).medoids, dtype=np.intp)


def run(graph: fp.Graph, n_seeds: int) -> None:
    LINES.parent.mkdir(parents=True, exist_ok=True)
    lines = read() if LINES.exists() else pd.DataFrame(columns=["search", "budget", "seed"])
    done = set(zip(lines.search, lines.budget, lines.seed, strict=True))
    searches = Searches(graph)
    for budget, names in SEARCHES.items():
        for start in range(0, n_seeds, SEEDS_PER_BATCH):
            seeds = range(start, min(start + SEEDS_PER_BATCH, n_seeds))
            for name in names:
                if not all((name, budget, seed) in done for seed in seeds):
                    _run_batch(searches, name, budget, seeds)


def _run_batch(searches: Searches, name: str, budget: int, seeds: range) -> None:
    graph, find = searches.graph, getattr(searches, name)
    pools, seconds = {}, {}
    for seed in seeds:
        pools[seed], seconds[seed] = _timed(lambda s=seed: find(budget, s))
    trained = train_seeds(Spec("gcn"), graph, pools)
    with LINES.open("a", encoding="utf-8") as file:
        for seed, pool in pools.items():
            line = {
                "search": name,
                "budget": budget,
                "seed": seed,
                "loss": measure_coverage(searches.points, pool).mean_distance,
                **score(graph.labels, trained[seed].predicted, trained[seed].confidence, pool, "paper"),
                "seconds": round(seconds[seed], 3),
                "nodes": graph.ids[pool].tolist(),
            }
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    print(name, budget, seeds, flush=True)


def _timed(call: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    started = time.perf_counter()
    found = call()
    return found, time.perf_counter() - started


def read() -> pd.DataFrame:
    return pd.read_json(LINES, lines=True)


def summarize(lines: pd.DataFrame) -> str:
    """Return the tables of docs/k-medoids.md: scores, and losses relative to FasterPAM on the same seed, by budget."""
    lines = lines.drop_duplicates(["search", "budget", "seed"])
    scores = lines.pivot(index=["budget", "seed"], columns="search", values="macro_f1") * 100
    losses = lines.pivot(index=["budget", "seed"], columns="search", values="loss")
    text = [
        "| budget | search | seeds | Macro-F1 | difference | p | loss / FasterPAM: mean | smallest | largest |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for budget, names in SEARCHES.items():
        for name in names:
            score = scores.loc[budget][list({"projected", "fasterpam", name})].dropna()
            ratio = (losses.loc[budget][name] / losses.loc[budget].fasterpam).dropna()
            numbers = f"{ratio.mean():.5f} | {ratio.min():.5f} | {ratio.max():.5f}"
            text.append(f"| {budget} | {name} | {len(score)} | {_compare(score[name], score.projected)} | {numbers} |")
    scores["unprojected"] = scores.unprojected.fillna(scores.projected)  # the same from 28 medoids on
    both = scores[["projected", "unprojected", "fasterpam"]].dropna().unstack("budget").dropna()
    means = {name: both[name].mean(axis=1) for name in ("projected", "unprojected", "fasterpam")}
    for name, mean in means.items():
        text.append(f"| mean | {name} | {len(both)} | {_compare(mean, means['projected'])} | | | |")
    return "\n".join(text)


def _compare(values: pd.Series, base: pd.Series) -> str:
    """Return mean ± standard deviation, the mean difference from a base, and the p-value of a paired t-test."""
    spread = f"{values.mean():.2f} ± {values.std():.2f}"
    if values.equals(base):
        return f"{spread} | | "
    return f"{spread} | {(values - base).mean():+.2f} | {ttest_rel(values, base).pvalue:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--run", action="store_true", help="compute the lines that are missing")
    options = parser.parse_args()
    if options.run:
        run(fp.datasets.load("pubmed"), options.seeds)
    print(summarize(read()))


if __name__ == "__main__":
    main()
