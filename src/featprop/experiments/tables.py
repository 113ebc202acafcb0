"""The tables of a report, and how a table reads in Markdown, CSV, LaTeX, HTML and on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

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
LATEX = str.maketrans(
    {
        **{sign: rf"\{sign}" for sign in "&%#_${}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": "$<$",
        ">": "$>$",
        "±": r"$\pm$",
        "≈": r"$\approx$",
        "≥": r"$\geq$",
        "−": "$-$",
        "²": "$^2$",
        "–": "--",
    }
)

LATEX_TABLE = r"""\begin{{table}}
\centering
\caption{{{caption}}}
\begin{{tabular}}{{{columns}}}
\toprule
{heads}\midrule
{body}\bottomrule
\end{{tabular}}
\end{{table}}
"""

Rows = Mapping[str, Mapping[str, str]]
"""Cells by row and column."""


@dataclass(frozen=True, eq=False)
class Table:
    """Cells under two lines of heads.

    `blocks` are the heads above groups of columns, each with its rows of cells by key and column; a cell in ``**`` is
    bold, and a missing one empty. `section` is the protocol under which a report shows the table, empty for the section
    on theory, time and data.
    """

    name: str
    title: str
    note: str
    blocks: Mapping[str, Rows]
    section: str = ""

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The cells, with two levels of columns."""
        frames = {title: pd.DataFrame.from_dict(dict(rows), orient="index") for title, rows in self.blocks.items()}
        return pd.concat(frames, axis=1).fillna(EMPTY)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The heads above groups of columns, each with its number of columns."""
        return [(title, len(list(columns))) for title, columns in groupby(title for title, _ in self.frame.columns)]

    @property
    def columns(self) -> list[str]:
        """The heads of the columns."""
        return [str(column) for _, column in self.frame.columns]

    @property
    def rows(self) -> list[list[str]]:
        """The cells by row."""
        return [list(map(str, row)) for row in self.frame.to_numpy()]

    @property
    def starts(self) -> list[int]:
        """The first column of each group."""
        return [0, *accumulate(span for _, span in self.groups[:-1])]

    @property
    def heads(self) -> list[str]:
        """One head per column, with the title of a group in its first."""
        heads = self.columns
        for (title, _), place in zip(self.groups, self.starts, strict=True):
            heads[place] = f"{title}: {heads[place]}" if title else heads[place]
        return heads

    def markdown(self) -> str:
        """Return the table under its title and its note."""
        lines = [f"**{self.title}**", "", self.note, "", f"| {' | '.join(self.heads)} |"]
        lines.append(f"| --- |{' ---: |' * (len(self.columns) - 1)}")
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return the cells as CSV."""
        plain = self.frame.replace(r"\*\*", "", regex=True)
        return str(plain.to_csv(header=self.heads, index=False))

    def latex(self) -> str:
        """Return a table that needs only the package booktabs."""
        groups = " & ".join(
            rf"\multicolumn{{{span}}}{{c}}{{{_escape_latex(title)}}}" if title else " & " * (span - 1)
            for title, span in self.groups
        )
        head, *rows = (" & ".join(map(_escape_latex, row)) for row in [self.columns, *self.rows])
        caption, columns = _escape_latex(f"{self.title}. {self.note}"), "l" + "r" * (len(self.columns) - 1)
        heads, body = ("".join(f"{row} \\\\\n" for row in part) for part in ([groups, head], rows))
        return LATEX_TABLE.format(caption=caption, columns=columns, heads=heads, body=body)

    def html(self) -> Markup:
        """Return the table as an element of a page."""
        return render_template("experiments/table.html.j2", table=self, openings=self.starts[1:])

    def text(self) -> str:
        """Return the table for a terminal, without its title and its note."""
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        heads = "".join(
            f"{title:<{sum(widths[start : start + span]) + 3 * span}}"
            for (title, span), start in zip(self.groups, self.starts, strict=True)
        )
        body = ["   ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join(line.rstrip() for line in [heads, *body])


def _escape_latex(text: str) -> str:
    """Return text for LaTeX, bold if it is in ``**``."""
    escaped = text.strip("*").translate(LATEX) if text.startswith("**") else text.translate(LATEX)
    return rf"\textbf{{{escaped}}}" if text.startswith("**") else escaped


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def describe_protocol(protocol: str) -> str:
    """Return the sentence on a protocol that every table and figure shows."""
    return f"Protocol {protocol}: {PROTOCOLS[protocol]}."


def _strategy_heads(results: Results, names: Sequence[str]) -> Rows:
    return {name: {"strategy": results.strategies[name].title} for name in names}


def score_table(results: Results, metric: str, model: str, protocol: str) -> Table | None:
    """Return one metric of every strategy on every data set; None without results.

    For each data set: mean ± standard deviation, the best in bold; the p-value of a paired test against the best; and,
    where the paper prints a number, that number and the difference of ours from it.
    """
    rows = results.table[(results.table.model == model) & (results.table.protocol == protocol)]
    names = [name for name in results.strategies if name in set(rows.strategy)]
    if not names:
        return None
    blocks = {"": _strategy_heads(results, names)}
    has_paper = False
    for dataset, runs in results.all_runs(metric, model, protocol).items():
        variant = results.datasets[dataset]
        best = max(runs, key=lambda name: runs[name].mean)
        printed = {name: paper.printed_score(metric, model, protocol, name, variant.name) for name in names}
        cells: dict[str, dict[str, str]] = {}
        for name in names:
            ours, theirs = runs.get(name), printed[name]
            p = paired_test(runs[best], ours) if ours and name != best else None
            cells[name] = {
                "ours": _bold(ours.text(2), name == best) if ours else EMPTY,
                "p": "" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}",
            }
            if any(printed.values()):
                has_paper = True
                gap = f"{ours.mean - theirs.mean:+.2f}".replace("-", "−") if ours and theirs else EMPTY
                cells[name] |= {"paper": f"{theirs.mean:.2f} ± {theirs.deviation:.2f}" if theirs else EMPTY}
                cells[name] |= {"difference": gap}
        blocks[variant.title] = cells
    return Table(
        name=f"{metric.replace('_', '-')}-{results.models[model].file}-{protocol}",
        title=f"{METRICS[metric]} of {results.models[model].title}",
        note=_score_note(results, rows, model, protocol, has_paper),
        blocks=blocks,
        section=protocol,
    )


