"""What somebody said of a node, as it goes from one tool to another, and what was heard in a file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from featprop.labels.log import LabelLog

__all__ = ["KINDS", "Heard", "Said", "said_in", "time_of", "written"]

KINDS = ("label", "skip", "adjudicate", "note")
LONGEST_NAME = 500
"""Characters of a node, a class or an annotator."""
LONGEST_TEXT = 10_000
"""Characters of a note."""


@dataclass(frozen=True)
class Said:
    """What somebody said.

    Attributes
    ----------
    node
        Of which node; in what was heard, as it is written there.
    kind
        ``"label"``, ``"skip"``, ``"adjudicate"`` or ``"note"``; ``""`` for a node of which nothing was said;
        ``"audit"`` for one that was drawn for checking.
    label
        The class; in what was heard, as it is written there.
    text
        The reason of a skip, the note, or how many nodes one of an audit stands for.
    annotator
        Who; empty where nobody is named.
    is_numbered
        Whether the file knows the annotator by a number only, which is nobody's name here.
    time
        When, if that is known.
    mark
        What the other tool calls it, if it has a name of its own there.
    by_hand
        Whether a person may have typed it, so that the label may be a word for a skip.
    """

    node: Hashable
    kind: str
    label: Hashable | None = None
    text: str = ""
    annotator: str = ""
    time: dt.datetime | None = None
    mark: str = ""
    by_hand: bool = False
    is_numbered: bool = False


@dataclass
class Heard:
    """What a file says.

    Attributes
    ----------
    said
        What was said in it, in its order.
    unanswered
        How many nodes it lists without an answer.
    unclear
        What could not be read, in a few words each.
    """

    said: list[Said] = field(default_factory=list)
    unanswered: int = 0
    unclear: list[str] = field(default_factory=list)

    def add_drawn(self, node: Hashable, weight: Any, where: str) -> bool:
        """Take that a node was drawn for checking, and how many nodes it stands for, which is None if it was not.

        False if that is no number: whether what was said of the node may be learnt from is not known then.
        """
        if weight is None or weight == "":
            return True
        try:
            stands_for = float(weight)
        except (TypeError, ValueError):
            stands_for = 0.0
        if not 0 < stands_for < float("inf"):
            self.unclear.append(f"{where}: no number of nodes that one of an audit stands for")
            return False
        self.add(Said(node, "audit", text=repr(stands_for)), where)
        return True

    def add(self, said: Said, where: str) -> None:
        """Take what was said, unless it is longer or stranger than names and notes are."""
        names = (said.node, said.label, said.annotator)
        if any(isinstance(name, str) and len(name) > LONGEST_NAME for name in names):
            self.unclear.append(f"{where}: a name of more than {LONGEST_NAME:,} characters")
        elif len(said.text) > LONGEST_TEXT:
            self.unclear.append(f"{where}: a note of more than {LONGEST_TEXT:,} characters")
        elif not all(_is_text(text) for text in (*names, said.text) if isinstance(text, str)):
            self.unclear.append(f"{where}: characters that are none")
        elif not all(isinstance(name, Hashable) for name in names):
            self.unclear.append(f"{where}: a list or an object where a name was expected")
        else:
            self.said.append(said)


def said_in(log: LabelLog, nodes: Sequence[Hashable] = ()) -> list[Said]:
    """Return all that holds in a log: answers and verdicts node by node, those of `nodes` that have none, notes.

    The nodes of the audit are among those without an answer as long as they have none.
    """
    holding = log.holding()
    answered = {act.node for act in holding}
    notes = [act for act in log.acts() if act.kind == "note"]
    said = [
        Said(act.node, "label" if act.kind == "correct" else act.kind, act.label, act.text, act.annotator, act.time)
        for act in (*holding, *notes)
    ]
    asked = [Said(node, "") for node in dict.fromkeys([*log.audit(), *nodes]) if node not in answered]
    return [*said[: len(holding)], *asked, *said[len(holding) :]]


def time_of(value: Any) -> dt.datetime | None:
    """Return a time as another tool writes it, in text or seconds since 1970; None for what is none."""
    try:
        if isinstance(value, str):
            when = dt.datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            when = dt.datetime.fromtimestamp(value, dt.UTC)
        else:
            return None
        when = when.replace(tzinfo=when.tzinfo or dt.UTC).astimezone(dt.UTC)
        return when.replace(microsecond=when.microsecond // 1000 * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def written(time: dt.datetime | None) -> str:
    """Return a time as text that `time_of` reads."""
    return "" if time is None else time.isoformat(timespec="milliseconds")


def _is_text(text: str) -> bool:
    """Say whether text can be written down: JSON may hold halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
