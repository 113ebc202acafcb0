"""Accounts of two kinds that pay only their own kind, labels of which one is wrong, and a report on them."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from featprop.graph import Graph
from featprop.models import GraphRidge
from featprop.web.report import report
from featprop.web.report.analysis import Analysis
from featprop.web.report.commands import Files

EVIL = (
    "</script><script>document.title='stolen'</script>\u202e",
    "<!-- <script>",
    "a\u2028b\u2029c",
    "<img src=x onerror=alert(1)>",
)
CLASSES = ("ok", f"fraud {EVIL[0]}")
WRONG = "n24"
"""The account with the wrong label."""
FILES = Files("my graph/", ("picks.csv", "audit.csv"))


@pytest.fixture(scope="session")
def graph() -> Graph:
    """Sixty accounts, even and odd ones apart, the last two without payments; names of some are markup."""
    chance = random.Random(1)
    nodes = {
        "id": [f"n{place}" for place in range(60)],
        "name": [*EVIL, *(f"Account {place}" for place in range(len(EVIL), 60))],
        "about": [f"{'Pays rent' if place % 2 else 'Pays at night'} since {place}" for place in range(60)],
        "amount": [round(100 * (place % 2) + chance.gauss(0, 10), 2) for place in range(60)],
        "since": [f"20{10 + place % 10}-03-0{1 + place % 9}" for place in range(60)],
        "site": [f"https://example.org/{place}" for place in range(60)],
    }
    ends = [(place, (place + step) % 58) for place in range(58) for step in (2, 4)]
    edges = {"source": [f"n{one}" for one, _ in ends], "target": [f"n{other}" for _, other in ends]}
    return Graph.from_tables(pa.table(nodes), pa.table(edges))


@pytest.fixture(scope="session")
def labels() -> dict[str, str]:
    right = {f"n{place}": CLASSES[place % 2] for place in (*range(0, 20, 2), *range(7, 27, 2))}
    return {**right, WRONG: CLASSES[1]}


@pytest.fixture(scope="session")
def analyse(graph: Graph) -> Callable[..., Analysis]:
    def build(labels: dict[str, str], audit: Any = None, weights: Any = None) -> Analysis:
        model = GraphRidge().fit(graph, list(labels), list(labels.values()), cold_start=True)
        return Analysis(graph, model, labels, audit or {}, weights)

    return build


@pytest.fixture(scope="session")
def analysis(analyse: Callable[..., Analysis], labels: dict[str, str]) -> Analysis:
    audit = {f"n{place}": CLASSES[place % 2] for place in range(28, 48)}
    return analyse(labels, {**audit, "n3": "other"})


@pytest.fixture(scope="session")
def written(graph: Graph, labels: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A written report."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    audit = {"n3": CLASSES[1], "n5": CLASSES[1]}
    return report(graph, labels, audit=audit, out=out, files=FILES, title=EVIL[0]).path
