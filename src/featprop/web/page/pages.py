"""The HTML pages, which work without JavaScript."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse

from featprop.evaluate.estimate import MIN_LABELS
from featprop.ids import name_to_text
from featprop.web.common.chart import interval_bar, learning_chart
from featprop.web.common.palette import class_css
from featprop.web.common.templates import render_template
from featprop.web.page import api
from featprop.web.page.classes import Classes
from featprop.web.page.review import add_review
from featprop.web.page.security import annotator_of, check_owner
from featprop.web.page.session import MIN_AUDIT_LABELS, Session
from featprop.web.page.trainer import MIN_LABELS_FOR_ADVICE, Prediction
from featprop.web.page.views import CHIPS, NodeViews, View, node_address

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
MAX_HISTORY = 200
"""Answers listed on the history page."""
MAX_BUTTONS, LIKELIEST = 10, 5
"""Classes up to which all have a button in reach, and those that have one beyond."""
LIMITS = {
    "reason": api.MAX_REASON_CHARS,
    "note": api.MAX_NOTE_CHARS,
    "name": api.MAX_CLASS_CHARS,
    "description": api.MAX_DESCRIPTION_CHARS,
}


def build_pages(session: Session, views: NodeViews, graph_name: str = "", next_command: str = "") -> APIRouter:
    """Return the routes of the pages of a graph; `next_command` is what to run when all nodes are labelled."""
    routes = APIRouter(include_in_schema=False)
    guide = render_guide(session.guide)

    def page(request: Request, name: str, template: str = "", **values: Any) -> HTMLResponse:
        annotator, progress = annotator_of(request), values.get("progress") or session.status()
        is_owner = annotator == session.owner
        common = {
            "places": {
                place: ("/" if place == "question" else f"/{place}", title)
                for place, title in TITLES.items()
                if is_owner or place not in FOR_OWNER
            },
            "name": name,
            "graph_name": graph_name,
            "annotator": annotator,
            "progress": progress,
            "to_settle": len(session.disagreements(annotator)) if progress["disagreements"] else 0,
            "several": session.is_shared,
            "choices": class_buttons(session.classes),
            "new_key": lambda: secrets.token_hex(16),
            "to_text": name_to_text,
            "node_address": node_address,
            "node_title": views.title,
            "may_add": annotator in session.may_add,
            "can_train": progress["seen"] > 0 or session.can_train(),
            "is_owner": is_owner,
            "guide": guide,
            "limits": LIMITS,
        }
        return HTMLResponse(render_template(f"web/page/templates/{template or name}.html.j2", **{**common, **values}))

    def card_page(request: Request, name: str, view: View | None, **values: Any) -> HTMLResponse:
        """Render the card of a node with the answer buttons, or what there is to say without a node."""
        row, others = arrange_choices(class_buttons(session.classes), None if view is None else view.prediction)
        before = session.log.history(annotator_of(request), 1)
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
        annotator, shown = annotator_of(request), suggestion or not session.blind
        asked = (*session.questions(annotator), None, None)[ahead]
        if asked is None:
            found = session.progress()
            return card_page(
                request, "question", None, progress=found, estimate=headline(found), next_command=next_command
            )
        view = views.view(asked.node, annotator, shown=shown)
        return card_page(request, "question", view, shown=shown, asked=asked)

    @routes.get("/status")
    def status(request: Request) -> HTMLResponse:
        return page(request, "status")

    @routes.get("/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not session.blind
        view = views.view(views.find(name), annotator_of(request), shown=shown)
        return card_page(request, "node", view, shown=shown, back="node")

    @routes.get("/history")
    def history(request: Request) -> HTMLResponse:
        return page(
            request, "history", acts=session.log.history(annotator_of(request), MAX_HISTORY), listed=MAX_HISTORY
        )

    @routes.get("/progress")
    def progress(request: Request) -> HTMLResponse:
        found = session.progress(annotator_of(request))
        return page(
            request,
            "progress",
            progress=found,
            estimate=headline(found),
            learning=None if found["advice"] is None else learning_chart(found["advice"].curve),
            class_rows=[(str(label), count, class_css(code)) for code, (label, count) in enumerate(found["classes"])],
            min_labels=MIN_LABELS,
            min_advice=MIN_LABELS_FOR_ADVICE,
            min_audit=MIN_AUDIT_LABELS,
        )

    add_review(routes, session, views, page, card_page)

    @routes.get("/downloads")
    def downloads(request: Request) -> HTMLResponse:
        check_owner(session.owner, annotator_of(request))
        return page(request, "downloads", kinds=api.DOWNLOADS)

    @routes.get("/classes")
    def classes(request: Request) -> HTMLResponse:
        check_owner(session.owner, annotator_of(request))
        return page(request, "classes", progress=session.progress())

    @routes.get("/help")
    def help_page(request: Request) -> HTMLResponse:
        return page(request, "help", reasons=SKIP_REASONS)

    return routes


def headline(progress: dict[str, Any]) -> dict[str, Any] | None:
    """Return the accuracy of the model: from the audit if there is one, otherwise estimated; None without both."""
    audit, advice = progress["audit"], progress["advice"]
    if audit is not None and audit["score"] is not None:
        name, accuracy = "accuracy in the audit", audit["score"].accuracy
    elif advice is not None:
        name, accuracy = "estimated accuracy", advice.curve.now.accuracy
    else:
        return None
    return {"name": name, "accuracy": accuracy, "bar": interval_bar(accuracy)}


def class_buttons(classes: Classes) -> list[dict[str, Any]]:
    """Return name, form value, key, colour and description of each class."""
    return [
        {
            "name": str(each.name),
            "text": name_to_text(each.name),
            "key": key,
            "style": class_css(place),
            "description": each.description,
        }
        for place, (each, key) in enumerate(zip(classes.entries, classes.shortcuts(), strict=True))
    ]


def arrange_choices(
    choices: list[dict[str, Any]], prediction: Prediction | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the answer buttons in reach and, beyond ten classes, all of them to search in.

    Each has the probability of its class. Beyond ten classes, the five likeliest are in reach, with the keys 1 to 5.
    """
    shares = {} if prediction is None else {name_to_text(name): p for name, p in prediction.probabilities.items()}
    every = [{**choice, "share": shares.get(choice["text"])} for choice in choices]
    if len(every) <= MAX_BUTTONS:
        return every, []
    likeliest = sorted(every, key=lambda choice: -(choice["share"] or 0.0))[:LIKELIEST]
    in_reach = [{**choice, "key": str(place)} for place, choice in enumerate(likeliest, start=1)]
    return in_reach, [{**choice, "key": ""} for choice in every]


def render_guide(text: str) -> Markup:
    """Return the instructions for annotators as HTML; HTML inside the Markdown is shown as text."""
    if not text.strip():
        return Markup()
    from markdown_it import MarkdownIt

    return Markup(MarkdownIt("js-default").disable("image").render(text))
