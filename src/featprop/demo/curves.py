"""The learning curves: a metric against the number of labels, with bands of one standard error."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from featprop.demo.experiment import Comparison, Scores
from featprop.drawing.palette import FEATPROP, INK, LINE, QUIET, RANDOM
from featprop.drawing.svg import inline_svg

__all__ = ["curve"]

STYLES = {"featprop": ("FeatProp", FEATPROP.light, "o", "-"), "random": ("random", RANDOM.light, "s", (0, (5, 2)))}


def curve(comparison: Comparison, metric: str, scores: dict[str, Scores]) -> str:
    """Draw one metric of both strategies.

    Parameters
    ----------
    comparison
        Where the budgets come from.
    metric
        The name to show.
    scores
        The scores of each strategy.
    """
    budgets = comparison.budgets
    figure = Figure(figsize=(5.2, 3.7), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log", base=2)
    for name, (label, colour, marker, dashes) in STYLES.items():
        mean, error = scores[name].mean, scores[name].standard_error
        axes.fill_between(budgets, mean - error, mean + error, color=colour, alpha=0.16, linewidth=0)
        axes.plot(budgets, mean, color=colour, marker=marker, linestyle=dashes, linewidth=2.2, markersize=6)
        side = 1 if mean[-1] >= max(other.mean[-1] for other in scores.values()) else -1
        axes.annotate(
            label,
            (budgets[-1], mean[-1]),
            xytext=(11, 4 * side),
            textcoords="offset points",
            ha="left",
            va="center",
            color=colour,
            fontsize=12,
            fontweight="bold",
        )
    axes.set_title(metric, loc="left", color=INK.light, fontsize=13, fontweight="bold", pad=14)
    axes.set_xlabel("labels", color=QUIET.light, fontsize=11)
    axes.set_xticks(budgets, [str(budget) for budget in budgets])
    axes.minorticks_off()
    axes.set_ylim(*_limits(comparison))
    axes.yaxis.set_major_formatter(PercentFormatter(decimals=0, symbol=" %"))
    axes.tick_params(colors=QUIET.light, labelsize=11, length=0, pad=7)
    axes.grid(axis="y", color=LINE.light, linewidth=0.8)
    axes.spines[:].set_visible(False)
    axes.set_axisbelow(True)
    values = "; ".join(
        f"{label} " + ", ".join(f"{scores[name].mean[row]:.1f} % with {b} labels" for row, b in enumerate(budgets))
        for name, (label, *_) in STYLES.items()
    )
    return inline_svg(figure, metric, f"{metric} against the number of labels. {values}.")


def _limits(comparison: Comparison) -> tuple[float, float]:
    """Return tens around every mean of both metrics, so that the figures can be compared."""
    means = [scores.mean for metric in (comparison.accuracy, comparison.macro_f1) for scores in metric.values()]
    lowest = min(float(mean.min()) for mean in means)
    return max(0.0, 10 * np.floor((lowest - 5) / 10)), 101.0
