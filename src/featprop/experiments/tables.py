"""The tables of a report, and how a table reads in Markdown, CSV, LaTeX, HTML and on a terminal."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy.stats import pearsonr, spearmanr

from featprop.datasets import CATALOGUE, is_known
from featprop.experiments import paper
from featprop.experiments.results import COUNTS
from featprop.experiments.settings import PROTOCOLS
from featprop.experiments.summary import METRICS, Results, Runs, paired_test
from featprop.models import DEFAULT_MODEL
from featprop.strategies import DEFAULT_STRATEGY
from featprop.web.common.templates import render_template

EMPTY = "–"
DEFAULT = (DEFAULT_STRATEGY, DEFAULT_MODEL)
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class Entry:
    """One cell of a table."""

    text: str
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells under two lines of heads.

    `groups` are the heads above groups of columns, each with its number of columns; `section` is the protocol under
    which a report shows the table, empty for the section on theory, time and data.
    """

    name: str
    title: str
    note: str
    groups: Sequence[tuple[str, int]]
    columns: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    section: str = ""

    @property
    def starts(self) -> list[int]:
        """The first column of each group."""
        return [0, *accumulate(span for _, span in self.groups[:-1])]

    @property
    def heads(self) -> list[str]:
        """One head per column, with the title of a group in its first."""
        heads = list(self.columns)
        for (title, _), place in zip(self.groups, self.starts, strict=True):
            heads[place] = f"{title}: {heads[place]}" if title and heads[place] != title else heads[place]
        return heads

    def markdown(self) -> str:
        """Return the table under its title and its note."""
        lines = [f"**{self.title}**", "", self.note, "", f"| {' | '.join(self.heads)} |"]
        lines.append(f"| --- |{' ---: |' * (len(self.columns) - 1)}")
        for row in self.rows:
            cells = [f"**{cell.text}**" if cell.bold else cell.text for cell in row]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return the cells as CSV."""
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [self.heads, *([cell.text for cell in row] for row in self.rows)]
        )
        return text.getvalue()

    def latex(self) -> str:
        """Return a table that needs only the package booktabs."""
        return render_template("experiments/table.tex.j2", table=self)

    def html(self) -> Markup:
        """Return the table as an element of a page."""
        return Markup(render_template("experiments/table.html.j2", table=self, openings=self.starts[1:]))

    def text(self) -> str:
        """Return the table for a terminal, without its title and its note."""
        lines = [list(self.columns), *([cell.text for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        heads = "".join(
            f"{title:<{sum(widths[start : start + span]) + 3 * span}}"
            for (title, span), start in zip(self.groups, self.starts, strict=True)
        )
        body = ["   ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join(line.rstrip() for line in [heads, *body])


def describe_protocol(protocol: str) -> str:
    """Return the sentence on a protocol that every table and figure shows."""
    return f"Protocol {protocol}: {PROTOCOLS[protocol]}."


def score_table(results: Results, metric: str, model: str, protocol: str) -> Table | None:
    """Return one metric of every strategy on every data set; None without results.

    For each data set: mean ± standard deviation, the best in bold; the p-value of a paired test against the best; and,
    where the paper prints a number, that number and the difference of ours from it.
    """
    by_dataset: dict[str, dict[str, Runs]] = {}
    for name in results.datasets:
        found = {key: results.runs(metric, name, key, model, protocol) for key in results.strategies}
        if any(found.values()):
            by_dataset[name] = {key: runs for key, runs in found.items() if runs}
    strategies = [
        name for name in results.strategies if any(len(results.of(each, name, model, protocol)) for each in by_dataset)
    ]
    if not strategies:
        return None
    groups, columns = [("", 1)], ["strategy"]
    rows = {name: [Entry(results.strategies[name].title)] for name in strategies}
    for dataset, runs in by_dataset.items():
        variant = results.datasets[dataset]
        means = {name: each.mean for name, each in runs.items() if not math.isnan(each.mean)}
        best = max(means, key=lambda name: means[name], default="")
        printed = {name: paper.printed_score(metric, model, protocol, name, variant.name) for name in strategies}
        has_paper = any(printed.values())
        groups.append((variant.title, 4 if has_paper else 2))
        columns += ["ours", "p", "paper", "difference"] if has_paper else ["ours", "p"]
        for name in strategies:
            ours, theirs = runs.get(name), printed[name]
            ours = None if ours is None or math.isnan(ours.mean) else ours
            p = paired_test(runs[best], ours) if ours and name != best else None
            gap = f"{ours.mean - theirs.mean:+.2f}".replace("-", "−") if ours and theirs else EMPTY
            rows[name].append(Entry(_format_spread(ours) if ours else EMPTY, bool(ours) and name == best))
            rows[name].append(Entry("" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"))
            if has_paper:
                rows[name].append(Entry(f"{theirs.mean:.2f} ± {theirs.deviation:.2f}" if theirs else EMPTY))
                rows[name].append(Entry(gap))
    return Table(
        name=f"{metric.replace('_', '-')}-{results.models[model].file}-{protocol}",
        title=f"{METRICS[metric]} of {results.models[model].title}",
        note=_score_note(results, model, protocol, "paper" in columns),
        groups=groups,
        columns=columns,
        rows=list(rows.values()),
        section=protocol,
    )


def matrix_table(results: Results, metric: str, model: str, protocol: str) -> Table | None:
    """Return one metric of every strategy at every budget, with its standard error; None without results."""
    groups, columns = [("", 1)], ["strategy"]
    rows = {name: [Entry(variant.title)] for name, variant in results.strategies.items()}
    for dataset, variant in results.datasets.items():
        found = {name: results.runs(metric, dataset, name, model, protocol) for name in rows}
        curves = {name: runs.curve() for name, runs in found.items() if runs is not None and runs.complete.size}
        if not curves:
            continue
        budgets = results.budgets_of(dataset, model, protocol)
        groups.append((variant.title, len(budgets)))
        columns += map(str, budgets)
        best = np.nanmax([curve.mean for curve in curves.values()], axis=0)
        for name, row in rows.items():
            curve = curves.get(name)
            if curve is None:
                row += [Entry(EMPTY)] * len(budgets)
                continue
            spread = [f" ± {error:.1f}" if error > 0 else "" for error in curve.error]
            row += [
                Entry(f"{mean:.1f}{more}", bool(mean >= top - 1e-9))
                for mean, more, top in zip(curve.mean, spread, best, strict=True)
            ]
    shown = [row for row in rows.values() if any(cell.text != EMPTY for cell in row[1:])]
    if not shown:
        return None
    return Table(
        name=f"matrix-{metric.replace('_', '-')}-{results.models[model].file}-{protocol}",
        title=f"{METRICS[metric]} of {results.models[model].title} by budget",
        note=f"{describe_protocol(protocol)} Percent, mean ± standard error over the seeds; the best in bold.",
        groups=groups,
        columns=columns,
        rows=shown,
        section=protocol,
    )


def _score_note(results: Results, model: str, protocol: str, has_paper: bool) -> str:
    rows = results.table[(results.table.model == model) & (results.table.protocol == protocol)]
    seeds = sorted(rows.groupby("strategy").seed.nunique())
    n_seeds = f"{seeds[0]}" if seeds[0] == seeds[-1] else f"{seeds[0]} to {seeds[-1]}"
    budgets, papers = results.budgets_text(model, protocol), ", ".join(map(str, paper.BUDGETS))
    note = (
        f"{describe_protocol(protocol)} Percent, averaged over the budgets {budgets}; mean ± standard deviation of "
        f"{n_seeds} seeds; p of a paired t-test against the best, which is in bold."
    )
    variants = [results.strategies[key] for key in rows.strategy.unique()]
    note += "".join(sorted(f" {variant.title} with {variant.note}." for variant in variants if variant.note))
    settings = results.models[model].note
    note += f" Settings of the model: {settings}." if settings else ""
    return note + (f" The paper's numbers are over {papers}." if has_paper and budgets != papers else "")


def _format_spread(runs: Runs) -> str:
    return f"{runs.mean:.2f} ± {runs.deviation:.2f}" if len(runs.complete) > 1 else f"{runs.mean:.2f}"


def budget_table(scores: Mapping[str, Mapping[str, Runs]], title: str, protocol: str) -> Table:
    """Return runs at each budget side by side: for each metric, runs over the same budgets by their column head."""
    columns = [runs for by_head in scores.values() for runs in by_head.values()]
    budgets = columns[0].budgets
    return Table(
        name=f"by-budget-{protocol}",
        title=title,
        note=f"{describe_protocol(protocol)} Percent, mean ± standard deviation.",
        groups=[("", 1), *((METRICS[metric], len(by_head)) for metric, by_head in scores.items())],
        columns=["labels", *(head for by_head in scores.values() for head in by_head)],
        rows=[
            [Entry(f"{budget}"), *(Entry(runs.text(place)) for runs in columns)] for place, budget in enumerate(budgets)
        ],
        section=protocol,
    )


def time_table(results: Results, model: str) -> Table | None:
    """Return the times of selection and training next to the paper's; None without results."""
    groups, columns = [("", 1)], ["strategy"]
    rows = {name: [Entry(variant.title)] for name, variant in results.strategies.items()}
    seeds: set[int] = set()
    for dataset, variant in results.datasets.items():
        groups.append((variant.title, 4))
        columns += ["selection", "training", "memory", "paper"]
        budgets = results.budgets_of(dataset, model, "paper")
        for name, row in rows.items():
            found = results.of(dataset, name, model, "paper")
            found = found[found.budget.isin(budgets)]
            seconds = paper.SECONDS.get((name, variant.name)) if model == "gcn" else None
            seeds |= set(found.seed)
            if found.empty:
                row += [Entry(EMPTY)] * 3
            else:
                row += [Entry(_format_seconds(found[column].sum())) for column in ("seconds_select", "seconds_train")]
                row.append(Entry(f"{found.peak_memory.max() / 2**20:,.0f} MB"))
            row.append(Entry(EMPTY if seconds is None else f"{seconds:,} s"))
    if not seeds:
        return None
    return Table(
        name=f"running-time-{results.models[model].file}",
        title=f"Running time with {results.models[model].title}",
        note=(
            f"Protocol: {len(seeds)} runs over the budgets {results.budgets_text(model, 'paper')}, in seconds of wall "
            "time while other processes were running. Time to select the nodes and to train the models; peak memory of "
            "the process; the paper's seconds for 5 runs on its machine. Not included: reading and propagating the "
            "features, which happens once, and the first model, trained on 5 random labels. Distances that several "
            "selections need count only for the first of them. A selection that does not depend on the seed counts for "
            "each seed."
        ),
        groups=groups,
        columns=columns,
        rows=list(rows.values()),
    )


