"""A graph of payments, labels, and made-up findings."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featprop.evaluate import (
    Advice,
    AuditScore,
    ClassScore,
    Diagnostics,
    Estimate,
    Finding,
    Flag,
    Forecast,
    Interval,
    LearningCurve,
    NovelClass,
    Stability,
    StabilityStep,
    wilson_interval,
)
from featprop.graph import Graph
from featprop.models import GraphRidge
from featprop.web.report import build
from featprop.web.report.context import ReportContext
from featprop.web.report.findings import Findings

CLASSES = ("ok", "fraud </script><script>document.title='stolen'</script>")
EVIL = (
    "</script><script>document.title='stolen'</script>",
    "<!-- <script>",
    "a\u2028b\u2029c",
    "<img src=x onerror=alert(1)>",
)


def payments(count: int = 60, isolated: int = 2) -> Graph:
    """Accounts of two kinds that pay each other; names of some are markup."""
    chance = random.Random(1)
    nodes = {
        "id": [f"n{place}" for place in range(count)],
        "name": [EVIL[place] if place < len(EVIL) else f"Account {place}" for place in range(count)],
        "about": [f"{'Pays rent' if place % 2 else 'Pays at night'} since {place}" for place in range(count)],
        "amount": [round(100 * (place % 2) + chance.gauss(0, 10), 2) for place in range(count)],
        "since": [f"20{10 + place % 10}-03-0{1 + place % 9}" for place in range(count)],
        "site": [f"https://example.org/{place}" for place in range(count)],
    }
    joined = count - isolated
    ends = [(place, (place + step) % joined) for place in range(joined) for step in (2, 4)]
    edges = {"source": [f"n{one}" for one, _ in ends], "target": [f"n{other}" for _, other in ends]}
    return Graph.from_tables(pa.table(nodes), pa.table(edges))


def findings_for(context: ReportContext, weights: Any = None) -> Findings:
    ids = context.graph.ids.tolist()

    def flag(position: int, reason: str, suggestion: str | None = None) -> Flag:
        return Flag(ids[position], position, 0.9, reason, suggestion)

    wrong, right = context.positions[:2].tolist()
    group = np.array([41, 40, 42, 43])
    diagnostics = Diagnostics(
        tuple(flag(position, f"a tie, says {EVIL[0]}") for position in range(20, 30)),
        far_from_labels=(flag(58, "far away"),),
        novel_classes=(NovelClass(tuple(ids[place] for place in group), group, 0.5, "alike and far"),),
        wrong_labels=(flag(wrong, "looks wrong", "ok"), flag(right, "looks right")),
    )
    estimate = Estimate(wilson_interval(0.8, 40), wilson_interval(0.7, 40), 8, 0.75)
    before = Estimate(wilson_interval(0.6, 20), wilson_interval(0.5, 20), 4, 0.5)
    half = StabilityStep(4, 8, 0.25, 0.7)
    coming = Forecast(16, Interval(0.05, 0.0, 0.1))
    curve = LearningCurve((before, estimate), Stability((half,), half), coming)
    advice = Advice(False, {Finding.STABILITY: "The last labels changed a lot."}, curve)
    audit = None
    if context.audit:
        size = len(context.audit)
        classes = (ClassScore(context.classes[0], size, wilson_interval(0.9, 10), wilson_interval(0.75, 10)),)
        audit = AuditScore(wilson_interval(0.9, size), wilson_interval(0.8, size), classes, size, 3 * size)
    return Findings(audit, advice, diagnostics)


@pytest.fixture
def graph() -> Graph:
    return payments()


@pytest.fixture
def labels() -> dict[str, str]:
    return {f"n{place}": CLASSES[place % 2] for place in (0, 1, 7, 12, 23, 34, 45, 50)}


@pytest.fixture
def context(graph: Graph, labels: dict[str, str]) -> ReportContext:
    return ReportContext(
        graph, GraphRidge().fit(graph, list(labels), list(labels.values())), labels, {"n3": "ok", "n4": "other"}
    )


@pytest.fixture
def findings(context: ReportContext) -> Findings:
    return findings_for(context)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Findings]:
    """Replace the evaluation by made-up findings."""
    monkeypatch.setattr(build, "evaluate", findings_for)
    return findings_for


@pytest.fixture
def written(stand_in: Any, graph: Graph, labels: dict[str, str], tmp_path: Path) -> Path:
    """A written report."""
    from featprop.web.report.commands import Files

    files = Files("my graph/", ("picks.csv",), ("audit.csv",), "report.html")
    out = tmp_path / "report.html"
    build.report(graph, labels, audit={"n3": "ok", "n5": "ok"}, out=out, files=files, title=EVIL[0])
    return out
