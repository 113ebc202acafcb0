"""Learning curves: a metric against the number of labels, one panel a data set, with bands of one standard error."""

from __future__ import annotations

from collections.abc import Sequence

from featprop.drawing.palette import FEATPROP, QUIET, RANDOM
from featprop.experiments.figures import Drawing, Series, panels, series_of
from featprop.experiments.paper import MODELS, STRATEGIES, title_of
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import METRICS, Results

__all__ = ["ABLATION", "ablation", "later_curves", "learning_curves", "model_comparison"]

ABLATION = ("featprop", "featprop-kcenter", "featprop-hidden")
"""FeatProp, with K-Center in place of K-Medoids, and with the final layer in place of the propagated features."""


def learning_curves(results: Results, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw the strategies the paper compares."""
    names = [name for name in results.strategies if name in STRATEGIES and name not in ABLATION[1:]]
    lines = [(series_of(name), name, model) for name in names]
    title = f"{METRICS[metric]} of {MODELS[model]} against the number of labels"
    return _drawn(results, metric, protocol, lines, f"curves-{metric.replace('_', '-')}-{model}-{protocol}", title)


def later_curves(results: Results, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw the strategies the paper does not have beside FeatProp and random choice."""
    later = [name for name in results.strategies if name not in STRATEGIES]
    if not later:
        return None
    lines = [(series_of(name), name, model) for name in ["random", "featprop", *later]]
    name = f"curves-later-{metric.replace('_', '-')}-{model}-{protocol}"
    title = f"Strategies the paper does not have: {METRICS[metric]} of {MODELS[model]}"
    return _drawn(results, metric, protocol, lines, name, title)


def model_comparison(results: Results, metric: str, protocol: str) -> Drawing | None:
    """Draw FeatProp with an SGC against FeatProp with a GCN."""
    if not {"gcn", "sgc"} <= set(results.models):
        return None
    lines = [
        (Series("GCN", FEATPROP.light, "o", "-", 2.6), "featprop", "gcn"),
        (Series("SGC", RANDOM.light, "s", (0, (5, 2)), 2.0), "featprop", "sgc"),
    ]
    name = f"sgc-against-gcn-{metric.replace('_', '-')}-{protocol}"
    return _drawn(results, metric, protocol, lines, name, f"SGC against GCN with FeatProp: {METRICS[metric]}")


def ablation(results: Results, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw FeatProp against its two variants."""
    if not set(ABLATION[1:]) & set(results.strategies):
        return None
    lines = [(series_of(name), name, model) for name in ABLATION]
    name = f"ablation-{metric.replace('_', '-')}-{model}-{protocol}"
    title = f"The parts of FeatProp: {METRICS[metric]} of {MODELS[model]}"
    return _drawn(results, metric, protocol, lines, name, title)


def _drawn(
    results: Results, metric: str, protocol: str, lines: Sequence[tuple[Series, str, str]], name: str, title: str
) -> Drawing | None:
    found = {
        (dataset, strategy, model): results.runs(metric, dataset, strategy, model, protocol)
        for dataset in results.datasets
        for _, strategy, model in lines
    }
    shown = {key: runs for key, runs in found.items() if runs is not None and runs.complete.size}
    datasets = [dataset for dataset in results.datasets if any(key[0] == dataset for key in shown)]
    kept = [line for line in lines if any(key[1:] == line[1:] for key in shown)]
    if not kept:
        return None
    figure, grid = panels(datasets, [series for series, *_ in kept])
    words = []
    for axes, dataset in zip(grid, datasets, strict=True):
        axes.set_xscale("log", base=2)
        for depth, (series, strategy, model) in enumerate(kept):
            runs = shown.get((dataset, strategy, model))
            if runs is None:
                continue
            mean, error = runs.curve()
            axes.fill_between(runs.budgets, mean - error, mean + error, color=series.colour, alpha=0.13, linewidth=0)
            axes.plot(
                runs.budgets,
                mean,
                color=series.colour,
                marker=series.marker,
                linestyle=series.dashes,
                linewidth=series.width,
                markersize=5,
                zorder=3 if strategy == "featprop" else 2 + depth / 100,
            )
            axes.set_xticks(runs.budgets, [str(budget) for budget in runs.budgets])
            points = ", ".join(f"{value:.1f} with {budget}" for value, budget in zip(mean, runs.budgets, strict=True))
            words.append(f"{title_of(dataset)}, {series.label}: {points}")
        axes.minorticks_off()
        axes.set_xlabel("labels", color=QUIET.light, fontsize=10)
        axes.set_ylabel(f"{METRICS[metric]}, percent", color=QUIET.light, fontsize=10)
    strategies = {strategy for _, strategy, _ in kept}
    who = f" Strategy: {STRATEGIES['featprop']}." if strategies == {"featprop"} else ""
    note = f"Protocol {protocol}: {PROTOCOLS[protocol]}. Mean over the seeds, in a band of one standard error.{who}"
    return Drawing(name, title, note, f"{title}. {'; '.join(words)}.", figure)
