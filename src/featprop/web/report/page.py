"""Render the page of a report."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from typing import Any

import numpy as np
from markupsafe import Markup

from featprop.evaluate import AuditScore, Interval
from featprop.graph import UNKNOWN
from featprop.matrix import Features
from featprop.web.common.card import node_picture
from featprop.web.common.chart import Point, line_chart
from featprop.web.common.formatting import clean_line
from featprop.web.common.layout import tsne_layout
from featprop.web.common.palette import LINE, RANDOM, css_variables, ramp
from featprop.web.common.templates import render_template
from featprop.web.report.commands import Files, next_steps
from featprop.web.report.context import ReportContext
from featprop.web.report.files import COMMAND
from featprop.web.report.findings import Findings, headline, lead
from featprop.web.report.graph_stats import describe_graph
from featprop.web.report.lists import ReviewList, build_lists
from featprop.web.report.map import NodeMap, class_mark, draw_map, sample_nodes
from featprop.web.report.records import embed_json, node_records

CURVE_POINTS = 16
MAX_LABEL_ROWS = 300
MAX_PICTURES = 120
"""Label rows with a picture of the node."""
MAX_TITLE_CHARS = 200
FOLDED_ROWS = 6
"""Rows of a folded table."""


@dataclass(frozen=True)
class ClassSummary:
    """A row of the class table.

    Attributes
    ----------
    code, title
        Code and name of the class.
    labels
        Number of labels.
    predicted
        Number of unlabelled nodes predicted as the class.
    share
        Share of all nodes by label or prediction.
    confidence
        Mean confidence of the predictions, or None.
    cv_right
        Number of its labels that cross-validation predicts; None if the model does not cross-validate.
    recall, precision
        Recall and precision in the audit, if it has enough nodes.
    """

    code: int
    title: str
    labels: int
    predicted: int
    share: float
    confidence: float | None
    cv_right: int | None
    recall: Interval | None = None
    precision: Interval | None = None


@dataclass(frozen=True)
class Row:
    """A node in a table: index on the map, title, class, confidence, picture, and more by table."""

    index: int | None
    title: str
    code: int
    confidence: float
    picture: Markup | None
    more: dict[str, Any]


def render_page(context: ReportContext, findings: Findings, files: Files | None, title: str, seed: int = 0) -> str:
    """Return the HTML of a report."""
    lists = build_lists(findings.diagnostics)
    map_ = _draw_map(context, lists, seed)
    classes, labels = summarize_classes(context, findings.audit), _label_rows(context, map_)
    script = package_files("featprop.web.report").joinpath("report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    open_nodes = int(np.count_nonzero((context.labelled == UNKNOWN) & (context.audited == UNKNOWN)))
    return render_template(
        "web/report/report.html.j2",
        command=COMMAND,
        title=clean_line(title, MAX_TITLE_CHARS),
        headline=headline(context, findings),
        lead=lead(context, findings),
        findings=findings,
        context=context,
        graph=context.graph,
        facts=describe_graph(context.graph),
        clean=clean_line,
        columns=() if context.graph.preprocessor is None else context.graph.preprocessor.profiles,
        scale=Markup(css_variables(ramp("scale", LINE, RANDOM, 5))),
        map=map_,
        classes=classes,
        mark_of=class_mark,
        labels=labels,
        audited=_audit_rows(context, map_),
        lists=[(each, _review_rows(context, map_, each)) for each in lists],
        n_listed=len({position for each in lists for position in each.positions}),
        has_wrong=any(each.key == "wrong_labels" for each in lists),
        labels_shown=int(np.count_nonzero(context.labelled[map_.shown] != UNKNOWN)),
        coverage=_coverage_chart(context),
        learning=_learning_chart(findings),
        steps=next_steps(files, findings, len(context.labels), open_nodes) if files is not None else (),
        more_labels=max(1, min(len(context.labels) // 2, open_nodes)),
        widest=max(line.share for line in classes),
        widest_label=max(row.more["share"] for row in labels),
        first=FOLDED_ROWS,
        interval_bar=_interval_bar,
        data=embed_json(node_records(context, map_, lists)),
        script=Markup(script),
        digest=digest,
    )


def _draw_map(context: ReportContext, lists: Sequence[ReviewList], seed: int) -> NodeMap:
    wanted = [position for each in lists for position in each.positions]
    wanted += np.flatnonzero(context.audited != UNKNOWN).tolist()
    shown = sample_nodes(context.graph.n_nodes, context.positions, wanted, seed)
    rows: Features = context.model.representation(context.graph)
    return draw_map(context, shown, tsne_layout(rows[shown]), lists)


def _row(context: ReportContext, map_: NodeMap, position: int, *, has_picture: bool = False, **more: Any) -> Row:
    picture = node_picture(context.graph, position) if has_picture else None
    return Row(
        map_.index_of(position),
        context.title(position),
        int(context.known[position]),
        float(context.confidence[position]),
        None if picture is None else Markup(picture.svg('class="thumb" aria-hidden="true"')),
        more,
    )


def _review_rows(context: ReportContext, map_: NodeMap, review: ReviewList) -> list[Row]:
    return [
        _row(context, map_, each.position, has_picture=True, reason=each.reason, n_others=each.n_others)
        for each in review.items
    ]


def _label_rows(context: ReportContext, map_: NodeMap) -> list[Row]:
    """Return the labels in order, with what each represents and its cross-validated prediction."""
    spread = np.bincount(context.covered.nearest, weights=context.covered.distances, minlength=len(context.positions))
    left_out = context.model.held_out_proba_
    known = left_out is not None and len(left_out) == len(context.positions)
    rows = []
    for number, position in enumerate(context.positions[:MAX_LABEL_ROWS].tolist()):
        held_out = None
        if known and left_out is not None:
            code = int(left_out[number].argmax())
            held_out = (code, float(left_out[number, code]))
        count = int(context.represents[number])
        rows.append(
            _row(
                context, map_, position, has_picture=number < MAX_PICTURES,
                number=number + 1, represents=count, share=count / context.graph.n_nodes,
                spread=float(spread[number] / count), held_out=held_out,
            )
        )  # fmt: skip
    return rows


def _audit_rows(context: ReportContext, map_: NodeMap) -> list[Row]:
    """Return the audit nodes, wrong predictions first."""
    positions = np.flatnonzero(context.audited != UNKNOWN)
    wrong = context.audited[positions] != context.predicted[positions]
    return [
        _row(context, map_, position, audited=int(context.audited[position]), has_picture=True)
        for position in positions[np.argsort(~wrong, kind="stable")].tolist()[:MAX_LABEL_ROWS]
    ]


def _coverage_chart(context: ReportContext) -> Markup | None:
    curve = context.curve
    if not curve.size:
        return None
    budgets = np.unique(np.rint(np.linspace(1, len(curve), min(CURVE_POINTS, len(curve)))).astype(int)).tolist()
    text = f"Mean distance to the nearest label: {curve[0]:.3g} after 1, {curve[-1]:.3g} after {len(curve):,} labels."
    points = [Point(budget, float(curve[budget - 1])) for budget in budgets]
    return line_chart(points, description=text, from_zero=True)


def _learning_chart(findings: Findings) -> Markup | None:
    if findings.advice is None:
        return None
    curve = findings.advice.curve
    points = [(each.n_labels, each.accuracy) for each in curve.estimates]
    text = "; ".join(f"{share} with {labels:,} labels" for labels, share in points)
    forecast = None
    if curve.forecast is not None:
        expected = curve.forecast.accuracy(curve.now.accuracy)
        forecast = _point(curve.forecast.n_labels, expected)
        text += f"; forecast {expected} with {curve.forecast.n_labels:,}"
    return line_chart(
        [_point(labels, share) for labels, share in points],
        description=f"Estimated accuracy: {text}.",
        format_tick=lambda share: f"{100 * share:.0f} %",
        forecast=forecast,
        highest=1.0,
    )


def _point(labels: int, share: Interval) -> Point:
    return Point(int(labels), share.value, share.low, share.high)


def _interval_bar(interval: Interval) -> Markup:
    """Return a bar from 0 to 100 % that shows the interval and the value."""
    return Markup(
        '<svg class="interval" viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
        '<line x1="0" x2="200" y1="8" y2="8"/><rect x="{:.1f}" width="{:.1f}" y="3" height="10"/>'
        '<line class="value" x1="{:.1f}" x2="{:.1f}" y1="0" y2="16"/></svg>'
    ).format(200 * interval.low, max(1.0, 200 * interval.width), 200 * interval.value, 200 * interval.value)


def summarize_classes(context: ReportContext, audit: AuditScore | None) -> list[ClassSummary]:
    """Return the rows of the class table."""
    open_ = context.labelled == UNKNOWN
    size = len(context.classes)
    labels = np.bincount(context.codes, minlength=size)
    predicted = np.bincount(context.predicted[open_], minlength=size)
    sums = np.bincount(context.predicted[open_], weights=context.confidence[open_], minlength=size)
    right = _cv_right(context)
    scores = {score.name: score for score in audit.classes} if audit is not None else {}
    return [
        ClassSummary(
            code,
            title,
            int(labels[code]),
            int(predicted[code]),
            float(labels[code] + predicted[code]) / context.graph.n_nodes,
            float(sums[code] / predicted[code]) if predicted[code] else None,
            None if right is None else int(right[code]),
            scores[name].recall if name in scores else None,
            scores[name].precision if name in scores else None,
        )
        for code, (name, title) in enumerate(zip(context.classes, context.class_titles, strict=True))
    ]


def _cv_right(context: ReportContext) -> np.ndarray | None:
    left_out = context.model.held_out_proba_
    if left_out is None or len(left_out) != len(context.codes):
        return None
    right = left_out.argmax(axis=1) == context.codes
    return np.bincount(context.codes[right], minlength=len(context.classes))
