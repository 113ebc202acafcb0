"""A made graph of payments with everything a table can hold, labels of it, and findings by the shapes of estimates."""

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from featprop.evaluate import (
    Advice,
    AuditScore,
    Change,
    ClassScore,
    Doubt,
    Doubts,
    Estimate,
    Forecast,
    Interval,
    LearningCurve,
    Step,
    UnseenGroup,
    wilson,
)
from featprop.graph import Graph
from featprop.models import GraphRidge
from featprop.web.report import composition
from featprop.web.report.findings import Findings
from featprop.web.report.subject import Subject

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


def findings_for(subject: Subject, weights: Any = None) -> Findings:
    ids = subject.graph.ids.tolist()

    def doubt(position: int, why: str, score: float = 0.9) -> Doubt:
        return Doubt(ids[position], position, score, why)

    wrong = int(subject.positions[0])
    doubts = Doubts(
        tuple(doubt(position, f"A draw, says {EVIL[0]}.") for position in range(20, 30)),
        far=(doubt(58, "Far away."),),
        unseen=(UnseenGroup(tuple(ids[40:44]), np.arange(40, 44), 4, ids[41], 0.5, "Alike and far."),),
        wrong_labels=(doubt(wrong, "Looks wrong."), doubt(int(subject.positions[1]), "Looks right.", 0.1)),
    )
    estimate = Estimate(wilson(0.8, 40), wilson(0.7, 40), 8, 0.75)
    before = Estimate(wilson(0.6, 20), wilson(0.5, 20), 4, 0.5)
    half = Step(4, 8, 0.25, 0.7)
    coming = Forecast(16, Interval(0.05, 0.0, 0.1))
    curve = LearningCurve((before, estimate), Change((half,), half), coming)
    advice = Advice(False, ("The last labels changed much.",), curve)
    audit = None
    if subject.audit:
        size = len(subject.audit)
        classes = (ClassScore(subject.classes[0], size, wilson(0.9, 10), wilson(0.75, 10)),)
        audit = AuditScore(wilson(0.9, size), wilson(0.8, size), classes, size, 3 * size)
    return Findings(audit, advice, doubts)


@pytest.fixture
def graph() -> Graph:
    return payments()


@pytest.fixture
def labels() -> dict[str, str]:
    return {f"n{place}": CLASSES[place % 2] for place in (0, 1, 7, 12, 23, 34, 45, 50)}


@pytest.fixture
def subject(graph: Graph, labels: dict[str, str]) -> Subject:
    return Subject(
        graph, GraphRidge().fit(graph, list(labels), list(labels.values())), labels, {"n3": "ok", "n4": "other"}
    )


@pytest.fixture
def findings(subject: Subject) -> Findings:
    return findings_for(subject)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Findings]:
    """Put made findings in the place of estimates."""
    monkeypatch.setattr(composition, "findings_of", findings_for)
    return findings_for


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser of the system; tests that need it are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def written(stand_in: Any, graph: Graph, labels: dict[str, str], tmp_path: Path) -> Path:
    """A whole report."""
    from featprop.web.report.commands import Files

    files = Files("my graph/", ("picks.csv",), ("audit.csv",), "report.html")
    out = tmp_path / "report.html"
    composition.report(graph, labels, audit={"n3": "ok", "n5": "ok"}, out=out, files=files, title=EVIL[0])
    return out
