"""What is shown of a node: its card, its neighbourhood, and what people and the model say of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from featprop.labels import Annotation
from featprop.names import name_to_text, to_jsonable
from featprop.web.page.addresses import node_address
from featprop.web.page.card import Card, card_of, picture_of, title_of
from featprop.web.page.desk import Desk
from featprop.web.page.neighbourhood import Neighbourhood, neighbourhood_of
from featprop.web.page.reports import Prediction
from featprop.web.page.sketch import drawn
from featprop.web.page.sketch_rows import LegendLine, Row, legend, rows

__all__ = ["Showing", "View", "jsonable_act", "jsonable_prediction", "jsonable_view"]

NO_CLASS = -1


@dataclass(frozen=True)
class View:
    """A node as a person sees it.

    Attributes
    ----------
    node
        Its id.
    card
        What there is to read.
    picture
        What there is to look at, if its features are the pixels of a picture.
    neighbourhood
        What it is connected with.
    drawing
        That as SVG.
    rows
        And as the rows of a table.
    legend
        The classes of all neighbours.
    answer
        What the person who looks has said of it, if anything.
    notes
        What they have noted.
    prediction
        What the model thinks, if that may be seen and there is a model.
    is_audit
        Whether it checks the model, so that nobody sees what the model thinks of it or around it.
    """

    node: Hashable
    card: Card
    picture: Markup | None
    neighbourhood: Neighbourhood
    drawing: Markup
    rows: list[Row]
    legend: list[LegendLine]
    answer: Annotation | None
    notes: list[str]
    prediction: Prediction | None
    is_audit: bool = False

    @property
    def text(self) -> str:
        """The id as forms carry it."""
        return name_to_text(self.node)

    @property
    def address(self) -> str:
        """Where its card is."""
        return node_address(self.node)


class Showing:
    """Makes views of the nodes of a graph.

    Parameters
    ----------
    desk
        What people and the model say.
    images
        The folder of the pictures, if the nodes have some.
    """

    def __init__(self, desk: Desk, images: Path | None = None) -> None:
        self.desk, self.images = desk, images

    def view(self, node: Hashable, annotator: str, *, suggestion: bool) -> View:
        """Return a node as `annotator` sees it, with what the model thinks if `suggestion` says so."""
        desk = self.desk
        position = int(desk.graph.positions([node])[0])
        classes = [str(name) for name in desk.classes]
        is_audit = desk.is_audit(node)
        suggestion = suggestion and not is_audit
        answer, labels = desk.answer(annotator, node), desk.codes(annotator)
        if answer is None:
            labels[position] = NO_CLASS
        around = neighbourhood_of(
            desk.graph,
            position,
            labels=labels,
            predictions=self._predictions() if suggestion else None,
            stands_for=set(desk.represented(node).tolist()),
            seed=desk.seed,
        )
        pictures = partial(picture_of, desk.graph) if picture_of(desk.graph, position) is not None else None
        called = partial(title_of, desk.graph)
        card = card_of(desk.graph, position, self.images)
        return View(
            node,
            card,
            None if card.picture is None else Markup(card.picture),
            around,
            Markup(drawn(around, called, classes, self._link, pictures)),
            rows(around, called, classes, self._link),
            legend(around, classes),
            answer,
            desk.notes(annotator, node),
            desk.prediction(node) if suggestion else None,
            is_audit,
        )

    def title(self, node: Hashable) -> str:
        """Return what a node is called."""
        return title_of(self.desk.graph, int(self.desk.graph.positions([node])[0]))

    def _predictions(self) -> NDArray[np.intp] | None:
        """Return the place of the class that the model thinks each node has."""
        ranking = self.desk.ranking
        if ranking is None or ranking.best is None:
            return None
        codes = np.array([self.desk.classes.code(name) for name in ranking.classes], dtype=np.intp)
        best: NDArray[np.intp] = codes[ranking.best]
        best[self.desk.graph.positions(self.desk.audit)] = NO_CLASS
        return best

    def _link(self, position: int) -> str:
        return node_address(self.desk.graph.ids[[position]].tolist()[0])


def jsonable_view(view: View) -> dict[str, Any]:
    """Return a view as the API gives it."""
    return {
        "node": to_jsonable(view.node),
        "address": view.address,
        "title": view.card.title,
        "fields": [
            {
                "name": field.name,
                "kind": field.kind,
                "text": field.text,
                "note": field.note,
                "place": field.place,
                "href": field.href,
            }
            for field in view.card.fields
        ],
        "neighbours": {
            "total": view.neighbourhood.total,
            "shown": [
                {
                    "name": row.name,
                    "address": row.href,
                    "ring": row.ring,
                    "via": row.via,
                    "label": row.label,
                    "how": row.how,
                    "weight": row.weight,
                    "stands_for": row.stands_for,
                }
                for row in view.rows
            ],
            "classes": [
                {"class": line.name, "labelled": line.labelled, "predicted": line.predicted} for line in view.legend
            ],
        },
        "answer": None if view.answer is None else jsonable_act(view.answer),
        "notes": view.notes,
        "prediction": None if view.prediction is None else jsonable_prediction(view.prediction),
        "audit": view.is_audit,
    }


def jsonable_act(act: Annotation) -> dict[str, Any]:
    """Return an act as the API gives it."""
    return {
        "node": to_jsonable(act.node),
        "kind": act.kind,
        "label": to_jsonable(act.label),
        "text": act.text,
        "time": None if act.time is None else act.time.isoformat(),
        "annotator": act.annotator,
    }


def jsonable_prediction(prediction: Prediction) -> dict[str, Any]:
    """Return a prediction as the API gives it: classes as a list of pairs, as their names need not be text."""
    return {
        "label": to_jsonable(prediction.label),
        "confidence": prediction.confidence,
        "probabilities": [
            {"class": to_jsonable(name), "probability": share} for name, share in prediction.probabilities.items()
        ],
    }
