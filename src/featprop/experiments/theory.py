"""The theory, measured: classification error against the K-Medoids loss of the labelled nodes.

Theorem 1 bounds the error by the mean distance, on S²X, of a node to the nearest labelled one. Every selection of
every strategy is a point. Both fall as labels are added, so the correlation is given over all selections and within
the budgets too, where that does not help.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import pearsonr, spearmanr

from featprop.experiments.figures import Drawing, panels, series_of
from featprop.experiments.results import Result
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import Results
from featprop.experiments.typeset import Entry, Table
from featprop.web.common.palette import QUIET

__all__ = ["Correlation", "correlation", "correlation_table", "error_against_loss"]


@dataclass(frozen=True)
class Correlation:
    """How error and distance go together over some selections.

    Attributes
    ----------
    selections
        How many.
    mean_r, mean_rho
        Pearson's and Spearman's coefficient with the mean distance, the term of Theorem 1.
    max_rho
        Spearman's with the largest distance, the term of Theorem 2.
    within
        Spearman's with the mean distance, the mean over the budgets; NaN if no budget has five selections.
    """

    selections: int
    mean_r: float
    mean_rho: float
    max_rho: float
    within: float


def correlation(lines: Sequence[Result]) -> Correlation | None:
    """Return the correlations over the lines; None with fewer than five or where one side never changes."""
    error, mean, largest = (np.array(values) for values in zip(*(_figures(line) for line in lines), strict=True))
    if len(lines) < 5 or min(np.ptp(error), np.ptp(mean)) == 0:
        return None
    budgets = np.array([line.budget for line in lines])
    parts = [budgets == budget for budget in np.unique(budgets)]
    rhos = [
        spearmanr(mean[part], error[part]).statistic
        for part in parts
        if part.sum() >= 5 and np.ptp(mean[part]) > 0 and np.ptp(error[part]) > 0
    ]
    return Correlation(
        selections=len(lines),
        mean_r=float(pearsonr(mean, error).statistic),
        mean_rho=float(spearmanr(mean, error).statistic),
        max_rho=float(spearmanr(largest, error).statistic) if np.ptp(largest) > 0 else float("nan"),
        within=float(np.mean(rhos)) if rhos else float("nan"),
    )


def error_against_loss(results: Results, model: str, protocol: str) -> Drawing | None:
    """Draw every selection of every strategy, one panel a data set."""
    datasets = [name for name in results.datasets if _of(results, name, model, protocol)]
    if not datasets:
        return None
    names = [name for name in results.strategies if any(results.of(d, name, model, protocol) for d in datasets)]
    looks = {name: series_of(results, name) for name in names}
    figure, grid = panels([results.datasets[dataset].title for dataset in datasets], list(looks.values()))
    words = []
    for axes, dataset in zip(grid, datasets, strict=True):
        for name, look in looks.items():
            lines = results.of(dataset, name, model, protocol)
            places = np.array([_figures(line)[:2] for line in lines]).reshape(-1, 2)
            sizes = [10 + 9 * np.log2(max(1, line.budget / 10)) for line in lines]
            axes.scatter(places[:, 1], places[:, 0], s=sizes, color=look.colour, marker=look.marker, alpha=0.65, lw=0)
        found = correlation(_of(results, dataset, model, protocol))
        if found:
            within = "" if np.isnan(found.within) else f", {found.within:.2f} within a budget"
            text = f"rank correlation {found.mean_rho:.2f}{within}"
            axes.set_title(text, loc="right", color=QUIET.light, fontsize=10, pad=10)
            words.append(
                f"{results.datasets[dataset].title}: Spearman {found.mean_rho:.2f}, Pearson {found.mean_r:.2f}"
            )
        axes.set_xlabel("mean distance to the nearest labelled node", color=QUIET.light, fontsize=10)
        axes.set_ylabel("error, percent", color=QUIET.light, fontsize=10)
    title = f"Classification error of {results.models[model].title} against the K-Medoids loss"
    note = (
        f"Protocol {protocol}: {PROTOCOLS[protocol]}. Every selection of every strategy, budget and seed is a point, "
        "the larger the budget the larger. The mean distance on S²X is the term of Theorem 1; it is never above the "
        "largest, the term of Theorem 2."
    )
    return Drawing(
        f"error-against-loss-{results.models[model].file}-{protocol}",
        title,
        note,
        f"{title}. {'; '.join(words)}.",
        figure,
    )


def correlation_table(results: Results, model: str, protocol: str) -> Table | None:
    """Return the correlations of every data set; None if there are none."""
    rows, figures = [], [("dataset", "selections", "pearson", "spearman", "spearman_within_budget", "spearman_max")]
    for dataset in results.datasets:
        lines = _of(results, dataset, model, protocol)
        found = correlation(lines) if lines else None
        if found:
            numbers = (found.mean_r, found.mean_rho, found.within, found.max_rho)
            texts = ["–" if np.isnan(number) else f"{number:.2f}" for number in numbers]
            rows.append((Entry(results.datasets[dataset].title), Entry(f"{found.selections:,}"), *map(Entry, texts)))
            figures.append((dataset, found.selections, *numbers))  # type: ignore[arg-type]
    if not rows:
        return None
    columns = ("data set", "selections", "Pearson", "Spearman", "Spearman within a budget", "Spearman, max distance")
    return Table(
        name=f"correlation-{results.models[model].file}-{protocol}",
        title=f"Error of {results.models[model].title} and distance to the nearest labelled node: correlation",
        note=(
            f"Protocol {protocol}: {PROTOCOLS[protocol]}. Over all selections, with the mean distance (Theorem 1) and, "
            "in the last column, with the largest (Theorem 2)."
        ),
        groups=(("", len(columns)),),
        columns=columns,
        rows=tuple(rows),
        figures=tuple(figures),
    )


def _figures(line: Result) -> tuple[float, float, float]:
    return 100 * (1 - line.accuracy), line.mean_distance, line.max_distance


def _of(results: Results, dataset: str, model: str, protocol: str) -> list[Result]:
    """Return the lines of all strategies, one that several variants share once."""
    shared = (line for name in results.strategies for line in results.of(dataset, name, model, protocol))
    return list({id(line): line for line in shared}.values())
