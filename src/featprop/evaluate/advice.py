"""Is it enough? Advice in words, with its reasons; it never stops by itself.

"You may stop" is said where all of this holds: the last half of the labels changed fewer than 3 % of the predictions;
there are 40 labels, and 5 for each class; and the model names more of the labels that it has not seen than whoever
always says the commonest class. Published rules that look at confidence alone stop too early. What this one
cost and saved on graphs whose truth is known is in docs/how-good-measured.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from featprop.errors import first_five
from featprop.evaluate.estimate import FEWEST
from featprop.evaluate.intervals import Interval
from featprop.evaluate.learning_curve import LearningCurve, learning_curve
from featprop.html import card
from featprop.models import NodeClassifier
from featprop.sources import GraphLike

__all__ = ["Advice", "advice_of", "advise"]

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
    curve
        How good the predictions are as the labels tell, what the last of them changed, and what more would bring.
    """

    may_stop: bool
    reasons: tuple[str, ...]
    curve: LearningCurve

    @property
    def headline(self) -> str:
        """The advice in a sentence."""
        coming = self.curve.forecast
        if self.may_stop:
            return f"You may stop: {coming}"
        return f"Go on: {coming or 'there are too few labels to say what more would bring'}"

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
    return advice_of(model, learning_curve(graph, model, earlier=False), audited)


def advice_of(model: NodeClassifier, curve: LearningCurve, audited: Interval | None = None) -> Advice:
    """Say whether more labels are worth it, of a curve that is there already."""
    now, changes = curve.now, curve.change
    counts = Counter(model.labelled_.values())
    wanted = max(FEWEST, EACH * len(counts))
    reasons = [f"{audited} of the other nodes are predicted right, as the audit found" if audited else f"{now}"]
    evidence = model.evidence()
    if evidence is not None:
        reasons.append(evidence.removesuffix("."))
    if changes is not None:
        reasons.append(f"the last half of the labels changed {changes.last_half.changed:.1%} of the predictions")
        reasons.append(f"{changes}")
    if now.n_labels < wanted:
        reasons.append(f"{now.n_labels:,} labels of {len(counts):,} classes are few: {wanted:,} are needed to judge")
    lone = [name for name, count in counts.items() if count == 1]
    if lone:
        reasons.append(f"classes with one label only: {first_five(lone)}")
    commonest = max(counts.values()) / now.n_labels
    if now.held_out <= commonest:
        reasons.append(
            f"of labels left out the model names {now.held_out:.0%}, no more than the commonest class would get "
            f"({commonest:.0%}): look at the features"
        )
    settled = changes is not None and changes.last_half.changed < SETTLED
    return Advice(settled and now.n_labels >= wanted and now.held_out > commonest, tuple(reasons), curve)