def _score_note(results: Results, rows: pd.DataFrame, model: str, protocol: str, has_paper: bool) -> str:
    seeds = sorted(rows.groupby("strategy").seed.nunique())
    n_seeds = f"{seeds[0]}" if seeds[0] == seeds[-1] else f"{seeds[0]} to {seeds[-1]}"
    n_seeds += " seed" if seeds[-1] == 1 else " seeds"
    budgets, papers = results.budgets_text(model, protocol), ", ".join(map(str, paper.BUDGETS))
    note = (
        f"{describe_protocol(protocol)} Percent, averaged over the budgets {budgets}; mean ± standard deviation of "
        f"{n_seeds}; p of a paired t-test against the best, which is in bold."
    )
    variants = [results.strategies[key] for key in rows.strategy.unique()]
    note += "".join(sorted(f" {variant.title} with {variant.note}." for variant in variants if variant.note))
    settings = results.models[model].note
    note += f" Settings of the model: {settings}." if settings else ""
    return note + (f" The paper's numbers are over {papers}." if has_paper and budgets != papers else "")


def matrix_table(results: Results, metric: str, model: str, protocol: str) -> Table | None:
    """Return one metric of every strategy at every budget, with its standard error; None without results."""
    blocks: dict[str, Rows] = {}
    for dataset, runs in results.all_runs(metric, model, protocol).items():
        best = np.max([each.means for each in runs.values()], axis=0)
        blocks[results.datasets[dataset].title] = {
            name: {
                str(budget): _bold(f"{mean:.1f} ± {error:.1f}" if error > 0 else f"{mean:.1f}", mean >= highest - 1e-9)
                for budget, mean, error, highest in zip(each.budgets, each.means, each.errors, best, strict=True)
            }
            for name, each in runs.items()
        }
    names = [name for name in results.strategies if any(name in rows for rows in blocks.values())]
    if not names:
        return None
    return Table(
        name=f"matrix-{metric.replace('_', '-')}-{results.models[model].file}-{protocol}",
        title=f"{METRICS[metric]} of {results.models[model].title} by budget",
        note=f"{describe_protocol(protocol)} Percent, mean ± standard error over the seeds; the best in bold.",
        blocks={"": _strategy_heads(results, names), **blocks},
        section=protocol,
    )


