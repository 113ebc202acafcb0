"""What people can do, once for programs and for forms: what each change is called, brings, does and answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, NamedTuple

from starlette.requests import Request

from featprop.errors import ParameterError
from featprop.labels import Annotation
from featprop.names import to_jsonable
from featprop.web.page.addresses import named, node_of
from featprop.web.page.bodies import Adjudication, Body, Heartbeat, Labelling, NewClass, Note, Skipping, Undoing
from featprop.web.page.desk import Desk
from featprop.web.page.replies import Refusal

__all__ = ["Change", "changes", "who"]


class Change(NamedTuple):
    """Something that people can do.

    Attributes
    ----------
    body
        What it brings.
    about
        What it does, for who writes programs.
    do
        Does it, given who and the body, and returns the answer.
    back
        The page that a form leads to.
    """

    body: type[Body]
    about: str
    do: Callable[[str, Any], dict[str, Any]]
    back: str = "question"


def who(request: Request) -> str:
    """Return who asks; the guard has found out."""
    name: str = request.scope["annotator"]
    return name


def changes(desk: Desk, adding: Collection[str]) -> dict[str, Change]:
    """Return all changes by the names they have in addresses.

    Parameters
    ----------
    desk
        What does the work.
    adding
        Who may add a class.
    """

    def node_in(body: Any) -> Hashable:
        return node_of(desk.graph, named(body.node, "node"))

    def label(annotator: str, body: Labelling) -> dict[str, Any]:
        node = node_in(body)
        before = desk.label(annotator, node, named(body.label, "label"), body.key)
        return {"saved": "label", "node": to_jsonable(node), "before": _said(before)}

    def skip(annotator: str, body: Skipping) -> dict[str, Any]:
        node = node_in(body)
        before = desk.skip(annotator, node, body.reason.strip(), body.key)
        return {"saved": "skip", "node": to_jsonable(node), "before": _said(before)}

    def adjudicate(annotator: str, body: Adjudication) -> dict[str, Any]:
        node = node_in(body)
        desk.adjudicate(annotator, node, named(body.label, "label"), body.key)
        return {"saved": "adjudication", "node": to_jsonable(node)}

    def undo(annotator: str, body: Undoing) -> dict[str, Any]:
        act = desk.undo(annotator, body.key)
        return {"saved": "undo", "node": None if act is None else to_jsonable(act.node)}

    def note(annotator: str, body: Note) -> dict[str, Any]:
        node = node_in(body)
        if not body.text.strip():
            raise ParameterError("A note", "must say something", "nothing", "type it, or leave it")
        desk.note(annotator, node, body.text.strip(), body.key)
        return {"saved": "note", "node": to_jsonable(node)}

    def add_class(annotator: str, body: NewClass) -> dict[str, Any]:
        if annotator not in adding:
            found, cure = repr(annotator) if annotator else "somebody else", "ask them, or skip with a reason"
            raise Refusal(403, ParameterError("A class", "must be added by those who may", found, cure))
        added, is_new = desk.add_class(body.name, annotator)
        known = [to_jsonable(name) for name in desk.classes]
        return {"class": to_jsonable(added), "new": is_new, "classes": known}

    def heartbeat(annotator: str, body: Heartbeat) -> dict[str, Any]:
        return {"held": desk.heartbeat(annotator, node_in(body))}

    same = "The same key sent again changes nothing."
    late = "`held` is false if somebody else may have it by now. A late answer still counts."
    return {
        "labels": Change(Labelling, f"Label a node, or change your label. {same}", label),
        "skips": Change(Skipping, f"Say that you cannot label a node, and why. {same}", skip),
        "undo": Change(Undoing, "Take back your last answer; its node is asked again. Null if there is none.", undo),
        "notes": Change(Note, f"Write something down about a node. {same}", note),
        "adjudications": Change(
            Adjudication, f"Settle what a node is where people disagree. {same}", adjudicate, "disagreements"
        ),
        "classes": Change(NewClass, "Add a class, if you may; `new` is false if there is one like it.", add_class),
        "heartbeat": Change(Heartbeat, f"Keep your question; {late}", heartbeat),
    }


def _said(act: Annotation | None) -> Any:
    """Return what somebody said before: a label, or null for nothing and a skip."""
    return None if act is None else to_jsonable(act.label)
