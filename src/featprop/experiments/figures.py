"""What the figures have in common: panels, one a data set, and the look of a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from featprop.drawing.palette import FEATPROP, INK, LINE, QUIET, RANDOM, SERIES
from featprop.drawing.svg import drawn, embedded
from featprop.experiments.paper import STRATEGIES, strategy_title, title_of
from featprop.strategies import available

__all__ = ["Drawing", "Series", "panels", "series_of"]

MARKERS = "osD^vPX<>h"
DASHES: tuple[Any, ...] = ((0, (5, 2)), (0, (2, 1.5)))
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
    """

    name: str
    title: str
    note: str
    description: str
    figure: Figure

    @cached_property
    def file(self) -> str:
        """The text of the SVG file."""
        return drawn(self.figure, self.name)

    def html(self) -> str:
        """Return the figure as an element of a page."""
        return embedded(self.file, self.description)


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


def series_of(strategy: str) -> Series:
    """Return the look of a strategy: the same in every figure, whatever else is in it."""
    label = strategy_title(strategy)
    if strategy == "featprop":
        return Series(label, FEATPROP.light, "o", "-", 2.6)
    if strategy == "random":
        return Series(label, RANDOM.light, "s", (0, (5, 2)), 2.0)
    fellows = list(STRATEGIES) if strategy in STRATEGIES else [n for n in available() if n not in STRATEGIES]
    place = fellows.index(strategy) if strategy in fellows else len(fellows)
    colour = SERIES[place % len(SERIES)].light
    return Series(label, colour, MARKERS[place % len(MARKERS)], DASHES[place // len(SERIES) % len(DASHES)])


def panels(datasets: Sequence[str], entries: Sequence[Series]) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each data set, two in a row, and a legend below."""
    across = min(2, len(datasets))
    down = -(-len(datasets) // across)
    legend_rows = -(-len(entries) // (3 * across))
    legend_columns = -(-len(entries) // legend_rows)
    figure = Figure(figsize=(PANEL[0] * across, PANEL[1] * down + 0.32 * legend_rows), layout="constrained")
    grid = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in grid[len(datasets) :]:
        axes.set_visible(False)
    for axes, dataset in zip(grid, datasets, strict=False):
        axes.set_title(title_of(dataset), loc="left", color=INK.light, fontsize=13, fontweight="bold", pad=10)
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
    return figure, grid[: len(datasets)]