def _format_seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 10 else f"{value:.1f} s"


def datasets_table(statistics: Mapping[str, Mapping[str, Any]], order: list[str]) -> Table | None:
    """Return the counts of the data sets as loaded, next to those the paper prints."""
    rows = []
    for name in order:
        if not set(COUNTS) <= set(statistics.get(name, ())):
            continue
        ours = statistics[name]
        counts = [f"{ours[key]:,}" for key in ("nodes", "edges", "classes", "features", "labelled")]
        texts = [paper.dataset_title(name, order), "here", *counts, f"{ours['homophily']:.2f}"]
        rows.append([*map(Entry, texts)])
        printed = CATALOGUE[name].printed if name in CATALOGUE else None
        if printed:
            counts = [f"{count:,}" for count in (printed.nodes, printed.edges, printed.classes, printed.features)]
            rows.append([*map(Entry, ["", "paper", *counts, "", ""])])
    if not rows:
        return None
    columns = ["data set", "counted", *COUNTS]
    return Table(
        name="datasets",
        title="Data sets",
        note=(
            "Protocol: counted as loaded, each edge once and without self-loops. The paper prints the raw citation "
            "links, and has the feature sizes of Cora and Citeseer swapped."
        ),
        groups=[("", len(columns))],
        columns=columns,
        rows=rows,
    )


