"""Views of nodes: card, neighbourhood, answers and prediction."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.ids import name_to_text, to_jsonable
from featprop.labels import Annotation
from featprop.web.common.card import Card, build_card, node_picture, node_title
from featprop.web.common.formatting import clean_line
from featprop.web.common.neighbourhood import (
    Neighbourhood,
    draw_class_bar,
    draw_neighbourhood,
    find_neighbourhood,
)
from featprop.web.page.addresses import node_address
from featprop.web.page.session import Session
from featprop.web.page.types import Prediction

NO_CLASS = -1
MAX_BUTTONS, LIKELIEST = 10, 5
"""Classes up to which all have a button in reach, and those that have one beyond."""
CHIPS = 12
"""Neighbours shown without unfolding."""
PEEK_FIELDS, PEEK_CHARS = 3, 90
"""Columns of a neighbour shown on hover, and characters of each."""


@dataclass(frozen=True)
class View:
    """A node as an annotator sees it."""

    node: Hashable  # id of the node
    card: Card  # card of the node
    picture: Markup | None  # SVG picture, if the features are pixels
    neighbourhood: Neighbourhood  # its neighbours
    class_bar: Markup  # classes of all neighbours as one bar, and the neighbours as a drawing
    drawing: Markup
    pictures: dict[int, Markup]  # pictures of the neighbours, by position
    peeks: dict[int, str]  # first columns of the neighbours shown without unfolding, by position
    answer: Annotation | None  # answer and notes of the annotator
    notes: list[str]
    prediction: Prediction | None  # prediction of the model, if it may be shown and there is one
    is_audit: bool = False  # whether it checks the model, so that predictions of it and its neighbours stay hidden

    @property
    def text(self) -> str:
        """Id as JSON, for forms."""
        return name_to_text(self.node)

    @property
    def address(self) -> str:
        """Address of the node."""
        return node_address(self.node)


class NodeViews:
    """Views of the nodes of a session."""

    def __init__(self, session: Session, images: Path | None = None) -> None:
        self.session, self.images = session, images

    def view(self, node: Hashable, annotator: str, *, suggestion: bool) -> View:
        """Return a node as `annotator` sees it, with the prediction if `suggestion` is true."""
        session = self.session
        position = int(session.graph.positions([node])[0])
        classes = [str(name) for name in session.classes]
        is_audit = session.is_audit(node)
        suggestion = suggestion and not is_audit
        answer, labels = session.answer(annotator, node), session.codes(annotator)
        if answer is None:
            labels[position] = NO_CLASS
        graph = session.graph
        around = find_neighbourhood(
            graph,
            position,
            labels=labels,
            predictions=self._predictions() if suggestion else None,
            represented=set(session.represented(node).tolist()),
            classes=classes,
            link=self._link,
            seed=session.seed,
        )
        card = build_card(graph, position, self.images)
        drawn = {} if card.picture is None else {n.position: node_picture(graph, n.position) for n in around.shown}
        return View(
            node,
            card,
            None if card.picture is None else Markup(card.picture),
            around,
            draw_class_bar(around),
            draw_neighbourhood(around, drawn.get),
            {place: Markup(found.svg('class="thumb" aria-hidden="true"')) for place, found in drawn.items() if found},
            {each.position: self._peek(each.position) for each in around.shown[:CHIPS]},
            answer,
            session.notes(annotator, node),
            session.prediction(node) if suggestion else None,
            is_audit,
        )

    def title(self, node: Hashable) -> str:
        """Return the title of a node."""
        return node_title(self.session.graph, int(self.session.graph.positions([node])[0]))

    def _predictions(self) -> NDArray[np.intp] | None:
        """Return the predicted class code of each node."""
        ranking = self.session.ranking
        if ranking is None or ranking.best is None:
            return None
        codes = np.array([self.session.classes.code(name) for name in ranking.classes], dtype=np.intp)
        best: NDArray[np.intp] = codes[ranking.best]
        best[self.session.graph.positions(self.session.audit)] = NO_CLASS
        return best

    def _peek(self, position: int) -> str:
        """Return the first columns of a node in a few words."""
        fields = [field for field in build_card(self.session.graph, position, self.images).fields if field.text]
        return "\n".join(f"{field.name}: {clean_line(field.text, PEEK_CHARS)}" for field in fields[:PEEK_FIELDS])

    def _link(self, position: int) -> str:
        return node_address(self.session.graph.ids[[position]].tolist()[0])


def to_json_view(view: View) -> dict[str, Any]:
    """Return a view as JSON."""
    return {
        "node": to_jsonable(view.node),
        "address": view.address,
        "title": view.card.title,
        "fields": [asdict(field) for field in view.card.fields],
        "neighbours": {
            "total": view.neighbourhood.total,
            "shown": [
                {name: getattr(each, name) for name in ("name", "address", "weight", "label", "how", "represented")}
                for each in view.neighbourhood.shown
            ],
            "classes": [
                {"class": each.name, "labelled": each.labelled, "predicted": each.predicted}
                for each in view.neighbourhood.counts
            ],
        },
        "answer": None if view.answer is None else to_json_act(view.answer),
        "notes": view.notes,
        "prediction": None if view.prediction is None else to_json_prediction(view.prediction),
        "audit": view.is_audit,
    }


def to_json_act(act: Annotation) -> dict[str, Any]:
    """Return an answer as JSON."""
    return {
        "node": to_jsonable(act.node),
        "kind": act.kind,
        "label": to_jsonable(act.label),
        "text": act.text,
        "time": None if act.time is None else act.time.isoformat(),
        "annotator": act.annotator,
    }


def to_json_prediction(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction as JSON; class names need not be text, so they are not keys."""
    return {
        "label": to_jsonable(prediction.label),
        "confidence": prediction.confidence,
        "probabilities": [
            {"class": to_jsonable(name), "probability": share} for name, share in prediction.probabilities.items()
        ],
    }


def arrange_choices(
    choices: list[dict[str, Any]], prediction: Prediction | None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the answer buttons in reach and, beyond ten classes, all of them to search in.

    Each has the probability of its class. Beyond ten classes, the five likeliest are in reach, with the keys 1 to 5.
    """
    shares = {} if prediction is None else {name_to_text(name): p for name, p in prediction.probabilities.items()}
    every = [{"description": "", **choice, "share": shares.get(choice["text"])} for choice in choices]
    if len(every) <= MAX_BUTTONS:
        return every, []
    likeliest = sorted(every, key=lambda choice: -(choice["share"] or 0.0))[:LIKELIEST]
    return (
        [{**choice, "key": str(place)} for place, choice in enumerate(likeliest, start=1)],
        [{**choice, "key": ""} for choice in every],
    )
