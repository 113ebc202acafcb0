"""`NodeClassifier`: what every model can do, in the manner of scikit-learn."""

from __future__ import annotations

import hashlib
import logging
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.errors import LabelError, ModelError, first_five, unknown_choice
from featprop.graph import UNKNOWN, Graph, GraphLike, as_graph, is_structural
from featprop.html import bars, card
from featprop.ids import as_array, is_missing, match_labels, sorted_classes
from featprop.matrix import Features, as_dense
from featprop.options import Registry, check_options, options_of, unknown_option
from featprop.propagation import Propagation

log = logging.getLogger(__name__)

BLOCK_SIZE = 1 << 22
"""Numbers that are made dense at a time."""

Model = TypeVar("Model", bound="NodeClassifier")


class NodeClassifier(ABC):
    """A model that predicts the class of every node of a graph.

    The constructor stores each parameter under its own name, with a default; `fit` learns. A model implements `learn`
    and `scores`, and `state_dict` and `load_state_dict` to be saved; optionally `representation_of`. Parameters work as
    in scikit-learn: `sklearn.base.clone`, `is_classifier` and `check_is_fitted` accept these models.

    Attributes
    ----------
    classes_ : ndarray
        Classes in the order of the columns of `predict_proba`; missing before `fit`.
    class_names_ : tuple
        The same as plain Python objects; empty before `fit`.
    graph_size_ : tuple of int
        Number of nodes and edges of the graph the model was trained on.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : tuple of str or None
        Their names, if they have any.
    preprocessor_ : TablePreprocessor or None
        How the columns of a table became features; applied to every other table, by name.
    labelled_ : mapping
        Training labels: the class of each labelled node, by id.
    labelled_rows_ : tuple of str
        Digest of the features of each of these nodes, to recognise another graph with the same ids.
    held_out_proba_ : ndarray of float32 or None
        Probabilities of the training labels from cross-validation, one row per label in the order of `labelled_`, each
        from a fit that did not see the label; None if the model does not cross-validate.
    """

    kind: ClassVar[str] = "model"
    name: ClassVar[str] = ""
    typical_inverse_temperature: ClassVar[float] = 1.0
    """Typical inverse temperature of the scores of a model that does not calibrate itself."""

    class_names_: tuple[Hashable, ...] = ()
    n_features_in_: int = 0
    graph_size_: tuple[int, int] = (0, 0)
    feature_names_in_: tuple[str, ...] | None = None
    preprocessor_: Any = None
    labelled_: Mapping[Hashable, Hashable] = MappingProxyType({})
    labelled_rows_: tuple[str, ...] = ()
    held_out_proba_: NDArray[np.float32] | None = None

    @abstractmethod
    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Learn from the nodes at those positions and their classes, indices into `classes_`; at least two classes."""

    @abstractmethod
    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return a score of each class for every node, the input of a softmax."""

    def scores_at(self, propagation: Propagation, nodes: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the scores of some nodes, one row each; override it if that takes less work than all scores."""
        return self.scores(propagation)[nodes]

    @abstractmethod
    def state_dict(self) -> Mapping[str, NDArray[Any]]:
        """Return the learnt arrays by name."""

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Load what `state_dict` returned; classes and features are already set."""

    def representation_of(self, propagation: Propagation) -> Features:
        """Return the model's internal representation of each node; S²X by default."""
        return propagation.rows(2)

    def cold_start(self, propagation: Propagation) -> None:  # noqa: B027
        """Prepare to predict the only class with labels, from which nothing can be learnt."""

    def evidence(self) -> str | None:
        """Return a sentence on what the labels say about the graph, if the model weighs that and has enough labels."""
        return None

    def fit(
        self,
        graph: GraphLike,
        nodes: Iterable[Hashable] | Mapping[Hashable, Hashable] | None = None,
        labels: Iterable[Hashable] | None = None,
        *,
        cold_start: bool = False,
    ) -> Self:
        """Learn from the labels of some nodes.

        Parameters
        ----------
        graph
            A `Graph`, a PyG `Data`, a NetworkX graph or a path, here as in every method.
        nodes
            Ids of the labelled nodes, a `Selection` of them, or a mapping from nodes to labels. By default, all nodes
            whose labels the graph has.
        labels
            Class of each node, in the order of `nodes`, or a mapping from nodes to classes. By default, the labels of
            the graph.
        cold_start
            Whether labels of one class are enough; the model then predicts that class for every node.
        """
        from featprop.features import check_target, find_leaks

        check_options(self)
        graph = as_graph(graph)
        positions, names = labelled_nodes(graph, nodes, labels)
        check_target([str(name) for name in names], "label")
        classes = sorted_classes(names)
        if len(classes) < (1 if cold_start else 2):
            raise LabelError(
                "The labels are all of one class." if classes else "There are no labels to learn from.",
                hint="Label nodes of at least two classes.",
                parameter="labels",
                value=classes,
            )
        fitted = clone(self)
        fitted.set_metadata(graph, classes)
        fitted.labelled_ = dict(zip(graph.ids[positions].tolist(), names, strict=True))
        fitted.labelled_rows_ = _digests(graph, positions)
        if graph.table is not None:
            label_at = dict(zip(positions.tolist(), names, strict=True)).get
            graph.cache.get("leaks", lambda: find_leaks(graph.table, [label_at(row) for row in range(graph.n_nodes)]))
        propagation = Propagation.of(graph)
        if len(classes) == 1:
            fitted.cold_start(propagation)
        else:
            code_of = {name: code for code, name in enumerate(classes)}
            fitted.learn(propagation, positions, np.array([code_of[name] for name in names], dtype=np.int64))
        vars(self).update(vars(fitted))  # only now: a fit that fails leaves the model unchanged
        return self

    def set_metadata(self, graph: Graph, classes: tuple[Hashable, ...]) -> None:
        """Store the classes and the features that the model is for."""
        self.class_names_, self.held_out_proba_ = classes, None
        self.n_features_in_, self.feature_names_in_ = graph.n_features, graph.feature_names
        self.graph_size_ = (graph.n_nodes, graph.n_edges)
        self.preprocessor_ = graph.preprocessor

    def training_labels_in(self, graph: Graph) -> dict[Hashable, Hashable]:
        """Return the training labels of nodes that are in this graph.

        Numbered nodes (0, 1, 2, …) of a graph without a table, most of which have other features than in training,
        are other nodes: none of the labels applies.
        """
        there = {node: label for node, label in self.labelled_.items() if graph.has(node)}
        if graph.table is not None or not graph.is_counted:
            return there
        seen = dict(zip(self.labelled_, self.labelled_rows_, strict=True))
        rows = zip(there, _digests(self.prepare_graph(graph), graph.positions(there)), strict=True)
        if 2 * sum(seen[node] == row for node, row in rows) >= len(there):
            return there
        log.warning(
            "Ignoring %s training labels: by the features of its nodes, this is not the graph the model was trained "
            "on.",
            f"{len(there):,}",
        )
        return {}

    def score(
        self,
        graph: GraphLike,
        nodes: Iterable[Hashable] | Mapping[Hashable, Hashable] | None = None,
        labels: Iterable[Hashable] | None = None,
    ) -> float:
        """Return the accuracy: the share of nodes whose class is predicted correctly.

        Parameters
        ----------
        graph
            The graph.
        nodes, labels
            As in `fit`. By default, all nodes whose labels the graph has, except those the model was trained on.
        """
        graph = as_graph(graph, self.preprocessor_)
        positions, names = labelled_nodes(graph, nodes, labels)
        if nodes is None and labels is None:
            trained = set(graph.positions(self.training_labels_in(graph)).tolist())
            kept = [place for place, position in enumerate(positions.tolist()) if position not in trained]
            positions, names = positions[kept], [names[place] for place in kept]
        if not len(positions):
            raise LabelError("There are no labels to score against.", parameter="labels")
        predicted = self.predict(graph)[positions].tolist()
        return float(np.mean([prediction == name for prediction, name in zip(predicted, names, strict=True)]))

    def decision_function(self, graph: GraphLike) -> NDArray[np.float32]:
        """Return the score of each class for every node, shape (nodes, classes)."""
        return np.concatenate(list(self._scores_of(graph)))

    def predict_proba(self, graph: GraphLike) -> NDArray[np.float32]:
        """Return the probability of each class for every node, shape (nodes, classes)."""
        return np.concatenate(list(self.probability_blocks(graph)))

    def probability_blocks(self, graph: GraphLike) -> Iterator[NDArray[np.float32]]:
        """Yield `predict_proba` in blocks of consecutive nodes, for graphs too large to hold all of it."""
        for scores in self._scores_of(graph):
            with np.errstate(all="ignore"):
                found = self.probabilities(scores)
            if not np.isfinite(found).all():
                message = "The model predicts probabilities that are not finite numbers."
                raise ModelError(message, hint="Train it again, for example with a lower `learning_rate`.")
            yield found

    def _scores_of(self, graph: GraphLike) -> Iterator[NDArray[np.float32]]:
        prepared = self.prepare_graph(graph)
        if len(self.class_names_) == 1:
            yield np.zeros((prepared.n_nodes, 1), dtype=np.float32)
        else:
            yield from self.score_blocks(Propagation.of(prepared))

    def score_blocks(self, propagation: Propagation) -> Iterator[NDArray[np.float32]]:
        """Yield the scores in blocks; override it if not all scores are needed at once."""
        yield self.scores(propagation)

    def probabilities(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities of scores, one row per node; their softmax by default."""
        return np.asarray(softmax(scores, axis=1))

    def predict(self, graph: GraphLike) -> NDArray[Any]:
        """Return the most probable class of every node."""
        best = self.decision_function(graph).argmax(axis=1)
        names: NDArray[Any] = self.classes_[best]
        return names

    def representation(self, graph: GraphLike) -> Features:
        """Return the model's internal representation of each node, such as its last hidden layer."""
        return self.representation_of(Propagation.of(self.prepare_graph(graph)))

    def outputs(self, graph: Graph, wanted: Collection[str]) -> dict[str, Features]:
        """Return the outputs a strategy wants: probabilities, hidden, logits (`featprop.strategies.OUTPUTS`)."""
        makers: dict[str, Callable[[Graph], Features]] = {
            "probabilities": self.predict_proba,
            "hidden": self.representation,
            "logits": self.decision_function,
        }
        for name in wanted:
            if name not in makers:
                raise unknown_choice("needs", name, makers)
        return {name: makers[name](graph) for name in sorted(wanted)}

    @property
    def classes_(self) -> NDArray[Any]:
        """Classes in the order of the columns of `predict_proba`."""
        if not self.class_names_:
            raise AttributeError(f"{type(self).__name__} is not fitted: it has no classes_", name="classes_", obj=self)
        return as_array(self.class_names_)

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` was called."""
        return bool(self.class_names_)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters by name; `deep` has no effect."""
        return {name: getattr(self, name) for name in options_of(type(self))}

    def set_params(self, **settings: Any) -> Self:
        """Set parameters by name."""
        known = options_of(type(self))
        for name, value in settings.items():
            if name not in known:
                raise unknown_option(type(self), name)
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier", target_tags=TargetTags(required=False), classifier_tags=ClassifierTags()
        )

    def __repr__(self) -> str:
        defaults = {option.name: option.default for option in options_of(type(self)).values()}
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        facts: list[tuple[str, object]] = [(name, repr(value)) for name, value in self.get_params().items()]
        if not self.is_fitted:
            return card(repr(self), [*facts, ("fitted", "no")])
        names = self.feature_names_in_
        facts += [
            ("features", first_five(names) if names else f"{self.n_features_in_:,}"),
            ("classes", first_five(self.class_names_)),
        ]
        labels = Counter(self.labelled_.values())
        counts = [(str(name), labels[name]) for name in self.class_names_] if labels else []
        return card(repr(self), facts, bars("labels by class", counts))

    def prepare_graph(self, graph: GraphLike) -> Graph:
        """Return the graph with the features the model was trained on, prepared from its table if needed."""
        read = as_graph(graph, self.preprocessor_)
        if not self.is_fitted:
            raise ModelError("The model is not fitted.", hint="Call `fit` first.")
        prepared = self._prepare_features(read)
        names = self.feature_names_in_
        size = (prepared.n_nodes, prepared.n_edges)
        if is_structural(names) and is_structural(prepared.feature_names) and size != self.graph_size_:
            raise ModelError(
                "The nodes have no features but their place in the graph, and this is not the graph the model was "
                f"trained on: it has {size[0]:,} nodes and {size[1]:,} edges, not {self.graph_size_[0]:,} and "
                f"{self.graph_size_[1]:,}.",
                hint="Train a model on this graph with the same labels.",
                value=size,
            )
        hint = "Use the graph and the `features` it was trained on, or train a model on this graph."
        if prepared.n_features != self.n_features_in_:
            raise ModelError(
                f"The model was trained on {self.n_features_in_:,} features, but the graph has "
                f"{prepared.n_features:,}.",
                hint=hint,
                value=prepared.n_features,
            )
        if names and prepared.feature_names and names != prepared.feature_names:
            differing = [
                (ours, theirs) for ours, theirs in zip(names, prepared.feature_names, strict=True) if ours != theirs
            ]
            raise ModelError(
                f"The model was trained on other feature columns or another order of them: {len(differing):,} differ, "
                f"such as {differing[0][0]!r} in the model and {differing[0][1]!r} in the graph.",
                hint=hint,
                column=differing[0][1],
            )
        return prepared

    def _prepare_features(self, graph: Graph) -> Graph:
        """Return the graph with its columns prepared as in training; numbers used unchanged need no preprocessor."""
        if self.preprocessor_ is not None:
            if graph.preprocessor is None and not self.preprocessor_.keeps_numbers:
                raise ModelError(
                    "The model was trained on the columns of a table, but the graph has no table.",
                    hint="Pass tables, or train a model on this graph.",
                )
            return graph.transformed(self.preprocessor_)
        if graph.preprocessor is not None and not graph.preprocessor.keeps_numbers:
            raise ModelError(
                "The columns of the graph are preprocessed, but the features the model was trained on were not.",
                hint="Read the tables with `raw`, or train a model on this graph.",
            )
        return graph


def clone(model: Model) -> Model:
    """Return an unfitted model with the same parameters.

    The same as `sklearn.base.clone`, without the second that importing scikit-learn takes.
    """
    return type(model)(**model.get_params())


def labelled_nodes(graph: Graph, nodes: Any, labels: Any) -> tuple[NDArray[np.intp], list[Hashable]]:
    """Return the positions and the labels of distinct nodes, given as in `NodeClassifier.fit`."""
    if labels is None and isinstance(nodes, Mapping):
        labels = nodes
    if labels is not None:
        nodes = list(labels) if nodes is None and isinstance(labels, Mapping) else nodes
        if nodes is None:
            raise LabelError("`labels` needs `nodes`, unless it is a mapping.", parameter="nodes")
        positions = graph.positions(nodes)
        names = match_labels(nodes, labels, graph.ids[positions])
    elif graph.labels is None:
        raise LabelError("The graph has no labels.", hint="Pass `nodes` and `labels`.", parameter="labels")
    else:
        positions = np.flatnonzero(graph.labels != UNKNOWN) if nodes is None else graph.positions(nodes)
        names = [None if code == UNKNOWN else graph.classes[code] for code in graph.labels[positions].tolist()]
    _check_labels(graph, positions, names)
    return positions, names


def _digests(graph: Graph, positions: NDArray[np.intp]) -> tuple[str, ...]:
    """Return a short digest of the features of each node."""
    digests: list[str] = []
    size = max(1, BLOCK_SIZE // graph.n_features)
    for start in range(0, len(positions), size):
        rows = np.ascontiguousarray(as_dense(graph.features[positions[start : start + size]]))
        digests += [hashlib.blake2b(row.data, digest_size=4).hexdigest() for row in rows]
    return tuple(digests)


def _check_labels(graph: Graph, positions: NDArray[np.intp], names: list[Hashable]) -> None:
    """Raise a `LabelError` unless there is one known label for each of distinct nodes."""
    if len(names) != len(positions):
        message = f"`labels` must have one label per node, {len(positions):,}, not {len(names):,}."
        raise LabelError(message, parameter="labels", value=len(names))
    distinct, counts = np.unique(positions, return_counts=True)
    if len(distinct) < len(positions):
        repeated = graph.ids[distinct[counts > 1]].tolist()
        message = f"`nodes` must be distinct, but {repeated[0]!r} occurs several times."
        raise LabelError(message, parameter="nodes", node=repeated[0])
    unknown = [node for node, name in zip(graph.ids[positions].tolist(), names, strict=True) if is_missing(name)]
    if unknown:
        message = f"`labels` has no label for {first_five(list(map(repr, unknown)))} of the nodes."
        raise LabelError(message, hint="Leave these nodes out.", parameter="labels", node=unknown[0])


BUILT_IN = {"gcn": "gcn:GCN", "ridge": "ridge:GraphRidge", "sgc": "sgc:SGC"}
"""Module and class of each of featprop's models."""

MODELS: Registry[NodeClassifier] = Registry(
    "model",
    NodeClassifier,
    "featprop.models",
    {name: f"featprop.models.{address}" for name, address in BUILT_IN.items()},
)

DEFAULT_MODEL = "ridge"
"""Model trained unless another is named."""

register_model = MODELS.register
available_models = MODELS.names
model_class = MODELS.find
get_model = MODELS.make


def seeded_model(random_state: int, name: str | None = None) -> NodeClassifier:
    """Return a model, the default one if none is named, with that seed if it takes one."""
    chosen = name or DEFAULT_MODEL
    takes_seed = "random_state" in options_of(model_class(chosen))
    return get_model(chosen, **({"random_state": random_state} if takes_seed else {}))