def default_table(results: Results, metric: str, protocol: str, published: bool = True) -> Table | None:
    """Return every strategy and model that ran wherever the default did, the best first; None without the default.

    Parameters
    ----------
    published
        Whether to show the data sets with a name, or else the graphs on disk.
    """
    datasets = [
        name
        for name, variant in results.datasets.items()
        if len(results.of(name, *DEFAULT, protocol)) and is_known(variant.name) == published
    ]
    scores: dict[tuple[str, str], list[Runs]] = {}
    for pair in [(strategy, model) for strategy in results.strategies for model in results.models]:
        found = [runs for name in datasets if (runs := results.runs(metric, name, *pair, protocol)) is not None]
        if datasets and len(found) == len(datasets) and all(runs.complete.size for runs in found):
            scores[pair] = found
    if DEFAULT not in scores:
        return None
    means = {pair: float(np.mean([runs.mean for runs in found])) for pair, found in scores.items()}
    best = [max(found[place].mean for found in scores.values()) for place in range(len(datasets))]
    rows = []
    for pair in sorted(scores, key=lambda each: -means[each]):
        row = [Entry(results.strategies[pair[0]].title), Entry(pair[1])]
        for ours, runs, highest in zip(scores[DEFAULT], scores[pair], best, strict=True):
            is_random = ours.deviation or runs.deviation  # five copies of one run are no sample
            p = paired_test(ours, runs) if pair != DEFAULT and is_random else None
            mark = " ≈" if p is not None and p >= SIGNIFICANCE_LEVEL else ""
            row.append(Entry(f"{runs.mean:.1f} ± {runs.deviation:.1f}{mark}", runs.mean == highest))
        rows.append([*row, Entry(f"{means[pair]:.1f}", means[pair] == max(means.values()))])
    title, model = paper.strategy_title(DEFAULT_STRATEGY), DEFAULT_MODEL
    asked = max((each for name in results.datasets for each in results.of(name, *DEFAULT, protocol).schedule), key=len)
    return Table(
        name=f"default-{'' if published else 'graphs-'}{metric.replace('_', '-')}-{protocol}",
        title=f"{METRICS[metric]}: the default, {title} with {model}, compared with others",
        note=f"{describe_protocol(protocol)} Percent, averaged over the budgets "
        f"{results.budgets_text(DEFAULT_MODEL, protocol)}; mean ± standard deviation over the seeds, the best in bold. "
        f"≈ marks scores that a paired t-test over the seeds cannot distinguish from the default's "
        f"(p ≥ {SIGNIFICANCE_LEVEL}); there is no test if every seed gave the same score. The last column is the mean "
        f"of the others. {title} is asked at {', '.join(map(str, asked))} labels.",
        groups=[("", 2), ("", len(datasets)), ("", 1)],
        columns=["strategy", "model", *(_short_title(results, name) for name in datasets), "mean"],
        rows=rows,
        section=protocol,
    )


