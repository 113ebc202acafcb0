"""The map of the demonstration: its nodes laid out in the plane, with the picked ones marked."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from numpy.typing import NDArray

from featprop.active import Selection
from featprop.graph import Graph
from featprop.web.common.palette import DIGITS, INK, PAPER
from featprop.web.common.svg import embed_svg, figure_to_svg

__all__ = ["astray", "picks_map"]


def astray(graph: Graph, picks: Selection) -> NDArray[np.bool_]:
    """Say of every node whether the nearest pick shows another digit."""
    digits = np.array(graph.class_names())
    return np.asarray(digits != digits[picks.positions][picks.nearest])


def picks_map(graph: Graph, places: NDArray[np.float32], picks: Selection, strategy: str) -> Markup:
    """Draw every node in the colour of its digit, the picks large and outlined, the nodes astray crossed.

    Relies on the graph for knowing the digit of every node.
    """
    digits = np.array(graph.class_names(), dtype=np.intp)
    colours = np.array([colour.light for colour in DIGITS])[digits]
    crossed = astray(graph, picks)
    figure = Figure(figsize=(5.6, 5.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.04)
    axes.scatter(places[:, 0], places[:, 1], s=9, c=colours, alpha=0.6, linewidths=0, clip_on=False)
    x, y = places[crossed].T
    axes.scatter(x, y, s=15, c=INK.light, marker="x", linewidths=0.9, clip_on=False)
    x, y = places[picks.positions].T
    axes.scatter(x, y, s=95, c=PAPER.light, linewidths=0, clip_on=False)
    axes.scatter(x, y, s=60, c=colours[picks.positions], edgecolors=INK.light, linewidths=1.5, clip_on=False)
    for digit in range(len(DIGITS)):
        axes.annotate(
            str(digit),
            _crown(places[digits == digit]),
            xytext=(0, 15),
            textcoords="offset points",
            ha="center",
            va="center",
            color=INK.light,
            fontsize=17,
            fontweight="bold",
        )
    description = (
        f"Map of all {graph.n_nodes:,} nodes, grouped by digit, with the {len(picks)} picks of {strategy}; "
        f"{np.count_nonzero(crossed):,} nodes lie nearest to a pick that shows another digit."
    )
    return embed_svg(figure_to_svg(figure, f"map of {strategy}"), description)


def _crown(places: NDArray[np.float32]) -> tuple[float, float]:
    """Return the top of the inner half of a group, above its centre: a place for its name that hides no pick."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    centre = apart.sum(axis=1).argmin()
    inner = places[apart[centre] <= np.median(apart[centre])]
    return float(places[centre, 0]), float(inner[:, 1].max())
