"""Review as a stream: lists of nodes to look at again, one after the other, with the keys of a question.

The lists are the least certain predictions, predictions that the neighbours contradict, labels that look wrong, and
disagreements. A node that an annotator has passed does not come back to them while the server runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse

from featprop.errors import unknown_choice
from featprop.ids import name_to_text
from featprop.web.common.card import node_picture
from featprop.web.common.palette import abbreviate_classes, class_css
from featprop.web.page.actions import annotator_of, check_owner
from featprop.web.page.addresses import find_node
from featprop.web.page.responses import Refusal
from featprop.web.page.session import Session
from featprop.web.page.types import Prediction
from featprop.web.page.views import NodeViews, View

MAX_NODES, LISTED_NODES = 100, 8
"""Nodes of a list, and those named on the overview."""
LISTS = {
    "least-certain": (
        "Least certain",
        "Predictions with the lowest confidence.",
        "The model is unsure about this node.",
        "No uncertain predictions left.",
    ),
    "contradicted": (
        "Contradicted by neighbours",
        "Most neighbours belong to another class than the prediction.",
        "The neighbours suggest another class than the prediction.",
        "The neighbours agree with every prediction.",
    ),
    "looks-wrong": (
        "Labels that look wrong",
        "Without the label, the model predicts another class: a slip, or a node unlike its class.",
        "Without this label, the model predicts another class.",
        "No label looks wrong.",
    ),
    "disagreements": (
        "Disagreements",
        "Nodes people disagree on, except those still in your queue. Your answer settles the label.",
        "People disagree on this node. Your answer settles its label.",
        "No open disagreements.",
    ),
}
"""Title, description, reason to look at a node, and text of the empty list."""


@dataclass(frozen=True)
class ReviewList:
    """Nodes to review, the most doubtful first."""

    key: str
    title: str
    about: str
    reason: str
    done: str
    nodes: dict[Hashable, Prediction | None]  # and their predictions, if they may be shown


@dataclass(frozen=True)
class Vote:
    """An answer of a person."""

    person: str
    label: str
    mark: str
    style: str


@dataclass
class Review:
    """The lists of each annotator."""

    session: Session
    passed: dict[tuple[str, str], dict[Hashable, None]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def lists(self, annotator: str, *, predictions: bool = True) -> list[ReviewList]:
        """Return the lists of an annotator, without those about predictions if they are hidden."""
        session = self.session
        found: dict[str, dict[Hashable, Prediction | None]] = {}
        if predictions:
            found["least-certain"] = dict(session.least_certain(MAX_NODES))
            found["contradicted"] = dict(session.contradicted(MAX_NODES))
            found["looks-wrong"] = dict(self.suspects(annotator))
        if session.is_shared and annotator == session.owner:
            apart = [each.node for each in session.disagreements(annotator)]
            found["disagreements"] = {node: session.prediction(node) if predictions else None for node in apart}
        with self.lock:
            passed = {key: set(self.passed.get((annotator, key), ())) for key in found}
        return [
            ReviewList(key, *LISTS[key], {node: each for node, each in nodes.items() if node not in passed[key]})
            for key, nodes in found.items()
        ]

    def pass_over(self, annotator: str, key: str, node: Hashable) -> None:
        """Leave a node out of a list of an annotator."""
        with self.lock:
            self.passed.setdefault((annotator, key), {})[node] = None

    def suspects(self, annotator: str) -> dict[Hashable, Prediction]:
        """Return the labels for which the model predicts another class without them, most suspicious first.

        The owner sees all labels, other annotators those they gave.
        """
        ranking, labels = self.session.ranking, self.session.labels()
        if ranking is None or ranking.held_out is None:
            return {}
        visible, codes = self.session.codes(annotator), {name: code for code, name in enumerate(ranking.classes)}
        found = []
        for position, row in zip(ranking.labelled.tolist(), ranking.held_out.tolist(), strict=True):
            node = self.session.graph.ids[[position]].tolist()[0]
            best, code = int(np.argmax(row)), codes.get(labels.get(node))
            is_shown = annotator == self.session.owner or self.session.answer(annotator, node) is not None
            if code is not None and best != code and visible[position] >= 0 and is_shown:
                probabilities = dict(zip(ranking.classes, row, strict=True))
                found.append((row[code], node, Prediction(ranking.classes[best], row[best], probabilities)))
        return {node: prediction for _, node, prediction in sorted(found, key=lambda each: each[0])[:MAX_NODES]}

    def votes(self, annotator: str, key: str, node: Hashable) -> list[Vote]:
        """Return the answers to a node that an annotator may see."""
        answers: dict[str, Hashable] = {}
        if key == "disagreements":
            verdicts = [act.label for act in self.session.settled() if act.node == node]
            open_votes = [each.answers for each in self.session.disagreements(annotator) if each.node == node]
            answers = {"Settled": verdicts[-1]} if verdicts else open_votes[0] if open_votes else {}
        elif key == "looks-wrong" and node in self.session.labels():
            answers = {"Label": self.session.labels()[node]}
        names = [str(name) for name in self.session.classes]
        marks, codes = abbreviate_classes(names), {name: code for code, name in enumerate(names)}
        return [
            Vote(person or "unnamed", str(label), marks[codes[str(label)]], class_css(codes[str(label)]))
            for person, label in answers.items()
        ]


def add_review(
    routes: APIRouter,
    session: Session,
    views: NodeViews,
    page: Callable[..., HTMLResponse],
    card_page: Callable[..., HTMLResponse],
) -> None:
    """Add the overview of the lists and their streams.

    Parameters
    ----------
    routes
        Routes to add to.
    session
        The session.
    views
        Its views of nodes.
    page
        Renders a page.
    card_page
        Renders a page with the card of a node and the answer buttons.
    """
    review = Review(session)

    @routes.get("/review")
    def overview(request: Request, suggestion: bool = False) -> HTMLResponse:
        is_hidden = session.blind and not suggestion
        return page(
            request,
            "review",
            lists=review.lists(annotator_of(request), predictions=not is_hidden),
            hidden=is_hidden,
            listed=LISTED_NODES,
            thumb=thumb,
            settled=session.settled() if annotator_of(request) == session.owner else [],
        )

    @routes.get("/review/{key}")
    def stream(request: Request, key: str, node: str | None = None, after: str | None = None) -> HTMLResponse:
        if key not in LISTS:
            raise Refusal(404, unknown_choice("list", key, LISTS))
        annotator, is_hidden = annotator_of(request), session.blind and key == "disagreements"
        if key == "disagreements":
            check_owner(session, annotator)
        if after is not None:
            review.pass_over(annotator, key, find_node(session.graph, after))
        lists = review.lists(annotator, predictions=not is_hidden)
        chosen = next((each for each in lists if each.key == key), ReviewList(key, *LISTS[key], {}))
        here = find_node(session.graph, node) if node is not None else next(iter(chosen.nodes), None)
        view = None if here is None else view_of(here, annotator, key, shown=not is_hidden)
        is_verdict = here is not None and (key == "disagreements" or _is_of_others(session, annotator, here))
        return card_page(
            request,
            "review",
            view,
            shown=not is_hidden,
            act="adjudications" if is_verdict else "labels",
            back=f"review/{key}",
            accepted=None if view is None or view.prediction is None else name_to_text(view.prediction.label),
            lists=lists,
            stream=chosen,
            votes=[] if here is None else review.votes(annotator, key, here),
        )

    def view_of(node: Hashable, annotator: str, key: str, *, shown: bool) -> View:
        view = views.view(node, annotator, suggestion=shown)
        held_out = review.suspects(annotator).get(node) if key == "looks-wrong" else None
        return view if held_out is None else replace(view, prediction=held_out)

    def thumb(node: Hashable) -> Any:
        picture = node_picture(session.graph, int(session.graph.positions([node])[0]))
        return "" if picture is None else Markup(picture.svg('class="thumb" aria-hidden="true"'))


def _is_of_others(session: Session, annotator: str, node: Hashable) -> bool:
    """Return whether only other people have answered a node."""
    return node in session.labels() and session.answer(annotator, node) is None
