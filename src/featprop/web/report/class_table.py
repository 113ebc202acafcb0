"""What is known class by class: labels, predictions, and how good they are where an audit says enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featprop.evaluate import AuditScore, Interval
from featprop.graph import UNKNOWN
from featprop.web.report.subject import Subject

__all__ = ["ClassLine", "class_lines"]


@dataclass(frozen=True)
class ClassLine:
    """A class.

    Attributes
    ----------
    code, title
        Its number and what it is called.
    labels
        How many labels it has.
    predicted
        How many nodes without a label are predicted to be of it.
    share
        Of all nodes, the share that is of it by label or prediction.
    confidence
        The mean confidence of those predictions, None if there are none.
    got_right
        How many of its labels the model says without the label itself; None where the model does not tell.
    recall, precision
        By the audit, where it says enough.
    """

    code: int
    title: str
    labels: int
    predicted: int
    share: float
    confidence: float | None
    got_right: int | None
    recall: Interval | None = None
    precision: Interval | None = None


def class_lines(subject: Subject, audit: AuditScore | None) -> list[ClassLine]:
    """Return a line for each class."""
    open_ = subject.labelled == UNKNOWN
    size = len(subject.classes)
    labels = np.bincount(subject.codes, minlength=size)
    predicted = np.bincount(subject.predicted[open_], minlength=size)
    sums = np.bincount(subject.predicted[open_], weights=subject.confidence[open_], minlength=size)
    right = _got_right(subject)
    scores = {score.name: score for score in audit.classes} if audit is not None else {}
    return [
        ClassLine(
            code,
            title,
            int(labels[code]),
            int(predicted[code]),
            float(labels[code] + predicted[code]) / subject.graph.n_nodes,
            float(sums[code] / predicted[code]) if predicted[code] else None,
            None if right is None else int(right[code]),
            scores[name].recall if name in scores else None,
            scores[name].precision if name in scores else None,
        )
        for code, (name, title) in enumerate(zip(subject.classes, subject.class_titles, strict=True))
    ]


def _got_right(subject: Subject) -> np.ndarray | None:
    left_out = subject.model.held_out_proba_
    if left_out is None or len(left_out) != len(subject.codes):
        return None
    right = left_out.argmax(axis=1) == subject.codes
    return np.bincount(subject.codes[right], minlength=len(subject.classes))
