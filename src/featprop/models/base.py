"""What every model can do: learn from labelled nodes, and say something of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.deprecation import warn_of_old_name
from featprop.errors import LabelError, ModelError, first_five, unknown_choice
from featprop.graph import Graph, as_array, is_missing, plain, sorted_classes
from featprop.matrix import Features
from featprop.options import check_options, options_of
from featprop.propagation import Propagation

__all__ = ["NodeClassifier"]


class NodeClassifier(ABC):
    """A model of node classes.

    The constructor stores each setting under its own name, with a default; `fit` learns. A model implements `learn`
    and `scores`, and `tensors` and `restore` to be saved; `representation` where it has one of its own. Parameters are
    read and set as in scikit-learn, whose `clone` works.

    Attributes
    ----------
    classes_ : tuple
        The class names in the order of the columns of `predict_proba`; empty before `fit`.
    n_features_in_ : int
        The number of features seen in `fit`.
    feature_names_in_ : tuple of str or None
        Their names, if they have any.
    """

    kind: ClassVar[str] = "model"
    name: ClassVar[str] = ""

    classes_: tuple[Hashable, ...] = ()
    n_features_in_: int = 0
    feature_names_in_: tuple[str, ...] | None = None

    @abstractmethod
    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Learn from the nodes at those positions and their classes, indices into `classes_`; two classes at least."""

    @abstractmethod
    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return a score of each class for every node, the higher the likelier: the input of a softmax."""

    @abstractmethod
    def tensors(self) -> Mapping[str, NDArray[Any]]:
        """Return what was learnt, by name."""

    @abstractmethod
    def restore(self, tensors: Mapping[str, NDArray[Any]]) -> None:
        """Take up what `tensors` returned; classes and features are set already."""

    def representation_of(self, propagation: Propagation) -> Features:
        """Return the rows that stand for the nodes inside the model; S²X where it has no other."""
        return propagation.rows(2)

    def start(self, propagation: Propagation) -> None:  # noqa: B027
        """Make ready without learning, where there is one class only, which is predicted everywhere."""

    def fit(self, graph: Graph, nodes: Iterable[Hashable], labels: Iterable[Hashable]) -> Self:
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
        check_options(self)
        positions, names = graph.positions(nodes), plain(labels)
        _check_labels(graph, positions, names)
        classes = sorted_classes(names)
        if len(classes) < 2:
            found = f"only {classes[0]!r}" if classes else "none"
            raise LabelError("labels", "must hold at least two classes", found, "label nodes of another class too")
        code_of = {name: code for code, name in enumerate(classes)}
        targets = np.array([code_of[name] for name in names], dtype=np.int64)
        fresh = self.fresh()
        fresh.describe(graph, classes)
        fresh.learn(Propagation.of(graph), positions, targets)
        return self._become(fresh)

    def fit_or_start(self, graph: Graph, nodes: Iterable[Hashable], labels: Iterable[Hashable]) -> Self:
        """Fit to the labels; with one class only, which nothing can be learnt from, start and no more."""
        names = plain(labels)
        classes = sorted_classes(names)
        if len(classes) != 1:
            return self.fit(graph, nodes, names)
        check_options(self)
        fresh = self.fresh()
        fresh.describe(graph, classes)
        fresh.start(Propagation.of(graph))
        return self._become(fresh)

    def _become(self, fitted: Self) -> Self:
        """Take over all that another model of this kind has learnt: a fit that fails leaves what was there."""
        vars(self).update(vars(fitted))
        return self

    def describe(self, graph: Graph, classes: tuple[Hashable, ...]) -> None:
        """Take down what the model is of: the classes and the features."""
        self.classes_ = classes
        self.n_features_in_, self.feature_names_in_ = graph.n_features, graph.feature_names

    def decision_function(self, graph: Graph) -> NDArray[np.float32]:
        """Return the score of each class for every node, shape (nodes, classes)."""
        self._check_fits(graph)
        if len(self.classes_) == 1:
            return np.zeros((graph.n_nodes, 1), dtype=np.float32)
        return self.scores(Propagation.of(graph))

    def predict_proba(self, graph: Graph) -> NDArray[np.float32]:
        """Return the probability of each class for every node, shape (nodes, classes)."""
        return self.probabilities(self.decision_function(graph))

    def probabilities(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities that scores stand for, one row a node: their softmax where nothing else is said."""
        return np.asarray(softmax(scores, axis=1))

    def predict(self, graph: Graph) -> NDArray[Any]:
        """Return the likeliest class of every node, by name."""
        best = self.decision_function(graph).argmax(axis=1)
        names: NDArray[Any] = as_array(self.classes_)[best]
        return names

    def representation(self, graph: Graph) -> Features:
        """Return the rows that stand for the nodes inside the model, its last hidden layer for one."""
        self._check_fits(graph)
        return self.representation_of(Propagation.of(graph))

    def outputs(self, graph: Graph, wanted: Collection[str]) -> dict[str, Features]:
        """Return what a strategy wants of probabilities, hidden and logits (`featprop.strategies.OUTPUTS`)."""
        makers: dict[str, Callable[[Graph], Features]] = {
            "probabilities": self.predict_proba,
            "hidden": self.representation,
            "logits": self.decision_function,
        }
        for name in wanted:
            if name not in makers:
                raise unknown_choice("What a strategy needs of a model", name, makers)
        return {name: makers[name](graph) for name in sorted(wanted)}

    @property
    def is_fitted(self) -> bool:
        """Whether there is anything to predict with."""
        return bool(self.classes_)

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The old name of `classes_`."""
        warn_of_old_name("classes", "classes_")
        return self.classes_

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the settings by name; `deep` changes nothing, as none of them is a model."""
        return {name: getattr(self, name) for name in options_of(type(self))}

    def set_params(self, **settings: Any) -> Self:
        """Change settings by name."""
        known = options_of(type(self))
        for name, value in settings.items():
            if name not in known:
                raise unknown_choice(f"Setting of model {self.name or type(self).__name__}", name, known)
            setattr(self, name, value)
        return self

    def fresh(self) -> Self:
        """Return a model with the same settings that has learnt nothing."""
        return type(self)(**self.get_params())

    def __repr__(self) -> str:
        defaults = {option.name: option.default for option in options_of(type(self)).values()}
        told = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name])
        return f"{type(self).__name__}({told})"

    def decision(self, graph: Graph) -> Any:
        """Return the scores as a PyTorch tensor, under the old name of `decision_function`."""
        import torch

        warn_of_old_name("decision", "decision_function")
        return torch.from_numpy(self.decision_function(graph))

    def _check_fits(self, graph: Graph) -> None:
        if not self.is_fitted:
            raise ModelError("The model", "must be fitted before it predicts", "an unfitted one", "call fit first")
        cure = "use the graph and the --features it was trained on, or train a model on this one"
        if graph.n_features != self.n_features_in_:
            rule = f"must be for a graph of {graph.n_features:,} features"
            raise ModelError("The model", rule, f"one trained on {self.n_features_in_:,}", cure)
        names = self.feature_names_in_
        if names and graph.feature_names and names != graph.feature_names:
            other = [f"{a} for {b}" for a, b in zip(names, graph.feature_names, strict=True) if a != b]
            rule = "must be for a graph of the same feature columns in the same order"
            raise ModelError("The model", rule, f"{first_five(other)} different", cure)


def _check_labels(graph: Graph, positions: NDArray[np.intp], names: list[Hashable]) -> None:
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
