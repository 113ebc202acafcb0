"""Acts of people: as they stand in a log, as they are to be written, and as another tool tells them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from featprop.ids import name_from_text, name_to_text

__all__ = ["Act", "NewAct", "Outcome", "Told", "act_of", "same"]

LABELLING = frozenset({"label", "correct", "adjudicate", "class"})
"""Kinds of acts that name a class."""


@dataclass(frozen=True)
class Act:
    """One act of a person.

    Attributes
    ----------
    number
        Its place in the log, from 1.
    key
        What makes it distinct: the same act under the same key is written once.
    time
        When, in UTC.
    annotator
        Who; empty where nobody was named.
    round
        How many times nodes had been asked for by then.
    kind
        ``"label"``, ``"correct"``, ``"skip"``, ``"adjudicate"``, ``"undo"`` or ``"note"``; ``"audit"`` of a node that
        was drawn for checking, ``"release"`` where the audit so far became labels like others; ``"class"`` of one that
        there may be.
    node
        Of what; None of a release or a class.
    label
        The class, of a label, a correction or a verdict, or the class that there may be.
    text
        The reason of a skip, the note, or how many nodes one of the audit stands for.
    undoes
        The number of the act that an undo takes back.
    """

    number: int
    key: str
    time: dt.datetime
    annotator: str
    round: int
    kind: str
    node: Hashable
    label: Hashable | None
    text: str
    undoes: int | None


@dataclass(frozen=True)
class Told:
    """An act that happened elsewhere: in another log or another tool.

    Attributes
    ----------
    kind
        ``"label"``, ``"skip"``, ``"adjudicate"``, ``"note"`` or ``"audit"``.
    node, label, text, annotator
        As of an `Act`.
    key
        What makes it distinct.
    time
        When, if that is known.
    """

    kind: str
    node: Hashable
    label: Hashable | None
    text: str
    annotator: str
    key: str
    time: dt.datetime | None = None

    def is_said_by(self, act: Act | None) -> bool:
        """Say whether an act of the same annotator and node says the same; a label may be a correction there."""
        if act is None or self.kind != ("label" if act.kind == "correct" else act.kind):
            return False
        return same(act.label, self.label) and (self.kind == "label" or act.text == self.text)


class Outcome(NamedTuple):
    """What an act came to.

    Attributes
    ----------
    node
        Of what it was.
    before
        What it took the place of: what the same person had said of the node, or the verdict before; None if nothing.
    held
        The answers and the verdict that hold of the node now.
    turn
        The larger, the later `held` was so.
    """

    node: Hashable
    before: Act | None
    held: tuple[Act, ...]
    turn: int


class NewAct(NamedTuple):
    """An act that is to be written."""

    kind: str
    annotator: str
    node: Hashable
    label: Hashable | None = None
    text: str = ""
    undoes: int | None = None

    @property
    def row(self) -> tuple[Any, ...]:
        """The act as columns of the table."""
        label = None if self.label is None else name_to_text(self.label)
        return self.kind, self.annotator, name_to_text(self.node), label, self.text, self.undoes


def act_of(row: tuple[Any, ...]) -> Act:
    """Return the act that a row of the table holds; one that no version of featprop wrote is a `ValueError`."""
    number, key, time, annotator, turn, kind, node, label, text, undoes = row
    if not all(isinstance(each, str) for each in (key, time, annotator, kind, node, text)):
        raise ValueError(f"an act of other types than it should have, number {number}")
    if not isinstance(turn, int) or not isinstance(undoes, int | None) or not isinstance(label, str | None):
        raise ValueError(f"an act of other types than it should have, number {number}")
    name, when = None if label is None else name_from_text(label), dt.datetime.fromisoformat(time)
    is_whole = name is not None or kind not in LABELLING
    if not is_whole or when.tzinfo is None or (kind == "audit" and not 0 < float(text) < math.inf):
        raise ValueError(f"an act that says less than it should, number {number}")
    return Act(number, key, when, annotator, turn, kind, name_from_text(node), name, text, undoes)


def same(label: Hashable, other: Hashable) -> bool:
    """Say whether two labels are equal and of one type: 1 and 1.0 are two."""
    return label == other and type(label) is type(other)
