"""What the report states about the predictions: findings, sentences, and lists of nodes to review."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featprop.evaluate import Advice, AuditScore, Diagnostics, Estimate, Flag, Interval, NovelClass
from featprop.evaluate.estimate import RELIABLE_LABELS
from featprop.graph import UNKNOWN
from featprop.web.common.formatting import clean_line
from featprop.web.report.context import ReportContext

KINDS = {
    "wrong_labels": (
        "Labels that look wrong",
        "Without the label, the model predicts another class: a slip, or a node unlike its class.",
    ),
    "novel_classes": (
        "Possible new classes",
        "Groups of similar nodes far from every label. Label one node of each to find out what they are.",
    ),
    "least_certain": ("Least certain", "Predictions with the lowest confidence."),
    "contradicted": ("Contradicted by neighbours", "Most neighbours belong to another class."),
    "far_from_labels": (
        "Far from every label",
        "No label is near in the smoothed features, so predictions are guesses.",
    ),
    "unlabelled_components": ("Components without a label", "These nodes are not connected to any label."),
}
"""Titles and descriptions of the lists, in order."""
MAX_ROWS = 20
MAX_GROUP_NODES = 60
"""Nodes of a group that are marked on the map."""
MAX_REASON_CHARS = 400


@dataclass(frozen=True)
class Findings:
    """Evaluation of the predictions; any part may be missing."""

    audit: AuditScore | None = None  # score on the audit
    advice: Advice | None = None  # estimate without the audit, and whether more labels are worth it
    diagnostics: Diagnostics | None = None  # what to review

    @property
    def estimate(self) -> Estimate | None:
        """Estimate without the audit."""
        return None if self.advice is None else self.advice.curve.now

    @property
    def accuracy(self) -> Interval | None:
        """Accuracy from the audit if there is one, otherwise the estimate."""
        best = self.audit or self.estimate
        return None if best is None else best.accuracy

    @property
    def macro_f1(self) -> Interval | None:
        """Macro-F1 from the audit if there is one, otherwise the estimate."""
        best = self.audit or self.estimate
        return None if best is None else best.macro_f1


def headline(context: ReportContext, findings: Findings) -> str:
    """Return the accuracy with its interval, or why there is none, without a final period."""
    if findings.accuracy is not None:
        return f"{'Accuracy' if findings.audit is not None else 'Estimated accuracy'} {findings.accuracy}"
    if not np.any(context.labelled == UNKNOWN):
        return "Every node is labelled"
    if len(context.model.class_names_) < 2:
        return f"All labels are {context.class_titles[0]}, so there is nothing to predict yet"
    return f"{len(context.labels):,} labels are too few for an accuracy estimate"


def lead(context: ReportContext, findings: Findings) -> list[str]:
    """Return the sentences below the headline."""
    sentences = []
    has_several = len(context.model.class_names_) > 1
    accuracy = findings.accuracy
    if findings.audit is not None and accuracy is not None:
        size = findings.audit.size
        sentences.append(
            f"Measured on {size:,} random node{'' if size == 1 else 's'} that the model has not seen. "
            f"The {100 * accuracy.level:.0f} % interval is in parentheses."
        )
        if not has_several:
            sentences.append(f"All labels are {context.class_titles[0]}, so the model cannot learn anything yet.")
    elif findings.estimate is not None and accuracy is not None:
        sentences.append(
            f"Estimated from the labels and the graph, with a {100 * accuracy.level:.0f} % interval. "
            "An audit would measure it."
        )
        if findings.estimate.n_labels < RELIABLE_LABELS:
            sentences.append("With so few labels, an audit of 30 random nodes is more reliable.")
    elif has_several and np.any(context.labelled == UNKNOWN):
        sentences.append("Label a few random nodes as an audit to measure the accuracy.")
    warning = majority_warning(context, findings)
    if warning is not None:
        sentences.append(f"{warning}.")
    if findings.advice is not None:
        sentences.append(findings.advice.headline)
    return sentences


def majority_warning(context: ReportContext, findings: Findings) -> str | None:
    """Return a warning if always predicting the most common class may be as accurate as the model."""
    accuracy, predicted = findings.accuracy, context.predicted[context.labelled == UNKNOWN]
    if accuracy is None or not len(predicted):
        return None
    counts = np.bincount(predicted)
    most_common = int(counts.argmax())
    if counts[most_common] < accuracy.low * len(predicted):
        return None
    share = f"{100 * counts[most_common] / len(predicted):.0f} %"
    name = context.class_titles[most_common]
    return (
        f"{share} of the nodes are predicted {name}, so always predicting {name} may be as accurate; check each class"
    )


@dataclass(frozen=True)
class ReviewItem:
    """A node in a list, or the medoid of a group."""

    position: int  # position of the node
    reason: str  # why it is listed
    members: tuple[int, ...] = ()  # positions of the first nodes of the group; empty for a single node
    n_others: int = 0  # number of other nodes in the group


@dataclass(frozen=True)
class ReviewList:
    """A list of nodes to review."""

    key: str  # name of the field of `Diagnostics`, title and description
    title: str
    description: str
    items: tuple[ReviewItem, ...]  # nodes, most suspicious first

    @property
    def positions(self) -> list[int]:
        """Positions of all nodes in the list."""
        return [position for each in self.items for position in (each.position, *each.members)]


def suspect_labels(diagnostics: Diagnostics) -> tuple[Flag, ...]:
    """Return the labels for which the other labels suggest another class."""
    return tuple(each for each in diagnostics.wrong_labels if each.suggestion is not None)


def build_lists(diagnostics: Diagnostics | None) -> list[ReviewList]:
    """Return the lists that are not empty."""
    if diagnostics is None:
        return []
    flags = {key: getattr(diagnostics, key) for key in KINDS} | {"wrong_labels": suspect_labels(diagnostics)}
    return [
        ReviewList(key, *KINDS[key], tuple(map(_item, listed[:MAX_ROWS]))) for key, listed in flags.items() if listed
    ]


def _item(flag: Flag | NovelClass) -> ReviewItem:
    reason = clean_line(flag.reason, MAX_REASON_CHARS)
    if isinstance(flag, Flag):
        return ReviewItem(flag.position, reason)
    members = tuple(flag.positions[:MAX_GROUP_NODES].tolist())
    return ReviewItem(int(flag.positions[0]), reason, members, flag.size - 1)
