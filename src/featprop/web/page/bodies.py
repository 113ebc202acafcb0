"""What programs send: the bodies of the JSON API, with the lengths they may have."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "KEY",
    "NAME",
    "NOTE",
    "REASON",
    "Adjudication",
    "Body",
    "Heartbeat",
    "Labelling",
    "NewClass",
    "Note",
    "Skipping",
    "Undoing",
]

KEY, REASON, NOTE, NAME = 100, 1000, 10_000, 200
"""The most letters of a key, a reason, a note and the name of a class."""

Key = Annotated[str, Field(min_length=1, max_length=KEY, description="Made by the sender, new for each act.")]
Node = Annotated[Any, Field(description="The id of a node, as /api/next gives it.")]


class Body(BaseModel):
    """What a request brings; a field nobody knows is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Labelling(Body):
    """A label for a node."""

    node: Node
    label: Annotated[Any, Field(description="One of the classes.")]
    key: Key


class Adjudication(Labelling):
    """What a node is, where people differ."""


class Skipping(Body):
    """A node that somebody cannot label."""

    node: Node
    reason: Annotated[str, Field(max_length=REASON)] = ""
    key: Key


class Undoing(Body):
    """The last answer taken back."""

    key: Key


class Note(Body):
    """Something to remember of a node."""

    node: Node
    text: Annotated[str, Field(min_length=1, max_length=NOTE)]
    key: Key


class Heartbeat(Body):
    """A sign that somebody still looks at a node."""

    node: Node


class NewClass(Body):
    """A class to add."""

    name: Annotated[str, Field(min_length=1, max_length=NAME)]
