"""The figures of a report: learning curves, and error against distance, with one panel per data set."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from itertools import product
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from featprop.experiments.paper import STRATEGIES
from featprop.experiments.summary import METRICS, Results
from featprop.experiments.tables import correlation, describe_protocol
from featprop.strategies import available_strategies
from featprop.web.common.palette import FEATPROP, INK, LINE, OURS, QUIET, RANDOM, SERIES, use_css_variables

MARKERS = "osD^vPX<>h"
DASHES: tuple[Any, ...] = ((0, (5, 2)), (0, (2, 1.5)))
DOTS: tuple[Any, ...] = ((0, (1, 1)), (0, (4, 1, 1, 1)))
"""Line styles of variants and of strategies that featprop does not know."""
FIXED_STYLES = {
    **dict.fromkeys(("featprop-diffused", "ridge"), (OURS.light, "D", "-", 2.6)),
    **dict.fromkeys(("featprop", "gcn"), (FEATPROP.light, "o", "-", 2.6)),
    **dict.fromkeys(("random", "sgc"), (RANDOM.light, "s", DASHES[0], 2.0)),
}
"""Styles of our default, of the paper's method and of their baselines."""
LAYERS = {"featprop": 3, "featprop-diffused": 4}
"""Lines above all others, the highest number on top."""
ABLATION = ("featprop-kcenter", "featprop-hidden")
"""FeatProp with K-Center instead of K-Medoids, and with the final layer instead of the propagated features."""
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "curves": ("{} against the number of labels", ()),
    "curves-later": ("Strategies the paper does not have: {}", ("random", "featprop")),
    "ablation": ("The parts of FeatProp: {}", ("featprop",)),
}
"""Titles of the figures of strategies, and the strategies that are shown for comparison."""
PANEL_SIZE, MAX_ACROSS = (3.4, 2.7), 3
"""Size of a panel in inches, and panels in a row."""
NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}


@dataclass(frozen=True)
class Drawing:
    """A figure and its texts.

    `description` has the numbers for readers who cannot see the figure; `section` is the protocol under which a report
    shows it, empty for the section on theory, time and data.
    """

    name: str
    title: str
    note: str
    description: str
    figure: Figure
    section: str = ""

    @cached_property
    def file(self) -> str:
        """The text of the SVG file, which is deterministic."""
        text = StringIO()
        with matplotlib.rc_context({"svg.hashsalt": self.name, "svg.fonttype": "none"}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "constrained_layout not applied")
            self.figure.savefig(text, format="svg", metadata=NO_METADATA)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"

    @property
    def width(self) -> int:
        """Width of the figure on a page in pixels."""
        return round(100 * self.figure.get_figwidth())

    def html(self) -> Markup:
        """Return the figure as an element of a page."""
        return embed_svg(self.file, self.description)


@dataclass(frozen=True)
class Series:
    """The style of one line of a figure."""

    label: str
    colour: str
    marker: str
    dashes: Any = "-"
    width: float = 1.6


Lines = Mapping[tuple[str, str], Series]
"""The lines of a figure: styles by strategy and model."""


def embed_svg(drawing: str, description: str) -> Markup:
    """Return the text of an SVG file as an element of a page, with a description for screen readers."""
    view = re.search(r'viewBox="[^"]*"', drawing)
    body = drawing[drawing.index("</defs>") + len("</defs>") :]
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    opening = f'<svg {view[0] if view else ""} role="img" aria-label="{escape(description)}">'
    return Markup(use_css_variables(opening + re.sub(r"\s*\n\s*", " ", body).strip()))


