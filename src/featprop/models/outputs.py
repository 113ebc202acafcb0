"""What a strategy may ask of the current model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence

from featprop.graph import Graph, sorted_classes
from featprop.matrix import Features
from featprop.models.classifier import NodeClassifier

__all__ = ["model_outputs", "taught"]


def taught(
    model: NodeClassifier, graph: Graph, nodes: Sequence[Hashable], labels: Sequence[Hashable]
) -> NodeClassifier:
    """Fit the model to the labels; with one class only, which nothing can be learnt from, start it and no more.

    Training on one class would only shrink the weights to zero. Fresh weights at least keep the hidden representation
    a random projection of the propagated features, and give every node the one class with probability 1.
    """
    classes = sorted_classes(labels)
    return model.initialise(graph, classes) if len(classes) == 1 else model.fit(graph, nodes, labels)


def model_outputs(model: NodeClassifier, graph: Graph, wanted: Collection[str]) -> dict[str, Features]:
    """Return of a fitted model what is wanted of probabilities, hidden and logits, one row a node."""
    makers: dict[str, Callable[[], Features]] = {
        "probabilities": lambda: model.predict_proba(graph),
        "hidden": lambda: model.representation(graph),
        "logits": lambda: model.decision(graph).cpu().numpy(),
    }
    return {name: makers[name]() for name in sorted(wanted)}
