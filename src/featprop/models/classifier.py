"""What every model can do: fit on labelled nodes, predict all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from featprop.errors import LabelError, ModelError, ParameterError, first_five, unknown_choice
from featprop.graph import Graph, as_array, is_missing, plain, sorted_classes
from featprop.matrix import Features
from featprop.models.training import Optimisation, train

__all__ = ["NodeClassifier", "available_models", "get_model", "register_model"]


class NodeClassifier(ABC):
    """A model of node classes. The constructor stores the settings; `fit` learns.

    Parameters
    ----------
    learning_rate, weight_decay, epochs
        Of the Adam optimiser; the last epoch is the model.
    seed
        Of the initial weights and of dropout; on a CPU the same seed gives the same model.
    device
        Where PyTorch computes, such as ``"cpu"`` or ``"cuda"``.

    Attributes
    ----------
    classes
        The class names in the order of the columns of `predict_proba`; empty before `fit`.
    network
        The trained PyTorch module; None before `fit`.
    """

    name: ClassVar[str]

    def __init__(
        self,
        *,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        epochs: int = 200,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.seed = seed
        self.device = device
        self.classes: tuple[Hashable, ...] = ()
        self.feature_names: tuple[str, ...] | None = None
        self.n_features = 0
        self.network: nn.Module | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that build this model again, but for the device."""
        return {
            "learning_rate": self.learning_rate,
            "weight_decay": self.weight_decay,
            "epochs": self.epochs,
            "seed": self.seed,
        }

    @abstractmethod
    def build(self, n_features: int, n_classes: int, generator: torch.Generator) -> nn.Module:
        """Return a fresh network whose ``forward(inputs, generator)`` takes what `inputs` returns."""

    @abstractmethod
    def inputs(self, graph: Graph, nodes: NDArray[np.intp], device: torch.device) -> Any:
        """Return all that the network needs of the graph to compute the logits of `nodes`, and nothing more."""

    @abstractmethod
    def hidden_rows(self, network: nn.Module, graph: Graph, device: torch.device) -> Tensor | Features:
        """Return what the last layer of a fitted network takes in, one row a node."""

    def fit(self, graph: Graph, nodes: Iterable[Hashable], labels: Iterable[Hashable]) -> NodeClassifier:
        """Learn from the labels of some nodes.

        Parameters
        ----------
        graph
            The graph.
        nodes
            The ids of the labelled nodes.
        labels
            The class of each, by name.
        """
        positions = graph.positions(nodes)
        names = plain(labels)
        targets, classes = _checked_targets(graph, positions, names)
        optimisation = Optimisation(self.learning_rate, self.weight_decay, self.epochs)
        device = _device(self.device)
        generator = torch.Generator(device="cpu").manual_seed(self.seed)
        network = self.build(graph.n_features, len(classes), generator).to(device)
        inputs = self.inputs(graph, positions, device)
        train(network, inputs, torch.from_numpy(targets).to(device), optimisation, generator)
        self._take(graph, classes, network)
        return self

    def initialise(self, graph: Graph, classes: Iterable[Hashable]) -> NodeClassifier:
        """Take fresh weights for those classes and learn nothing: what there is while one class only is known."""
        names = sorted_classes(plain(classes))
        generator = torch.Generator(device="cpu").manual_seed(self.seed)
        self._take(graph, names, self.build(graph.n_features, len(names), generator))
        return self

    def _take(self, graph: Graph, classes: tuple[Hashable, ...], network: nn.Module) -> None:
        self.classes, self.network = classes, network
        self.n_features, self.feature_names = graph.n_features, graph.feature_names

    def predict_proba(self, graph: Graph) -> NDArray[np.float32]:
        """Return the probability of each class for every node, shape (nodes, classes)."""
        logits = self.decision(graph)
        probabilities: NDArray[np.float32] = torch.softmax(logits, dim=1).cpu().numpy()
        return probabilities

    def predict(self, graph: Graph) -> NDArray[Any]:
        """Return the likeliest class of every node, by name."""
        best = self.decision(graph).argmax(dim=1).cpu().numpy()
        names: NDArray[Any] = as_array(self.classes)[best]
        return names

    def decision(self, graph: Graph) -> Tensor:
        """Return the logits of every node, before the softmax."""
        network, device = self._ready(graph)
        with torch.no_grad():
            logits: Tensor = network(self.inputs(graph, np.arange(graph.n_nodes), device))
        return logits

    def representation(self, graph: Graph) -> Features:
        """Return the last hidden representation of every node, shape (nodes, hidden units)."""
        network, device = self._ready(graph)
        with torch.no_grad():
            rows = self.hidden_rows(network, graph, device)
        return rows.cpu().numpy() if isinstance(rows, Tensor) else rows

    def _ready(self, graph: Graph) -> tuple[nn.Module, torch.device]:
        if self.network is None:
            raise ModelError("The model", "must be fitted before it predicts", "an unfitted one", "call fit first")
        self._check_fits(graph)
        device = _device(self.device)
        return self.network.to(device).eval(), device

    def _check_fits(self, graph: Graph) -> None:
        cure = "use the graph and the --features it was trained on, or train a model on this one"
        if graph.n_features != self.n_features:
            rule = f"must be for a graph of {graph.n_features:,} features"
            raise ModelError("The model", rule, f"one trained on {self.n_features:,}", cure)
        if self.feature_names and graph.feature_names and self.feature_names != graph.feature_names:
            pairs = zip(self.feature_names, graph.feature_names, strict=True)
            other = [f"{a} for {b}" for a, b in pairs if a != b]
            rule = "must be for a graph of the same feature columns in the same order"
            raise ModelError("The model", rule, f"{first_five(other)} different", cure)


