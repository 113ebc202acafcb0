"""What the figures have in common: panels, one a data set, and the look of a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from featprop.experiments.paper import STRATEGIES
from featprop.experiments.summary import Results
from featprop.strategies import available_strategies
from featprop.web.common.palette import FEATPROP, INK, LINE, OURS, QUIET, RANDOM, SERIES
from featprop.web.common.svg import embed_svg, figure_to_svg

__all__ = ["Drawing", "Series", "panels", "series_of"]

MARKERS = "osD^vPX<>h"
DASHES: tuple[Any, ...] = ((0, (5, 2)), (0, (2, 1.5)))
DOTS: tuple[Any, ...] = ((0, (1, 1)), (0, (4, 1, 1, 1)))
"""The lines of what has no place of its own: variants, and names that featprop does not know."""
OWN = {
    **dict.fromkeys(("featprop-diffused", "ridge"), (OURS.light, "D", "-", 2.6)),
    **dict.fromkeys(("featprop", "gcn"), (FEATPROP.light, "o", "-", 2.6)),
    **dict.fromkeys(("random", "sgc"), (RANDOM.light, "s", DASHES[0], 2.0)),
}
"""The looks of those that a figure sets side by side: our default, the paper's method and what it is held against."""
PANEL = (5.0, 3.5)


@dataclass(frozen=True)
class Drawing:
    """A figure with what there is to say about it.

    Attributes
    ----------
    name
        Of its file.
    title
        What it shows.
    note
        The protocol and how to read it.
    description
        The numbers, for readers who do not see it.
    figure
        The figure.
    section
        The protocol whose part of a report it stands in; empty for the part on theory, time and data.
    """

    name: str
    title: str
    note: str
    description: str
    figure: Figure
    section: str = ""

    @cached_property
    def file(self) -> str:
        """The text of the SVG file."""
        return figure_to_svg(self.figure, self.name)

    def html(self) -> Markup:
        """Return the figure as an element of a page."""
        return embed_svg(self.file, self.description)


@dataclass(frozen=True)
class Series:
    """The look of one line of a figure, and of its entry in the legend."""

    label: str
    colour: str
    marker: str
    dashes: Any = "-"
    width: float = 1.6

    def handle(self) -> Line2D:
        """Return the entry of the legend."""
        return Line2D([], [], color=self.colour, marker=self.marker, linestyle=self.dashes, label=self.label)


def series_of(results: Results, key: str) -> Series:
    """Return the look of a strategy or a model, by its key: the same in every figure of the results."""
    found = results.strategies if key in results.strategies else results.models
    label = found[key].title.removeprefix("an ").removeprefix("a ")
    if key in OWN:
        return Series(label, *OWN[key])
    later = [name for name in available_strategies() if name not in STRATEGIES and name not in OWN]
    others = [name for name in found if name not in (*STRATEGIES, *OWN, *later)]
    fellows, dashes = next(
        pair for pair in (([*STRATEGIES], DASHES), (later, DASHES), (others, DOTS)) if key in pair[0]
    )
    place = fellows.index(key)
    colour, marker = SERIES[place % len(SERIES)].light, MARKERS[place % len(MARKERS)]
    return Series(label, colour, marker, dashes[place // len(SERIES) % len(dashes)])


def panels(titles: Sequence[str], entries: Sequence[Series]) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each title, two in a row, and a legend below."""
    across = min(2, len(titles))
    down = -(-len(titles) // across)
    legend_rows = -(-len(entries) // (3 * across))
    legend_columns = -(-len(entries) // legend_rows)
    figure = Figure(figsize=(PANEL[0] * across, PANEL[1] * down + 0.32 * legend_rows), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in grid[len(titles) :]:
        axes.set_visible(False)
    for axes, title in zip(grid, titles, strict=False):
        axes.set_title(title, loc="left", color=INK.light, fontsize=13, fontweight="bold", pad=10)
        axes.tick_params(colors=QUIET.light, labelsize=10, length=0, pad=6)
        axes.grid(color=LINE.light, linewidth=0.8)
        axes.spines[:].set_visible(False)
        axes.set_axisbelow(True)
    figure.legend(
        handles=[entry.handle() for entry in entries],
        loc="outside lower center",
        ncols=legend_columns,
        frameon=False,
        fontsize=10,
        labelcolor=INK.light,
    )
    return figure, grid[: len(titles)]
