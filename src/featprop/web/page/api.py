"""The JSON API of the labelling page, and the forms that do the same without JavaScript.

Each action is one method of the session. Its parameters are the fields of the JSON object at ``/api/NAME`` and of the
form at ``/NAME``; what it returns is the JSON response, where a form leads on to a page. A change is on disk before its
response is sent. Errors are ``{"error": …, "type": …, "parameter": …}`` with an HTTP status.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Annotated, Any, get_type_hints
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, create_model
from starlette.responses import JSONResponse, RedirectResponse, Response

from featprop.errors import unknown_choice
from featprop.ids import to_jsonable
from featprop.labels import Annotation, LabelLog, export_labels, label_studio_config
from featprop.labels.annotation import to_record
from featprop.web.page.fields import node_address
from featprop.web.page.security import annotator_of
from featprop.web.page.session import REVIEW_LISTS, Session
from featprop.web.page.trainer import Prediction
from featprop.web.page.views import NodeViews

STRICT = ConfigDict(extra="forbid", strict=True)
CONFIGURATION = "label-studio-config"
DOWNLOADS = {
    "csv": (".csv", "text/csv; charset=utf-8", "One row per answer, for spreadsheets and pandas."),
    "jsonl": (".jsonl", "application/x-ndjson", "One JSON line per answer (doccano)."),
    "label-studio": (".json", "application/json", "Tasks with answers and predictions (Label Studio)."),
    CONFIGURATION: (".xml", "application/xml", "Labelling configuration for these tasks (Label Studio)."),
}
"""Suffix, media type and description of each format of the answers."""


def build_api(session: Session, views: NodeViews) -> APIRouter:
    """Return the routes below ``/api`` and those of the forms."""
    routes = APIRouter()
    writer = Writer(session.log)
    for path, run in actions_of(session).items():
        _add_action(routes, path, writer, run)

    @routes.get("/api/next")
    def next_question(request: Request) -> JSONResponse:
        """Return your question, the same until you answer; the node is null if nothing is left for you."""
        return _respond(session.describe_question(annotator_of(request)))

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
        session.check_owner(annotator_of(request))
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
        session.check_owner(annotator_of(request))
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


def actions_of(session: Session) -> dict[str, Callable[..., dict[str, Any]]]:
    """Return everything an annotator can do, by path."""
    return {
        "labels": session.label,
        "skips": session.skip,
        "undo": session.undo,
        "notes": session.note,
        "adjudications": session.adjudicate,
        "classes": session.add_class,
        "classes/rename": session.rename_class,
        "classes/describe": session.describe_class,
        "classes/remove": session.remove_class,
        "heartbeat": session.heartbeat,
    }


def _add_action(routes: APIRouter, path: str, writer: Writer, run: Callable[..., dict[str, Any]]) -> None:
    """Add an action as a JSON endpoint and as a form."""
    _, *fields = get_type_hints(run, include_extras=True).items()
    required: dict[str, Any] = {name: (kind, ...) for name, kind in fields if name != "return"}
    schema = create_model(f"{run.__name__} request", __config__=STRICT, **required)

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
