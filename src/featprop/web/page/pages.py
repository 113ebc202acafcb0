"""The pages people see, and the forms on them: each does what the API does, without any script."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from featprop.evaluate.estimate import LEAST
from featprop.ids import name_to_text
from featprop.web.drawing.templates import rendered
from featprop.web.page.addresses import named, node_address, node_in, node_of
from featprop.web.page.bodies import NAME, NOTE, REASON
from featprop.web.page.changes import Change, who
from featprop.web.page.class_marks import class_style
from featprop.web.page.curve import curve
from featprop.web.page.desk import Desk
from featprop.web.page.downloads import DOWNLOADS
from featprop.web.page.showing import Showing
from featprop.web.page.trainer import ENOUGH

__all__ = ["REASONS", "pages"]

REASONS = ("unsure", "bad data", "none fits", "conflict")
"""Why a node cannot be labelled, on buttons."""
DIGITS = "1234567890"
"""The keys of the first classes."""
TITLES = {
    "question": "Label",
    "history": "Your answers",
    "progress": "Progress",
    "disagreements": "Disagreements",
    "predictions": "Predictions",
    "downloads": "Downloads",
    "help": "Help",
}
PLACES = {name: "/" if name == "question" else f"/{name}" for name in TITLES}
LISTED = 200
"""Answers of one's own that are listed."""

NAMES = frozenset({"node", "label"})
"""Fields that hold a name as JSON."""


def pages(desk: Desk, showing: Showing, changes: dict[str, Change], adding: Collection[str]) -> APIRouter:
    """Return the routes of the pages and their forms: the arguments are those of `api`, and who may add a class."""
    routes = APIRouter(include_in_schema=False)

    def page(request: Request, name: str, **values: Any) -> HTMLResponse:
        annotator = who(request)
        common = {
            "places": {place: (PLACES[place], title) for place, title in TITLES.items()},
            "name": name,
            "annotator": annotator,
            "several": desk.is_shared,
            "choices": choices(desk.classes),
            "new_key": new_key,
            "text_of": name_to_text,
            "address_of": node_address,
            "title_of": showing.title,
            "may_add": annotator in adding,
            "is_blind": desk.blind,
            "limits": {"reason": REASON, "note": NOTE, "name": NAME},
        }
        return HTMLResponse(rendered(f"web/page/templates/{name}.html.j2", **common, **values))

    @routes.get("/")
    def question(request: Request, suggestion: bool = False) -> HTMLResponse:
        asked = desk.next(who(request))
        shown = suggestion or not desk.blind
        view = None if asked is None else showing.view(asked.node, who(request), suggestion=shown)
        before = desk.history(who(request), 1)
        return page(
            request,
            "question",
            progress=desk.progress(),
            asked=asked,
            view=view,
            shown=shown,
            last=before[0] if before else None,
            reasons=REASONS,
        )

    @routes.get("/status")
    def status(request: Request) -> HTMLResponse:
        return page(request, "status", progress=desk.progress())

    @routes.get("/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not desk.blind
        view = showing.view(node_in(desk.graph, name), who(request), suggestion=shown)
        return page(request, "node", view=view, shown=shown)

    @routes.get("/history")
    def history(request: Request) -> HTMLResponse:
        return page(request, "history", acts=desk.history(who(request), LISTED), listed=LISTED)

    @routes.get("/progress")
    def progress(request: Request) -> HTMLResponse:
        found = desk.progress()
        return page(request, "progress", progress=found, curve=curve(found.coverage), enough=ENOUGH, least=LEAST)

    @routes.get("/disagreements")
    def disagreements(request: Request) -> HTMLResponse:
        return page(
            request,
            "disagreements",
            found=desk.disagreements(who(request)),
            settled=desk.settled(),
            predicted=desk.prediction,
        )

    @routes.get("/predictions")
    def predictions(request: Request, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not desk.blind
        doubtful, contradicted = (desk.doubtful(), desk.contradicted()) if shown else ([], [])
        return page(request, "predictions", shown=shown, doubtful=doubtful, contradicted=contradicted)

    @routes.get("/downloads")
    def downloads(request: Request) -> HTMLResponse:
        return page(request, "downloads", kinds=DOWNLOADS)

    @routes.get("/help")
    def help_page(request: Request) -> HTMLResponse:
        return page(request, "help", reasons=REASONS)

    for name, change in changes.items():
        if name != "heartbeat":
            routes.add_api_route(f"/{name}", _form(desk, change), methods=["POST"])

    return routes


def choices(classes: Sequence[Hashable]) -> list[dict[str, str]]:
    """Return the classes as buttons need them: name, text in the form, key of the first ten, colour.

    Classes that are digits have themselves as keys.
    """
    own = [str(name) for name in classes]
    keys = own if all(len(name) == 1 and name in DIGITS for name in own) else DIGITS
    return [
        {
            "name": str(name),
            "text": name_to_text(name),
            "key": keys[place] if place < len(keys) else "",
            "style": class_style(place),
        }
        for place, name in enumerate(classes)
    ]


def new_key() -> str:
    """Return a key for an act: a form that is sent twice is one act."""
    return secrets.token_hex(16)


def _form(desk: Desk, change: Change) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers a form: it does the change, and leads on to a page."""

    async def answer(request: Request) -> Response:
        fields = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
        back = fields.pop("back", change.back)
        try:
            body = change.body.model_validate({n: _json(v) if n in NAMES else v for n, v in fields.items()})
        except ValidationError as error:
            raise RequestValidationError([{**each, "loc": ("body", *each["loc"])} for each in error.errors()]) from None
        await run_in_threadpool(change.do, who(request), body)
        node = node_of(desk.graph, named(_json(fields["node"]), "node")) if "node" in fields else None
        return _back_to(back, node)

    return answer


def _json(text: str) -> Any:
    """Return what a text is the JSON of, or the text if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _back_to(place: str, node: Hashable = None) -> RedirectResponse:
    """Lead on after a form: to one of our own places, never to an address that was sent."""
    where = node_address(node) if place == "node" else PLACES.get(place, "/")
    return RedirectResponse(where, status_code=303)
