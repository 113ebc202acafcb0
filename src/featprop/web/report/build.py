"""Build a report and write it."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from featprop.errors import LabelError, MissingExtraError, first_five
from featprop.files import check_output, writing_output
from featprop.graph import Graph, GraphLike, as_graph
from featprop.html import card
from featprop.ids import is_series, labels_of_series
from featprop.models import NodeClassifier, seeded_model
from featprop.models.base import clone
from featprop.web.report.analysis import Analysis, Findings
from featprop.web.report.commands import Files

SUFFIXES = (".html", ".htm")


@dataclass(frozen=True)
class Report:
    """A written report.

    Attributes
    ----------
    path
        HTML file.
    headline
        The accuracy, or why there is none.
    warning
        Warning if always predicting the most common class may be as accurate.
    findings
        Evaluation of the predictions.
    """

    path: Path
    headline: str
    warning: str | None
    findings: Findings

    def __str__(self) -> str:
        return " ".join(f"{each}." for each in (self.headline, self.warning, f"Report: {self.path}") if each)

    def _repr_html_(self) -> str:
        return card("Report", [("accuracy", self.headline), ("file", self.path)])


def report(
    graph: GraphLike,
    labels: Mapping[Any, Any],
    *,
    audit: Mapping[Any, Any] | None = None,
    weights: Mapping[Hashable, float] | None = None,
    out: str | os.PathLike[str] = "report.html",
    model: str | NodeClassifier | None = None,
    title: str | None = None,
    files: Files | None = None,
    random_state: int = 0,
    force: bool = False,
) -> Report:
    """Write a self-contained HTML report on a graph and its labels.

    It has the estimated accuracy with its interval, advice, an interactive map, a learning curve, lists of what to
    review, the labels and what they represent, and the next commands.

    Parameters
    ----------
    graph
        A `Graph`, a PyG `Data`, a NetworkX graph or a path. Its own labels are ignored.
    labels
        Class of each labelled node by id, in the order of labelling; a mapping or a pandas series.
    audit
        Class of each audit node (`draw_audit`) by id; nothing learns from them.
    weights
        Sampling weights of the audit nodes; equal by default.
    out
        HTML file to write.
    model
        Model to train or its name; `featprop.models.DEFAULT_MODEL` by default.
    title
        Name of the graph on the page.
    files
        Files of the command line, for the next commands on the page.
    random_state
        Seed of the sample of nodes on the map.
    force
        Whether to overwrite an existing file.
    """
    if find_spec("jinja2") is None:
        raise MissingExtraError("The report", "report", "jinja2")
    from featprop.web.report.page import render_page

    place = Path(out)
    check_output(place, force=force, suffixes=SUFFIXES)
    whole = as_graph(graph)
    labelled, audited = (
        labels_of_series(each, whole.n_nodes, ()) if is_series(each) else dict(each)
        for each in (labels, {} if audit is None else audit)
    )
    _check(whole, labelled, audited)
    chosen = seeded_model(random_state, model) if model is None or isinstance(model, str) else model
    fitted = clone(chosen).fit(whole, list(labelled), list(labelled.values()), cold_start=True)
    analysis = Analysis(whole, fitted, labelled, audited, weights)
    name = Path(graph).name if isinstance(graph, str | os.PathLike) else "your graph"
    page = render_page(analysis, files, title or name, random_state)
    with writing_output(place, force=force, suffixes=SUFFIXES) as temporary:
        temporary.write_text(page, encoding="utf-8", newline="\n")
    return Report(place, analysis.headline, analysis.warning, analysis.findings)


def _check(graph: Graph, labels: Mapping[Hashable, Hashable], audit: Mapping[Hashable, Hashable]) -> None:
    if not labels:
        raise LabelError("There are no labels.", hint="Label a few nodes first.", parameter="labels")
    graph.positions(audit, "audit nodes")
    both = [node for node in audit if node in labels]
    if both:
        raise LabelError(
            f"Nodes are in both `labels` and `audit`: {first_five(list(map(repr, both)))}.",
            hint="Leave them out of one of the two.",
            parameter="audit",
            node=both[0],
        )
