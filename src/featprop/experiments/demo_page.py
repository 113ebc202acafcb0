"""The page and the text of the demonstration: the tables and curves of its results, and what only images can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from featprop.active import Selection
from featprop.errors import FeatpropError
from featprop.experiments.curves import paired_curves
from featprop.experiments.findings import worth_of_labels
from featprop.experiments.maps import astray, picks_map
from featprop.experiments.results import Result
from featprop.experiments.score_tables import budget_table
from featprop.experiments.settings import Settings
from featprop.experiments.summary import METRICS, Results, Runs
from featprop.experiments.trials import trials_of
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.models import DEFAULT_MODEL
from featprop.propagation import propagate
from featprop.strategies import DEFAULT_STRATEGY
from featprop.web.common.layout import tsne_layout
from featprop.web.common.svg import png_uri
from featprop.web.common.templates import render_template

__all__ = ["SHOWN_BUDGET", "WAYS", "Demonstration", "Way"]

SIDE = 8
"""Width and height of an image in pixels."""
METRICS_SHOWN = ("accuracy", "macro_f1")
PROTOCOL = "unlabelled"
SHOWN_BUDGET = 40
"""The budget whose picks the page shows."""


class Way(NamedTuple):
    """A strategy and the model that learns from its labels.

    Attributes
    ----------
    strategy, model
        Their names.
    title
        What the strategy is called on the page.
    words
        What the two are.
    """

    strategy: str
    model: str
    title: str
    words: str


WAYS = {
    "default": Way(
        DEFAULT_STRATEGY,
        DEFAULT_MODEL,
        "Our default",
        f"our default: the strategy {DEFAULT_STRATEGY}, asked in rounds, and the model {DEFAULT_MODEL}",
    ),
    "random": Way("random", DEFAULT_MODEL, "Random choice", f"nodes chosen at random and the model {DEFAULT_MODEL}"),
    "paper": Way("featprop", "gcn", "The paper's FeatProp", "the paper's FeatProp and GCN"),
}
"""What is shown, by the heads of its columns."""


class Demonstration:
    """What the demonstration has to show.

    Parameters
    ----------
    graph
        The digits, with labels.
    lines
        The results, among them all those of the settings.
    wanted
        What was asked for: each of `WAYS`, over the same budgets and seeds.
    """

    def __init__(self, graph: Graph, lines: Iterable[Result], wanted: Sequence[Settings]) -> None:
        self.graph, self.seeds = graph, wanted[0].seeds
        self.results = Results(_asked_for(lines, graph, wanted))
        self.dataset = next(iter(self.results.datasets), "")
        self.scores = {
            metric: {name: self._runs(metric, way) for name, way in WAYS.items()} for metric in METRICS_SHOWN
        }
        self.table = budget_table(self.scores, "Our default, random choice and the paper, by labels", PROTOCOL)
        self.headline, *self.detail = worth_of_labels(**self.scores["accuracy"])

    def _runs(self, metric: str, way: Way) -> Runs:
        runs = self.results.runs(metric, self.dataset, way.strategy, way.model, PROTOCOL)
        if runs is None or not runs.complete.size:
            raise FeatpropError("The demonstration", f"must have results of {way.strategy}", "none", "run it again")
        return runs

    def text(self) -> str:
        """Return the finding and the table as a terminal shows them."""
        runs = f"mean ± std of {self.seeds} seeds" if self.seeds > 1 else "one seed"
        title = f"The digits graph, scored on the nodes without a label (percent, {runs})"
        ways = "\n".join(f"  {name:<9}{way.words}" for name, way in WAYS.items())
        return f"{self.headline}.\n\n{title}\n{ways}\n\n{self.table.text()}"

    def page(self) -> str:
        """Return the page, with everything it shows inside."""
        accuracy = self.scores["accuracy"]
        budgets, means = accuracy["default"].budgets, [runs.curve().mean for runs in accuracy.values()]
        picks = {name: self._picks(way) for name, way in WAYS.items()}
        return render_template(
            "experiments/demo.html.j2",
            command="featprop demo",
            headline=self.headline,
            detail=" ".join(self.detail),
            graph=self.graph,
            seeds=self.seeds,
            same_each_time=not np.ptp(accuracy["default"].percent, axis=1).any(),
            budgets=budgets,
            tiles=list(zip(budgets, *means, strict=True)),
            ways=WAYS,
            curves=self._curves(),
            maps=self._maps(picks),
            rounds=self._shown(WAYS["default"]).schedule,
            gallery=self._gallery(picks["default"]),
            table=self.table,
        )

    def _shown(self, way: Way) -> Result:
        """Return the line whose picks the page shows."""
        lines = self.results.of(self.dataset, way.strategy, way.model, PROTOCOL)
        return next(line for line in lines if (line.budget, line.seed) == (SHOWN_BUDGET, 0))

    def _picks(self, way: Way) -> Selection:
        """Return those picks as chosen with nothing labelled before."""
        positions = self.graph.positions(self._shown(way).nodes)
        return Selection(self.graph.ids[positions], positions, np.empty(0, dtype=np.intp), self.graph)

    def _curves(self) -> dict[str, str]:
        """Return the learning curves by the titles of their metrics, on one scale; the data set needs no title here."""
        pairs = {name: (way.strategy, way.model) for name, way in WAYS.items()}
        drawings = {metric: paired_curves(self.results, metric, PROTOCOL, pairs) for metric in METRICS_SHOWN}
        panels = [axes for drawing in drawings.values() if drawing for axes in drawing.figure.axes]
        lows, highs = zip(*(axes.get_ylim() for axes in panels), strict=True)
        for axes in panels:
            axes.set_ylim(min(lows), max(highs))
            axes.set_title("", loc="left")
        return {METRICS[metric]: drawing.html() for metric, drawing in drawings.items() if drawing}

    def _maps(self, picks: Mapping[str, Selection]) -> list[dict[str, Any]]:
        """Return the maps of the picks, each with what stands above and below it."""
        places = tsne_layout(propagate(self.graph, layers=2))
        return [
            {
                "name": name,
                "title": WAYS[name].title,
                "svg": picks_map(self.graph, places, picked, WAYS[name].title),
                "astray": np.count_nonzero(astray(self.graph, picked)),
                "picks": picked,
            }
            for name, picked in picks.items()
        ]

    def _gallery(self, picks: Selection) -> list[tuple[str, int, int]]:
        """Return the image, the digit and the number of nodes of every pick, in the order picked."""
        digits, images = self.graph.class_names(), dense(self.graph.features)
        return [
            (png_uri(images[node].reshape(SIDE, SIDE)), digits[node], count)
            for node, count in zip(picks.positions.tolist(), picks.represents.tolist(), strict=True)
        ]


def _asked_for(lines: Iterable[Result], graph: Graph, wanted: Iterable[Settings]) -> list[Result]:
    """Return the lines of the settings on the graph, whatever else there is."""
    trials = (trials_of(settings, dict.fromkeys(settings.datasets, graph.fingerprint)) for settings in wanted)
    cells = {cell for several in trials for trial in several for cell in trial.cells()}
    return [line for line in lines if line.cell in cells]
