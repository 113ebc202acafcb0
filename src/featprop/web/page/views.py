"""Views of nodes: card, neighbourhood, answers and prediction; and the addresses of their pages."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from markupsafe import Markup

from featprop.errors import GraphError
from featprop.graph import UNKNOWN
from featprop.ids import name_from_text, name_to_text, to_jsonable
from featprop.labels import Annotation
from featprop.web.common.card import Card, build_card, node_picture, node_title
from featprop.web.common.features import Picture
from featprop.web.common.formatting import clean_line
from featprop.web.common.neighbourhood import (
    Neighbourhood,
    draw_class_bar,
    draw_neighbourhood,
    find_neighbourhood,
)
from featprop.web.page.session import Session, unknown_node
from featprop.web.page.trainer import SEED, Prediction

CHIPS = 12
"""Neighbours shown without unfolding."""
PEEK_FIELDS, PEEK_CHARS = 3, 90
"""Columns of a neighbour shown on hover, and characters of each."""
MAX_ADDRESS_CHARS = 2000
"""Longer ids are named in addresses by a digest."""
DIGEST = "digest-"


@dataclass(frozen=True)
class View:
    """A node as an annotator sees it."""

    node: Hashable  # id of the node
    card: Card  # card of the node
    picture: Markup | None  # SVG picture, if the features are pixels
    neighbourhood: Neighbourhood  # its neighbours
    class_bar: Markup  # classes of all neighbours as one bar, and the neighbours as a drawing
    drawing: Markup
    thumbs: dict[int, Markup]  # pictures of the neighbours, by position
    peeks: dict[int, str]  # first columns of the neighbours shown without unfolding, by position
    answer: Annotation | None  # answer and notes of the annotator
    notes: list[str]
    prediction: Prediction | None  # prediction of the model, if it may be shown and there is one
    is_audit: bool  # whether it checks the model, so that predictions of it and its neighbours stay hidden

    @property
    def text(self) -> str:
        """Id as JSON, for forms."""
        return name_to_text(self.node)


class NodeViews:
    """Views of the nodes of a session."""

    def __init__(self, session: Session, images: Path | None = None) -> None:
        self.session, self.images = session, images

    def view(self, node: Hashable, annotator: str, *, shown: bool) -> View:
        """Return a node as an annotator sees it, with predictions if `shown` is true and it is not an audit node."""
        session, graph = self.session, self.session.graph
        position, is_audit = session.position(node), session.state.is_audit(node)
        shown = shown and not is_audit
        answer, classes, predictions = session.answer(annotator, node), session.classes, None
        near = [*graph.adjacency.indices[slice(*graph.adjacency.indptr[position : position + 2])], position]
        known = session.visible_labels(annotator, graph.ids[near].tolist())
        if answer is None:
            known.pop(node, None)
        labels = np.full(graph.n_nodes, UNKNOWN, dtype=np.intp)
        labels[graph.positions(known)] = classes.codes_of(known.values())
        ranking = session.ranking
        if shown and ranking is not None and ranking.probabilities is not None:
            predictions = classes.codes_of(ranking.classes)[ranking.probabilities.argmax(axis=1)]
            predictions[graph.positions(session.audit)] = UNKNOWN
        around = find_neighbourhood(
            graph,
            position,
            labels=labels,
            predictions=predictions,
            represented=set() if ranking is None else set(ranking.represented(position).tolist()),
            classes=[str(name) for name in classes],
            link=lambda place: node_address(session.node_at(place)),
            seed=SEED,
        )
        card = build_card(graph, position, self.images)
        has_pictures = card.picture is not None
        pictures = {each.position: node_picture(graph, each.position) for each in around.shown if has_pictures}
        return View(
            node,
            card,
            None if card.picture is None else Markup(card.picture),
            around,
            draw_class_bar(around),
            draw_neighbourhood(around, pictures.get),
            {place: draw_thumb(picture) for place, picture in pictures.items()},
            {each.position: self._peek(each.position) for each in around.shown[:CHIPS]},
            answer,
            session.notes(annotator, node),
            session.prediction(node) if shown else None,
            is_audit,
        )

    def title(self, node: Hashable) -> str:
        """Return the title of a node."""
        return node_title(self.session.graph, self.session.position(node))

    def thumb(self, node: Hashable) -> Markup:
        """Return a small picture of a node; empty without one."""
        return draw_thumb(node_picture(self.session.graph, self.session.position(node)))

    def find(self, text: str) -> Hashable:
        """Return the node that a text names, as JSON, literally, or by the digest of a long id."""
        names: list[Any] = [text]
        with suppress(ValueError, KeyError, TypeError, RecursionError):
            names.insert(0, name_from_text(text))
        for name in names:
            with suppress(GraphError, TypeError):
                return self.session.node_at(self.session.position(name))
        if text.startswith(DIGEST):
            for node in self.session.graph.ids.tolist():
                if isinstance(node, str) and len(node) > MAX_ADDRESS_CHARS // 12 and _digest(node) == text:
                    return node
        raise unknown_node(names[0])

    def _peek(self, position: int) -> str:
        """Return the first columns of a node in a few words."""
        fields = [field for field in build_card(self.session.graph, position, self.images).fields if field.text]
        return "\n".join(f"{field.name}: {clean_line(field.text, PEEK_CHARS)}" for field in fields[:PEEK_FIELDS])


def draw_thumb(picture: Picture | None) -> Markup:
    """Return a small picture; empty without one."""
    return Markup() if picture is None else Markup(picture.svg('class="thumb" aria-hidden="true"'))


def node_address(node: Hashable) -> str:
    """Return the address of a node. Its id is written as JSON, so that 1 and "1" differ."""
    name = quote(name_to_text(node), safe="")
    return f"/nodes/{name if len(name) <= MAX_ADDRESS_CHARS else _digest(node)}"


def to_json_view(view: View) -> dict[str, Any]:
    """Return a view as JSON."""
    return {
        "node": to_jsonable(view.node),
        "address": node_address(view.node),
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
        "prediction": to_json_prediction(view.prediction),
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


def to_json_prediction(prediction: Prediction | None) -> dict[str, Any] | None:
    """Return a prediction as JSON; class names need not be text, so they are not keys."""
    if prediction is None:
        return None
    shares = prediction.probabilities.items()
    return {
        "label": to_jsonable(prediction.label),
        "confidence": prediction.confidence,
        "probabilities": [{"class": to_jsonable(name), "probability": share} for name, share in shares],
    }


def _digest(node: Hashable) -> str:
    return DIGEST + hashlib.blake2b(name_to_text(node).encode(), digest_size=16).hexdigest()
