"""Advise whether more labels are worth it, with reasons.

Stopping is advised if the last half of the labels changed fewer than 3 % of the predictions, there are at least 40
labels and 5 per class, and the cross-validated accuracy beats the most common class. Published rules that use
confidence alone stop too early. docs/how-good-measured.md has the cost of this rule on graphs with known labels.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from featprop.errors import first_five
from featprop.evaluate.estimate import RELIABLE_LABELS
from featprop.evaluate.intervals import Interval
from featprop.evaluate.learning_curve import LearningCurve, learning_curve
from featprop.graph import GraphLike
from featprop.models import NodeClassifier

MAX_CHANGED = 0.03
"""Share of the predictions that the last half of the labels may have changed."""
MIN_LABELS_PER_CLASS = 5


class Finding(StrEnum):
    """Kind of a reason for an advice."""

    EVIDENCE = "evidence"
    STABILITY = "stability"
    FEW_LABELS = "few labels"
    SINGLE_LABELS = "single labels"
    NO_BETTER_THAN_MAJORITY = "no better than majority"


@dataclass(frozen=True)
class Advice:
    """Whether more labels are worth it.

    Attributes
    ----------
    may_stop
        Whether more labels are probably not worth it.
    reasons
        A sentence for each finding.
    curve
        Estimated accuracy, prediction stability and forecast.
    audited
        Accuracy that an audit measured, if there is one.
    """

    may_stop: bool
    reasons: dict[Finding, str]
    curve: LearningCurve
    audited: Interval | None = None

    @property
    def may_help(self) -> bool:
        """Whether more labels will probably help (no advice to stop, and a forecast gain above 0.0 points)."""
        coming = self.curve.forecast
        return not self.may_stop and (coming is None or round(100 * coming.gain.value, 1) > 0)

    @property
    def headline(self) -> str:
        """The advice and the forecast."""
        advice = "Keep labelling" if self.may_help else "More labels will probably not help"
        if self.may_stop:
            advice = "You can stop labelling"
        return f"{advice}. {self.curve.forecast or 'There are too few labels for a forecast'}."

    def __str__(self) -> str:
        accuracy = f"{self.curve.now}." if self.audited is None else f"Accuracy {self.audited} in the audit."
        return "\n- ".join([self.headline, accuracy, *self.reasons.values()])


def advise(graph: GraphLike, model: NodeClassifier, audited: Interval | None = None) -> Advice:
    """Advise whether more labels are worth it.

    Parameters
    ----------
    graph
        Graph that the model was fitted to.
    model
        Fitted model, whose labels (``model.labelled_``) are in the order they were given.
    audited
        Accuracy that an audit measured, which is more reliable than the estimate.
    """
    return advise_from_curve(model, learning_curve(graph, model, earlier=False), audited)


def advise_from_curve(model: NodeClassifier, curve: LearningCurve, audited: Interval | None = None) -> Advice:
    """Advise whether more labels are worth it, given the learning curve."""
    now, stability = curve.now, curve.stability
    counts = Counter(model.labelled_.values())
    wanted = max(RELIABLE_LABELS, MIN_LABELS_PER_CLASS * len(counts))
    reasons: dict[Finding, str] = {}
    evidence = model.evidence()
    if evidence is not None:
        reasons[Finding.EVIDENCE] = evidence
    if stability is not None:
        reasons[Finding.STABILITY] = str(stability)
    if now.n_labels < wanted:
        reasons[Finding.FEW_LABELS] = (
            f"{now.n_labels:,} labels for {len(counts):,} classes are too few to judge; {wanted:,} are needed."
        )
    single = [name for name, count in counts.items() if count == 1]
    if single:
        reasons[Finding.SINGLE_LABELS] = f"Classes with a single label: {first_five(single)}."
    majority = max(counts.values()) / now.n_labels
    if now.cv_accuracy <= majority and now.n_labels >= RELIABLE_LABELS:  # the first labels are the hardest nodes
        reasons[Finding.NO_BETTER_THAN_MAJORITY] = (
            f"Cross-validated accuracy is {100 * now.cv_accuracy:.0f} %, no better than always predicting the most "
            f"common class ({100 * majority:.0f} %). Check the features."
        )
    is_stable = stability is not None and stability.last_half.changed < MAX_CHANGED
    return Advice(is_stable and now.n_labels >= wanted and now.cv_accuracy > majority, reasons, curve, audited)
