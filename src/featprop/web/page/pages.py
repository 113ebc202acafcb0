"""The HTML pages and their forms, which work without JavaScript."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Awaitable, Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from markupsafe import Markup
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response

from featprop.evaluate import Interval
from featprop.evaluate.estimate import MIN_LABELS
from featprop.ids import name_to_text
from featprop.web.common.chart import Point, interval_bar, learning_chart, line_chart
from featprop.web.common.palette import class_css
from featprop.web.common.templates import render_template
from featprop.web.page.actions import Action, annotator_of, check_owner
from featprop.web.page.addresses import decode_name, find_node, node_address, resolve_node
from featprop.web.page.classes import Classes, class_keys
from featprop.web.page.downloads import DOWNLOADS
from featprop.web.page.review import LISTS, add_review
from featprop.web.page.schemas import MAX_CLASS_CHARS, MAX_DESCRIPTION_CHARS, MAX_NOTE_CHARS, MAX_REASON_CHARS
from featprop.web.page.session import MIN_AUDIT_LABELS, Session
from featprop.web.page.trainer import MIN_LABELS_FOR_ADVICE
from featprop.web.page.types import Progress
from featprop.web.page.views import CHIPS, NodeViews, View, arrange_choices

SKIP_REASONS = ("unsure", "bad data", "no class fits", "conflict")
TITLES = {
    "question": "Label",
    "history": "Your answers",
    "progress": "Progress",
    "review": "Review",
    "downloads": "Downloads",
    "classes": "Classes",
    "help": "Help",
}
FOR_OWNER = frozenset({"downloads", "classes"})
"""Pages of the person who started the server."""
PLACES = {name: "/" if name == "question" else f"/{name}" for name in TITLES}
PLACES |= {f"review/{key}": f"/review/{key}" for key in LISTS}
MAX_HISTORY = 200
"""Answers listed on the history page."""
JSON_FIELDS = frozenset({"node", "label"})
"""Form fields that hold a name as JSON."""


@dataclass(frozen=True)
class Headline:
    """Accuracy of the model on the progress page: from the audit if there is one, otherwise estimated."""

    name: str
    accuracy: Interval
    bar: Markup

    @classmethod
    def of(cls, progress: Progress) -> Headline | None:
        """Return the headline of some progress; None without an audit result and an estimate."""
        score = None if progress.audit is None else progress.audit.score
        if score is not None:
            return cls("accuracy in the audit", score.accuracy, interval_bar(score.accuracy))
        if progress.advice is None:
            return None
        accuracy = progress.advice.curve.now.accuracy
        return cls("estimated accuracy", accuracy, interval_bar(accuracy))


def build_pages(
    session: Session, views: NodeViews, actions: dict[str, Action], may_add: Collection[str], next_command: str = ""
) -> APIRouter:
    """Return the routes of the pages and their forms; `next_command` is what to run when all nodes are labelled."""
    routes = APIRouter(include_in_schema=False)
    guide = render_guide(session.guide)

    def page(request: Request, name: str, template: str | None = None, **values: Any) -> HTMLResponse:
        annotator = annotator_of(request)
        common = {
            "places": {
                place: (PLACES[place], title)
                for place, title in TITLES.items()
                if annotator == session.owner or place not in FOR_OWNER
            },
            "name": name,
            "graph_name": "" if session.log.path is None else session.log.path.stem,
            "annotator": annotator,
            "to_settle": len(session.disagreements(annotator)) if session.is_shared else 0,
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
        return HTMLResponse(render_template(f"web/page/templates/{template or name}.html.j2", **common, **values))

    def card_page(request: Request, name: str, view: View | None, **values: Any) -> HTMLResponse:
        """Render the card of a node with the answer buttons, or what there is to say without a node."""
        row, others = arrange_choices(class_buttons(session.classes), None if view is None else view.prediction)
        before = session.history(annotator_of(request), 1)
        common = {
            "row": row,
            "others": others,
            "chips": CHIPS,
            "last": before[0] if before else None,
            "reasons": SKIP_REASONS,
            "where": request.url.path,
            "act": "labels",
            "back": None,
            "accepted": None,
        }
        return page(request, name, "question", view=view, **{**common, **values})

    @routes.get("/")
    def question(request: Request, suggestion: bool = False, ahead: bool = False) -> HTMLResponse:
        asked = (*session.questions(annotator_of(request)), None, None)[ahead]
        shown = suggestion or not session.blind
        progress = None if asked is not None else session.progress()
        view = None if asked is None else views.view(asked.node, annotator_of(request), suggestion=shown)
        return card_page(
            request,
            "question",
            view,
            shown=shown,
            asked=asked,
            progress=progress or session.status(),
            estimate=None if progress is None else Headline.of(progress),
            next_command=next_command,
        )

    @routes.get("/status")
    def status(request: Request) -> HTMLResponse:
        return page(request, "status", progress=session.status())

    @routes.get("/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not session.blind
        view = views.view(find_node(session.graph, name), annotator_of(request), suggestion=shown)
        return card_page(request, "node", view, shown=shown, back="node")

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
            estimate=Headline.of(found),
            chart=coverage_chart(found.coverage),
            learning=None if found.advice is None else learning_chart(found.advice.curve),
            class_rows=[(str(label), count, class_css(place)) for place, (label, count) in enumerate(found.classes)],
            min_labels=MIN_LABELS,
            min_advice=MIN_LABELS_FOR_ADVICE,
            min_audit=MIN_AUDIT_LABELS,
        )

    add_review(routes, session, views, page, card_page)

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
    if where.startswith("/review/") and node is not None:
        where += f"?after={quote(name_to_text(node))}"
    return RedirectResponse(where, status_code=303)
