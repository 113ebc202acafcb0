"""`report`: the one place where a report is put together, of a graph, labels and what estimates say of them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from featprop.errors import LabelError, MissingExtraError, first_five
from featprop.graph import Graph
from featprop.html import card
from featprop.models import NodeClassifier, model_of_seed
from featprop.plain import is_series, labels_of_series
from featprop.sources import GraphLike, as_graph
from featprop.web.report.commands import Files
from featprop.web.report.files import check_replaceable, write_page
from featprop.web.report.findings import Findings
from featprop.web.report.subject import Subject

__all__ = ["Report", "report"]

LARGE = 50_000
"""Nodes above which it is not estimated how good models of fewer labels were: that takes twenty trainings."""


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Attributes
    ----------
    path
        The file.
    headline
        How good it is, in a sentence.
    caution
        A second one where the first may mislead: one class is so common that naming it everywhere does as well.
    findings
        What estimates say.
    """

    path: Path
    headline: str
    caution: str | None
    findings: Findings

    def __str__(self) -> str:
        said = [self.headline, self.caution, f"The report is in {self.path}"]
        return " ".join(f"{each}." for each in said if each)

    def _repr_html_(self) -> str:
        return card("Report", [("how good", self.headline), ("page", self.path)])


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
    seed: int = 0,
    force: bool = False,
) -> Report:
    """Write a page on a graph and its labels: how good the predictions are, is it enough, and what to distrust.

    One HTML file with everything inside. It shows the graph, the labels and what they stand for, a map to click on,
    curves, the estimate with its interval, and lists of what to look at.

    Parameters
    ----------
    graph
        The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path. Labels it carries are not looked at.
    labels
        The class of each labelled node by id, in the order they were labelled; a mapping or a pandas series.
    audit
        The class of nodes that were drawn at random for checking (`draw_audit`), by id: nothing learns from them.
    weights
        How many nodes each of these stands for, if not all alike.
    out
        The file to write, ``.html``; one that is there only if it is a report.
    model
        The model to train, or its name; `featprop.models.DEFAULT_MODEL` if not given.
    title
        What to call the graph.
    files
        What the command line read, for the commands that the page names.
    seed
        Decides what is drawn at random: which nodes a map shows that cannot show all.
    force
        Write over any file.
    """
    if find_spec("jinja2") is None:
        raise MissingExtraError("featprop report", "report", "jinja2")
    from featprop.web.report.headline import caution, headline
    from featprop.web.report.page import page

    place = Path(out)
    check_replaceable(place, force=force)
    whole = as_graph(graph)
    told, checked = _by_node(whole, labels), _by_node(whole, audit or {})
    _check(whole, told, checked)
    chosen = model_of_seed(seed, model) if model is None or isinstance(model, str) else model
    fitted = chosen.fresh().fit_or_start(whole, list(told), list(told.values()))
    subject = Subject(whole, fitted, told, checked)
    findings = findings_of(subject, weights)
    write_page(place, page(subject, findings, files, title or _title(graph), seed), force=force)
    return Report(place, headline(subject, findings), caution(subject, findings), findings)


def findings_of(subject: Subject, weights: Mapping[Hashable, float] | None = None) -> Findings:
    """Return what estimates say of a model that is fitted; little where it has one class only, or all is labelled."""
    from featprop.evaluate import advice_of, learning_curve, score_audit
    from featprop.evaluate.doubts import doubts_of
    from featprop.evaluate.estimate import LEAST

    graph, model = subject.graph, subject.model
    audit = score_audit(graph, model, subject.audit, weights) if subject.audit else None
    if len(model.classes_) < 2:
        return Findings(audit)
    audited = None if audit is None else audit.accuracy
    advice = None
    if LEAST <= len(subject.labels) < graph.n_nodes:
        curve = learning_curve(graph, model, earlier=graph.n_nodes <= LARGE)
        advice = advice_of(model, curve, audited)
    return Findings(audit, advice, doubts_of(graph, model, subject.covered))


def _by_node(graph: Graph, labels: Any) -> dict[Hashable, Hashable]:
    return labels_of_series(labels, graph.n_nodes, ()) if is_series(labels) else dict(labels)


def _check(graph: Graph, labels: Mapping[Hashable, Hashable], audit: Mapping[Hashable, Hashable]) -> None:
    if not labels:
        raise LabelError("labels", "must hold at least one label", "none", "label a few nodes first")
    graph.positions(audit, "audit nodes")
    both = [repr(node) for node in audit if node in labels]
    if both:
        rule, cure = "must hold nodes that are not among the labels", "leave them out of one of the two"
        raise LabelError("audit", rule, f"{first_five(both)} in both", cure)


def _title(graph: GraphLike) -> str:
    return Path(graph).name if isinstance(graph, str | os.PathLike) else "your graph"
