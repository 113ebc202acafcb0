"""The tables of running times and of the data sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featprop.datasets import CATALOGUE
from featprop.experiments.paper import SECONDS, title_of
from featprop.experiments.results import FIGURES
from featprop.experiments.summary import Results
from featprop.experiments.typeset import Entry, Table

__all__ = ["datasets_table", "time_table"]

NOTHING = "–"


def time_table(results: Results, model: str) -> Table | None:
    """Return what choosing and training took, the paper's seconds beside them; None if there are no lines."""
    protocol = "paper"
    groups, columns = [("", 1)], ["strategy"]
    rows = {name: [Entry(variant.title)] for name, variant in results.strategies.items()}
    head = ("dataset", "strategy", "seeds", "seconds_select", "seconds_train", "peak_memory_mb", "paper_seconds")
    figures: list[tuple[object, ...]] = [head]
    seeds: set[int] = set()
    for dataset, shown in results.datasets.items():
        groups.append((shown.title, 4))
        columns += ["choosing", "training", "memory", "paper"]
        counted = results.budgets_of(dataset, model, protocol)
        for name, row in rows.items():
            lines = [line for line in results.of(dataset, name, model, protocol) if line.budget in counted]
            paper = SECONDS.get((name, shown.name)) if model == "gcn" else None
            seeds |= {line.seed for line in lines}
            if not lines:
                row += [Entry(NOTHING)] * 3
            else:
                choosing = sum(line.seconds_select for line in lines)
                training = sum(line.seconds_train for line in lines)
                memory = max(line.peak_memory for line in lines) / 2**20
                row += [Entry(_seconds(choosing)), Entry(_seconds(training)), Entry(f"{memory:,.0f} MB")]
                numbers = (round(choosing, 3), round(training, 3), round(memory))
                figures.append((dataset, name, len({line.seed for line in lines}), *numbers, paper or ""))
            row.append(Entry(NOTHING if paper is None else f"{paper:,} s"))
    if not seeds:
        return None
    budgets = results.budgets_text(model, protocol)
    return Table(
        name=f"running-time-{results.models[model].file}",
        title=f"Running time with {results.models[model].title}",
        note=(
            f"Protocol: {len(seeds)} runs over the budgets {budgets}, in seconds on the clock, other processes at work "
            "beside. Choosing the nodes and training the models; the most memory of the process; the paper's seconds "
            "for 5 runs on its machine. Not in it: reading and propagating the features, once for all, and the first "
            "model, of 5 random labels. Distances that several choices need are in the first of them only. A choice "
            "that does not depend on the seed is counted for each seed."
        ),
        groups=tuple(groups),
        columns=tuple(columns),
        rows=tuple(tuple(row) for row in rows.values()),
        figures=tuple(figures),
    )


def datasets_table(figures: Mapping[str, Mapping[str, Any]], order: list[str]) -> Table | None:
    """Return the counts of the data sets as loaded, beside those the paper prints."""
    rows, numbers = [], [("dataset", "by", "nodes", "edges", "classes", "features", "labelled", "homophily")]
    for name in order:
        if not set(FIGURES) <= set(figures.get(name, ())):
            continue
        ours = figures[name]
        counts = [ours[key] for key in ("nodes", "edges", "classes", "features")]
        texts = [*(f"{count:,}" for count in counts), f"{ours['labelled']:,}", f"{ours['homophily']:.2f}"]
        rows.append((Entry(title_of(name, order)), Entry("here"), *map(Entry, texts)))
        numbers.append((name, "here", *counts, ours["labelled"], ours["homophily"]))
        paper = CATALOGUE[name].printed if name in CATALOGUE else None
        if paper:
            counts = [paper.nodes, paper.edges, paper.classes, paper.features]
            rows.append((Entry(""), Entry("paper"), *(Entry(f"{count:,}") for count in counts), Entry(""), Entry("")))
            numbers.append((name, "paper", *counts, "", ""))
    if not rows:
        return None
    columns = ("data set", "counted", "nodes", "edges", "classes", "features", "labelled", "homophily")
    return Table(
        name="datasets",
        title="Data sets",
        note=(
            "Protocol: counted as loaded, an edge once and self loops left out. The paper prints the raw citation "
            "links, and has the feature sizes of Cora and Citeseer swapped."
        ),
        groups=(("", len(columns)),),
        columns=columns,
        rows=tuple(rows),
        figures=tuple(numbers),
    )


def _seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 10 else f"{value:.1f} s"