def style_of(results: Results, key: str) -> Series:
    """Return the style of a strategy or a model by its key: the same in every figure of the results."""
    found = results.strategies if key in results.strategies else results.models
    label = found[key].title.removeprefix("an ").removeprefix("a ")
    if key in FIXED_STYLES:
        return Series(label, *FIXED_STYLES[key])
    later = [name for name in available_strategies() if name not in STRATEGIES and name not in FIXED_STYLES]
    others = [name for name in found if name not in (*STRATEGIES, *FIXED_STYLES, *later)]
    group, dashes = next(pair for pair in (([*STRATEGIES], DASHES), (later, DASHES), (others, DOTS)) if key in pair[0])
    place = group.index(key)
    colour, marker = SERIES[place % len(SERIES)].light, MARKERS[place % len(MARKERS)]
    return Series(label, colour, marker, dashes[place // len(SERIES) % len(dashes)])


def strategy_curves(results: Results, kind: str, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw the strategies of one of `KINDS` with one model; None without results."""
    title, baselines = KINDS[kind]
    kinds = {key: _kind_of(variant.name) for key, variant in results.strategies.items()}
    if model not in results.models or kind not in kinds.values():
        return None
    lines = {
        (key, model): style_of(results, key)
        for key, variant in results.strategies.items()
        if kinds[key] == kind or variant.name in baselines
    }
    name = f"{kind}-{metric.replace('_', '-')}-{results.models[model].file}-{protocol}"
    title = title.format(f"{METRICS[metric]} of {results.models[model].title}")
    return draw_curves(results, metric, protocol, lines, name, title)


def _kind_of(strategy: str) -> str:
    return "ablation" if strategy in ABLATION else "curves" if strategy in STRATEGIES else "curves-later"


def model_comparison(results: Results, metric: str, protocol: str) -> Drawing | None:
    """Draw FeatProp with each of the models, if there are several."""
    strategy = next((key for key, variant in results.strategies.items() if variant.name == "featprop"), None)
    if len(results.models) < 2 or strategy is None:
        return None
    lines = {(strategy, model): style_of(results, model) for model in results.models}
    models = "-against-".join(variant.file for variant in reversed(results.models.values()))
    labels = " against ".join(series.label for series in reversed(lines.values()))
    name, title = f"{models}-{metric.replace('_', '-')}-{protocol}", f"{labels} with FeatProp: {METRICS[metric]}"
    note = f" Strategy: {results.strategies[strategy].title}."
    return draw_curves(results, metric, protocol, lines, name, title, note)


def draw_curves(
    results: Results, metric: str, protocol: str, lines: Lines, name: str, title: str, note: str = ""
) -> Drawing | None:
    """Draw a metric against the number of labels, with bands of one standard error; None without results."""
    found = {
        (dataset, *pair): runs
        for dataset, pair in product(results.datasets, lines)
        if (runs := results.runs(metric, dataset, *pair, protocol))
    }
    if not found:
        return None
    lines = {pair: series for pair, series in lines.items() if any(key[1:] == pair for key in found)}
    datasets = list(dict.fromkeys(key[0] for key in found))
    figure, panels = _make_panels(results, datasets, list(lines.values()))
    numbers = []
    for axes, dataset in zip(panels, datasets, strict=True):
        axes.set_xscale("log", base=2)
        for depth, ((strategy, model), series) in enumerate(lines.items()):
            runs = found.get((dataset, strategy, model))
            if runs is None:
                continue
            mean, error = runs.means, runs.errors
            axes.fill_between(runs.budgets, mean - error, mean + error, color=series.colour, alpha=0.13, linewidth=0)
            axes.plot(
                runs.budgets,
                mean,
                color=series.colour,
                marker=series.marker,
                linestyle=series.dashes,
                linewidth=series.width,
                markersize=5,
                zorder=LAYERS.get(strategy, 2 + depth / 100),
            )
            axes.set_xticks(runs.budgets, [str(budget) for budget in runs.budgets])
            points = ", ".join(f"{value:.1f} with {budget}" for value, budget in zip(mean, runs.budgets, strict=True))
            numbers.append(f"{results.datasets[dataset].title}, {series.label}: {points}")
        axes.minorticks_off()
        _name_axes(axes, "labels", f"{METRICS[metric]}, percent")
    note = f"{describe_protocol(protocol)} Mean over the seeds, with a band of one standard error.{note}"
    return Drawing(name, title, note, f"{title}. {'; '.join(numbers)}.", figure, protocol)


def _name_axes(axes: Axes, x: str, y: str) -> None:
    axes.set_xlabel(x, color=QUIET.light, fontsize=10)
    axes.set_ylabel(y, color=QUIET.light, fontsize=10)


def error_against_loss(results: Results, model: str, protocol: str) -> Drawing | None:
    """Draw the error of every selection against its K-Medoids loss, which bounds it by Theorem 1."""
    rows = {name: results.select(name, model, protocol) for name in results.datasets}
    datasets = [name for name, found in rows.items() if len(found)]
    if not datasets:
        return None
    names = [name for name in results.strategies if any(len(results.of(d, name, model, protocol)) for d in datasets)]
    styles = {name: style_of(results, name) for name in names}
    figure, panels = _make_panels(results, datasets, list(styles.values()))
    numbers = []
    for axes, dataset in zip(panels, datasets, strict=True):
        for name, style in styles.items():
            points = results.of(dataset, name, model, protocol)
            sizes = [10 + 9 * np.log2(max(1, budget / 10)) for budget in points.budget]
            x, y = points.mean_distance.to_numpy(dtype=float), 100 * (1 - points.accuracy.to_numpy(dtype=float))
            axes.scatter(x, y, s=sizes, color=style.colour, marker=style.marker, alpha=0.65, lw=0)
        if found := correlation(rows[dataset]):
            within = found["Spearman within a budget"]
            text = f"rank correlation {found['Spearman']:.2f}"
            text += "" if np.isnan(within) else f", {within:.2f} within a budget"
            axes.set_title(text, loc="right", color=QUIET.light, fontsize=10, pad=10)
            both = f"Spearman {found['Spearman']:.2f}, Pearson {found['Pearson']:.2f}"
            numbers.append(f"{results.datasets[dataset].title}: {both}")
        _name_axes(axes, "mean distance to the nearest labelled node", "error, percent")
    title = f"Classification error of {results.models[model].title} against the K-Medoids loss"
    note = (
        f"{describe_protocol(protocol)} Each point is one selection; larger points have larger budgets. The mean "
        "distance on S²X is the term of Theorem 1; it is never above the largest distance, the term of Theorem 2."
    )
    name = f"error-against-loss-{results.models[model].file}-{protocol}"
    return Drawing(name, title, note, f"{title}. {'; '.join(numbers)}.", figure)


def _make_panels(results: Results, datasets: Sequence[str], series: Sequence[Series]) -> tuple[Figure, list[Axes]]:
    """Return a figure of small multiples, a panel for each data set, and a legend below."""
    titles = [results.datasets[dataset].title for dataset in datasets]
    across = min(MAX_ACROSS, len(titles))
    down = -(-len(titles) // across)
    legend_rows = -(-len(series) // (2 * across))
    figure = Figure(figsize=(PANEL_SIZE[0] * across, PANEL_SIZE[1] * down + 0.32 * legend_rows), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in panels[len(titles) :]:
        axes.set_visible(False)
    for axes, title in zip(panels, titles, strict=False):
        axes.set_title(title, loc="left", color=INK.light, fontsize=11, fontweight="bold", pad=8)
        axes.tick_params(colors=QUIET.light, labelsize=10, length=0, pad=6)
        axes.grid(color=LINE.light, linewidth=0.8)
        axes.spines[:].set_visible(False)
        axes.set_axisbelow(True)
    figure.legend(
        handles=[
            Line2D([], [], color=each.colour, marker=each.marker, linestyle=each.dashes, label=each.label)
            for each in series
        ],
        loc="outside lower center",
        ncols=-(-len(series) // legend_rows),
        frameon=False,
        fontsize=10,
        labelcolor=INK.light,
    )
    return figure, panels[: len(titles)]
