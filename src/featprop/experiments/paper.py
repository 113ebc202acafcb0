"""The numbers that the paper prints, to compare with those measured here.

Wu, Xu, Singh, Yang, Dubrawski, "Active Learning for Graph Neural Networks via Node Feature Propagation" (2019):
table 2 (Macro-F1), table 3 in the appendix (Micro-F1), and the right half of table 1 (running time). A cell is the
mean over the budgets 10, 20, 40, 80 and 160 of a GCN, with its standard deviation, in percent.
"""

from __future__ import annotations

from collections.abc import Collection
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

_MACRO = {
    "random": [(59.83, 5.77), (48.79, 4.03), (71.66, 4.50), (10.75, 0.92)],
    "degree": [(63.30, 0.55), (35.50, 0.82), (60.54, 0.38), (10.85, 0.30)],
    "uncertainty": [(48.14, 8.18), (39.14, 4.52), (64.80, 8.21), (6.76, 0.72)],
    "coreset-greedy": [(59.99, 4.59), (48.21, 3.78), (68.41, 4.50), (10.83, 1.28)],
    "coreset-mip": [(55.86, 6.89), (46.76, 3.99)],
    "age": [(65.01, 2.43), (49.65, 5.19), (67.96, 2.73), (13.52, 0.81)],
    "anrmab": [(63.71, 4.34), (47.29, 3.33), (71.06, 4.82), (11.40, 0.98)],
    "featprop": [(74.89, 2.63), (51.03, 2.80), (73.20, 1.81), (14.86, 0.70)],
}
_MICRO = {
    "random": [(65.19, 4.39), (57.04, 3.39), (73.11, 2.61), (21.78, 1.97)],
    "degree": [(68.61, 0.50), (46.13, 0.77), (68.44, 0.32), (25.12, 0.53)],
    "uncertainty": [(58.88, 6.07), (46.08, 4.44), (68.49, 5.55), (14.66, 1.80)],
    "coreset-greedy": [(66.94, 2.87), (55.00, 3.09), (70.74, 3.15), (24.61, 2.35)],
    "coreset-mip": [(63.98, 5.40), (55.68, 3.43)],
    "age": [(70.07, 1.36), (57.27, 4.68), (73.80, 1.91), (28.35, 1.16)],
    "anrmab": [(68.62, 3.66), (54.90, 3.61), (73.98, 3.37), (23.14, 1.79)],
    "featprop": [(77.68, 1.81), (59.36, 1.98), (74.64, 1.49), (28.86, 1.22)],
}
SECONDS = {
    ("featprop", "cora"): 239,
    ("featprop", "citeseer"): 622,
    ("featprop", "pubmed"): 1506,
    ("featprop", "corafull"): 13059,
    ("coreset-mip", "cora"): 12260,
    ("coreset-mip", "citeseer"): 13257,
    ("coreset-greedy", "cora"): 44,
    ("coreset-greedy", "citeseer"): 46,
    ("coreset-greedy", "pubmed"): 509,
    ("coreset-greedy", "corafull"): 636,
}
"""Running time of 5 runs in seconds, by strategy and data set."""


def printed_score(metric: str, model: str, protocol: str, strategy: str, dataset: str) -> Printed | None:
    """Return the number that the paper prints for a table cell, or None."""
    table = {"macro_f1": _MACRO, "micro_f1": _MICRO}.get(metric, {})
    columns = table.get(strategy, [])
    place = list(DATASETS).index(dataset) if dataset in DATASETS else len(columns)
    if (model, protocol) != ("gcn", "paper") or place >= len(columns):
        return None
    return Printed(*columns[place])


def strategy_title(strategy: str) -> str:
    """Return the name of a strategy in tables: the paper's, or our own."""
    start, _, variant = strategy.partition("featprop-")
    return (STRATEGIES | OURS).get(strategy) or (f"FeatProp ({variant})" if variant and not start else strategy)


def model_title(model: str) -> str:
    """Return the name of a model in titles, with its article if it has one."""
    return MODELS.get(model, model)


def dataset_title(dataset: str, among: Collection[str] = ()) -> str:
    """Return the name of a data set in tables; a stand-in says for which, unless that is `among` them."""
    if dataset in STAND_INS and STAND_INS[dataset] not in among:
        return f"{dataset} (in place of {DATASETS[STAND_INS[dataset]]})"
    return DATASETS.get(dataset, dataset)
