"""The page of a report: what each part of it shows, put into the template."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files as package_files
from typing import Any

import numpy as np
from markupsafe import Markup

from featprop.evaluate import Interval
from featprop.graph import UNKNOWN
from featprop.matrix import Features
from featprop.web.drawing.chart import Point, chart
from featprop.web.drawing.layout import layout
from featprop.web.drawing.palette import LINE, RANDOM, css_variables, ramp
from featprop.web.drawing.templates import rendered
from featprop.web.page.card import picture_of
from featprop.web.page.legible import legible_line
from featprop.web.report.class_table import class_lines
from featprop.web.report.commands import Files, next_steps
from featprop.web.report.facts import facts_of
from featprop.web.report.files import COMMAND
from featprop.web.report.findings import Findings
from featprop.web.report.headline import headline, lead
from featprop.web.report.lists import Listed, listed
from featprop.web.report.map import NodeMap, class_mark, drawn_map
from featprop.web.report.records import embedded, records
from featprop.web.report.sample import shown_nodes
from featprop.web.report.subject import Subject

__all__ = ["page"]

CURVE_POINTS = 16
PICKS = 300
"""Labels whose rows the page has."""
PICTURES = 120
"""Rows with a small picture of the node."""
LONGEST_TITLE = 200
FIRST = 6
"""Rows of a table that are seen before it is opened."""


@dataclass(frozen=True)
class Row:
    """A node in a table: where it is on the map, what it is called, and more by the table."""

    index: int | None
    title: str
    code: int
    confidence: float
    picture: Markup | None
    more: dict[str, Any]


def page(subject: Subject, findings: Findings, files: Files | None, title: str, seed: int = 0) -> str:
    """Return the whole page.

    Parameters
    ----------
    subject
        What it is about.
    findings
        How good it is, whether it is enough, and what to distrust.
    files
        What it was made of on the command line, None if it was not.
    title
        What the graph is called.
    seed
        Decides which nodes a map shows that cannot show all.
    """
    lists = listed(subject, findings.doubts)
    map_ = _map(subject, lists, seed)
    classes, picks = class_lines(subject, findings.audit), _picks(subject, map_)
    script = package_files("featprop.web.report").joinpath("report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    open_nodes = int(np.count_nonzero((subject.labelled == UNKNOWN) & (subject.audited == UNKNOWN)))
    return rendered(
        "web/report/report.html.j2",
        command=COMMAND,
        title=legible_line(title, LONGEST_TITLE),
        headline=headline(subject, findings),
        lead=lead(subject, findings),
        findings=findings,
        subject=subject,
        graph=subject.graph,
        facts=facts_of(subject.graph),
        legible=legible_line,
        columns=() if subject.graph.preprocessor is None else subject.graph.preprocessor.profiles,
        worries=Markup(css_variables(ramp("worry", LINE, RANDOM, 5))),
        map=map_,
        classes=classes,
        mark_of=class_mark,
        picks=picks,
        checked=_checked(subject, map_),
        lists=[(each, _suspects(subject, map_, each)) for each in lists],
        looked_at=len({position for each in lists for position in each.positions}),
        has_wrong=any(each.key == "wrong_labels" for each in lists),
        labels_shown=int(np.count_nonzero(subject.labelled[map_.shown] != UNKNOWN)),
        coverage=_coverage_chart(subject),
        learning=_learning_chart(findings),
        steps=next_steps(files, findings, len(subject.labels), open_nodes) if files is not None else (),
        more_labels=max(1, min(len(subject.labels) // 2, open_nodes)),
        widest=max(line.share for line in classes),
        widest_pick=max(row.more["share"] for row in picks),
        first=FIRST,
        interval_bar=_interval_bar,
        data=embedded(records(subject, map_, lists)),
        script=Markup(script),
        digest=digest,
    )


def _map(subject: Subject, lists: Sequence[Listed], seed: int) -> NodeMap:
    wanted = [position for each in lists for position in each.positions]
    wanted += np.flatnonzero(subject.audited != UNKNOWN).tolist()
    shown = shown_nodes(subject.graph.n_nodes, subject.positions, wanted, seed)
    seen: Features = subject.model.representation(subject.graph)
    return drawn_map(subject, shown, layout(seen[shown]), lists)


def _row(subject: Subject, map_: NodeMap, position: int, *, pictured: bool = False, **more: Any) -> Row:
    picture = picture_of(subject.graph, position) if pictured else None
    return Row(
        map_.index_of(position),
        subject.title(position),
        int(subject.known[position]),
        float(subject.confidence[position]),
        None if picture is None else Markup(picture.svg('class="thumb" aria-hidden="true"')),
        more,
    )


def _suspects(subject: Subject, map_: NodeMap, listed_: Listed) -> list[Row]:
    return [
        _row(subject, map_, each.position, pictured=True, why=each.why, alike=each.alike) for each in listed_.suspects
    ]


def _picks(subject: Subject, map_: NodeMap) -> list[Row]:
    """Return the labels in their order, with what each stands for and what the model would say without it."""
    spread = np.bincount(subject.covered.nearest, weights=subject.covered.distances, minlength=len(subject.positions))
    left_out = subject.model.left_out_
    known = left_out is not None and len(left_out) == len(subject.positions)
    rows = []
    for number, position in enumerate(subject.positions[:PICKS].tolist()):
        without = None
        if known and left_out is not None:
            code = int(left_out[number].argmax())
            without = (code, float(left_out[number, code]))
        count = int(subject.stands_for[number])
        rows.append(
            _row(
                subject, map_, position, pictured=number < PICTURES,
                number=number + 1, stands_for=count, share=count / subject.graph.n_nodes,
                spread=float(spread[number] / count), without=without,
            )
        )  # fmt: skip
    return rows


def _checked(subject: Subject, map_: NodeMap) -> list[Row]:
    """Return the nodes of the audit, those got wrong first."""
    positions = np.flatnonzero(subject.audited != UNKNOWN)
    wrong = subject.audited[positions] != subject.predicted[positions]
    return [
        _row(subject, map_, position, audited=int(subject.audited[position]), pictured=True)
        for position in positions[np.argsort(~wrong, kind="stable")].tolist()[:PICKS]
    ]


def _coverage_chart(subject: Subject) -> Markup | None:
    curve = subject.curve
    if not curve.size:
        return None
    budgets = np.unique(np.rint(np.linspace(1, len(curve), min(CURVE_POINTS, len(curve)))).astype(int)).tolist()
    said = f"Mean distance to the nearest label: {curve[0]:.3g} after 1, {curve[-1]:.3g} after {len(curve):,} labels."
    return chart([Point(budget, float(curve[budget - 1])) for budget in budgets], described=said, from_zero=True)


def _learning_chart(findings: Findings) -> Markup | None:
    if findings.advice is None:
        return None
    curve = findings.advice.curve
    points = [(each.n_labels, each.accuracy) for each in curve.estimates]
    said = "; ".join(f"{share} with {labels:,} labels" for labels, share in points)
    coming, expected = None, findings.expected_by_labels
    if curve.forecast is not None and expected is not None:
        coming = _point(curve.forecast.n_labels, expected)
        said += f"; expected {expected} with {curve.forecast.n_labels:,}"
    return chart(
        [_point(labels, share) for labels, share in points],
        described=f"Accuracy by labels and graph: {said}.",
        written=lambda share: f"{100 * share:.0f} %",
        forecast=coming,
        highest=1.0,
    )


def _point(labels: int, share: Interval) -> Point:
    return Point(int(labels), share.value, share.low, share.high)


def _interval_bar(interval: Interval) -> Markup:
    """Return a bar from 0 to 100 % with the interval and the value in it."""
    return Markup(
        '<svg class="interval" viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
        '<line x1="0" x2="200" y1="8" y2="8"/><rect x="{:.1f}" width="{:.1f}" y="3" height="10"/>'
        '<line class="value" x1="{:.1f}" x2="{:.1f}" y1="0" y2="16"/></svg>'
    ).format(200 * interval.low, max(1.0, 200 * interval.width), 200 * interval.value, 200 * interval.value)