def _checked_targets(
    graph: Graph, positions: NDArray[np.intp], names: list[Hashable]
) -> tuple[NDArray[np.int64], tuple[Hashable, ...]]:
    if len(names) != len(positions):
        found = f"{len(names):,} labels for {len(positions):,} nodes"
        raise LabelError("labels", "must be as many as the nodes", found, "pass one label a node")
    distinct, counts = np.unique(positions, return_counts=True)
    if len(distinct) < len(positions):
        repeated = [repr(name) for name in graph.ids[distinct[counts > 1]].tolist()]
        raise LabelError("nodes", "must be distinct", f"{first_five(repeated)} repeated", "give each node once")
    unknown = [repr(node) for node, name in zip(graph.ids[positions].tolist(), names, strict=True) if is_missing(name)]
    if unknown:
        raise LabelError("labels", "must be there for every node", f"none for {first_five(unknown)}", "leave them out")
    classes = sorted_classes(names)
    if len(classes) < 2:
        found = f"only {classes[0]!r}" if classes else "none"
        raise LabelError("labels", "must hold at least two classes", found, "label nodes of another class too")
    code_of = {name: code for code, name in enumerate(classes)}
    return np.array([code_of[name] for name in names], dtype=np.int64), classes


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ParameterError("device", "must be one PyTorch has here", repr(name), "use 'cpu'") from error
    return device


_registry: dict[str, type[NodeClassifier]] = {}
ModelClass = TypeVar("ModelClass", bound=type[NodeClassifier])


def register_model(name: str) -> Callable[[ModelClass], ModelClass]:
    """Make a model available under `name`, on the command line and in saved models."""

    def decorate(model: ModelClass) -> ModelClass:
        if name in _registry:
            raise ValueError(f"model {name!r} is registered already, by {_registry[name].__qualname__}")
        model.name = name
        _registry[name] = model
        return model

    return decorate


def available_models() -> list[str]:
    """Return the names of all models, sorted."""
    return sorted(_registry)


def get_model(name: str) -> type[NodeClassifier]:
    """Return the model class of that name."""
    if name not in _registry:
        raise unknown_choice("model", name, _registry)
    return _registry[name]
