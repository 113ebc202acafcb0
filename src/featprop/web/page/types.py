"""Records that a labelling session returns: questions, predictions and progress."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import StrEnum

from featprop.evaluate import Advice, AuditScore


class Why(StrEnum):
    """Why a node is asked for."""

    AUDIT = "audit"
    UNDONE = "undone"
    RANKED = "ranked"
    COMPARED = "compared"
    RANDOM = "random"


@dataclass(frozen=True)
class Question:
    """A node that an annotator is asked to label.

    Attributes
    ----------
    node
        Id of the node.
    why
        Why it is asked for.
    rank
        Place in the ranking, from 1; 0 if it is not ranked.
    represents
        Number of nodes it represents, if known.
    has_model
        Whether a model chose it.
    """

    node: Hashable
    why: Why
    rank: int = 0
    represents: int | None = None
    has_model: bool = False

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
            Why.RANDOM: "Picked at random while the model catches up.",
        }[self.why]


@dataclass(frozen=True)
class Prediction:
    """Prediction of a node."""

    label: Hashable
    confidence: float
    probabilities: dict[Hashable, float]


@dataclass(frozen=True)
class AuditProgress:
    """Progress of the audit.

    Attributes
    ----------
    size
        Number of audit nodes.
    answered
        Number of labelled audit nodes.
    score
        Score of the last model; None before there is a model and enough audit labels.
    """

    size: int
    answered: int
    score: AuditScore | None = None


@dataclass(frozen=True)
class Progress:
    """Progress of the labelling.

    Attributes
    ----------
    labelled, skipped, nodes
        Number of labelled nodes, of skipped nodes, and of all nodes.
    budget
        Number of labels wanted, or None.
    classes
        Number of labels of each class.
    annotators
        Number of answers of each annotator.
    hours
        Number of answers in each hour.
    seen
        Number of labels the last model was trained on; ties do not count until they are settled.
    disagreements
        Number of nodes with different answers that no one has settled.
    alpha
        Krippendorff's alpha; None if it is undefined.
    coverage
        Mean distance to the nearest labelled node, by number of labels.
    training
        ``"waiting"`` or ``"training"``.
    failure
        Why the last training failed; empty if it did not.
    audit
        Progress of the audit, whose labels count nowhere else; None without an audit.
    advice
        Estimated accuracy and whether more labels are worth it; None if not known yet.
    """

    labelled: int
    skipped: int
    nodes: int
    budget: int | None
    classes: list[tuple[Hashable, int]]
    annotators: dict[str, int]
    hours: dict[dt.datetime, int]
    seen: int
    disagreements: int
    alpha: float | None
    coverage: list[tuple[int, float]] = field(default_factory=list)
    training: str = "waiting"
    failure: str = ""
    audit: AuditProgress | None = None
    advice: Advice | None = None
