"""The JSON API of the labelling page, and the forms that do the same without JavaScript.

Each action is one function. Its parameters are the fields of the JSON object at ``/api/NAME`` and of the form at
``/NAME``; what it returns is the JSON response, where a form leads on to a page. A change is on disk before its
response is sent. Errors are ``{"error": …, "type": …, "parameter": …}`` with an HTTP status.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, create_model
from starlette.responses import JSONResponse, RedirectResponse, Response

from featprop.errors import unknown_choice
from featprop.ids import from_jsonable, to_jsonable
from featprop.labels import Annotation, LabelLog, export_labels, label_studio_config
from featprop.labels.annotation import to_record
from featprop.web.page.questions import Question
from featprop.web.page.responses import RequestError
from featprop.web.page.security import annotator_of, check_owner
from featprop.web.page.session import REVIEW_LISTS, Session
from featprop.web.page.trainer import Prediction
from featprop.web.page.views import NodeViews, node_address

MAX_KEY_CHARS, MAX_REASON_CHARS, MAX_NOTE_CHARS = 100, 1000, 10_000
MAX_CLASS_CHARS, MAX_DESCRIPTION_CHARS = 200, 1000
STRICT = ConfigDict(extra="forbid", strict=True)
CONFIGURATION = "label-studio-config"
DOWNLOADS = {
    "csv": (".csv", "text/csv; charset=utf-8", "One row per answer, for spreadsheets and pandas."),
    "jsonl": (".jsonl", "application/x-ndjson", "One JSON line per answer (doccano)."),
    "label-studio": (".json", "application/json", "Tasks with answers and predictions (Label Studio)."),
    CONFIGURATION: (".xml", "application/xml", "Labelling configuration for these tasks (Label Studio)."),
}
"""Suffix, media type and description of each format of the answers."""


def _decode(value: Any) -> Any:
    """Return the id or class name that a JSON value encodes."""
    try:
        if value is not None:
            return from_jsonable(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ValueError("Send text, a number or the JSON of an id, as /api/next returns it")


Key = Annotated[str, Field(min_length=1, max_length=MAX_KEY_CHARS, description="Idempotency key, new for each action.")]
Node = Annotated[Any, AfterValidator(_decode), Field(description="Id of a node, as /api/next returns it.")]
Label = Annotated[Any, AfterValidator(_decode), Field(description="One of the classes.")]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_REASON_CHARS)]
Note = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NOTE_CHARS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_CLASS_CHARS)]
Description = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_DESCRIPTION_CHARS)]


def build_api(session: Session, views: NodeViews) -> APIRouter:
    """Return the routes below ``/api`` and those of the forms."""
    routes = APIRouter()
    _add_actions(routes, session)

    @routes.get("/api/next")
    def next_question(request: Request) -> JSONResponse:
        """Return your question, the same until you answer; the node is null if nothing is left for you."""
        return _respond(_describe_question(session, session.next(annotator_of(request))))

    @routes.get("/api/progress")
    def progress(request: Request) -> dict[str, Any]:
        """Return the progress of the labelling; the owner sees the answers of each person."""
        found = session.progress(annotator_of(request))
        classes = [{"class": to_jsonable(name), "labels": count} for name, count in found["classes"]]
        advice = found["advice"] and {"headline": found["advice"].headline, **asdict(found["advice"])}
        return {**found, "classes": classes, "advice": advice}

    @routes.get("/api/history")
    def history(request: Request, limit: Annotated[int, Query(ge=1, le=10_000)] = 50) -> JSONResponse:
        """Return your current answers, newest first."""
        return _respond({"answers": session.log.history(annotator_of(request), limit)})

    @routes.get("/api/disagreements")
    def disagreements(request: Request) -> JSONResponse:
        """Return the nodes people disagree on, except those still in your queue. For the owner of the session."""
        check_owner(session.owner, annotator_of(request))
        return _respond({"disagreements": [each._asdict() for each in session.disagreements(session.owner)]})

    @routes.get("/api/predictions")
    def predictions(
        request: Request, limit: Annotated[int, Query(ge=1, le=10_000)] = 20, suggestion: bool | None = None
    ) -> JSONResponse:
        """Return lists of predictions to review; in a blind session add ?suggestion=true."""
        shown = not session.blind if suggestion is None else suggestion
        found = session.predictions(annotator_of(request), limit) if shown else {}
        return _respond(
            {key: [{"node": node, **vars(each)} for node, each in nodes.items()] for key, nodes in found.items()}
        )

    @routes.get("/api/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool | None = None) -> JSONResponse:
        """Return a node; in a blind session add ?suggestion=true for its prediction."""
        shown = not session.blind if suggestion is None else suggestion
        view = views.view(views.find(name), annotator_of(request), shown=shown)
        around = view.neighbourhood
        return _respond(
            {
                "node": view.node,
                "address": node_address(view.node),
                "title": view.card.title,
                "fields": view.card.fields,
                "neighbours": {"total": around.total, "shown": around.shown, "classes": around.counts},
                "answer": view.answer,
                "notes": view.notes,
                "prediction": view.prediction,
                "audit": view.is_audit,
            }
        )

    @routes.get("/api/export")
    def export(request: Request, format: str = "csv") -> Response:
        """Return all answers as a file: csv, jsonl, label-studio, or label-studio-config. For the owner."""
        check_owner(session.owner, annotator_of(request))
        if format not in DOWNLOADS:
            raise unknown_choice("format", format, DOWNLOADS)
        suffix, media_type, _ = DOWNLOADS[format]
        path = session.log.path  # a second connection, so that no answer waits for a long download
        with nullcontext(session.log) if path is None else LabelLog(path, read_only=True) as answers:
            if format == CONFIGURATION:
                content = label_studio_config(answers, session.graph, session.classes)
            else:
                content = export_labels(answers, session.graph, format, predict=session.prediction)
        headers = {"Content-Disposition": f'attachment; filename="labels-{format}{suffix}"'}
        return Response(content, media_type=media_type, headers=headers)

    return routes


def _add_actions(routes: APIRouter, session: Session) -> None:
    """Add everything an annotator can do, as JSON and as a form."""
    writer = Writer(session.log)

    def action(path: str) -> Callable[[Callable[..., dict[str, Any]]], None]:
        return lambda run: _add_action(routes, path, writer, run)

    def asked(annotator: str, **saved: Any) -> dict[str, Any]:
        questions = session.questions(annotator)
        return {**saved, "next": _describe_question(session, questions[0] if questions else None)}

    @action("labels")
    def label(annotator: str, node: Node, label: Label, key: Key) -> dict[str, Any]:
        """Label a node, or change your label; `next` is your next question. A repeated key changes nothing."""
        before = session.label(annotator, node, label, key)
        return asked(annotator, saved="label", node=node, before=before and before.label)

    @action("skips")
    def skip(annotator: str, node: Node, key: Key, reason: Reason = "") -> dict[str, Any]:
        """Skip a node you cannot label, with a reason. A repeated key changes nothing."""
        before = session.skip(annotator, node, reason, key)
        return asked(annotator, saved="skip", node=node, before=before and before.label)

    @action("undo")
    def undo(annotator: str, key: Key) -> dict[str, Any]:
        """Undo your last answer and get its node again. Null if there is none."""
        undone = session.undo(annotator, key)
        return asked(annotator, saved="undo", node=undone and undone.node)

    @action("notes")
    def note(annotator: str, node: Node, text: Note, key: Key) -> dict[str, Any]:
        """Add a note to a node. A repeated key changes nothing."""
        session.note(annotator, node, text, key)
        return {"saved": "note", "node": node}

    @action("adjudications")
    def adjudicate(annotator: str, node: Node, label: Label, key: Key) -> dict[str, Any]:
        """Settle the label of a node people disagree on. For the owner. A repeated key changes nothing."""
        check_owner(session.owner, annotator)
        session.adjudicate(annotator, node, label, key)
        return {"saved": "adjudication", "node": node}

    @action("classes")
    def add_class(annotator: str, name: Name) -> dict[str, Any]:
        """Add a class, if you may; `new` is false if it already exists."""
        if annotator not in session.may_add:
            hint = "Ask whoever started featprop, or skip the node and give the class as the reason."
            raise RequestError(403, "You may not add classes.", hint=hint, parameter="annotator", value=annotator)
        added, is_new = session.add_class(name, annotator)
        return {"class": added, "new": is_new, "classes": session.classes}

    @action("classes/rename")
    def rename_class(annotator: str, label: Label, name: Name) -> dict[str, Any]:
        """Rename a class, or merge it into an existing one. For the owner."""
        check_owner(session.owner, annotator)
        return {"class": session.rename_class(label, name, annotator), "classes": session.classes}

    @action("classes/describe")
    def describe_class(annotator: str, label: Label, description: Description) -> dict[str, Any]:
        """Describe a class. For the owner."""
        check_owner(session.owner, annotator)
        session.describe_class(label, description, annotator)
        return {"class": label, "classes": session.classes}

    @action("classes/remove")
    def remove_class(annotator: str, label: Label) -> dict[str, Any]:
        """Remove a class without labels. For the owner."""
        check_owner(session.owner, annotator)
        session.remove_class(label, annotator)
        return {"classes": session.classes}

    @action("heartbeat")
    def heartbeat(annotator: str, node: Node) -> dict[str, Any]:
        """Keep your question. `held` is false if the node may have gone to someone else; a late answer counts."""
        return {"held": session.heartbeat(annotator, node)}


class Writer:
    """Writes actions in transactions: all that arrive while one is being written share the next."""

    def __init__(self, log: LabelLog) -> None:
        self._log, self._lock = log, asyncio.Lock()
        self._thread = ThreadPoolExecutor(1)  # a separate one, so that no answer waits for the pages of others
        self._waiting: list[tuple[Callable[[], dict[str, Any]], Future[dict[str, Any]]]] = []

    async def run(self, action: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the result of an action when it is on the disk."""
        done: Future[dict[str, Any]] = Future()
        self._waiting.append((action, done))
        async with self._lock:
            if not done.done():
                waiting, self._waiting = self._waiting, []
                loop = asyncio.get_running_loop()
                await asyncio.shield(loop.run_in_executor(self._thread, self._log.transact_together, waiting))
        return done.result()