def time_table(results: Results, model: str) -> Table | None:
    """Return the times of selection and training next to the paper's; None without results."""
    blocks: dict[str, Rows] = {"": _strategy_heads(results, list(results.strategies))}
    seeds: set[int] = set()
    for dataset, variant in results.datasets.items():
        budgets = results.budgets_of(dataset, model, "paper")
        cells = {}
        for name in results.strategies:
            found = results.of(dataset, name, model, "paper")
            found = found[found.budget.isin(budgets)]
            printed = paper.printed_seconds(name, variant.name) if model == "gcn" else None
            seeds |= set(found.seed)
            cells[name] = {
                "selection": EMPTY if found.empty else _format_seconds(found.seconds_select.sum()),
                "training": EMPTY if found.empty else _format_seconds(found.seconds_train.sum()),
                "memory": EMPTY if found.empty else f"{found.peak_memory.max() / 2**20:,.0f} MB",
                "paper": f"{printed:,} s" if printed else EMPTY,
            }
        blocks[variant.title] = cells
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
        blocks=blocks,
    )


def _format_seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 10 else f"{value:.1f} s"


def datasets_table(statistics: Mapping[str, Mapping[str, Any]], order: list[str]) -> Table | None:
    """Return the counts of the data sets as loaded, next to those the paper prints."""
    rows = {}
    for name in order:
        if name not in statistics:
            continue
        counts = {count: f"{statistics[name][count]:,}" for count in COUNTS}
        counts["homophily"] = f"{statistics[name]['homophily']:.2f}"
        rows[name] = {"data set": paper.dataset_title(name, order), "counted": "here", **counts}
        printed = CATALOGUE[name].printed if name in CATALOGUE else None
        if printed:
            counts = {count: f"{getattr(printed, count):,}" for count in ("nodes", "edges", "classes", "features")}
            rows[f"{name}, paper"] = {"data set": "", "counted": "paper", **counts, "labelled": "", "homophily": ""}
    if not rows:
        return None
    return Table(
        name="datasets",
        title="Data sets",
        note=(
            "Protocol: counted as loaded, each edge once and without self-loops. The paper prints the raw citation "
            "links, and has the feature sizes of Cora and Citeseer swapped."
        ),
        blocks={"": rows},
    )


def default_table(results: Results, metric: str, protocol: str, published: bool = True) -> Table | None:
    """Return every strategy and model that ran wherever the default did, the best first; None without the default.

    It shows the `published` data sets, which have a name, or else the graphs on disk.
    """
    datasets = [
        name
        for name, variant in results.datasets.items()
        if len(results.of(name, *DEFAULT, protocol)) and is_known(variant.name) == published
    ]
    scores: dict[tuple[str, str], list[Runs]] = {}
    for pair in [(strategy, model) for strategy in results.strategies for model in results.models]:
        found = [runs for name in datasets if (runs := results.runs(metric, name, *pair, protocol))]
        if datasets and len(found) == len(datasets):
            scores[pair] = found
    if DEFAULT not in scores:
        return None
    means = {pair: float(np.mean([runs.mean for runs in found])) for pair, found in scores.items()}
    best = [max(found[place].mean for found in scores.values()) for place in range(len(datasets))]
    rows = {}
    for pair in sorted(scores, key=lambda each: -means[each]):
        row = {"strategy": results.strategies[pair[0]].title, "model": pair[1]}
        for name, ours, runs, highest in zip(datasets, scores[DEFAULT], scores[pair], best, strict=True):
            is_random = ours.deviation or runs.deviation  # five copies of one run are no sample
            p = paired_test(ours, runs) if pair != DEFAULT and is_random else None
            mark = " ≈" if p is not None and p >= SIGNIFICANCE_LEVEL else ""
            cell = f"{runs.mean:.1f} ± {runs.deviation:.1f}{mark}"
            row[_short_title(results, name)] = _bold(cell, runs.mean == highest)
        rows[str(pair)] = {**row, "mean": _bold(f"{means[pair]:.1f}", means[pair] == max(means.values()))}
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
        blocks={"": rows},
        section=protocol,
    )


