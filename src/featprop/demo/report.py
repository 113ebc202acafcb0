"""The report: one page that holds everything it shows."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from featprop import __version__
from featprop.demo.curves import curve
from featprop.demo.experiment import Comparison
from featprop.demo.findings import findings
from featprop.demo.maps import astray, layout, picks_map
from featprop.demo.summary import score_text
from featprop.drawing.page import page_style
from featprop.drawing.svg import png_uri
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.selection import Selection

__all__ = ["render"]

SIDE = 8
"""Width and height of an image in pixels."""


def render(graph: Graph, comparison: Comparison, picks: Selection, random_picks: Selection) -> str:
    """Return the page, from ``<html>`` on."""
    found = findings(comparison)
    places = layout(graph)
    page = Template(files("featprop.demo").joinpath("report.html").read_text(encoding="utf-8"))
    return page.substitute(
        style=page_style(),
        headline=escape(found.headline),
        detail=escape(found.detail),
        tiles=_tiles(comparison),
        n_nodes=f"{graph.n_nodes:,}",
        n_edges=f"{graph.n_edges:,}",
        budget=len(picks),
        budgets=_choice(comparison.budgets),
        **_runs(comparison.n_seeds),
        accuracy_curve=curve(comparison, "Accuracy", comparison.accuracy),
        macro_f1_curve=curve(comparison, "Macro-F1", comparison.macro_f1),
        featprop_map=picks_map(graph, places, picks, "FeatProp"),
        random_map=picks_map(graph, places, random_picks, "random choice"),
        featprop_cover=_cover(graph, picks),
        random_cover=_cover(graph, random_picks),
        gallery=_gallery(graph, picks),
        rows=_rows(comparison),
        version=__version__,
    )


def _runs(n_seeds: int) -> dict[str, str]:
    """Return how often the experiment ran, as the text around the figures says it."""
    if n_seeds == 1:
        return {"runs": "one run", "spread": "in one run", "bands": "One run, scored on the nodes without a label."}
    runs = f"{n_seeds} runs"
    bands = f"The mean of {runs}, scored on the nodes without a label, in a band of one standard error on either side."
    return {"runs": runs, "spread": f"mean ± standard deviation of {runs}", "bands": bands}


def _tiles(comparison: Comparison) -> str:
    ours, theirs = comparison.accuracy["featprop"].mean, comparison.accuracy["random"].mean
    return "\n".join(
        f'<li><span class="labels">{budget} labels</span><strong>{ours[row]:.1f}&nbsp;%</strong>'
        f'<span class="other">random {theirs[row]:.1f}&nbsp;%</span>'
        f'<span class="gap">{ours[row] - theirs[row]:+.1f} points</span></li>'
        for row, budget in enumerate(comparison.budgets)
    )


def _choice(budgets: tuple[int, ...]) -> str:
    *others, last = map(str, budgets)
    return f"{', '.join(others)} or {last}" if others else last


def _cover(graph: Graph, picks: Selection) -> str:
    return (
        f"<b>{np.count_nonzero(astray(graph, picks)):,} nodes</b> lie nearest to a pick that shows another digit. "
        f"The distance to the nearest pick is {picks.mean_distance:.2f} on average, {picks.max_distance:.2f} at most."
    )


def _gallery(graph: Graph, picks: Selection) -> str:
    digits = graph.class_names()
    images = dense(graph.features)
    tiles = []
    for rank, (node, count) in enumerate(zip(picks.positions.tolist(), picks.represents.tolist(), strict=True), 1):
        image = png_uri(images[node].reshape(SIDE, SIDE))
        nodes = "1 node" if count == 1 else f"{count} nodes"
        tiles.append(
            f'<li><span class="rank">{rank}</span><img src="{image}" width="64" height="64" '
            f'alt="Pick {rank}, a handwritten {digits[node]}"><span class="digit">'
            f'<i style="background: var(--digit-{digits[node]})"></i>{digits[node]}</span>'
            f'<span class="count">{nodes}</span></li>'
        )
    return "\n".join(tiles)


def _rows(comparison: Comparison) -> str:
    rows = []
    for row, budget in enumerate(comparison.budgets):
        cells = [f'<th scope="row">{budget}</th>']
        for metric in (comparison.accuracy, comparison.macro_f1):
            ours, theirs = metric["featprop"], metric["random"]
            gap = ours.mean[row] - theirs.mean[row]
            shown = (score_text(ours, row), score_text(theirs, row), f"{gap:+.1f}")
            cells += [f"<td>{text}</td>" for text in shown]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(rows)
