"""The digits demonstration: our default, random selection and the paper's method, with a page of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from markupsafe import Markup
from matplotlib.figure import Figure
from numpy.typing import NDArray

from featprop.active import Selection
from featprop.datasets import digits
from featprop.errors import FeatpropError, already_exists
from featprop.experiments import runner
from featprop.experiments.figures import Drawing, draw_curves, style_of
from featprop.experiments.report import write_text
from featprop.experiments.results import read_results
from featprop.experiments.settings import Settings
from featprop.experiments.summary import METRICS, Results, Runs
from featprop.experiments.tables import Table, describe_protocol
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.models import DEFAULT_MODEL
from featprop.propagation import propagate
from featprop.strategies import DEFAULT_STRATEGY
from featprop.web.common.card import node_picture
from featprop.web.common.layout import tsne_layout
from featprop.web.common.palette import DIGITS, INK, PAPER
from featprop.web.common.templates import render_template

BUDGETS = (10, 20, 40, 80)
PROTOCOL = "unlabelled"
METRICS_SHOWN = ("accuracy", "macro_f1")
PAGE_BUDGET = 40
"""Budget whose picks the page shows."""


class Method(NamedTuple):
    """A strategy, the model trained on its labels, and the title of the two."""

    strategy: str
    model: str
    title: str


METHODS = {
    "default": Method(DEFAULT_STRATEGY, DEFAULT_MODEL, "Our default"),
    "random": Method("random", DEFAULT_MODEL, "Random selection"),
    "paper": Method("featprop", "gcn", "The paper's FeatProp"),
}
"""The methods compared, by the heads of their columns."""


def run(out: Path, seeds: int, *, force: bool = False) -> str:
    """Run the experiments, write the page and the digits as a graph folder, and return the results as text.

    Results of an earlier demonstration in `out` are used again; `force` overwrites its files.
    """
    settings = [
        Settings(["digits"], [method.strategy], models=[method.model], budgets=BUDGETS, seeds=seeds)
        for method in METHODS.values()
    ]
    page, graph_folder, labels = out / "report.html", out / "graph", out / "graph-labels.csv"
    for path in (page, graph_folder, labels):
        if path.exists() and not force:
            raise already_exists(path)
    graph = digits()
    outcome = runner.run(settings, out / "results")
    if outcome.failures:
        message = f"The demonstration did not finish: {outcome.failures[0]}"
        raise FeatpropError(message, hint="Run it again to continue.")
    demonstration = Demonstration(graph, Results(read_results(out / "results")))
    write_graph_folder(graph, graph_folder, labels)
    write_text(page, demonstration.page())
    return "\n".join(
        [
            f"{demonstration.text()}\n",
            f"Report: {page}",
            f"Graph:  {graph_folder}, with its true labels in {labels}",
            f"Next:   featprop select {graph_folder} --budget {PAGE_BUDGET} --out picks.csv",
            f"Page:   featprop label {graph_folder} --classes 0,1,2,3,4,5,6,7,8,9",
        ]
    )


def write_graph_folder(graph: Graph, folder: Path, labels: Path) -> None:
    """Write the nodes (id and pixels) and the edges to a folder, and the true labels to a file outside it."""
    pixels = pd.DataFrame(dense(graph.features)).add_prefix("p")
    source, target = (graph.ids[end] for end in sp.coo_array(sp.triu(graph.adjacency)).coords)
    for path, table in {
        folder / "nodes.csv": pixels.assign(id=graph.ids)[["id", *pixels]],
        folder / "edges.csv": pd.DataFrame({"source": source, "target": target}),
        labels: pd.DataFrame({"id": graph.ids, "label": graph.class_names()}),
    }.items():
        write_text(path, table.to_csv(index=False))


class Demonstration:
    """The results of the demonstration as text and as a page."""

    def __init__(self, graph: Graph, results: Results) -> None:
        self.graph, self.results = graph, results
        self.scores = {
            metric: {name: self._runs(metric, method) for name, method in METHODS.items()} for metric in METRICS_SHOWN
        }
        self.seeds = min(len(runs.seeds) for runs in self.scores["accuracy"].values())
        self.table = budget_table(self.scores)
        accuracy = self.scores["accuracy"]
        self.headline, self.detail = summarize_worth(accuracy["default"], accuracy["random"])

    def _runs(self, metric: str, method: Method) -> Runs:
        runs = self.results.runs(metric, "digits", method.strategy, method.model, PROTOCOL)
        if runs is None:
            raise FeatpropError(f"The demonstration has no results of {method.strategy}.", hint="Run it again.")
        return runs

    def text(self) -> str:
        """Return the finding and the table for a terminal."""
        runs = f"mean ± std of {self.seeds} seeds" if self.seeds > 1 else "one seed"
        title = f"The digits graph, scored on the nodes without a label (percent, {runs})"
        methods = "\n".join(
            f"  {name:<9}{method.title}: {method.strategy} and {method.model}" for name, method in METHODS.items()
        )
        return f"{self.headline}.\n\n{title}\n{methods}\n\n{self.table.text()}"

    def page(self) -> str:
        """Return the page as one self-contained HTML file."""
        accuracy = self.scores["accuracy"]
        budgets, means = accuracy["default"].budgets, [runs.means for runs in accuracy.values()]
        picks = {name: self._picks(method) for name, method in METHODS.items()}
        places = tsne_layout(propagate(self.graph, layers=2))
        return render_template(
            "experiments/demo.html.j2",
            command="featprop demo",
            headline=self.headline,
            detail=self.detail,
            graph=self.graph,
            seeds=self.seeds,
            budgets=budgets,
            tiles=list(zip(budgets, *means, strict=True)),
            methods=METHODS,
            curves=self._curves(),
            maps={name: draw_map(self.graph, places, each, METHODS[name].title) for name, each in picks.items()},
            rounds=self._shown(METHODS["default"]).schedule,
            gallery=self._gallery(picks["default"]),
            table=self.table,
        )

    def _shown(self, method: Method) -> pd.Series[Any]:
        """Return the result whose picks the page shows."""
        rows = self.results.of("digits", method.strategy, method.model, PROTOCOL)
        return rows[(rows.budget == PAGE_BUDGET) & (rows.seed == 0)].iloc[0]

    def _picks(self, method: Method) -> Selection:
        positions = self.graph.positions(self._shown(method).nodes)
        return Selection(self.graph.ids[positions], positions, np.empty(0, dtype=np.intp), self.graph)

    def _curves(self) -> list[Drawing]:
        """Return the learning curve of each metric."""
        lines = {
            (method.strategy, method.model): replace(style_of(self.results, method.strategy), label=name)
            for name, method in METHODS.items()
        }
        drawings = [
            draw_curves(self.results, metric, PROTOCOL, lines, f"demo-{metric}", METRICS[metric])
            for metric in METRICS_SHOWN
        ]
        return [drawing for drawing in drawings if drawing]

    def _gallery(self, picks: Selection) -> list[tuple[Markup, int, int]]:
        """Return the image, the digit and the number of represented nodes of every pick, in the order picked."""
        digits, gallery = self.graph.class_names(), []
        for place, node in enumerate(picks.positions.tolist()):
            picture = node_picture(self.graph, node)
            assert picture is not None
            label = f'role="img" aria-label="Pick {place + 1}, a handwritten {digits[node]}"'
            gallery.append((Markup(picture.svg(label)), digits[node], int(picks.represents[place])))
        return gallery


def budget_table(scores: Mapping[str, Mapping[str, Runs]]) -> Table:
    """Return runs at each budget side by side: for each metric, runs over the same budgets by their column head."""
    budgets = [str(budget) for budget in next(iter(scores["accuracy"].values())).budgets]
    blocks = {
        METRICS[metric]: {
            budget: {name: runs.texts(1)[place] for name, runs in by_name.items()}
            for place, budget in enumerate(budgets)
        }
        for metric, by_name in scores.items()
    }
    return Table(
        name=f"by-budget-{PROTOCOL}",
        title="Our default, random selection and the paper, by number of labels",
        note=f"{describe_protocol(PROTOCOL)} Percent, mean ± standard deviation.",
        blocks={"": {budget: {"labels": budget} for budget in budgets}, **blocks},
        section=PROTOCOL,
    )


def summarize_worth(default: Runs, random: Runs) -> tuple[str, str]:
    """Return a headline and a sentence on how many random labels the labels of our default are worth.

    Takes the accuracies of the two over the same budgets.
    """
    budgets, ours, theirs = np.array(default.budgets), default.means, random.means
    worth = np.where(ours[:, None] > theirs, budgets / budgets[:, None], 0.0)
    row, other = np.unravel_index(worth.argmax(), worth.shape)
    few, many = budgets[row], budgets[other]
    if worth[row, other] < 1:
        return "featprop is not ahead of random selection in this run", ""
    verb = "teach more than" if few == many else "do the work of"
    return (
        f"{few} labels chosen by featprop {verb} {many} chosen at random",
        f"With the {few} labels that it asked for, our default predicts {ours[row]:.1f} % of all other nodes "
        f"correctly; with the labels of {many} random nodes, the same model predicts {theirs[other]:.1f} % correctly.",
    )


def draw_map(graph: Graph, places: NDArray[np.float32], picks: Selection, method: str) -> Drawing:
    """Draw every node in the colour of its digit, the picks large and outlined, misplaced nodes as crosses."""
    digits = np.array(graph.class_names(), dtype=np.intp)
    colours = np.array([colour.light for colour in DIGITS])[digits]
    misplaced = digits != digits[picks.positions][picks.nearest]
    figure = Figure(figsize=(5.6, 5.6))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.04)
    axes.scatter(places[:, 0], places[:, 1], s=9, c=colours, alpha=0.6, linewidths=0, clip_on=False)
    x, y = places[misplaced].T
    axes.scatter(x, y, s=15, c=INK.light, marker="x", linewidths=0.9, clip_on=False)
    x, y = places[picks.positions].T
    axes.scatter(x, y, s=95, c=PAPER.light, linewidths=0, clip_on=False)
    axes.scatter(x, y, s=60, c=colours[picks.positions], edgecolors=INK.light, linewidths=1.5, clip_on=False)
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK.light, "fontsize": 17, "fontweight": "bold"}
    for digit in range(len(DIGITS)):
        group = places[digits == digit]
        middle = group[np.abs(group - np.median(group, axis=0)).sum(axis=1).argmin()]
        axes.annotate(str(digit), middle, xytext=(0, 15), textcoords="offset points", **style)
    wrong = f"the nearest pick of {np.count_nonzero(misplaced):,} nodes shows another digit"
    return Drawing(
        name=f"map of {method}",
        title=method,
        note=f"The distance to the nearest pick is {picks.mean_distance:.2f} on average, {picks.max_distance:.2f} at "
        f"most; {wrong}.",
        description=f"Map of all {graph.n_nodes:,} nodes, grouped by digit, with the {len(picks)} picks; {wrong}.",
        figure=figure,
    )