def _add_action(routes: APIRouter, path: str, writer: Writer, run: Callable[..., dict[str, Any]]) -> None:
    """Add an action as a JSON endpoint and as a form."""
    hints = get_type_hints(run, include_extras=True)
    _, *parameters = inspect.signature(run).parameters.values()
    fields: dict[str, Any] = {
        each.name: (hints[each.name], ... if each.default is each.empty else each.default) for each in parameters
    }
    schema = create_model(f"{run.__name__} request", __config__=STRICT, **fields)

    async def answer_json(request: Request, body: BaseModel) -> JSONResponse:
        return _respond(await writer.run(partial(run, annotator_of(request), **dict(body))))

    async def answer_form(request: Request) -> RedirectResponse:
        given = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
        back = given.pop("back", "")
        body = schema.model_validate({name: _parse(name, value) for name, value in given.items()})
        await writer.run(partial(run, annotator_of(request), **dict(body)))
        return _redirect(back, getattr(body, "node", None))

    answer_json.__annotations__["body"] = schema
    routes.add_api_route(f"/api/{path}", answer_json, methods=["POST"], description=run.__doc__, response_model=None)
    routes.add_api_route(f"/{path}", answer_form, methods=["POST"], include_in_schema=False)


def _parse(name: str, text: str) -> Any:
    """Return the value of a form field: nodes and labels are JSON, or else text."""
    try:
        return json.loads(text) if name in ("node", "label") else text
    except (ValueError, RecursionError):
        return text


