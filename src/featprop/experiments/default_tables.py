"""The tables that show the default: beside other strategies with each model, and how well its confidences hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from featprop.datasets import is_known
from featprop.experiments import paper
from featprop.experiments.paper import strategy_title
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import METRICS, Results, Runs, paired_test
from featprop.experiments.typeset import Entry, Table
from featprop.models import DEFAULT_MODEL
from featprop.strategies import DEFAULT_STRATEGY

__all__ = ["calibration_table", "default_table"]

DEFAULT = (DEFAULT_STRATEGY, DEFAULT_MODEL)
NOT_TOLD_APART = 0.05
"""From this p-value on, a difference may be chance."""


def default_table(results: Results, metric: str, protocol: str, published: bool = True) -> Table | None:
    """Return every strategy and model that ran wherever the default did, the best first; None without the default.

    Parameters
    ----------
    published
        Over data sets that have a name, or else over graphs on disk.
    """
    datasets = [
        name
        for name, variant in results.datasets.items()
        if results.of(name, *DEFAULT, protocol) and is_known(variant.name) == published
    ]
    pairs = [(strategy, model) for strategy in results.strategies for model in results.models]
    scores: dict[tuple[str, str], list[Runs]] = {}
    for pair in pairs:
        found = [runs for name in datasets if (runs := results.runs(metric, name, *pair, protocol)) is not None]
        if datasets and len(found) == len(datasets) and all(runs.complete.size for runs in found):
            scores[pair] = found
    if DEFAULT not in scores:
        return None
    means = {pair: float(np.mean([runs.mean for runs in found])) for pair, found in scores.items()}
    best = [max(found[place].mean for found in scores.values()) for place in range(len(datasets))]
    figures: list[tuple[object, ...]] = [("dataset", "strategy", "model", "seeds", "mean", "deviation", "p")]
    rows = []
    for pair in sorted(scores, key=lambda each: -means[each]):
        strategy, model = pair
        row = [Entry(results.strategies[strategy].title), Entry(model)]
        for place, (name, runs) in enumerate(zip(datasets, scores[pair], strict=True)):
            p = _told_apart(scores[DEFAULT][place], runs) if pair != DEFAULT else None
            alike = " ≈" if p is not None and p >= NOT_TOLD_APART else ""
            row.append(Entry(f"{runs.mean:.1f} ± {runs.deviation:.1f}{alike}", runs.mean == best[place]))
            told = (len(runs.complete), runs.mean, runs.deviation, "" if p is None else p)
            figures.append((name, strategy, model, *told))
        rows.append((*row, Entry(f"{means[pair]:.1f}", means[pair] == max(means.values()))))
    title, model = strategy_title(DEFAULT_STRATEGY), DEFAULT_MODEL
    return Table(
        name=f"default-{'' if published else 'graphs-'}{metric.replace('_', '-')}-{protocol}",
        title=f"{METRICS[metric]}: the default, {title} with {model}, beside others",
        note=f"Protocol {protocol}: {PROTOCOLS[protocol]}. Percent, the mean over the budgets "
        f"{results.budgets_text(DEFAULT_MODEL, protocol)}; mean ± standard deviation over the seeds, the best in bold. "
        f"≈ where a paired t-test over the seeds does not tell it from the default (p ≥ {NOT_TOLD_APART}); there is no "
        "test where every seed gave the same. The last column is the mean of the others. "
        f"{title} is asked at {_schedule(results, protocol)} labels.",
        groups=(("", 2), ("", len(datasets)), ("", 1)),
        columns=("strategy", "model", *(_title(results, name) for name in datasets), "mean"),
        rows=tuple(rows),
        figures=tuple(figures),
        section=protocol,
    )


def _title(results: Results, dataset: str) -> str:
    """Return the name of a data set alone, whatever it stands in for elsewhere."""
    name = results.datasets[dataset].name
    return paper.DATASETS.get(name, Path(name).name)


def _told_apart(default: Runs, other: Runs) -> float | None:
    """Return the p-value of a paired test; none where neither depends on the seed, as five copies are one run."""
    return paired_test(default, other) if default.deviation or other.deviation else None


def calibration_table(results: Results) -> Table | None:
    """Return the calibration error of the default's nodes with each model, by budget; None where none was measured."""
    protocol = "unlabelled"
    rows = []
    figures: list[tuple[object, ...]] = [("dataset", "model", "budget", "calibration_error", "accuracy")]
    budgets = sorted({line.budget for line in results.lines if line.calibration_error is not None})
    for dataset in results.datasets:
        for model in results.models:
            lines = results.of(dataset, DEFAULT_STRATEGY, model, protocol)
            row = [Entry(_title(results, dataset)), Entry(model)]
            for budget in budgets:
                here = [line for line in lines if line.budget == budget and line.calibration_error is not None]
                error = float(np.mean([line.calibration_error for line in here])) if here else float("nan")
                row.append(Entry(f"{error:.3f}" if here else "–"))
                if here:
                    accuracy = float(np.mean([line.accuracy for line in here]))
                    figures.append((dataset, model, budget, error, accuracy))
            if any(entry.text != "–" for entry in row[2:]):
                rows.append(tuple(row))
    if not rows:
        return None
    return Table(
        name="default-calibration",
        title="Expected calibration error",
        note=f"How far confidence and accuracy are apart, from 0 to 1, in 15 bins; mean over the seeds, on the nodes "
        f"without a label. {strategy_title(DEFAULT_STRATEGY)} chose the nodes, with the model of the row.",
        groups=(("", 2), ("labels", len(budgets))),
        columns=("data set", "model", *map(str, budgets)),
        rows=tuple(rows),
        figures=tuple(figures),
        section=protocol,
    )


def _schedule(results: Results, protocol: str) -> str:
    lines = [line for name in results.datasets for line in results.of(name, *DEFAULT, protocol)]
    longest: tuple[int, ...] = max((line.schedule for line in lines), key=len)
    return ", ".join(map(str, longest))
