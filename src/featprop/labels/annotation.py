"""The record of an annotation: the same one in a file, in the label log and in the consensus."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an annotation does."""

    LABEL = "label"
    SKIP = "skip"
    VERDICT = "adjudicate"
    NOTE = "note"
    UNDO = "undo"
    AUDIT = "audit"
    RELEASE = "release"
    CLASSES = "classes"
    RENAME = "rename"
    ASK = "ask"
    LEARNER = "learner"
    OPEN = ""
    """A node without an answer, in an export."""


AUDIT = "audit"
"""Column with the number of nodes that an audited node stands for."""
VOTES = (Kind.LABEL, Kind.SKIP, Kind.VERDICT)
"""Kinds that answer a question: a label, a skip or a verdict."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """What one person said about one node, or another event of labelling.

    Attributes
    ----------
    node
        Id of the node; None for events that concern no node.
    label
        The class; None for a skip, a note and the like.
    kind
        What the annotation does. ``"label"`` and ``"skip"`` answer; ``"adjudicate"`` settles a disagreement.
    annotator
        Name of the annotator; empty if unknown.
    time
        When, in UTC; None if unknown.
    round
        Number of times nodes had been asked for by then.
    source
        File it comes from.
    key
        Idempotency key: the log writes an annotation once under its key.
    text
        Reason of a skip, text of a note, weight of an audited node, former name of a renamed class.
    number
        Position in the log, from 1; 0 outside a log.
    undoes
        Number of the annotation that an undo takes back.
    """

    node: Hashable
    label: Hashable | None = None
    kind: Kind = Kind.LABEL
    annotator: str = ""
    time: dt.datetime | None = None
    round: int = 0
    source: str = ""
    key: str = ""
    text: str = ""
    number: int = 0
    undoes: int | None = None

    @property
    def who(self) -> str:
        """The annotator or, if unknown, where the annotation comes from."""
        return self.annotator or self.source

    def says_same(self, other: Annotation | None) -> bool:
        """Return whether another annotation of the same person says the same."""
        if other is None or (self.kind, self.annotator) != (other.kind, other.annotator):
            return False
        return is_same(self.label, other.label) and (self.kind is Kind.LABEL or self.text == other.text)


def is_same(label: Hashable, other: Hashable) -> bool:
    """Return whether two labels are equal and of one type: 1 and 1.0 are two."""
    return label == other and type(label) is type(other)


def to_record(each: Annotation) -> dict[str, str]:
    """Return what every exchange format says of an annotation besides its node."""
    label = "" if each.label is None else str(each.label)
    time = time_to_text(each.time)
    return {"label": label, "annotator": each.annotator, "time": time, "kind": str(each.kind), "note": each.text}


def parse_time(text: object) -> dt.datetime | None:
    """Read a time in ISO form, in UTC if it names no zone; None for anything else."""
    if not text:
        return None
    try:
        when = dt.datetime.fromisoformat(str(text).strip())
        return to_milliseconds(when.replace(tzinfo=when.tzinfo or dt.UTC))
    except (ValueError, OverflowError):
        return None


def to_milliseconds(time: dt.datetime) -> dt.datetime:
    """Return a time in UTC as the log and exports keep it."""
    utc = time.astimezone(dt.UTC)
    return utc.replace(microsecond=utc.microsecond // 1000 * 1000)


def time_to_text(time: dt.datetime | None) -> str:
    """Write a time as text that `parse_time` reads."""
    return "" if time is None else time.isoformat(timespec="milliseconds")
