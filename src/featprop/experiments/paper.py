"""The numbers that the paper prints, to compare with those measured here, and its names of strategies and data sets.

Wu, Xu, Singh, Yang, Dubrawski, "Active Learning for Graph Neural Networks via Node Feature Propagation" (2019).
``paper.csv`` has its table 2 (Macro-F1), table 3 in the appendix (Micro-F1), and the right half of table 1 (running
time of 5 runs in seconds). A score is the mean over the budgets of a GCN, with its standard deviation, in percent.
"""

from __future__ import annotations

import csv
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Printed(NamedTuple):
    """A number of the paper with its standard deviation, in percent."""

    mean: float
    deviation: float


DATASETS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "PubMed", "corafull": "CoraFull"}
"""The data sets of the paper, by our names, in its order."""

BUDGETS = (10, 20, 40, 80, 160)
"""The budgets of its means."""

MODELS = {"gcn": "a GCN", "sgc": "an SGC"}
"""The models of the paper, as titles name them."""

STAND_INS = {"coauthor-cs": "corafull"}
"""Data set used instead of one of the paper's that is not available: as large and as wide."""

STRATEGIES = {
    "random": "Random",
    "degree": "Degree",
    "uncertainty": "Uncertainty",
    "coreset-greedy": "Coreset-greedy",
    "coreset-mip": "CoresetMIP",
    "age": "AGE",
    "anrmab": "ANRMAB",
    "featprop": "FeatProp",
    "featprop-kcenter": "FeatProp (K-Center)",
    "featprop-hidden": "FeatProp (final layer)",
}
"""The strategies of the paper, by our names, in its order; the last two are its ablation."""

OURS = {"featprop-diffused": "featprop-diffused (ours)"}
"""Titles of strategies of this project."""


@cache
def _rows() -> dict[tuple[str, str], dict[str, str]]:
    """Return the printed numbers by strategy and data set."""
    text = files(__package__).joinpath("paper.csv").read_text("utf-8")
    return {(row["strategy"], row["dataset"]): row for row in csv.DictReader(text.splitlines())}


def printed_score(metric: str, model: str, protocol: str, strategy: str, dataset: str) -> Printed | None:
    """Return the number that the paper prints for a table cell, or None."""
    row = _rows().get((strategy, dataset), {})
    if (model, protocol) != ("gcn", "paper") or not row.get(metric):
        return None
    return Printed(float(row[metric]), float(row[f"{metric}_deviation"]))


def printed_seconds(strategy: str, dataset: str) -> int | None:
    """Return the running time of 5 runs that the paper prints, in seconds, or None."""
    seconds = _rows().get((strategy, dataset), {}).get("seconds")
    return int(seconds) if seconds else None


def strategy_title(strategy: str) -> str:
    """Return the name of a strategy in tables: the paper's, or our own."""
    start, _, variant = strategy.partition("featprop-")
    return (STRATEGIES | OURS).get(strategy) or (f"FeatProp ({variant})" if variant and not start else strategy)


def dataset_title(dataset: str, among: Collection[str] = ()) -> str:
    """Return the name of a data set in tables; a stand-in says for which, unless that is `among` them."""
    if dataset in STAND_INS and STAND_INS[dataset] not in among:
        return f"{dataset} (in place of {DATASETS[STAND_INS[dataset]]})"
    return DATASETS.get(dataset, dataset)
