"""What every model can do: learn from labelled nodes, and say something of all of them."""

from __future__ import annotations

import hashlib
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.errors import LabelError, ModelError, first_five, unknown_choice
from featprop.features import Leak, TablePreprocessor, find_leaks
from featprop.graph import Graph
from featprop.html import bars, card
from featprop.matrix import Features, as_dense
from featprop.options import check_options, options_of
from featprop.plain import as_array, is_missing, labels_in_order, sorted_classes
from featprop.propagation import Propagation
from featprop.sources import GraphLike, as_graph

__all__ = ["NodeClassifier"]

log = logging.getLogger(__name__)

BLOCK = 1 << 22
"""Numbers that are made dense at a time."""


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
    preprocessor_ : TablePreprocessor or None
        How the columns of a table became them: done again, by name, with every other table.
    labelled_ : mapping
        The labels it was trained on: the class of each labelled node, by id.
    labelled_rows_ : tuple of str
        A digest of the features of each of these nodes, by which another graph with the same ids is known.
    left_out_ : ndarray of float32 or None
        The probability of each class that each label got in cross-validation, from fits that never saw it, one row per
        label in the order of `labelled_`; None where the model does not cross-validate.
    """

    kind: ClassVar[str] = "model"
    name: ClassVar[str] = ""
    typical_inverse_temperature: ClassVar[float] = 1.0
    """Typical inverse temperature of the scores of a model that does not calibrate itself."""

    classes_: tuple[Hashable, ...] = ()
    n_features_in_: int = 0
    feature_names_in_: tuple[str, ...] | None = None
    preprocessor_: TablePreprocessor | None = None
    labelled_: Mapping[Hashable, Hashable] = MappingProxyType({})
    labelled_rows_: tuple[str, ...] = ()
    left_out_: NDArray[np.float32] | None = None

    @abstractmethod
    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Learn from the nodes at those positions and their classes, indices into `classes_`; two classes at least."""

    @abstractmethod
    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return a score of each class for every node, the higher the likelier: the input of a softmax."""

    def scores_at(self, propagation: Propagation, nodes: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the scores of some nodes, a row each; a model that can do that with less work says so."""
        return self.scores(propagation)[nodes]

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

    def evidence(self) -> str | None:
        """Return a sentence on what the labels say about the graph, if the model weighs that and has enough labels."""
        return None

    def fit(self, graph: GraphLike, nodes: Iterable[Hashable], labels: Iterable[Hashable]) -> Self:
        """Learn from the labels of some nodes.

        Parameters
        ----------
        graph
            The graph: a `Graph`, a PyG `Data`, a NetworkX graph or a path, here as in every method.
        nodes
            The ids of the labelled nodes, or a `Selection` of them.
        labels
            The class of each, by name, in the order of the nodes, or a mapping from nodes to classes.
        """
        check_options(self)
        graph = as_graph(graph)
        positions = graph.positions(nodes)
        names = labels_in_order(nodes, labels, graph.ids[positions])
        _check_labels(graph, positions, names)
        classes = sorted_classes(names)
        if len(classes) < 2:
            found = f"only {classes[0]!r}" if classes else "none"
            raise LabelError("labels", "must hold at least two classes", found, "label nodes of another class too")
        code_of = {name: code for code, name in enumerate(classes)}
        targets = np.array([code_of[name] for name in names], dtype=np.int64)
        fresh = self.fresh()
        fresh.describe(graph, classes)
        fresh._keep_labels(graph, positions, names)
        fresh.learn(Propagation.of(graph), positions, targets)
        return self._become(fresh)

    def fit_or_start(self, graph: GraphLike, nodes: Iterable[Hashable], labels: Iterable[Hashable]) -> Self:
        """Fit to the labels; with one class only, which nothing can be learnt from, start and no more."""
        graph = as_graph(graph)
        positions = graph.positions(nodes)
        names = labels_in_order(nodes, labels, graph.ids[positions])
        classes = sorted_classes(names)
        if len(classes) != 1:
            return self.fit(graph, graph.ids[positions], names)
        check_options(self)
        _check_labels(graph, positions, names)
        fresh = self.fresh()
        fresh.describe(graph, classes)
        fresh._keep_labels(graph, positions, names)
        fresh.start(Propagation.of(graph))
        return self._become(fresh)

    def _become(self, fitted: Self) -> Self:
        """Take over all that another model of this kind has learnt: a fit that fails leaves what was there."""
        vars(self).update(vars(fitted))
        return self

    def describe(self, graph: Graph, classes: tuple[Hashable, ...]) -> None:
        """Take down what the model is of: the classes and the features."""
        self.classes_, self.left_out_ = classes, None
        self.n_features_in_, self.feature_names_in_ = graph.n_features, graph.feature_names
        self.preprocessor_ = graph.preprocessor

    def _keep_labels(self, graph: Graph, positions: NDArray[np.intp], names: list[Hashable]) -> None:
        self.labelled_ = dict(zip(graph.ids[positions].tolist(), names, strict=True))
        self.labelled_rows_ = _digests(graph, positions)
        if graph.table is not None:
            graph.once(("leaks",), lambda: _find_leaks(graph, positions, names))

    def given_in(self, graph: Graph) -> dict[Hashable, Hashable]:
        """Return the labels it was trained on that are of nodes of this graph.

        Where nodes are only counted, 0, 1, 2, …, and mostly have other features than those of the training, the numbers
        mean other nodes: none of the labels is of them. Where a table numbers them and none has the features it had,
        they may, and that is said.
        """
        there = {node: label for node, label in self.labelled_.items() if graph.has(node)}
        if graph.ids.dtype.kind not in "iu" or (graph.table is None and not graph.is_counted):
            return there
        seen = dict(zip(self.labelled_, self.labelled_rows_, strict=True))
        rows = zip(there, _digests(self.fitting(graph), graph.positions(there)), strict=True)
        known = sum(seen[node] == row for node, row in rows)
        if 2 * known >= len(there) or (known and graph.table is not None):
            return there
        if graph.table is not None:
            told = (
                "None of the %s nodes whose labels the model was trained on has the features it had then: if this is "
                "another graph, whose numbers are other nodes, do not rely on what is given for them"
            )
            log.warning(told, f"{len(there):,}")
            return there
        told = (
            "The graph is another than the model was trained on, by the features of its nodes: %s labels do not count"
        )
        log.warning(told, f"{len(there):,}")
        return {}

    def decision_function(self, graph: GraphLike) -> NDArray[np.float32]:
        """Return the score of each class for every node, shape (nodes, classes)."""
        fitting = self.fitting(graph)
        if len(self.classes_) == 1:
            return np.zeros((fitting.n_nodes, 1), dtype=np.float32)
        return self.scores(Propagation.of(fitting))

    def predict_proba(self, graph: GraphLike) -> NDArray[np.float32]:
        """Return the probability of each class for every node, shape (nodes, classes)."""
        return self._probabilities_of(self.decision_function(graph))

    def probability_blocks(self, graph: GraphLike) -> Iterator[NDArray[np.float32]]:
        """Yield `predict_proba` in blocks, in the order of the nodes, for graphs of so many that they are written."""
        fitting = self.fitting(graph)
        if len(self.classes_) == 1:
            yield self._probabilities_of(np.zeros((fitting.n_nodes, 1), dtype=np.float32))
            return
        for scores in self.score_blocks(Propagation.of(fitting)):
            yield self._probabilities_of(scores)

    def score_blocks(self, propagation: Propagation) -> Iterator[NDArray[np.float32]]:
        """Yield the scores in blocks; a model that never needs them all at once says so."""
        yield self.scores(propagation)

    def probabilities(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities that scores stand for, one row a node: their softmax where nothing else is said."""
        return np.asarray(softmax(scores, axis=1))

    def _probabilities_of(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities that scores stand for, which may be too large to stand for any."""
        with np.errstate(all="ignore"):
            found = self.probabilities(scores)
        if not np.isfinite(found).all():
            cure = "train it again; settings such as a lower learning rate may help"
            raise ModelError("The model", "must give probabilities", "numbers that are not finite", cure)
        return found

    def predict(self, graph: GraphLike) -> NDArray[Any]:
        """Return the likeliest class of every node, by name."""
        best = self.decision_function(graph).argmax(axis=1)
        names: NDArray[Any] = as_array(self.classes_)[best]
        return names

    def representation(self, graph: GraphLike) -> Features:
        """Return the rows that stand for the nodes inside the model, its last hidden layer for one."""
        return self.representation_of(Propagation.of(self.fitting(graph)))

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

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = [(name, repr(value)) for name, value in self.get_params().items()]
        if not self.is_fitted:
            return card(repr(self), [*facts, ("fitted", "no")])
        names = self.feature_names_in_
        facts += [
            ("features", first_five(names) if names else f"{self.n_features_in_:,}"),
            ("classes", first_five(self.classes_)),
        ]
        labels = Counter(self.labelled_.values())
        counts = [(str(name), labels[name]) for name in self.classes_] if labels else []
        return card(repr(self), facts, bars("labels by class", counts))

    def fitting(self, graph: GraphLike) -> Graph:
        """Return the graph with features made of its table as the model knows them, or say why there are none."""
        read = as_graph(graph, self.preprocessor_)
        if not self.is_fitted:
            raise ModelError("The model", "must be fitted before it predicts", "an unfitted one", "call fit first")
        fitting = self._prepared(read)
        cure = "use the graph and the --features it was trained on, or train a model on this one"
        if fitting.n_features != self.n_features_in_:
            rule = f"must be for a graph of {fitting.n_features:,} features"
            raise ModelError("The model", rule, f"one trained on {self.n_features_in_:,}", cure)
        names = self.feature_names_in_
        if names and fitting.feature_names and names != fitting.feature_names:
            other = [f"{a} for {b}" for a, b in zip(names, fitting.feature_names, strict=True) if a != b]
            rule = "must be for a graph of the same feature columns in the same order"
            raise ModelError("The model", rule, f"{first_five(other)} different", cure)
        return fitting

    def _prepared(self, graph: Graph) -> Graph:
        """Return the graph with its columns prepared as they were for the model; raw numbers are not prepared ones."""
        if self.preprocessor_ is not None:
            if graph.preprocessor is None and not self.preprocessor_.keeps_numbers:
                rule, found = "must be for a graph with the table it learnt from", "a graph without one"
                raise ModelError("The model", rule, found, "pass tables, or train a model on this graph")
            return graph.transformed(self.preprocessor_)
        if graph.preprocessor is None or graph.preprocessor.keeps_numbers:
            return graph
        if self.feature_names_in_ is None:
            rule, found = (
                "must be for features that are prepared as its own",
                "columns that are, where its own were not",
            )
            raise ModelError("The model", rule, found, "read the tables with raw, or train a model on this graph")
        return graph.transformed(TablePreprocessor.passthrough(self.feature_names_in_))


def _find_leaks(graph: Graph, positions: NDArray[np.intp], names: list[Hashable]) -> list[Leak]:
    """Report columns that may hold the labels themselves, once per graph."""
    labels: list[Hashable | None] = [None] * graph.n_nodes
    for position, name in zip(positions.tolist(), names, strict=True):
        labels[position] = name
    return find_leaks(graph.table, labels)


def _digests(graph: Graph, positions: NDArray[np.intp]) -> tuple[str, ...]:
    """Return a few digits for the features of each node: the same for the same features, hardly ever for others."""
    digests: list[str] = []
    size = max(1, BLOCK // graph.n_features)
    for start in range(0, len(positions), size):
        rows = np.ascontiguousarray(as_dense(graph.features[positions[start : start + size]]))
        digests += [hashlib.blake2b(row.data, digest_size=4).hexdigest() for row in rows]
    return tuple(digests)


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
