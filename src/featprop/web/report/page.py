"""Render the page of a report."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence
from importlib.resources import files as package_files

import numpy as np
import pyarrow as pa
from markupsafe import Markup

from featprop.evaluate import Flag, NovelClass
from featprop.evaluate.estimate import RELIABLE_LABELS
from featprop.graph import UNKNOWN
from featprop.labels.sheets import write_sheet
from featprop.propagation import Propagation, coverage_curve
from featprop.web.common.card import node_summary, node_thumb, node_title
from featprop.web.common.chart import Point, interval_bar, learning_chart, line_chart
from featprop.web.common.formatting import clean_line
from featprop.web.common.palette import class_css, class_stylesheet
from featprop.web.common.templates import render_template
from featprop.web.report.analysis import Analysis, Findings, describe_graph
from featprop.web.report.commands import Files, next_steps
from featprop.web.report.map import HEIGHT, MAX_ID_CHARS, WIDTH, draw_map, node_data

LISTS = (
    "wrong_labels",
    "novel_classes",
    "least_certain",
    "contradicted",
    "far_from_labels",
    "unlabelled_components",
)
"""The lists of nodes to review, in order."""
MAX_LISTED = 20
MAX_GROUP_NODES = 60
"""Nodes of a group that are marked on the map."""
MAX_TITLE_CHARS = 200
MAX_ROWS = 300
"""Labels and audit nodes in a table."""
MAX_PICTURES = 120
"""Rows with a picture of the node."""
FOLDED_ROWS = 6
"""Rows of a folded table."""
CURVE_POINTS = 16
MAX_COVERAGE_LABELS = 2000
"""Labels up to which there is a coverage curve, which measures every node against every label."""


Lists = dict[str, tuple[Flag | NovelClass, ...]]


def render_page(analysis: Analysis, files: Files | None, title: str, seed: int = 0) -> str:
    """Return the HTML of a report."""
    graph, findings = analysis.graph, analysis.findings
    lists = build_lists(findings)
    positions = {key: [position for item in items for position in positions_of(item)] for key, items in lists.items()}
    listed = [position for each in positions.values() for position in each]
    audited = np.flatnonzero(analysis.audited != UNKNOWN)
    map_ = draw_map(analysis, [*listed, *audited.tolist()], seed)
    wrong = positions.get("wrong_labels", [])
    is_missed = analysis.audited[audited] != analysis.predicted[audited]
    size = len(analysis.classes)
    open_predicted = analysis.predicted[analysis.is_open]
    predicted = np.bincount(open_predicted, minlength=size)
    confidence = np.bincount(open_predicted, analysis.confidence[analysis.is_open], size) / np.maximum(predicted, 1)
    codes = analysis.labelled[analysis.positions]
    is_right = None if analysis.held_out is None else analysis.held_out.argmax(axis=1) == codes
    script = package_files("featprop.web.report").joinpath("report.js").read_text(encoding="utf-8")
    n_open = int(np.count_nonzero(analysis.is_open & (analysis.audited == UNKNOWN)))
    return render_template(
        "web/report/report.html.j2",
        command="featprop report",
        title=clean_line(title, MAX_TITLE_CHARS),
        headline=analysis.headline,
        analysis=analysis,
        reliable_labels=RELIABLE_LABELS,
        findings=findings,
        graph=graph,
        facts=describe_graph(graph),
        columns=() if graph.preprocessor is None else graph.preprocessor.profiles,
        # classes
        style_of=class_css,
        n_labels=np.bincount(codes, minlength=size).tolist(),
        n_predicted=predicted.tolist(),
        mean_confidence=confidence.tolist(),
        n_right=None if is_right is None else np.bincount(codes[is_right], minlength=size).tolist(),
        scores={} if findings.audit is None else {score.name: score for score in findings.audit.classes},
        # nodes
        map=map_,
        map_size=(WIDTH, HEIGHT),
        wrong=map_.path(wrong, "m-17 0a17 17 0 1 0 34 0a17 17 0 1 0-34 0"),
        flagged=map_.path(set(listed) - set(wrong), "m-5-5l10 10m0-10l-10 10"),
        squares=map_.path(audited.tolist(), "m-8-8h16v16h-16z"),
        lists=lists,
        n_listed=len(set(listed)),
        sheet_of=lambda items: _sheet(analysis, items),
        position_of=lambda item: positions_of(item)[0],
        name_of=lambda position: node_title(graph, position),
        id_of=lambda position: clean_line(str(graph.ids[position]), MAX_ID_CHARS),
        brief_of=lambda position: node_summary(graph, position, " · "),
        thumb_of=lambda position: node_thumb(graph, position),
        labelled=analysis.positions[:MAX_ROWS].tolist(),
        audited=audited[np.argsort(~is_missed, kind="stable")][:MAX_ROWS].tolist(),
        represents=np.bincount(analysis.covered.nearest, minlength=len(analysis.positions)).tolist(),
        spread=np.bincount(analysis.covered.nearest, analysis.covered.distances, len(analysis.positions)).tolist(),
        max_pictures=MAX_PICTURES,
        first=FOLDED_ROWS,
        # charts and commands
        coverage=_coverage_chart(analysis),
        learning=None if findings.advice is None else learning_chart(findings.advice.curve),
        interval_bar=interval_bar,
        steps=next_steps(files, findings, len(analysis.labels), n_open) if files is not None else (),
        more_labels=max(1, min(len(analysis.labels) // 2, n_open)),
        clean=clean_line,
        stylesheet=Markup(class_stylesheet()),
        data=node_data(analysis, map_, list(positions.values())),
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
    )


def build_lists(findings: Findings) -> Lists:
    """Return the lists that are not empty, most suspicious nodes first."""
    lists: Lists = {key: getattr(findings.diagnostics, key, ()) for key in LISTS}
    lists["wrong_labels"] = findings.suspect_labels
    return {key: items[:MAX_LISTED] for key, items in lists.items() if items}


def positions_of(item: Flag | NovelClass) -> list[int]:
    """Return the position of a node, or those of a group as many as the map marks, the medoid first."""
    return item.positions[:MAX_GROUP_NODES].tolist() if isinstance(item, NovelClass) else [item.position]


def _coverage_chart(analysis: Analysis) -> Markup | None:
    """Draw the mean distance to the nearest label after each label; None for too many labels."""
    if len(analysis.positions) > MAX_COVERAGE_LABELS:
        return None
    curve = coverage_curve(Propagation.of(analysis.graph).compared, analysis.positions)
    budgets = np.unique(np.rint(np.linspace(1, len(curve), min(CURVE_POINTS, len(curve)))).astype(int)).tolist()
    text = f"Mean distance to the nearest label: {curve[0]:.3g} after 1, {curve[-1]:.3g} after {len(curve):,} labels."
    return line_chart([Point(each, float(curve[each - 1])) for each in budgets], description=text, from_zero=True)


def _sheet(analysis: Analysis, items: Sequence[Flag | NovelClass]) -> str:
    """Return a list as the address of a labelling sheet, which `featprop` reads when its label column is filled."""
    positions = [positions_of(each)[0] for each in items]
    names = pa.array(map(str, analysis.classes), pa.string())
    columns = {
        "prediction": names.take(pa.array(analysis.known[positions])),
        "reason": pa.array([clean_line(each.reason) for each in items]),
    }
    sheet = io.BytesIO()
    write_sheet(sheet, analysis.graph.ids[positions], columns)
    return f"data:text/csv;charset=utf-8;base64,{base64.b64encode(sheet.getvalue()).decode('ascii')}"
