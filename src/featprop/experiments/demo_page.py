"""The page and the text of the demonstration: the tables and curves of its results, and what only images can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from featprop.drawing.svg import png_uri
from featprop.drawing.templates import rendered
from featprop.errors import FeatpropError
from featprop.experiments.curves import learning_curves
from featprop.experiments.findings import worth_of_labels
from featprop.experiments.maps import astray, layout, picks_map
from featprop.experiments.results import Result
from featprop.experiments.score_tables import budget_table
from featprop.experiments.settings import Settings
from featprop.experiments.summary import METRICS, Results, Runs
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.selection import Selection

__all__ = ["Demonstration"]

SIDE = 8
"""Width and height of an image in pixels."""
METRICS_SHOWN = ("accuracy", "macro_f1")
MODEL, PROTOCOL = "gcn", "unlabelled"


class Demonstration:
    """What the demonstration has to show.

    Parameters
    ----------
    graph
        The digits, with labels.
    lines
        The results, among them all those of the settings.
    settings
        What was asked for: one data set, FeatProp and random choice.
    picks
        A selection of each strategy, to be shown.
    """

    def __init__(
        self, graph: Graph, lines: Iterable[Result], settings: Settings, picks: Mapping[str, Selection]
    ) -> None:
        self.graph, self.picks, self.seeds = graph, picks, settings.seeds
        self.results = Results(_asked_for(lines, settings))
        self.scores = {
            metric: {name: self._runs(metric, name) for name in ("featprop", "random")} for metric in METRICS_SHOWN
        }
        self.table = budget_table(self.scores, "FeatProp and random choice, by the number of labels", PROTOCOL)
        self.headline, *self.detail = worth_of_labels(**self.scores["accuracy"])

    def _runs(self, metric: str, strategy: str) -> Runs:
        dataset = next(iter(self.results.datasets), "")
        runs = self.results.runs(metric, dataset, strategy, MODEL, PROTOCOL)
        if runs is None or not runs.complete.size:
            raise FeatpropError("The demonstration", f"must have results of {strategy}", "none", "run it again")
        return runs

    def text(self) -> str:
        """Return the finding and the table as a terminal shows them."""
        runs = f"mean ± std of {self.seeds} seeds" if self.seeds > 1 else "one seed"
        title = f"A GCN on the digits graph, scored on the nodes without a label (percent, {runs})"
        return f"{self.headline}.\n\n{title}\n\n{self.table.text()}"

    def page(self) -> str:
        """Return the page, with everything it shows inside."""
        ours, theirs = self.scores["accuracy"].values()
        places = layout(self.graph)
        titles = {"featprop": "FeatProp", "random": "Random choice, seed 0"}
        return rendered(
            "experiments/demo.html.j2",
            command="featprop demo",
            headline=self.headline,
            detail=" ".join(self.detail),
            graph=self.graph,
            seeds=self.seeds,
            budgets=ours.budgets,
            tiles=list(zip(ours.budgets, ours.curve().mean, theirs.curve().mean, strict=True)),
            curves=self._curves(),
            maps={
                name: {
                    "title": titles[name],
                    "svg": picks_map(self.graph, places, picks, titles[name]),
                    "astray": np.count_nonzero(astray(self.graph, picks)),
                    "picks": picks,
                }
                for name, picks in self.picks.items()
            },
            gallery=self._gallery(),
            table=self.table,
        )

    def _curves(self) -> dict[str, str]:
        """Return the learning curves by the titles of their metrics, on one scale; the data set needs no title here."""
        drawings = {metric: learning_curves(self.results, metric, MODEL, PROTOCOL) for metric in METRICS_SHOWN}
        panels = [axes for drawing in drawings.values() if drawing for axes in drawing.figure.axes]
        lows, highs = zip(*(axes.get_ylim() for axes in panels), strict=True)
        for axes in panels:
            axes.set_ylim(min(lows), max(highs))
            axes.set_title("", loc="left")
        return {METRICS[metric]: drawing.html() for metric, drawing in drawings.items() if drawing}

    def _gallery(self) -> list[tuple[str, int, int]]:
        """Return the image, the digit and the number of nodes of every pick of FeatProp, in the order picked."""
        digits, images, picks = self.graph.class_names(), dense(self.graph.features), self.picks["featprop"]
        return [
            (png_uri(images[node].reshape(SIDE, SIDE)), digits[node], count)
            for node, count in zip(picks.positions.tolist(), picks.represents.tolist(), strict=True)
        ]


def _asked_for(lines: Iterable[Result], settings: Settings) -> list[Result]:
    """Return the lines of the settings, whatever else there is; of several graphs of the name, those of the last."""
    there = [line for line in lines if line.dataset in settings.datasets]
    return [
        line
        for line in there
        if line.strategy in settings.strategies
        and line.model in settings.models
        and line.budget in settings.budgets
        and line.seed < settings.seeds
        and line.graph in ("", there[-1].graph)
        and not line.options
        and not line.settings
    ]
