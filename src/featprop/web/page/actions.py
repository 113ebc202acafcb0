"""Actions of annotators, shared by the JSON API and the HTML forms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Any, NamedTuple

from starlette.requests import Request

from featprop.errors import ParameterError
from featprop.ids import to_jsonable
from featprop.labels import Annotation
from featprop.web.page.addresses import decode_name, node_address, resolve_node
from featprop.web.page.responses import Refusal
from featprop.web.page.schemas import (
    AdjudicationRequest,
    ClassRequest,
    DescriptionRequest,
    HeartbeatRequest,
    LabelRequest,
    NoteRequest,
    RemovalRequest,
    RenameRequest,
    RequestBody,
    SkipRequest,
    UndoRequest,
)
from featprop.web.page.session import Session
from featprop.web.page.types import Question
from featprop.web.page.views import to_json_prediction


class Action(NamedTuple):
    """Something an annotator can do."""

    body: type[RequestBody]  # schema of the request
    about: str  # description in the API
    run: Callable[[str, Any], dict[str, Any]]  # takes the annotator and the request and returns the response
    back: str = "question"  # page to show after a form


def annotator_of(request: Request) -> str:
    """Return the annotator whose token came with the request."""
    name: str = request.scope["annotator"]
    return name


def check_owner(session: Session, annotator: str) -> None:
    """Refuse what only the owner may do."""
    if annotator != session.owner:
        message = "Only the person who started featprop may do this."
        raise Refusal(403, ParameterError(message, parameter="annotator", value=annotator))


def build_actions(session: Session, may_add: Collection[str]) -> dict[str, Action]:
    """Return all actions by their names in addresses."""

    def node_in(body: Any) -> Hashable:
        return resolve_node(session.graph, decode_name(body.node, "node"))

    def saved(annotator: str, what: str, node: Hashable, **more: Any) -> dict[str, Any]:
        asked = session.questions(annotator)
        return {
            "saved": what,
            "node": None if node is None else to_jsonable(node),
            **more,
            "next": to_json_question(session, asked[0] if asked else None),
        }

    def label(annotator: str, body: LabelRequest) -> dict[str, Any]:
        node = node_in(body)
        before = session.label(annotator, node, decode_name(body.label, "label"), body.key)
        return saved(annotator, "label", node, before=_label_of(before))

    def skip(annotator: str, body: SkipRequest) -> dict[str, Any]:
        node = node_in(body)
        before = session.skip(annotator, node, body.reason.strip(), body.key)
        return saved(annotator, "skip", node, before=_label_of(before))

    def adjudicate(annotator: str, body: AdjudicationRequest) -> dict[str, Any]:
        check_owner(session, annotator)
        node = node_in(body)
        session.adjudicate(annotator, node, decode_name(body.label, "label"), body.key)
        return {"saved": "adjudication", "node": to_jsonable(node)}

    def undo(annotator: str, body: UndoRequest) -> dict[str, Any]:
        act = session.undo(annotator, body.key)
        return saved(annotator, "undo", None if act is None else act.node)

    def note(annotator: str, body: NoteRequest) -> dict[str, Any]:
        node = node_in(body)
        if not body.text.strip():
            raise ParameterError("The note is empty.", parameter="text", value=body.text)
        session.note(annotator, node, body.text.strip(), body.key)
        return {"saved": "note", "node": to_jsonable(node)}

    def add_class(annotator: str, body: ClassRequest) -> dict[str, Any]:
        if annotator not in may_add:
            hint = "Ask whoever started featprop, or skip the node and give the class as the reason."
            error = ParameterError("You may not add classes.", hint=hint, parameter="annotator", value=annotator)
            raise Refusal(403, error)
        added, is_new = session.add_class(body.name, annotator)
        return {"class": to_jsonable(added), "new": is_new, "classes": _class_names(session)}

    def rename_class(annotator: str, body: RenameRequest) -> dict[str, Any]:
        check_owner(session, annotator)
        new = session.rename_class(decode_name(body.label, "label"), body.name, annotator)
        return {"class": to_jsonable(new), "classes": _class_names(session)}

    def describe_class(annotator: str, body: DescriptionRequest) -> dict[str, Any]:
        check_owner(session, annotator)
        session.describe_class(decode_name(body.label, "label"), body.description.strip(), annotator)
        return {"class": body.label, "classes": _class_names(session)}

    def remove_class(annotator: str, body: RemovalRequest) -> dict[str, Any]:
        check_owner(session, annotator)
        session.remove_class(decode_name(body.label, "label"), annotator)
        return {"classes": _class_names(session)}

    def heartbeat(annotator: str, body: HeartbeatRequest) -> dict[str, Any]:
        return {"held": session.heartbeat(annotator, node_in(body))}

    same = "Sending the same key again changes nothing."
    late = "`held` is false if the node may have gone to someone else. A late answer still counts."
    owner = "For the owner of the session."
    return {
        "labels": Action(
            LabelRequest, f"Label a node, or change your label; `next` is your next question. {same}", label
        ),
        "skips": Action(SkipRequest, f"Skip a node you cannot label, with a reason. {same}", skip),
        "undo": Action(UndoRequest, "Undo your last answer and get its node again. Null if there is none.", undo),
        "notes": Action(NoteRequest, f"Add a note to a node. {same}", note),
        "adjudications": Action(
            AdjudicationRequest,
            f"Settle the label of a node people disagree on. {owner} {same}",
            adjudicate,
            "review",
        ),
        "classes": Action(ClassRequest, "Add a class, if you may; `new` is false if it already exists.", add_class),
        "classes/rename": Action(
            RenameRequest, f"Rename a class, or merge it into an existing one. {owner}", rename_class, "classes"
        ),
        "classes/describe": Action(DescriptionRequest, f"Describe a class. {owner}", describe_class, "classes"),
        "classes/remove": Action(RemovalRequest, f"Remove a class without labels. {owner}", remove_class, "classes"),
        "heartbeat": Action(HeartbeatRequest, f"Keep your question. {late}", heartbeat),
    }


def to_json_question(session: Session, question: Question | None) -> dict[str, Any]:
    """Return a question as JSON; its node is null if nothing is left."""
    if question is None:
        return {"node": None, "classes": _class_names(session)}
    prediction = None if session.blind else session.prediction(question.node)
    return {
        "node": to_jsonable(question.node),
        "address": node_address(question.node),
        "rank": question.rank,
        "represents": question.represents,
        "why": question.why,
        "explanation": question.explanation,
        "audit": question.is_audit,
        "prediction": None if prediction is None else to_json_prediction(prediction),
        "classes": _class_names(session),
    }


def _class_names(session: Session) -> list[Any]:
    return [to_jsonable(name) for name in session.classes]


def _label_of(act: Annotation | None) -> Any:
    """Return the label of an earlier answer; None without one or for a skip."""
    return None if act is None else to_jsonable(act.label)
