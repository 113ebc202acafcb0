"""What the comparison says, in words that follow from the numbers and hold whichever way they come out."""

from __future__ import annotations

from dataclasses import dataclass

from featprop.demo.experiment import Comparison

__all__ = ["Findings", "findings"]


@dataclass(frozen=True)
class Findings:
    """The result in one line and in two or three sentences."""

    headline: str
    detail: str


def findings(comparison: Comparison) -> Findings:
    """Say what the mean accuracies show."""
    ours, theirs = comparison.accuracy["featprop"].mean, comparison.accuracy["random"].mean
    budgets = range(len(comparison.budgets))
    reached = [(row, other) for row in budgets for other in budgets if ours[row] > theirs[other] and row <= other]
    standing = _standing(comparison)
    if not reached:
        return Findings("FeatProp is not ahead of random choice in this run", standing)
    row, other = max(reached, key=lambda pair: comparison.budgets[pair[1]] / comparison.budgets[pair[0]])
    few, many = comparison.budgets[row], comparison.budgets[other]
    if few == many:
        headline = f"{few} labels chosen by FeatProp teach more than {few} chosen at random"
    else:
        headline = f"{few} labels chosen by FeatProp do the work of {many} chosen at random"
    detail = (
        f"Trained on {few} labels that FeatProp asked for, the network reads {ours[row]:.1f} % of all other digits "
        f"correctly; with {many} labels of randomly chosen digits it reads {theirs[other]:.1f} %."
    )
    return Findings(headline, f"{detail} {standing}")


def _standing(comparison: Comparison) -> str:
    """Say at how many budgets FeatProp is ahead, and by how much at the first and the last."""
    gaps = comparison.accuracy["featprop"].mean - comparison.accuracy["random"].mean
    ahead, total = int((gaps > 0).sum()), len(gaps)
    where = "every budget" if ahead == total else f"{ahead} of {total} budgets"
    first, last = (f"{gaps[row]:+.1f} points with {comparison.budgets[row]} labels" for row in (0, -1))
    span = first if total == 1 else f"{first}, {last}"
    return f"At equal budgets FeatProp is ahead at {where}: {span}."
