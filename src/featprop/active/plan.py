"""Compare budgets before anything is labelled: the coverage curve of one ranking, and its elbow.

A strategy ranks its picks, so the first k of them are the selection for a budget of k. The curve is the mean distance
of a node to the nearest pick for every k, on the rows that the default strategy and the default model use. The elbow is
the point farthest below the straight line between the ends of the curve (Satopää et al. 2011): labels before it gain
more than the average label of the budget, labels after it less.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from featprop.active.choose import select
from featprop.active.picks import Selection
from featprop.graph import GraphLike
from featprop.propagation import Propagation, coverage_curve
from featprop.strategies import DEFAULT_STRATEGY, Strategy

STEPS = (1, 2, 5)
"""Listed budgets: these and their multiples by powers of ten."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The coverage of every budget up to a largest one.

    Attributes
    ----------
    picks
        The nodes that would be selected, the most useful first.
    mean_distance
        Mean distance of a node to the nearest of the first 1, 2, … picks or of the nodes labelled before.
    elbow
        Budget after which a label gains less than the average one.
    """

    picks: Selection
    mean_distance: NDArray[np.float64]
    elbow: int

    @property
    def budget(self) -> int:
        """The largest budget."""
        return len(self.mean_distance)

    def gained(self, budget: int) -> float:
        """Return the share of the whole gain over the first label that `budget` labels reach."""
        first, last = self.mean_distance[0], self.mean_distance[-1]
        return 1.0 if first == last else float((first - self.mean_distance[budget - 1]) / (first - last))

    def rows(self) -> list[tuple[int, float, float]]:
        """Return budgets, the elbow and the largest among them, each with its mean distance and share of the gain."""
        steps = {step * 10**power for power in range(8) for step in STEPS}
        budgets = sorted({step for step in steps if step < self.budget} | {self.elbow, self.budget})
        return [(budget, float(self.mean_distance[budget - 1]), self.gained(budget)) for budget in budgets]

    def __repr__(self) -> str:
        first, last = self.mean_distance[0], self.mean_distance[-1]
        if self.budget == 1:
            return "A plan needs a budget of at least 2: it compares the first labels with all of them."
        if first == last:
            return f"One label covers the graph as well as {self.budget:,}: all nodes have the same features."
        further = " further" if len(self.picks.labelled) else ""
        return (
            f"The elbow of the curve is at {self.elbow:,}{further} labels: they reach {self.gained(self.elbow):.0%} of "
            f"the gain of {self.budget:,}. This is coverage, not accuracy: label that many, then check the estimate."
        )


def plan(
    graph: GraphLike,
    budget: int,
    *,
    strategy: str | Strategy = DEFAULT_STRATEGY,
    labelled: Iterable[Hashable] = (),
    random_state: int = 0,
) -> Plan:
    """Compare the budgets up to `budget`; the arguments are those of `select`."""
    return plan_of(select(graph, budget, strategy=strategy, labelled=labelled, random_state=random_state))


def plan_of(picks: Selection) -> Plan:
    """Return the plan of a selection."""
    before = len(picks.labelled)
    points = Propagation.of(picks._graph).compared
    curve = coverage_curve(points, np.concatenate([picks.labelled, picks.positions]))[before:]
    return Plan(picks, curve, _elbow(curve))


def _elbow(curve: NDArray[np.float64]) -> int:
    """Return the budget at the point farthest below the line between the ends of the curve."""
    if len(curve) < 3:
        return len(curve)
    straight = np.linspace(curve[0], curve[-1], len(curve))
    return int(np.argmax(straight - curve)) + 1
