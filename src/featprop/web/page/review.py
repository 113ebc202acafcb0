"""Review as a stream: lists of nodes to look at again, one after the other, with the keys of a question.

A node that an annotator has passed does not come back to them while the server runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from featprop.errors import unknown_choice
from featprop.ids import name_to_text
from featprop.web.common.palette import abbreviate_classes, class_css
from featprop.web.page.responses import RequestError
from featprop.web.page.security import annotator_of, check_owner
from featprop.web.page.session import Session
from featprop.web.page.trainer import Prediction
from featprop.web.page.views import NodeViews

MAX_NODES, LISTED_NODES = 100, 8
"""Nodes of a list, and those named on the overview."""


class ReviewList(NamedTuple):
    """A list of nodes to review."""

    title: str
    about: str  # description
    reason: str  # reason to look at a node
    done: str  # text of the empty list


LISTS = {
    "least_certain": ReviewList(
        "Least certain",
        "Predictions with the lowest confidence.",
        "The model is unsure about this node.",
        "No uncertain predictions left.",
    ),
    "contradicted": ReviewList(
        "Contradicted by neighbours",
        "Most neighbours belong to another class than the prediction.",
        "The neighbours suggest another class than the prediction.",
        "The neighbours agree with every prediction.",
    ),
    "wrong_labels": ReviewList(
        "Labels that look wrong",
        "Without the label, the model predicts another class: a slip, or a node unlike its class.",
        "Without this label, the model predicts another class.",
        "No label looks wrong.",
    ),
    "disagreements": ReviewList(
        "Disagreements",
        "Nodes people disagree on, except those still in your queue. Your answer settles the label.",
        "People disagree on this node. Your answer settles its label.",
        "No open disagreements.",
    ),
}
Nodes = Mapping[Hashable, Prediction | None]
"""Nodes of a list, the most doubtful first, and their predictions, if they may be shown."""


def add_review(
    routes: APIRouter,
    session: Session,
    views: NodeViews,
    page: Callable[..., HTMLResponse],
    card_page: Callable[..., HTMLResponse],
) -> None:
    """Add the overview of the lists and their streams; `page` and `card_page` render pages without and with a card."""
    passed: defaultdict[tuple[str, str], set[Hashable]] = defaultdict(set)

    def find_nodes(annotator: str, *, shown: bool) -> dict[str, Nodes]:
        """Return the nodes of each list of an annotator, without the lists of predictions if they are hidden."""
        found: dict[str, Nodes] = {}
        if shown:
            found.update(session.predictions(annotator, MAX_NODES))
        if session.is_shared and annotator == session.owner:
            apart = [each.node for each in session.disagreements(annotator)]
            found["disagreements"] = {node: session.prediction(node) if shown else None for node in apart}
        return {
            key: {node: each for node, each in nodes.items() if node not in passed[annotator, key]}
            for key, nodes in found.items()
        }

    def find_votes(annotator: str, key: str, node: Hashable) -> list[dict[str, str]]:
        """Return the answers to a node that an annotator may see, with the marks of their classes."""
        answers: dict[str, Hashable] = {}
        labels = session.log.labels()
        if key == "disagreements":
            verdicts = [each.label for each in session.log.verdicts() if each.node == node]
            open_ones = [each.answers for each in session.disagreements(annotator) if each.node == node]
            answers = {"Settled": verdicts[-1]} if verdicts else dict(*open_ones)
        elif key == "wrong_labels" and node in labels:
            answers = {"Label": labels[node]}
        classes = session.classes
        marks, codes = abbreviate_classes([str(name) for name in classes]), classes.codes_of(answers.values())
        return [
            {"person": person or "unnamed", "label": str(label), "mark": marks[code], "style": class_css(int(code))}
            for (person, label), code in zip(answers.items(), codes, strict=True)
        ]

    @routes.get("/review")
    def overview(request: Request, suggestion: bool = False) -> HTMLResponse:
        annotator, shown = annotator_of(request), suggestion or not session.blind
        return page(
            request,
            "review",
            texts=LISTS,
            lists=find_nodes(annotator, shown=shown),
            hidden=not shown,
            listed=LISTED_NODES,
            thumb=views.thumb,
            settled=session.log.verdicts() if annotator == session.owner else [],
        )

    @routes.get("/review/{key}")
    def stream(request: Request, key: str, node: str | None = None, after: str | None = None) -> HTMLResponse:
        if key not in LISTS:
            raise RequestError(404, str(unknown_choice("list", key, LISTS)))
        annotator, shown = annotator_of(request), not session.blind or key != "disagreements"
        if key == "disagreements":
            check_owner(session.owner, annotator)
        if after is not None:
            passed[annotator, key].add(views.find(after))
        lists = find_nodes(annotator, shown=shown)
        here = views.find(node) if node is not None else next(iter(lists.get(key, {})), None)
        view, is_verdict = None, False
        if here is not None:
            view = views.view(here, annotator, shown=shown)
            if key == "wrong_labels" and here in lists[key]:
                view = replace(view, prediction=lists[key][here])
            is_of_others = here in session.log.labels() and session.answer(annotator, here) is None
            is_verdict = key == "disagreements" or is_of_others
        return card_page(
            request,
            "review",
            view,
            shown=shown,
            act="adjudications" if is_verdict else "labels",
            back=f"review/{key}",
            accepted=None if view is None or view.prediction is None else name_to_text(view.prediction.label),
            texts=LISTS,
            lists=lists,
            key=key,
            votes=[] if here is None else find_votes(annotator, key, here),
        )
