"""Least squares in closed form on feature sets: deterministic, fast, without PyTorch.

There are three models: on each node's own features, on features diffused over the graph, and on features after two hops
(where neighbours differ, neighbours of neighbours may be alike). Each is solved twice. The second time the nodes
without a label take part: for each class the mean row of the half of its predicted nodes with the largest margins is
one more label (one step of self-training).

Cross-validation decides how far each is trusted. Every label is held out once, of the solution and of the mean rows.
All held-out scores together set the temperature of each model, held-out log scores its weight
(`featprop.models.calibration`), and the prediction is the weighted mean of the distributions. So where neighbours are
alike the diffused features decide, where they mislead the node's own do, and the evidence says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from featprop.compute import get_backend, release_pages, split_into_chunks
from featprop.matrix import Features, margins, read_only
from featprop.models.base import NodeClassifier, register_model
from featprop.models.calibration import (
    TYPICAL_INVERSE_TEMPERATURE,
    inverse_temperature,
    label_smoothing,
    model_weights,
)
from featprop.models.cross_validation import stratified_folds
from featprop.models.least_squares import least_squares
from featprop.options import AtLeast, Between
from featprop.propagation import STRUCTURE, FeatureSpace, Propagation, Reduction

PRIOR = {"own": 5 / 11, "diffused": 5 / 11, "two-hops": 1 / 11, STRUCTURE: 1 / 11}
"""Weight of each feature set before any label is held out, relative to the others in use. Two hops win only where
neighbours of neighbours are alike and neighbours are not; elsewhere they mislead the evidence if they count as much as
the others (docs/default.md)."""
CONSTANT = np.float32(np.sqrt(0.1))
"""The last column of every row, so that a class may be likelier than another everywhere."""
BALANCE = 0.75
"""Labels count by this power of one over the share of their class: 1 gives classes equal weight, 0 labels."""
CERTAIN = 0.5
"""Share of the nodes predicted as a class whose mean represents it in self-training."""
SELF_TRAINING_NODES, HELD_OUT_NODES = 20_000, 1_000
"""Nodes that take part in self-training at most: in the fit, and in each fold of the cross-validation."""
MIN_WEIGHT = 0.01
"""A model with less weight is dropped."""
MIN_LABELS_TO_EXPLAIN = 15
"""Minimum number of labels for `evidence`."""
MIN_WEIGHT_TO_CLAIM = 0.9
"""Weight from which `evidence` says what the graph is like. Less is common where neither features nor edges help."""
MIN_PROBABILITY = 1e-6
"""Least probability of a held-out label that counts towards the weights."""


@register_model("ridge")
@dataclass(eq=False, repr=False)
class GraphRidge(NodeClassifier):
    """Least squares in closed form on own and smoothed features: the default; needs no PyTorch.

    Parameters
    ----------
    alpha
        Strength of the penalty on large coefficients, in units of a label.
    self_training
        Weight of the unlabelled nodes relative to the labelled ones; 0 leaves them out.
    features
        Feature set to use: ``"auto"`` for all, weighted by the evidence, or the name of one.
    structure
        Whether ``"auto"`` also takes a feature set made of the edges alone, for a graph whose features say little.

    Attributes
    ----------
    weights_ : dict of str to float
        Weight of each feature set; they sum to 1.
    inverse_temperatures_ : dict of str to float
        Factor by which the scores of each feature set are multiplied before the softmax.
    label_smoothing_ : float
        Probability that is spread evenly over the classes.
    """

    alpha: Annotated[float, AtLeast(1e-6)] = 1.0
    self_training: Annotated[float, Between(0, 1000)] = 1.0
    features: Literal["auto", "own", "diffused", "two-hops", "structure"] = "auto"
    structure: bool = False
    weights_: dict[str, float] = field(default_factory=dict, init=False)
    inverse_temperatures_: dict[str, float] = field(default_factory=dict, init=False)
    label_smoothing_: float = field(default=0.0, init=False)
    _space: FeatureSpace | None = field(default=None, init=False)
    _coefficients: dict[str, NDArray[np.float32]] = field(default_factory=dict, init=False)
    """For each feature set one row per column, the constant last, and one column per class."""

    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Cross-validate and solve each feature set, then weigh them by what they say of held-out labels."""
        n_classes, names = len(self.class_names_), self._names()
        folds = stratified_folds(propagation.graph.ids[nodes].tolist(), targets)
        judged = np.bincount(targets)[targets] > 1
        own_codes = np.arange(len(targets)), targets
        held_out: dict[str, NDArray[np.float64]] = {}
        for name in names:
            rows = propagation.features(name)
            labelled = _with_constant(_taken(rows, nodes))
            scores = self._held_out_scores(labelled, targets, folds, _sample(rows, HELD_OUT_NODES))
            temperature = TYPICAL_INVERSE_TEMPERATURE
            if judged.any():
                temperature = inverse_temperature(np.maximum(scores[judged], -1), targets[judged])
            held_out[name] = softmax(temperature * scores, axis=1)
            self.inverse_temperatures_[name] = temperature
            solved, _ = self._solve(labelled, targets, _sample(rows, SELF_TRAINING_NODES))
            self._coefficients[name] = solved.astype(np.float32)
        with np.errstate(divide="ignore"):
            logs = np.log(np.array([held_out[name][own_codes] for name in names]).T[judged])
        prior = np.array([PRIOR[name] for name in names])
        weights = model_weights(np.maximum(logs, np.log(MIN_PROBABILITY)), prior)
        self._keep({name: float(weight) for name, weight in zip(names, weights, strict=True)})
        self._space = self._space_of(propagation)
        self.label_smoothing_ = label_smoothing(len(targets), n_classes)
        mixed = sum(weight * held_out[name] for name, weight in self.weights_.items())
        self.held_out_proba_ = self._smoothed(np.asarray(mixed, dtype=np.float32))

    def cold_start(self, propagation: Propagation) -> None:
        """Give every node the same scores."""
        names = self._names()
        total = sum(PRIOR[name] for name in names)
        self.weights_ = {name: PRIOR[name] / total for name in names}
        self.inverse_temperatures_ = dict.fromkeys(names, TYPICAL_INVERSE_TEMPERATURE)
        self._space = self._space_of(propagation)
        self._coefficients = {
            name: np.zeros((len(self._space.centres[name]) + 1, len(self.class_names_)), dtype=np.float32)
            for name in names
        }

    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return the logarithm of the probability of each class."""
        return np.concatenate(list(self.score_blocks(propagation)))

    def score_blocks(self, propagation: Propagation) -> Iterator[NDArray[np.float32]]:
        """Yield the scores chunk by chunk."""
        for chances in get_backend().map(
            _probabilities_of, propagation.graph.n_nodes, self._parts(propagation), stage="predicting"
        ):
            yield np.log(self._smoothed(chances))

    def scores_at(self, propagation: Propagation, nodes: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the scores of some nodes, from their rows alone."""
        parts = [(_taken(rows, nodes), coefficients, weight) for rows, coefficients, weight in self._parts(propagation)]
        return np.asarray(np.log(self._smoothed(_probabilities_of(slice(0, len(nodes)), parts))))

    def probabilities(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probabilities that scores are the logarithms of."""
        return np.asarray(np.exp(scores))

    def representation_of(self, propagation: Propagation) -> Features:
        """Return the rows of the feature set with the largest weight."""
        return propagation.features(max(self.weights_, key=lambda name: self.weights_[name]), self._space)

    def evidence(self) -> str | None:
        """Describe which feature sets the predictions rely on, once there are enough labels to judge."""
        if self.features != "auto" or len(self.labelled_) < MIN_LABELS_TO_EXPLAIN:
            return None
        own, edges = (self.weights_.get(name, 0.0) for name in ("own", STRUCTURE))
        parts = [
            (own, "each node's own features", "Neighbours carry little signal here"),
            (edges, "the edges alone", "Features carry little signal here"),
            (1 - own - edges, "features smoothed over the graph", "Neighbours are informative"),
        ]
        clear = [part for part in parts if part[0] >= MIN_WEIGHT_TO_CLAIM]
        finding = clear[0][2] if clear else "The evidence is mixed"
        sources = [f"{source} (weight {weight:.2f})" for weight, source, _ in clear or parts if weight >= MIN_WEIGHT]
        return f"{finding}: predictions rely on {' and on '.join(sources)}."

    def state_dict(self) -> dict[str, NDArray[Any]]:
        """Return coefficients, weights, temperatures, the feature space, and held-out probabilities."""
        assert self._space is not None
        reduction = self._space.reduction
        found: dict[str, NDArray[Any]] = {"centre": reduction.centre, "sizes": reduction.sizes}
        if reduction.directions is not None:
            found["directions"] = reduction.directions
        if self.held_out_proba_ is not None:
            found["held_out_proba"] = self.held_out_proba_
        found["label_smoothing"] = np.array([self.label_smoothing_])
        for name, weight in self.weights_.items():
            found[f"{name}.coefficients"] = self._coefficients[name]
            found[f"{name}.centre"] = self._space.centres[name]
            found[f"{name}.weight"] = np.array([weight, self.inverse_temperatures_[name]])
        return found

    def load_state_dict(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Load what `state_dict` returned."""
        names = [name for name in self._names() if f"{name}.weight" in state]
        directions = read_only(state["directions"]) if "directions" in state else None
        reduction = Reduction(directions, read_only(state["centre"]), read_only(state["sizes"]))
        self._space = FeatureSpace(reduction, {name: read_only(state[f"{name}.centre"]) for name in names})
        self._coefficients = {name: state[f"{name}.coefficients"] for name in names}
        self.weights_, self.inverse_temperatures_ = (
            {name: float(state[f"{name}.weight"][place]) for name in names} for place in range(2)
        )
        self.label_smoothing_ = float(state["label_smoothing"][0])
        self.held_out_proba_ = state.get("held_out_proba") if self.labelled_ else None

    def _names(self) -> tuple[str, ...]:
        if self.features != "auto":
            return (self.features,)
        return tuple(name for name in PRIOR if name != STRUCTURE or self.structure)

    def _space_of(self, propagation: Propagation) -> FeatureSpace:
        return propagation.structural_space if STRUCTURE in self._names() else propagation.space

    def _keep(self, weights: dict[str, float]) -> None:
        """Keep the feature sets that have a weight worth the time."""
        kept = {name: weight for name, weight in weights.items() if weight >= MIN_WEIGHT}
        total = sum(kept.values())
        self.weights_ = {name: weight / total for name, weight in kept.items()}
        self.inverse_temperatures_ = {name: self.inverse_temperatures_[name] for name in kept}
        self._coefficients = {name: self._coefficients[name] for name in kept}

    def _held_out_scores(
        self,
        labelled: NDArray[np.float32],
        targets: NDArray[np.int64],
        folds: NDArray[np.intp],
        sample: NDArray[np.float32],
    ) -> NDArray[np.float64]:
        """Return the scores that each label gets from a fit without its fold; minus infinity for an unseen class."""
        scores = np.full((len(targets), len(self.class_names_)), -np.inf)
        for fold in range(folds.max() + 1):
            out = folds == fold
            coefficients, seen = self._solve(labelled[~out], targets[~out], sample)
            scores[np.ix_(out, seen)] = labelled[out] @ coefficients
        return scores

    def _solve(
        self, labelled: NDArray[np.float32], targets: NDArray[np.int64], sample: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the coefficients of the classes that have labels, and these classes."""
        seen, codes = np.unique(targets, return_inverse=True)
        goals, weights = np.eye(len(seen)) - 1 / len(seen), _balanced(codes)
        solved = least_squares(labelled, goals[codes], weights, self.alpha)
        if not self.self_training or not len(sample) or len(seen) < 2:
            return solved, seen
        means, predicted = _class_means(sample, _linear(sample, solved.astype(np.float32)))
        added = np.full(len(predicted), self.self_training * len(codes) / len(seen))
        rows = np.concatenate([labelled, _with_constant(means)])
        solved = least_squares(
            rows, np.concatenate([goals[codes], goals[predicted]]), np.concatenate([weights, added]), self.alpha
        )
        return solved, seen

    def _parts(self, propagation: Propagation) -> list[tuple[NDArray[np.float32], NDArray[np.float32], float]]:
        """Return for each feature set its rows, its coefficients times the inverse temperature, and its weight."""
        return [
            (
                propagation.features(name, self._space),
                self._coefficients[name] * np.float32(self.inverse_temperatures_[name]),
                weight,
            )
            for name, weight in self.weights_.items()
        ]

    def _smoothed(self, chances: NDArray[np.float32]) -> NDArray[np.float32]:
        share = np.float32(self.label_smoothing_)
        return np.asarray(chances * (1 - share) + share / chances.shape[1])


def _taken(rows: NDArray[np.float32], nodes: NDArray[np.intp] | slice) -> NDArray[np.float32]:
    """Return the rows of some nodes, releasing the pages around them."""
    found = rows[nodes]
    release_pages(rows)
    return found


def _sample(rows: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Return up to about `size` rows at equal steps, without those that are zero."""
    found = _taken(rows, slice(None, None, max(1, len(rows) // size)))
    there = found.any(axis=1)
    return found if there.all() else found[there]


def _with_constant(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.hstack([rows, np.full((len(rows), 1), CONSTANT)])


def _linear(rows: NDArray[np.float32], coefficients: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the scores of rows without the constant."""
    return np.asarray(rows @ coefficients[:-1] + CONSTANT * coefficients[-1])


def _balanced(codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the weight of each label, larger for rare classes; 1 each if classes have equally many labels."""
    counts = np.bincount(codes)
    return np.asarray((len(codes) / (len(counts) * counts[codes])) ** BALANCE)


def _class_means(
    rows: NDArray[np.float32], scores: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the mean of the most certain rows of each predicted class, and these classes."""
    best, gaps = scores.argmax(axis=1), margins(scores)
    predicted = np.unique(best)
    shares = np.zeros((len(predicted), len(rows)), dtype=np.float32)
    for share, code in zip(shares, predicted, strict=True):
        group = np.flatnonzero(best == code)
        certain = group[np.argsort(-gaps[group], kind="stable")[: int(np.ceil(CERTAIN * len(group)))]]
        share[certain] = 1 / len(certain)
    return shares @ rows, predicted


def _probabilities_of(
    block: slice, parts: list[tuple[NDArray[np.float32], NDArray[np.float32], float]]
) -> NDArray[np.float32]:
    """Return the weighted mean of the softmax of each part, chunk by chunk, so that it is the same in any block."""
    found = []
    for chunk in split_into_chunks(block):
        chances = np.zeros((chunk.stop - chunk.start, parts[0][1].shape[1]), dtype=np.float32)
        for rows, coefficients, weight in parts:
            chances += np.float32(weight) * softmax(_linear(rows[chunk], coefficients), axis=1)
            release_pages(rows, chunk)
        found.append(chances)
    return np.concatenate(found) if found else np.empty((0, parts[0][1].shape[1]), dtype=np.float32)
