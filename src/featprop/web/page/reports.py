"""What the desk tells: a question, what the model thinks of a node, and how far the labelling is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from dataclasses import dataclass, field

from featprop.evaluate import Advice, AuditScore

__all__ = ["AuditProgress", "Prediction", "Progress", "Question"]


@dataclass(frozen=True)
class Question:
    """A node that somebody is asked for.

    Attributes
    ----------
    node
        Its id.
    rank
        Its place in the ranking, from 1; 0 for one that was not ranked.
    represents
        How many nodes it stands for, where that is known.
    why
        Why it is asked for, in a sentence.
    is_audit
        Whether it checks the model, so that nobody is to see what the model thinks.
    """

    node: Hashable
    rank: int
    represents: int | None
    why: str
    is_audit: bool = False


@dataclass(frozen=True)
class Prediction:
    """What the model thinks of a node."""

    label: Hashable
    confidence: float
    probabilities: dict[Hashable, float]


@dataclass(frozen=True)
class AuditProgress:
    """How far the audit is.

    Attributes
    ----------
    size
        How many nodes were drawn.
    answered
        How many of them have a label.
    score
        How good the last model is by them; None before there is a model and they are enough.
    """

    size: int
    answered: int
    score: AuditScore | None = None


@dataclass(frozen=True)
class Progress:
    """How far the labelling is.

    Attributes
    ----------
    labelled, skipped, nodes
        Nodes with a label, nodes nobody could label, all of them.
    budget
        How many labels are wanted, None if nothing was said.
    classes
        Each class and its labels.
    annotators
        Answers of each person, also of those who are not here now.
    hours
        Answers in each hour, by its beginning.
    seen
        How many of the labels the model has learnt from; from a tie it learns when it is settled.
    disagreements
        How many nodes people answered differently and nobody has settled.
    alpha
        Krippendorff's alpha of those whom several people answered; None if it is not defined.
    coverage
        The mean distance of a node to the nearest labelled one, by how many labels there were.
    training
        What the model is at: ``"waiting"`` or ``"training"``.
    failure
        What went wrong with the last training; empty if nothing did.
    audit
        How far the audit is, whose nodes count nowhere else; None if there is none.
    advice
        How good the model is as the labels tell, and whether more are worth it; None before that was said.
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