def _short_title(results: Results, dataset: str) -> str:
    name = results.datasets[dataset].name
    return paper.DATASETS.get(name, Path(name).name)


def calibration_table(results: Results) -> Table | None:
    """Return the calibration error of the default's nodes with each model, by budget; None if it was not measured."""
    measured = results.table[results.table.calibration_error.notna()]
    measured = measured[(measured.strategy == DEFAULT_STRATEGY) & (measured.protocol == "unlabelled")]
    if measured.empty:
        return None
    errors = measured.pivot_table("calibration_error", ["dataset", "model"], "budget")
    pairs = [(dataset, model) for dataset in results.datasets for model in results.models]
    pairs = [pair for pair in pairs if pair in errors.index]
    heads = {f"{pair}": {"data set": _short_title(results, pair[0]), "model": pair[1]} for pair in pairs}
    cells = {
        f"{pair}": {
            f"{budget}": EMPTY if np.isnan(error) else f"{error:.3f}" for budget, error in errors.loc[pair].items()
        }
        for pair in pairs
    }
    return Table(
        name="default-calibration",
        title="Expected calibration error",
        note="The difference between confidence and accuracy, from 0 to 1, in 15 bins; mean over the seeds, on the "
        f"nodes without a label. {paper.strategy_title(DEFAULT_STRATEGY)} selected the nodes, with the model of the "
        "row.",
        blocks={"": heads, "labels": cells},
        section="unlabelled",
    )


def correlation(rows: pd.DataFrame) -> dict[str, float] | None:
    """Return the correlations of the error with distances over some rows, by their heads in the table.

    None with fewer than five rows or where one side is constant. Both error and distance fall as labels are added;
    within a budget that does not help: the mean over the budgets with at least five selections.
    """
    error = 100 * (1 - rows.accuracy)
    if len(rows) < 5 or min(np.ptp(error), np.ptp(rows.mean_distance)) == 0:
        return None
    rhos = [
        spearmanr(part.mean_distance, error[part.index]).statistic
        for _, part in rows.groupby("budget")
        if len(part) >= 5 and np.ptp(part.mean_distance) > 0 and np.ptp(error[part.index]) > 0
    ]
    is_constant = np.ptp(rows.max_distance) == 0
    return {
        "Pearson": float(pearsonr(rows.mean_distance, error).statistic),
        "Spearman": float(spearmanr(rows.mean_distance, error).statistic),
        "Spearman within a budget": float(np.mean(rhos)) if rhos else np.nan,
        "Spearman, max distance": np.nan if is_constant else float(spearmanr(rows.max_distance, error).statistic),
    }


def correlation_table(results: Results, model: str, protocol: str) -> Table | None:
    """Return the correlations on every data set; None if there are none."""
    rows = {}
    for dataset, variant in results.datasets.items():
        selections = results.select(dataset, model, protocol)
        if found := correlation(selections):
            texts = {head: EMPTY if np.isnan(value) else f"{value:.2f}" for head, value in found.items()}
            rows[dataset] = {"data set": variant.title, "selections": f"{len(selections):,}", **texts}
    if not rows:
        return None
    return Table(
        name=f"correlation-{results.models[model].file}-{protocol}",
        title=f"Correlation between the error of {results.models[model].title} and the distance to the nearest "
        "labelled node",
        note=f"{describe_protocol(protocol)} Over all selections, with the mean distance (Theorem 1) and, in the last "
        "column, the largest distance (Theorem 2).",
        blocks={"": rows},
    )
