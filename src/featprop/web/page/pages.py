"""The HTML pages, which work without JavaScript. The templates ask the session for what they show."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

from featprop.evaluate.estimate import MIN_LABELS
from featprop.ids import name_to_text
from featprop.labels import Kind
from featprop.web.common.card import node_picture, node_summary, node_thumb
from featprop.web.common.chart import interval_bar, learning_chart
from featprop.web.common.neighbourhood import draw_neighbourhood
from featprop.web.common.palette import abbreviate_classes, class_css
from featprop.web.common.templates import render_template
from featprop.web.page import api, fields
from featprop.web.page.classes import Classes
from featprop.web.page.security import annotator_of
from featprop.web.page.session import MIN_AUDIT_LABELS, REVIEW_LISTS, Session
from featprop.web.page.trainer import MIN_LABELS_FOR_ADVICE, Prediction
from featprop.web.page.views import NodeViews, View

FOR_OWNER = frozenset({"downloads", "classes"})
"""Pages of the person who started the server."""
OVERVIEWS = frozenset({"history", "progress", "help", "status", *FOR_OWNER})
"""Pages without a node."""
SKIP_REASONS = ("unsure", "bad data", "no class fits", "conflict")
MAX_BUTTONS, LIKELIEST = 10, 5
"""Classes up to which all have a button in reach, and those that have one beyond."""
MAX_REVIEWED = 100
"""Nodes of a list to review."""
CONSTANTS = {
    "limits": fields,
    "downloads": api.DOWNLOADS,
    "skip_reasons": SKIP_REASONS,
    "min_labels": MIN_LABELS,
    "min_advice": MIN_LABELS_FOR_ADVICE,
    "min_audit": MIN_AUDIT_LABELS,
    "to_text": name_to_text,
    "node_address": fields.node_address,
    "interval_bar": interval_bar,
    "learning_chart": learning_chart,
}


def build_pages(session: Session, views: NodeViews, graph_name: str = "", next_command: str = "") -> APIRouter:
    """Return the routes of the pages of a graph; `next_command` is what to run when all nodes are labelled."""
    routes = APIRouter(include_in_schema=False)
    guide = render_guide(session.guide)
    drawing = {
        "thumb": partial(node_thumb, session.graph),
        "peek": partial(node_summary, session.graph, separator="\n"),
        "draw": partial(draw_neighbourhood, pictures=partial(node_picture, session.graph)),
    }
    # what each annotator has passed of each list, which does not come back to them while the server runs
    passed: defaultdict[tuple[str, str], set[Hashable]] = defaultdict(set)

    def page(request: Request, name: str, template: str = "", **values: Any) -> HTMLResponse:
        annotator = annotator_of(request)
        common = {
            "name": name,
            "session": session,
            "views": views,
            "annotator": annotator,
            "is_owner": annotator == session.owner,
            "status": session.status(),
            "choices": class_buttons(session.classes),
            "new_key": lambda: secrets.token_hex(16),
            "graph_name": graph_name,
            "next_command": next_command,
            "guide": guide,
        }
        path = f"web/page/templates/{template or name}.html.j2"
        return HTMLResponse(render_template(path, **CONSTANTS, **drawing, **common, **values))

    def card_page(request: Request, name: str, view: View | None, *, shown: bool, **values: Any) -> HTMLResponse:
        """Render the card of a node with the answer buttons, or a message if there is no node."""
        row, others = arrange_choices(class_buttons(session.classes), None if view is None else view.prediction)
        last = next(iter(session.log.history(annotator_of(request), 1)), None)
        common = {
            "view": view,
            "shown": shown,
            "row": row,
            "others": others,
            "last": last,
            "where": request.url.path,
            "act": "labels",
            "back": None,
            "accepted": None,
        }
        return page(request, name, "question", **{**common, **values})

    @routes.get("/")
    def question(request: Request, suggestion: bool = False, ahead: bool = False) -> HTMLResponse:
        annotator, shown = annotator_of(request), suggestion or not session.blind
        asked = (*session.questions(annotator), None, None)[ahead]
        view = None if asked is None else views.view(asked.node, annotator, shown=shown)
        return card_page(request, "question", view, shown=shown, asked=asked)

    @routes.get("/nodes/{name:path}")
    def node(request: Request, name: str, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not session.blind
        view = views.view(views.find(name), annotator_of(request), shown=shown)
        return card_page(request, "node", view, shown=shown, back="node")

    def lists_of(annotator: str, *, shown: bool) -> dict[str, Mapping[Hashable, Prediction | None]]:
        """Return the nodes of each list of an annotator, without the lists of predictions if they are hidden."""
        found: dict[str, Mapping[Hashable, Prediction | None]] = {}
        if shown:
            found.update(session.predictions(annotator, MAX_REVIEWED))
        if session.is_shared and annotator == session.owner:
            apart = [each.node for each in session.disagreements(annotator)]
            found["disagreements"] = {node: session.prediction(node) if shown else None for node in apart}
        return {
            key: {node: each for node, each in nodes.items() if node not in passed[annotator, key]}
            for key, nodes in found.items()
        }

    @routes.get("/review")
    def review(request: Request, suggestion: bool = False) -> HTMLResponse:
        shown = suggestion or not session.blind
        return page(request, "review", lists=lists_of(annotator_of(request), shown=shown), hidden=not shown)

    @routes.get("/review/{key}")
    def stream(request: Request, key: str, node: str | None = None, after: str | None = None) -> HTMLResponse:
        """Show the first node of a list, a given one, or the first one after another is passed."""
        if key not in REVIEW_LISTS:
            raise HTTPException(404)
        annotator, is_apart = annotator_of(request), key == "disagreements"
        if is_apart:
            session.check_owner(annotator)
        shown = not session.blind or not is_apart
        if after is not None:
            passed[annotator, key].add(views.find(after))
        lists = lists_of(annotator, shown=shown)
        here = views.find(node) if node is not None else next(iter(lists.get(key, {})), None)
        if here is None:
            return card_page(request, "review", None, shown=shown, lists=lists, key=key)
        view, prediction = views.view(here, annotator, shown=shown), lists.get(key, {}).get(here)
        if key == "wrong_labels" and prediction is not None:
            view = replace(view, prediction=prediction)
        votes = session.visible_votes(annotator, here)
        is_of_others = bool(votes) and view.answer is None
        codes = session.classes.codes_of(each.label for each in votes)
        marks = abbreviate_classes([str(name) for name in session.classes])
        return card_page(
            request,
            "review",
            view,
            shown=shown,
            act="adjudications" if is_apart or is_of_others else "labels",
            back=f"review/{key}",
            accepted=None if view.prediction is None else name_to_text(view.prediction.label),
            lists=lists,
            key=key,
            votes=[
                {
                    "person": "Settled" if each.kind is Kind.VERDICT else each.annotator or "Label",
                    "label": str(each.label),
                    "mark": marks[code],
                    "style": class_css(int(code)),
                }
                for each, code in zip(votes, codes, strict=True)
            ],
        )

    def overview(request: Request) -> HTMLResponse:
        name = request.url.path.removeprefix("/")
        if name in FOR_OWNER:
            session.check_owner(annotator_of(request))
        return page(request, name)

    for name in OVERVIEWS:
        routes.add_api_route(f"/{name}", overview)
    return routes


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