def _redirect(back: str, node: Any) -> RedirectResponse:
    """Lead on from a form to one of the pages, never to an address from the request."""
    where = f"/{back}" if back in ("history", "classes") else "/"
    if back == "node" and node is not None:
        where = node_address(node)
    kind, _, key = back.partition("/")
    if kind == "review" and key in REVIEW_LISTS:
        where = f"/{back}" if node is None else f"/{back}?after={quote(json.dumps(to_jsonable(node)))}"
    return RedirectResponse(where, status_code=303)


def _describe_question(session: Session, question: Question | None) -> dict[str, Any]:
    """Return a question and the classes; the node is None if nothing is left."""
    if question is None:
        return {"node": None, "classes": session.classes}
    return {
        **vars(question),
        "address": node_address(question.node),
        "audit": question.is_audit,
        "prediction": None if session.blind else session.prediction(question.node),
        "classes": session.classes,
    }


def _respond(content: Any) -> JSONResponse:
    return JSONResponse(to_json(content))


def to_json(value: Any) -> Any:
    """Return records, and lists and mappings of them, as JSON; anything else in them is an id or a class name."""
    if isinstance(value, Annotation):
        value = {"node": value.node, **to_record(value), "label": value.label}
    elif isinstance(value, Prediction):  # class names need not be text, so they are not keys
        shares = [{"class": name, "probability": share} for name, share in value.probabilities.items()]
        value = {**vars(value), "probabilities": shares}
    elif is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: to_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [to_json(part) for part in value]
    return to_jsonable(value)
