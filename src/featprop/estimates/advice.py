"""Is it enough? Advice in words, with its reasons; it never stops by itself.

"You may stop" is said where all of this holds: the last half of the labels changed fewer than 3 % of the predictions;
there are 40 labels, and 5 for each class. Published rules that look at confidence alone stop too early. What this one
cost and saved on graphs whose truth is known is in docs/how-good.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from featprop.errors import first_five
from featprop.estimates.change import Change, change
from featprop.estimates.estimate import FEWEST, Estimate, estimate
from featprop.estimates.intervals import Interval
from featprop.estimates.learning_curve import Forecast, forecast
from featprop.html import card
from featprop.io.given import GraphLike
from featprop.models import NodeClassifier

__all__ = ["Advice", "advise"]

SETTLED = 0.03
"""The share of the predictions that the last half of the labels may have changed."""
EACH = 5
"""Labels for each class, on average."""


@dataclass(frozen=True)
class Advice:
    """Whether more labels are worth it.

    Attributes
    ----------
    may_stop
        Whether they probably are not.
    reasons
        Why, a sentence each.
    estimate
        How good the predictions are now, as the labels tell.
    change
        What the last labels changed; None where there are too few to say.
    forecast
        What as many labels again would bring; None likewise.
    """

    may_stop: bool
    reasons: tuple[str, ...]
    estimate: Estimate
    change: Change | None
    forecast: Forecast | None

    @property
    def headline(self) -> str:
        """The advice in a sentence."""
        if self.may_stop:
            return f"You may stop: {self.forecast}"
        return f"Go on: {self.forecast or 'there are too few labels to say what more would bring'}"

    def __str__(self) -> str:
        return "\n".join([f"{self.headline}.", *(f"- {reason}" for reason in self.reasons)])

    def _repr_html_(self) -> str:
        return card("Advice", [("", self.headline), *(("", reason) for reason in self.reasons)])


def advise(graph: GraphLike, model: NodeClassifier, audited: Interval | None = None) -> Advice:
    """Say whether more labels are worth it.

    Parameters
    ----------
    graph
        The graph that the model was fitted to.
    model
        A fitted model. The order of its labels, ``model.labelled_``, is that in which they came.
    audited
        The accuracy that an audit found, which is surer than what the labels tell.
    """
    now, changes = estimate(graph, model), change(graph, model)
    coming = None if changes is None else forecast(audited or now.accuracy, changes)
    counts = Counter(model.labelled_.values())
    wanted = max(FEWEST, EACH * len(counts))
    reasons = [f"{audited} of the other nodes are predicted right, as the audit found" if audited else f"{now}"]
    if changes is not None:
        reasons.append(f"the last half of the labels changed {changes.last_half.changed:.1%} of the predictions")
        reasons.append(f"{changes}")
    if now.n_labels < wanted:
        reasons.append(f"{now.n_labels:,} labels of {len(counts):,} classes are few: {wanted:,} are needed to judge")
    lone = [name for name, count in counts.items() if count == 1]
    if lone:
        reasons.append(f"classes with one label only: {first_five(lone)}")
    settled = changes is not None and changes.last_half.changed < SETTLED
    return Advice(settled and now.n_labels >= wanted, tuple(reasons), now, changes, coming)