def _short_title(results: Results, dataset: str) -> str:
    name = results.datasets[dataset].name
    return paper.DATASETS.get(name, Path(name).name)


def calibration_table(results: Results) -> Table | None:
    """Return the calibration error of the default's nodes with each model, by budget; None if it was not measured."""
    rows = []
    measured = results.table[results.table.calibration_error.notna()]
    budgets = sorted(measured.budget.unique())
    for dataset in results.datasets:
        for model in results.models:
            found = results.of(dataset, DEFAULT_STRATEGY, model, "unlabelled")
            errors = found[found.calibration_error.notna()].groupby("budget").calibration_error.mean()
            if len(errors):
                texts = [f"{errors[budget]:.3f}" if budget in errors else EMPTY for budget in budgets]
                rows.append([*map(Entry, [_short_title(results, dataset), model, *texts])])
    if not rows:
        return None
    return Table(
        name="default-calibration",
        title="Expected calibration error",
        note="The difference between confidence and accuracy, from 0 to 1, in 15 bins; mean over the seeds, on the "
        f"nodes without a label. {paper.strategy_title(DEFAULT_STRATEGY)} selected the nodes, with the model of the "
        "row.",
        groups=[("", 2), ("labels", len(budgets))],
        columns=["data set", "model", *map(str, budgets)],
        rows=rows,
        section="unlabelled",
    )


class Correlation(NamedTuple):
    """Correlation of the error with distances over some selections.

    Pearson's and Spearman's coefficient with the mean distance, Spearman's within a budget (the mean over the budgets
    with at least five selections), and Spearman's with the largest distance.
    """

    selections: int
    mean_r: float
    mean_rho: float
    within: float
    max_rho: float


def correlation(rows: pd.DataFrame) -> Correlation | None:
    """Return the correlations over some rows; None with fewer than five or where one side is constant.

    Both error and distance fall as labels are added; within a budget that does not help.
    """
    error, mean, largest = 100 * (1 - rows.accuracy), rows.mean_distance, rows.max_distance
    if len(rows) < 5 or min(np.ptp(error), np.ptp(mean)) == 0:
        return None
    rhos = [
        spearmanr(mean[part], error[part]).statistic
        for part in rows.groupby("budget").groups.values()
        if len(part) >= 5 and np.ptp(mean[part]) > 0 and np.ptp(error[part]) > 0
    ]
    return Correlation(
        selections=len(rows),
        mean_r=float(pearsonr(mean, error).statistic),
        mean_rho=float(spearmanr(mean, error).statistic),
        within=float(np.mean(rhos)) if rhos else float("nan"),
        max_rho=float(spearmanr(largest, error).statistic) if np.ptp(largest) > 0 else float("nan"),
    )


def select_all(results: Results, dataset: str, model: str, protocol: str) -> pd.DataFrame:
    """Return the rows of all strategies; a result that two variants share occurs once."""
    return pd.concat([results.of(dataset, name, model, protocol) for name in results.strategies]).drop_duplicates(
        "line"
    )


def correlation_table(results: Results, model: str, protocol: str) -> Table | None:
    """Return the correlations on every data set; None if there are none."""
    rows = []
    for dataset, variant in results.datasets.items():
        found = correlation(select_all(results, dataset, model, protocol))
        if found:
            numbers = (found.mean_r, found.mean_rho, found.within, found.max_rho)
            texts = [EMPTY if np.isnan(number) else f"{number:.2f}" for number in numbers]
            rows.append([*map(Entry, [variant.title, f"{found.selections:,}", *texts])])
    if not rows:
        return None
    columns = ["data set", "selections", "Pearson", "Spearman", "Spearman within a budget", "Spearman, max distance"]
    return Table(
        name=f"correlation-{results.models[model].file}-{protocol}",
        title=f"Correlation between the error of {results.models[model].title} and the distance to the nearest "
        "labelled node",
        note=f"{describe_protocol(protocol)} Over all selections, with the mean distance (Theorem 1) and, in the last "
        "column, the largest distance (Theorem 2).",
        groups=[("", len(columns))],
        columns=columns,
        rows=rows,
    )
