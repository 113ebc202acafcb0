"""What budgets buy, before anything is labelled: the curve of coverage over one ranking, and its elbow.

The picks of a strategy come in an order, the most useful first, so the first k of them are what k labels would buy.
The curve is the mean distance of a node to the nearest pick, for every k at once, on the rows that the default strategy
chooses and the default model measures on. The elbow is the point of the curve farthest below the straight line between
its ends (Satopää et al. 2011): before it a label brings more than the average label of the budget, after it less.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.active.choose import select
from featprop.active.picks import Selection
from featprop.html import card, grid
from featprop.propagation import Propagation, coverage_curve
from featprop.sources import GraphLike
from featprop.strategies import DEFAULT_STRATEGY, Strategy

__all__ = ["Plan", "plan"]

STEPS = (1, 2, 5)
"""Budgets that are listed: these and their tenfolds."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What budgets buy.

    Attributes
    ----------
    picks
        The nodes that would be asked for, the most useful first.
    mean_distance
        The mean distance of a node to the nearest of the first 1, 2, … of them or of those labelled before.
    elbow
        The budget after which a label brings less than the average one.
    """

    picks: Selection
    mean_distance: NDArray[np.float64]
    elbow: int

    @property
    def budget(self) -> int:
        """The largest budget looked at."""
        return len(self.mean_distance)

    def gained(self, budget: int) -> float:
        """Return the share of what all of the budget gains over its first label that so many labels gain."""
        first, last = self.mean_distance[0], self.mean_distance[-1]
        return 1.0 if first == last else float((first - self.mean_distance[budget - 1]) / (first - last))

    def rows(self) -> list[tuple[int, float, float]]:
        """Return some budgets, the elbow and the largest among them, each with its distance and the share gained."""
        steps = {step * 10**power for power in range(8) for step in STEPS}
        budgets = sorted({step for step in steps if step < self.budget} | {self.elbow, self.budget})
        return [(budget, float(self.mean_distance[budget - 1]), self.gained(budget)) for budget in budgets]

    def __str__(self) -> str:
        first, last = self.mean_distance[0], self.mean_distance[-1]
        if self.budget == 1:
            return "A plan needs a larger budget than 1: it compares the first labels with all of them."
        if first == last:
            return f"One label covers the graph as well as {self.budget:,} do: its nodes have the same features."
        further = " further" if len(self.picks.labelled) else ""
        return (
            f"The elbow of the curve is at {self.elbow:,}{further} labels: they bring {self.gained(self.elbow):.0%} of "
            f"what {self.budget:,} bring. It says how well labels cover the graph, not how good the predictions will "
            "be: label that many, then look at the estimate."
        )

    def __repr__(self) -> str:
        return f"Plan(budget={self.budget}, elbow={self.elbow}, gained={self.gained(self.elbow):.2f})"

    def _repr_html_(self) -> str:
        rows = [(f"{budget:,}", f"{distance:.4g}", f"{share:.0%}") for budget, distance, share in self.rows()]
        return card("Plan", [("in words", self)], grid(["labels", "mean distance", "gained"], rows))


def plan(
    graph: GraphLike,
    budget: int,
    *,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    labelled: Iterable[Hashable] = (),
    seed: int = 0,
) -> Plan:
    """Say what budgets up to `budget` would buy; the arguments are those of `select`."""
    return plan_of(select(graph, budget, strategy=strategy, labelled=labelled, seed=seed))


def plan_of(picks: Selection) -> Plan:
    """Say what the first of some picks buy."""
    before = len(picks.labelled)
    points = Propagation.of(picks._graph).compared
    curve = coverage_curve(points, np.concatenate([picks.labelled, picks.positions]))[before:]
    return Plan(picks, curve, _elbow(curve))


def _elbow(curve: NDArray[np.float64]) -> int:
    """Return how many labels the point farthest below the line between the ends of the curve stands for."""
    if len(curve) < 3:
        return len(curve)
    straight = np.linspace(curve[0], curve[-1], len(curve))
    return int(np.argmax(straight - curve)) + 1
