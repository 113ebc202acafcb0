"""Views of nodes: card, neighbourhood, answers and prediction; and the addresses of their pages."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featprop.errors import GraphError
from featprop.graph import UNKNOWN
from featprop.ids import name_from_text, name_to_text
from featprop.labels import Annotation
from featprop.web.common.card import Card, build_card, node_title
from featprop.web.common.neighbourhood import (
    Neighbourhood,
    find_neighbourhood,
)
from featprop.web.page.fields import DIGEST, MAX_ADDRESS_CHARS, address_digest, node_address
from featprop.web.page.session import Session, unknown_node
from featprop.web.page.trainer import Prediction


@dataclass(frozen=True)
class View:
    """A node as an annotator sees it."""

    node: Hashable  # id of the node
    card: Card  # card of the node
    neighbourhood: Neighbourhood  # its neighbours
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
        position, is_audit = session.position(node), session.is_audit(node)
        shown = shown and not is_audit
        answer, classes, predictions = session.answer(annotator, node), session.classes, None
        near = [*graph.adjacency.indices[slice(*graph.adjacency.indptr[position : position + 2])], position]
        known = session.visible_labels(annotator, graph.ids[near].tolist())
        if answer is None:
            known.pop(node, None)
        labels = np.full(graph.n_nodes, UNKNOWN, dtype=np.intp)
        labels[graph.positions(known)] = classes.codes_of(known.values())
        ranking = session.ranking
        if shown and ranking.best is not None:
            predictions = classes.codes_of(ranking.classes)[ranking.best]
            predictions[graph.positions(session.log.audit())] = UNKNOWN
        around = find_neighbourhood(
            graph,
            position,
            labels=labels,
            predictions=predictions,
            classes=[str(name) for name in classes],
            link=lambda place: node_address(session.node_at(place)),
        )
        return View(
            node,
            build_card(graph, position, self.images),
            around,
            answer,
            [each.text for each in session.log.notes_of(node) if each.annotator == annotator],
            session.prediction(node) if shown else None,
            is_audit,
        )

    def title(self, node: Hashable) -> str:
        """Return the title of a node."""
        return node_title(self.session.graph, self.session.position(node))

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
                if isinstance(node, str) and len(node) > MAX_ADDRESS_CHARS // 12 and address_digest(node) == text:
                    return node
        raise unknown_node(names[0])
