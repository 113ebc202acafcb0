"""The tables of scores: the mean over the budgets beside the paper's, and budget by budget."""

from __future__ import annotations

import math
from collections.abc import Mapping

from featprop.experiments.paper import BUDGETS, printed
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import METRICS, Results, Runs, paired_test
from featprop.experiments.typeset import Entry, Table

__all__ = ["budget_table", "score_table"]

NOTHING = "–"


def score_table(results: Results, metric: str, model: str, protocol: str) -> Table | None:
    """Return one metric of every strategy on every data set, None if there are no such lines.

    For each data set: mean ± standard deviation, the best in bold; the p-value of a paired test against the best; and,
    where the paper prints one, its number and the difference of ours to it.
    """
    datasets = [name for name in results.datasets if any(_runs(results, metric, name, model, protocol))]
    strategies = [
        name for name in results.strategies if any(results.of(dataset, name, model, protocol) for dataset in datasets)
    ]
    if not strategies:
        return None
    groups, columns = [("", 1)], ["strategy"]
    rows = {name: [Entry(results.strategies[name].title)] for name in strategies}
    head = ("dataset", "strategy", "seeds", "mean", "deviation", "p", "paper_mean", "paper_deviation", "difference")
    figures: list[tuple[object, ...]] = [head]
    for dataset in datasets:
        runs = _runs(results, metric, dataset, model, protocol)
        best = max(runs, key=lambda name: -1.0 if math.isnan(runs[name].mean) else runs[name].mean)
        theirs = {name: printed(metric, model, protocol, name, results.datasets[dataset].name) for name in strategies}
        beside = any(theirs.values())
        groups.append((results.datasets[dataset].title, 4 if beside else 2))
        columns += ["ours", "p", "paper", "difference"] if beside else ["ours", "p"]
        for name in strategies:
            ours, paper = runs.get(name), theirs[name]
            known = ours is not None and not math.isnan(ours.mean)
            p = paired_test(runs[best], ours) if ours and known and name != best else None
            gap = ours.mean - paper.mean if ours and known and paper else None
            rows[name] += [
                Entry(_spread(ours) if ours and known else NOTHING, known and name == best),
                Entry(_p(p)),
            ]
            if beside:
                rows[name] += [
                    Entry(f"{paper.mean:.2f} ± {paper.deviation:.2f}" if paper else NOTHING),
                    Entry(NOTHING if gap is None else f"{gap:+.2f}".replace("-", "−")),
                ]
            if ours and known:
                printed_pair = (paper.mean, paper.deviation) if paper else ("", "")
                numbers = (ours.mean, ours.deviation, "" if p is None else p)
                figures.append((dataset, name, len(ours.complete), *numbers, *printed_pair, "" if gap is None else gap))
    return Table(
        name=f"{metric.replace('_', '-')}-{results.models[model].file}-{protocol}",
        title=f"{METRICS[metric]} of {results.models[model].title}",
        note=_note(results, model, protocol, "paper" in columns),
        groups=tuple(groups),
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows.values()),
        figures=tuple(figures),
        section=protocol,
    )


def budget_table(scores: Mapping[str, Mapping[str, Runs]], title: str, protocol: str) -> Table:
    """Return runs side by side at each budget: mean ± standard deviation.

    Parameters
    ----------
    scores
        For each metric the runs by the heads of their columns, all over the same budgets.
    title
        What is compared.
    protocol
        That of the runs.
    """
    rows: dict[int, list[Entry]] = {}
    for runs in (runs for by_head in scores.values() for runs in by_head.values()):
        for place, budget in enumerate(runs.budgets):
            rows.setdefault(budget, [Entry(f"{budget}")]).append(Entry(runs.at(place)))
    return Table(
        name=f"by-budget-{protocol}",
        title=title,
        note=f"Protocol {protocol}: {PROTOCOLS[protocol]}. Percent, mean ± standard deviation.",
        groups=(("", 1), *((METRICS[metric], len(by_head)) for metric, by_head in scores.items())),
        columns=("labels", *(head for by_head in scores.values() for head in by_head)),
        rows=tuple(tuple(row) for row in rows.values()),
        section=protocol,
    )


def _runs(results: Results, metric: str, dataset: str, model: str, protocol: str) -> dict[str, Runs]:
    found = {name: results.runs(metric, dataset, name, model, protocol) for name in results.strategies}
    return {name: runs for name, runs in found.items() if runs is not None}


def _note(results: Results, model: str, protocol: str, has_paper: bool) -> str:
    found = [{line.seed for dataset in results.datasets for line in results.of(dataset, name, model, protocol)}
             for name in results.strategies]  # fmt: skip
    seeds = {len(each) for each in found} - {0}
    many = f"{min(seeds)}" if len(seeds) == 1 else f"{min(seeds)} to {max(seeds)}"
    budgets = results.budgets_text(model, protocol)
    paper = ", ".join(map(str, BUDGETS))
    beside = f" The paper's numbers are over {paper}." if has_paper and budgets != paper else ""
    options = _options(results, model, protocol)
    return (
        f"Protocol {protocol}: {PROTOCOLS[protocol]}. Percent, the mean over the budgets {budgets}; mean ± standard "
        f"deviation of {many} seeds; p of a paired t-test against the best, in bold.{options}{beside}"
    )


def _options(results: Results, model: str, protocol: str) -> str:
    """Say what strategies and the model ran with that no title tells, such as a time limit."""
    told = [
        f" {variant.title} with {variant.untold}."
        for key, variant in results.strategies.items()
        if variant.untold and any(results.of(dataset, key, model, protocol) for dataset in results.datasets)
    ]
    settings = results.models[model].untold
    return "".join(sorted(told)) + (f" Settings of the model: {settings}." if settings else "")


def _spread(runs: Runs) -> str:
    return f"{runs.mean:.2f} ± {runs.deviation:.2f}" if len(runs.complete) > 1 else f"{runs.mean:.2f}"


def _p(p: float | None) -> str:
    if p is None:
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}"
