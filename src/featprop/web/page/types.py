"""Records that a labelling session returns: questions, predictions and progress."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

from featprop.evaluate import Advice, AuditScore


class Why(StrEnum):
    """Why a node is asked for."""

    AUDIT = "audit"
    UNDONE = "undone"
    RANKED = "ranked"
    COMPARED = "compared"
    UNCERTAIN = "uncertain"
    SIMILAR = "similar"


@dataclass(frozen=True)
class Question:
    """A node that an annotator is asked to label."""

    node: Hashable  # id of the node
    why: Why  # why it is asked for
    rank: int = 0  # place in the ranking, from 1; 0 if it is not ranked
    represents: int | None = None  # number of nodes it represents, if known
    has_model: bool = False  # whether a model chose it

    @property
    def is_audit(self) -> bool:
        """Whether it checks the model, so that the model's prediction stays hidden."""
        return self.why is Why.AUDIT

    @property
    def explanation(self) -> str:
        """The reason in a sentence."""
        if self.why is Why.RANKED:
            if self.represents is None or self.represents < 2:
                return f"Unlike any other node (no. {self.rank})."
            known = "nodes the model is unsure about" if self.has_model else "nodes of the graph"
            return f"Represents {self.represents:,} {known} (no. {self.rank})."
        return {
            Why.AUDIT: "Picked at random to check the model.",
            Why.UNDONE: "You or someone else undid the answer to this node.",
            Why.COMPARED: "Someone else labelled this node too, to compare answers.",
            Why.UNCERTAIN: "The last model is least certain about this node; the next ranking is on its way.",
            Why.SIMILAR: "Similar to a node selected before, while the first model trains.",
        }[self.why]


@dataclass(frozen=True)
class Prediction:
    """Prediction of a node."""

    label: Hashable
    confidence: float
    probabilities: dict[Hashable, float]


@dataclass(frozen=True)
class AuditProgress:
    """Progress of the audit."""

    size: int  # number of audit nodes
    answered: int  # number of labelled audit nodes
    score: AuditScore | None = None  # score of the last model; None before there is a model and enough audit labels


@dataclass(frozen=True)
class Status:
    """What every question page shows of the progress."""

    labelled: int
    nodes: int
    budget: int | None  # number of labels wanted
    seen: int  # number of labels the last model was trained on; ties do not count until they are settled
    disagreements: int  # number of nodes with different answers that no one has settled
    training: str = "waiting"  # or "training"
    failure: str = ""  # why the last training failed


@dataclass(frozen=True, kw_only=True)
class Progress(Status):
    """Progress of the labelling."""

    skipped: int
    classes: list[tuple[Hashable, int]]  # number of labels of each class
    annotators: dict[str, int]  # number of answers of each annotator
    hours: dict[dt.datetime, int]  # number of answers in each hour
    alpha: float | None  # Krippendorff's alpha, if it is defined
    coverage: list[tuple[int, float]]  # mean distance to a label by number of labels
    audit: AuditProgress | None
    advice: Advice | None
