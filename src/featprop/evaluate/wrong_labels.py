"""Labels that look wrong: those the other labels speak against.

Where labels are wrong now and then, and any other class is as likely as the next to be given instead, a label is
likelier to be wrong the lower p_c is, the probability of the class given without that label: labels are ranked by it.
The margin to the likeliest class, the neighbours, and what the model says of the label it has learnt from find fewer
(measured, docs/how-good-measured.md). The only label of a class has nothing that could speak for it, so it comes last.
"""

from __future__ import annotations

import numpy as np

from featprop.evaluate.doubt import Doubt, worst_first
from featprop.evaluate.left_out import left_out_probabilities
from featprop.graph import Graph
from featprop.models import NodeClassifier

__all__ = ["wrong_labels"]


def wrong_labels(graph: Graph, model: NodeClassifier) -> tuple[Doubt, ...]:
    """Return all labels of a graph that a model was trained on, those first that the others speak most against.

    Parameters
    ----------
    graph
        The graph, with features as the model knows them.
    model
        A fitted model. Of one class, or one label, nothing can speak against it: the list is empty.
    """
    given = model.training_labels_in(graph)
    classes = model.class_names_
    if len(classes) < 2 or len(given) < 2:
        return ()
    code_of = {name: code for code, name in enumerate(classes)}
    codes = np.array([code_of[name] for name in given.values()], dtype=np.intp)
    rows = left_out_probabilities(graph, model)
    own = rows[np.arange(len(rows)), codes]
    counts = np.bincount(codes, minlength=len(classes))

    def why(place: int) -> str:
        code, best = int(codes[place]), int(rows[place].argmax())
        said = f"labelled {classes[code]} ({own[place]:.0%})"
        if counts[code] == 1:
            return f"labelled {classes[code]}, the only label of that class: there is nothing to compare it with"
        if best == code:
            return f"{said}, and the other labels say so too"
        return f"{said}, the other labels say {classes[best]} ({rows[place, best]:.0%})"

    scores = np.where(counts[codes] == 1, 0.0, 1 - own)
    return worst_first(graph, graph.positions(given), scores, why, above=-np.inf)
