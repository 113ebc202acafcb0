"""Learning curves: a metric against the number of labels, one panel a data set, with bands of one standard error."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from featprop.experiments.figures import Drawing, Series, panels, series_of
from featprop.experiments.paper import STRATEGIES
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import METRICS, Results
from featprop.web.common.palette import QUIET

__all__ = ["ABLATION", "ablation", "later_curves", "learning_curves", "model_comparison", "paired_curves"]

ABOVE = {"featprop": 3, "featprop-diffused": 4}
"""The lines that lie above all others, the highest number on top."""
ABLATION = ("featprop", "featprop-kcenter", "featprop-hidden")
"""FeatProp, with K-Center in place of K-Medoids, and with the final layer in place of the propagated features."""


def learning_curves(results: Results, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw the strategies the paper compares."""
    names = _named(results, lambda name: name in STRATEGIES and name not in ABLATION[1:])
    return _of_strategies(results, metric, model, protocol, names, "curves", "{} against the number of labels")


def later_curves(results: Results, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw the strategies the paper does not have beside FeatProp and random choice."""
    later = _named(results, lambda name: name not in STRATEGIES)
    names = _named(results, lambda name: name in ("random", "featprop")) + later if later else []
    title = "Strategies the paper does not have: {}"
    return _of_strategies(results, metric, model, protocol, names, "curves-later", title)


def ablation(results: Results, metric: str, model: str, protocol: str) -> Drawing | None:
    """Draw FeatProp against its two variants."""
    parts = _named(results, lambda name: name in ABLATION[1:])
    names = _named(results, lambda name: name in ABLATION) if parts else []
    return _of_strategies(results, metric, model, protocol, names, "ablation", "The parts of FeatProp: {}")


def model_comparison(results: Results, metric: str, protocol: str) -> Drawing | None:
    """Draw FeatProp with each of the models, if there are several."""
    strategy = next(iter(_named(results, lambda name: name == "featprop")), "")
    if len(results.models) < 2 or not strategy:
        return None
    lines = [(series_of(results, model), strategy, model) for model in results.models]
    name = f"{'-against-'.join(results.models[model].file for *_, model in reversed(lines))}"
    title = f"{' against '.join(series.label for series, *_ in reversed(lines))} with FeatProp: {METRICS[metric]}"
    told = f" Strategy: {results.strategies[strategy].title}."
    return _drawn(results, metric, protocol, lines, f"{name}-{metric.replace('_', '-')}-{protocol}", title, told)


def paired_curves(results: Results, metric: str, protocol: str, pairs: Mapping[str, tuple[str, str]]) -> Drawing | None:
    """Draw strategies each with a model of its own: pairs of their names, by what the legend calls them."""
    lines = [
        (replace(series_of(results, strategy), label=label), strategy, model)
        for label, (strategy, model) in pairs.items()
    ]
    title = f"{METRICS[metric]} against the number of labels"
    return _drawn(results, metric, protocol, lines, f"pairs-{metric.replace('_', '-')}-{protocol}", title, "")


def _named(results: Results, wanted: Callable[[str], bool]) -> list[str]:
    """Return the keys of the strategies whose names are wanted."""
    return [key for key, variant in results.strategies.items() if wanted(variant.name)]


def _of_strategies(
    results: Results, metric: str, model: str, protocol: str, names: list[str], kind: str, title: str
) -> Drawing | None:
    """Draw strategies with one model; None if it has no lines."""
    if model not in results.models:
        return None
    lines = [(series_of(results, name), name, model) for name in names]
    file = f"{kind}-{metric.replace('_', '-')}-{results.models[model].file}-{protocol}"
    what = f"{METRICS[metric]} of {results.models[model].title}"
    return _drawn(results, metric, protocol, lines, file, title.format(what), "")


Lines = Sequence[tuple[Series, str, str]]
"""The look, the strategy and the model of each line."""


def _drawn(
    results: Results, metric: str, protocol: str, lines: Lines, name: str, title: str, told: str
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
    titles = [results.datasets[dataset].title for dataset in datasets]
    figure, grid = panels(titles, [series for series, *_ in kept])
    words = []
    for axes, dataset in zip(grid, datasets, strict=True):
        axes.set_xscale("log", base=2)
        for depth, (series, strategy, model) in enumerate(kept):
            runs = shown.get((dataset, strategy, model))
            if runs is None:
                continue
            mean, _, error = runs.curve()
            axes.fill_between(runs.budgets, mean - error, mean + error, color=series.colour, alpha=0.13, linewidth=0)
            axes.plot(
                runs.budgets,
                mean,
                color=series.colour,
                marker=series.marker,
                linestyle=series.dashes,
                linewidth=series.width,
                markersize=5,
                zorder=ABOVE.get(strategy, 2 + depth / 100),
            )
            axes.set_xticks(runs.budgets, [str(budget) for budget in runs.budgets])
            points = ", ".join(f"{value:.1f} with {budget}" for value, budget in zip(mean, runs.budgets, strict=True))
            words.append(f"{results.datasets[dataset].title}, {series.label}: {points}")
        axes.minorticks_off()
        axes.set_xlabel("labels", color=QUIET.light, fontsize=10)
        axes.set_ylabel(f"{METRICS[metric]}, percent", color=QUIET.light, fontsize=10)
    note = f"Protocol {protocol}: {PROTOCOLS[protocol]}. Mean over the seeds, in a band of one standard error.{told}"
    return Drawing(name, title, note, f"{title}. {'; '.join(words)}.", figure, protocol)
