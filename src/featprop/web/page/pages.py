"""The HTML pages and their forms, which work without JavaScript."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from markupsafe import Markup
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from featprop.evaluate.estimate import MIN_LABELS
from featprop.ids import name_to_text
from featprop.web.common.chart import Point, line_chart
from featprop.web.common.class_marks import class_css
from featprop.web.common.templates import render_template
from featprop.web.page.actions import Action, annotator_of, check_owner
from featprop.web.page.addresses import decode_name, find_node, node_address, resolve_node
from featprop.web.page.classes import Classes, class_keys
from featprop.web.page.downloads import DOWNLOADS
from featprop.web.page.schemas import MAX_CLASS_CHARS, MAX_DESCRIPTION_CHARS, MAX_NOTE_CHARS, MAX_REASON_CHARS
from featprop.web.page.session import MIN_AUDIT_LABELS, Session
from featprop.web.page.trainer import MIN_LABELS_FOR_ADVICE
from featprop.web.page.views import NodeViews

SKIP_REASONS = ("unsure", "bad data", "no class fits", "conflict")
TITLES = {
    "question": "Label",
    "history": "Your answers",
    "progress": "Progress",
    "disagreements": "Disagreements",
    "predictions": "Predictions",
    "downloads": "Downloads",
    "classes": "Classes",
    "help": "Help",
}
FOR_OWNER = frozenset({"downloads", "classes", "disagreements"})
"""Pages of the person who started the server."""
PLACES = {name: "/" if name == "question" else f"/{name}" for name in TITLES}
MAX_HISTORY = 200
"""Answers listed on the history page."""
JSON_FIELDS = frozenset({"node", "label"})
"""Form fields that hold a name as JSON."""


def build_pages(session: Session, views: NodeViews, actions: dict[str, Action], may_add: Collection[str]) -> APIRouter:
    """Return the routes of the pages and their forms."""
    routes = APIRouter(include_in_schema=False)
    guide = render_guide(session.guide)

    def page(request: Request, name: str, **values: Any) -> HTMLResponse:
        annotator = annotator_of(request)
        common = {
            "places": {
                place: (PLACES[place], title)
                for place, title in TITLES.items()
                if annotator == session.owner or place not in FOR_OWNER
            },
            "name": name,
            "annotator": annotator,
            "several": session.is_shared,
            "choices": class_buttons(session.classes),
            "new_key": new_key,
            "to_text": name_to_text,
            "node_address": node_address,
            "node_title": views.title,
            "may_add": annotator in may_add,
            "is_blind": session.blind,
            "can_train": session.can_train,
            "is_owner": annotator == session.owner,
            "guide": guide,
            "limits": {
                "reason": MAX_REASON_CHARS,
                "note": MAX_NOTE_CHARS,
                "name": MAX_CLASS_CHARS,
                "description": MAX_DESCRIPTION_CHARS,
            },
        }
        return HTMLResponse(render_template(f"web/page/templates/{name}.html.j2", **common, **values))

    @routes.get("/")
    def question(request: Request, suggestion: bool = False, ahead: bool = False) -> HTMLResponse:
        asked = (*session.questions(annotator_of(request)), None, None)[ahead]
        shown = suggestion or not session.blind
        view = None if asked is None else views.view(asked.node, annotator_of(request), suggestion=shown)
        before = session.history(annotator_of(request), 1)
        return page(
            request,
            "question",
            progress=session.progress() if asked is None else session.status(),
            asked=asked,
            view=view,
            shown=shown,
            last=before[0] if before else None,
            reasons=SKIP_REASONS,
        )

    @routes.get("/status")
    def status(request: Request) -> HTMLResponse:
        return page(request, "status", progress=session.status())

    @routes.get("/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not session.blind
        view = views.view(find_node(session.graph, name), annotator_of(request), suggestion=shown)
        return page(request, "node", view=view, shown=shown)

    @routes.get("/history")
    def history(request: Request) -> HTMLResponse:
        return page(request, "history", acts=session.history(annotator_of(request), MAX_HISTORY), listed=MAX_HISTORY)

    @routes.get("/progress")
    def progress(request: Request) -> HTMLResponse:
        found = session.progress(annotator_of(request))
        return page(
            request,
            "progress",
            progress=found,
            chart=coverage_chart(found.coverage),
            min_labels=MIN_LABELS,
            min_advice=MIN_LABELS_FOR_ADVICE,
            min_audit=MIN_AUDIT_LABELS,
        )

    @routes.get("/disagreements")
    def disagreements(request: Request) -> HTMLResponse:
        check_owner(session, annotator_of(request))
        return page(
            request,
            "disagreements",
            found=session.disagreements(annotator_of(request)),
            settled=session.settled(),
            predicted=session.prediction,
        )

    @routes.get("/predictions")
    def predictions(request: Request, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not session.blind
        least_certain, contradicted = (session.least_certain(), session.contradicted()) if shown else ([], [])
        return page(request, "predictions", shown=shown, least_certain=least_certain, contradicted=contradicted)

    @routes.get("/downloads")
    def downloads(request: Request) -> HTMLResponse:
        check_owner(session, annotator_of(request))
        return page(request, "downloads", kinds=DOWNLOADS)

    @routes.get("/classes")
    def classes(request: Request) -> HTMLResponse:
        check_owner(session, annotator_of(request))
        return page(request, "classes", counts=[count for _, count in session.progress().classes])

    @routes.get("/help")
    def help_page(request: Request) -> HTMLResponse:
        return page(request, "help", reasons=SKIP_REASONS)

    for name, action in actions.items():
        if name != "heartbeat":
            routes.add_api_route(f"/{name}", _form_endpoint(session, action), methods=["POST"])

    return routes


def class_buttons(classes: Classes) -> list[dict[str, str]]:
    """Return name, form value, key, colour and description of each class."""
    return [
        {
            "name": str(each.name),
            "text": name_to_text(each.name),
            "key": key,
            "style": class_css(place),
            "description": each.description,
        }
        for place, (each, key) in enumerate(zip(classes.entries, class_keys(classes.entries), strict=True))
    ]


def render_guide(text: str) -> Markup:
    """Return the instructions for annotators as HTML; HTML inside the Markdown is shown as text."""
    if not text.strip():
        return Markup()
    from markdown_it import MarkdownIt

    return Markup(MarkdownIt("js-default").disable("image").render(text))


def coverage_chart(coverage: Sequence[tuple[int, float]]) -> Markup | None:
    """Return the mean distance to the nearest labelled node over the number of labels; None for too few points."""
    points = [Point(labels, distance) for labels, distance in coverage if math.isfinite(distance)]
    if len(points) < 2:
        return None
    first, last = points[0], points[-1]
    description = (
        f"Mean distance to the nearest labelled node: {first.value:.3g} at {first.labels:,} labels, "
        f"{last.value:.3g} at {last.labels:,}."
    )
    return line_chart(points, description=description, from_zero=True)


def new_key() -> str:
    """Return an idempotency key: a form that is sent twice counts once."""
    return secrets.token_hex(16)


def _form_endpoint(session: Session, action: Action) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a form, which redirects to a page."""

    async def answer(request: Request) -> Response:
        fields = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
        back = fields.pop("back", action.back)
        try:
            body = action.body.model_validate({n: _parse(v) if n in JSON_FIELDS else v for n, v in fields.items()})
        except ValidationError as error:
            raise RequestValidationError([{**each, "loc": ("body", *each["loc"])} for each in error.errors()]) from None
        await run_in_threadpool(action.run, annotator_of(request), body)
        node = resolve_node(session.graph, decode_name(_parse(fields["node"]), "node")) if "node" in fields else None
        return _redirect(back, node)

    return answer


def _parse(text: str) -> Any:
    """Return the value of a JSON text, or the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _redirect(place: str, node: Hashable = None) -> RedirectResponse:
    """Redirect after a form to one of the pages, never to an address from the request."""
    where = node_address(node) if place == "node" else PLACES.get(place, "/")
    return RedirectResponse(where, status_code=303)
