"""Request bodies of the JSON API."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

MAX_KEY_CHARS, MAX_REASON_CHARS, MAX_NOTE_CHARS = 100, 1000, 10_000
MAX_CLASS_CHARS, MAX_DESCRIPTION_CHARS = 200, 1000

Key = Annotated[
    str,
    Field(min_length=1, max_length=MAX_KEY_CHARS, description="Idempotency key, new for each action."),
]
Node = Annotated[Any, Field(description="Id of a node, as /api/next returns it.")]


class RequestBody(BaseModel):
    """Base of all request bodies; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", strict=True)


class LabelRequest(RequestBody):
    """A label for a node."""

    node: Node
    label: Annotated[Any, Field(description="One of the classes.")]
    key: Key


class AdjudicationRequest(LabelRequest):
    """The final label of a node on which people disagree."""


class SkipRequest(RequestBody):
    """A node that the annotator cannot label."""

    node: Node
    reason: Annotated[str, Field(max_length=MAX_REASON_CHARS)] = ""
    key: Key


class UndoRequest(RequestBody):
    """Undo the last answer."""

    key: Key


class NoteRequest(RequestBody):
    """A note on a node."""

    node: Node
    text: Annotated[str, Field(min_length=1, max_length=MAX_NOTE_CHARS)]
    key: Key


class HeartbeatRequest(RequestBody):
    """A sign that the annotator still has a node open."""

    node: Node


ClassName = Annotated[str, Field(min_length=1, max_length=MAX_CLASS_CHARS)]


class ClassRequest(RequestBody):
    """A class to add."""

    name: ClassName


class RemovalRequest(RequestBody):
    """A class to remove."""

    label: Annotated[Any, Field(description="One of the classes.")]


class RenameRequest(RemovalRequest):
    """A new name for a class; the name of another class merges the two."""

    name: ClassName


class DescriptionRequest(RemovalRequest):
    """A description of a class."""

    description: Annotated[str, Field(max_length=MAX_DESCRIPTION_CHARS)]
