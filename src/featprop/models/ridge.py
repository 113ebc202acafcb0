"""Ridge: least squares in closed form on smoothed features. No PyTorch, nothing random, milliseconds.

The rows of a node are its centred features smoothed in four ways (`Propagation.smoothed`), side by side. How much each
way counts follows from the labels: one that predicts left-out labels better counts for more, as the likelihood of
their errors says. On graphs whose neighbours are alike that is diffusion or two hops, on others the node's own row.

It is solved twice. The second time the nodes without a label take part: for each class the mean row of those that the
first solution is most certain of stands as one more label (self-training, one step of it; the means make it as cheap
as the labels alone).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from featprop.blocks import leaves, let_go, place, sum_in_order
from featprop.distances.group_sums import add_to_groups
from featprop.matrix import Features, margins, read_only
from featprop.models.base import NodeClassifier
from featprop.models.calibration import USUAL, Calibration
from featprop.models.least_squares import LeastSquares, least_squares
from featprop.models.registry import register_model
from featprop.options import AtLeast, Between
from featprop.propagation import SMOOTHINGS, Propagation, Reduction

__all__ = ["Ridge"]

CONSTANT = np.float32(np.sqrt(0.1))
"""The last column of every row, so that a class may be likelier than another everywhere; small beside the length, 1."""
BALANCE = 0.75
"""Labels count by the power of one over the share of their class: 1 makes classes count alike, 0 labels."""
EXPECTED = {"own": 1 / 8, "one-hop": 1 / 8, "two-hops": 3 / 8, "diffused": 3 / 8}
"""How much each smoothing counts before any label is left out."""
TRUSTED = 0.5
"""How far errors on left-out labels are trusted: labels that were asked for are not like the other nodes."""
FEWEST = 0.01
"""A way to smooth whose share is below this is left out."""
LEAST_ERROR = 1e-6
"""Added to mean errors, whose logarithms count."""
CERTAIN = 0.5
"""The share of the nodes predicted as a class whose mean stands for it."""
MEASURED, PAIRS = 4_000, 2_000_000
"""Nodes that are counted to find how many a label stands for, if there are more, and pairs of a node and a label."""
LARGEST = 1e25
"""Of a coefficient times the steepness: sums of more are not finite in single precision."""
ODD = 1e-6
"""How far from 1 saved shares may sum to."""


@register_model("ridge")
@dataclass(eq=False, repr=False)
class Ridge(NodeClassifier):
    """Least squares in closed form on smoothed features: the default; needs no PyTorch.

    Parameters
    ----------
    penalty
        What large coefficients cost, in units of a label.
    unlabelled
        How much the nodes without a label count beside those with one; 0 leaves them out.
    rows
        Which smoothing the rows are: ``"auto"`` for as the labels say, or one of them.

    Attributes
    ----------
    shares_ : dict of str to float
        How much each smoothing counts; they sum to 1.
    calibration_ : Calibration
        How scores become probabilities.
    """

    usual_steepness: ClassVar[float] = USUAL

    penalty: Annotated[float, AtLeast(1e-6)] = 1.0
    unlabelled: Annotated[float, Between(0, 1000)] = 1.0
    rows: Literal["auto", "own", "one-hop", "two-hops", "diffused"] = "auto"
    shares_: dict[str, float] = field(default_factory=dict, init=False)
    calibration_: Calibration = field(default=Calibration(1.0, 0.0), init=False)
    _reduction: Reduction | None = field(default=None, init=False)
    _coefficients: NDArray[np.float32] | None = field(default=None, init=False)
    """One row a column of `_parts`, laid end to end, the constant last; one column a class."""

    def learn(self, propagation: Propagation, nodes: NDArray[np.intp], targets: NDArray[np.int64]) -> None:
        """Solve for the labels, then for the labels and the mean rows of the classes."""
        self._reduction = propagation.reduction
        aims = np.eye(len(self.classes_))[targets] - 1 / len(self.classes_)
        weights = _balanced(targets)
        propagation.smoothed_ways(tuple(self._expected_shares()))
        self.shares_ = self._shares(propagation, nodes, targets, aims, weights)
        labelled = self._rows_at(propagation, nodes)
        solved = least_squares(labelled, aims, weights, self.penalty)
        self._coefficients = solved.coefficients.astype(np.float32)
        groups, known = self._most_certain(propagation)
        if self.unlabelled and known.any():
            solved = self._solved_with_means(propagation, groups, labelled, aims, weights)
            self._coefficients = solved.coefficients.astype(np.float32)
        stand_for = self._stand_for(propagation, known, nodes)
        left_out = solved.left_out[: len(nodes)]
        self.calibration_ = Calibration.of(left_out, targets, stand_for)
        self.left_out_ = self.probabilities((left_out * self.calibration_.steepness).astype(np.float32))

    @property
    def steepness(self) -> float:
        """By what the scores are multiplied already: that of the calibration."""
        return self.calibration_.steepness

    def start(self, propagation: Propagation) -> None:
        """Say the same of every node."""
        self._reduction = propagation.reduction
        self.shares_ = self._expected_shares()
        width = len(self.shares_) * propagation.reduction.width + 1
        self._coefficients = np.zeros((width, len(self.classes_)), dtype=np.float32)

    def scores(self, propagation: Propagation) -> NDArray[np.float32]:
        """Return the score of each class times the steepness of the calibration."""
        return self._scores(propagation) * np.float32(self.calibration_.steepness)

    def score_blocks(self, propagation: Propagation) -> Iterator[NDArray[np.float32]]:
        """Yield the scores block by block."""
        n, steepness = propagation.graph.n_nodes, np.float32(self.calibration_.steepness)
        for scores in place().map(_scores_of, n, self._scaled_parts(propagation), stage="predicting"):
            yield scores * steepness

    def scores_at(self, propagation: Propagation, nodes: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the scores of some nodes, from their rows alone."""
        assert self._coefficients is not None
        return self._rows_at(propagation, nodes) @ self._coefficients * np.float32(self.calibration_.steepness)

    def probabilities(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the softmax of the scores, less the doubt that few labels leave."""
        return self.calibration_.probabilities(scores)

    def representation_of(self, propagation: Propagation) -> Features:
        """Return the smoothed features that count most."""
        return propagation.smoothed(max(self.shares_, key=lambda way: self.shares_[way]), self._reduction)

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the coefficients, the shares, the reduction, the calibration, and what labels left out get."""
        assert self._reduction is not None
        assert self._coefficients is not None
        reduction: dict[str, NDArray[Any]] = {"centre": self._reduction.centre, "sizes": self._reduction.sizes}
        if self._reduction.directions is not None:
            reduction["directions"] = self._reduction.directions
        left_out = {} if self.left_out_ is None else {"left_out": self.left_out_}
        shares = [self.shares_.get(way, 0.0) for way in SMOOTHINGS]
        return {
            "coefficients": self._coefficients,
            "shares": np.array(shares, dtype=np.float64),
            "calibration": np.array(self.calibration_, dtype=np.float64),
            **reduction,
            **left_out,
        }

    def restore(self, tensors: Mapping[str, NDArray[Any]]) -> None:
        """Take up what was saved; odd tensors are refused."""
        columns = tensors["centre"].size
        shares = {way: share for way, share in zip(SMOOTHINGS, tensors["shares"].tolist(), strict=True) if share != 0}
        expected = {
            "shares": (np.float64, (len(SMOOTHINGS),)),
            "coefficients": (np.float32, (len(shares) * (columns + 1) + 1, len(self.classes_))),
            "centre": (np.float32, (columns,)),
            "sizes": (np.float64, (2,)),
            "calibration": (np.float64, (2,)),
        }
        if columns != self.n_features_in_ or "directions" in tensors:
            expected["directions"] = (np.float32, (self.n_features_in_, columns))
        if has_left_out := "left_out" in tensors and len(self.labelled_) > 0:
            expected["left_out"] = (np.float32, (len(self.labelled_), len(self.classes_)))
        for name, (kind, shape) in expected.items():
            found = tensors[name]
            if found.dtype != kind or found.shape != shape or not np.isfinite(found).all():
                raise ValueError(f"{name} that are not {shape} finite numbers of the type {np.dtype(kind)}")
        calibration, sizes = Calibration(*tensors["calibration"].tolist()), tensors["sizes"]
        right = abs(sum(shares.values()) - 1) < ODD and all(share > 0 for share in shares.values())
        if not (right and calibration.steepness > 0 and 0 <= calibration.doubt <= 1 and sizes.min() >= 0):
            raise ValueError("shares, sizes or a calibration out of bounds")
        if np.abs(tensors["coefficients"]).max(initial=0) > LARGEST / calibration.steepness:
            raise ValueError("coefficients out of bounds")
        self.shares_ = shares
        directions = read_only(tensors["directions"]) if "directions" in tensors else None
        self._reduction = Reduction(directions, read_only(tensors["centre"]), read_only(sizes))
        self._coefficients = tensors["coefficients"]
        self.calibration_ = calibration
        self.left_out_ = tensors["left_out"] if has_left_out else None

    def _expected_shares(self) -> dict[str, float]:
        return dict(EXPECTED) if self.rows == "auto" else {self.rows: 1.0}

    def _shares(
        self,
        propagation: Propagation,
        nodes: NDArray[np.intp],
        targets: NDArray[np.int64],
        aims: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> dict[str, float]:
        """Return how much each smoothing counts: expectation times likelihood of its errors on left-out labels.

        A label that is the only one of its class has nothing to be told from without itself, and does not count.
        """
        shares = self._expected_shares()
        told = np.bincount(targets)[targets] > 1
        if len(shares) == 1 or not told.any():
            return shares
        logs = []
        for way in shares:
            rows = _with_constant(_taken(propagation.smoothed(way), nodes))
            left_out = least_squares(rows, aims, weights, self.penalty).left_out
            errors = ((aims - left_out)[told] ** 2).sum(axis=1)
            mean = np.average(errors, weights=weights[told]) + LEAST_ERROR
            evidence = -0.5 * TRUSTED * int(told.sum()) * (aims.shape[1] - 1) * np.log(mean)
            logs.append(np.log(shares[way]) + evidence)
        likely = np.exp(np.array(logs) - max(logs))
        likely[likely < FEWEST * likely.sum()] = 0
        return {way: float(share) for way, share in zip(shares, likely / likely.sum(), strict=True) if share > 0}

    def _parts(self, propagation: Propagation) -> Iterator[tuple[NDArray[np.float32], np.float32]]:
        """Yield each of the smoothed features that count, and the root of its share, which scales it."""
        found = propagation.smoothed_ways(tuple(self.shares_), self._reduction)
        for way, share in self.shares_.items():
            yield found[way], np.float32(np.sqrt(share))

    def _rows_at(self, propagation: Propagation, nodes: NDArray[np.intp]) -> NDArray[np.float32]:
        return _with_constant(np.hstack([_taken(rows, nodes) * scale for rows, scale in self._parts(propagation)]))

    def _scaled_parts(self, propagation: Propagation) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Return the smoothed features and the coefficients of each, with its scale in them; the constant is last."""
        assert self._coefficients is not None
        blocks = np.split(self._coefficients[:-1], len(self.shares_))
        parts = [(rows, scale * block) for (rows, scale), block in zip(self._parts(propagation), blocks, strict=True)]
        return [*parts, (np.empty((0, 1), dtype=np.float32), CONSTANT * self._coefficients[-1:])]

    def _scores(self, propagation: Propagation) -> NDArray[np.float32]:
        n = propagation.graph.n_nodes
        return np.concatenate(list(place().map(_scores_of, n, self._scaled_parts(propagation))))

    def _most_certain(self, propagation: Propagation) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the class of the nodes that stand for one, -1 of the others, and of which nodes anything is known.

        A class is stood for by the half of the known nodes predicted as it that has the largest margins.
        """
        found = list(place().map(_certainty_of, propagation.graph.n_nodes, self._scaled_parts(propagation)))
        best, gaps, known = (np.concatenate([each[part] for each in found]) for part in range(3))
        groups = np.full(len(best), -1, dtype=np.int32)
        for code in range(len(self.classes_)):
            group = np.flatnonzero((best == code) & known)
            order = np.argsort(-gaps[group], kind="stable")
            groups[group[order[: int(np.ceil(CERTAIN * len(group)))]]] = code
        return groups, known

    def _solved_with_means(
        self,
        propagation: Propagation,
        groups: NDArray[np.int32],
        labelled: NDArray[np.float32],
        aims: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> LeastSquares:
        """Return the solution that has the mean rows of the classes, as now predicted, as further labels."""
        n_classes = aims.shape[1]
        parts = []
        for rows, scale in self._parts(propagation):
            sums = sum_in_order(place().map(_sums_of, len(rows), rows, groups, n_classes))
            there = np.flatnonzero(sums[:, -1])
            parts.append((sums[there, :-1] / sums[there, -1:]).astype(np.float32) * scale)
        means = _with_constant(np.hstack(parts))
        return least_squares(
            np.concatenate([labelled, means]),
            np.concatenate([aims, np.eye(n_classes)[there] - 1 / n_classes]),
            np.concatenate([weights, np.full(len(there), self.unlabelled * len(aims) / n_classes)]),
            self.penalty,
        )

    def _stand_for(
        self, propagation: Propagation, known: NDArray[np.bool_], nodes: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return of how many nodes each labelled one is the nearest, itself always; counted on a sample of many."""
        most = max(1, min(MEASURED, PAIRS // len(nodes)))
        counted = np.flatnonzero(known)
        counted = counted[:: -(-max(1, len(counted)) // most)]
        products = np.zeros((len(counted), len(nodes)), dtype=np.float32)
        for rows, scale in self._parts(propagation):
            products += _taken(rows, counted) @ (scale**2 * _taken(rows, nodes)).T
        return np.bincount(products.argmax(axis=1), minlength=len(nodes)).astype(np.float64) + 1


def _taken(rows: NDArray[np.float32], nodes: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the rows of some nodes, letting go of the pages around them."""
    found = rows[nodes]
    let_go(rows)
    return found


def _with_constant(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.hstack([rows, np.full((len(rows), 1), CONSTANT)])


def _balanced(targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much each label counts, so that rare classes are not drowned; 1 each if classes are of one size."""
    counts = np.bincount(targets)
    return np.asarray((len(targets) / (np.count_nonzero(counts) * counts[targets])) ** BALANCE)


def _scores_of(block: slice, parts: list[tuple[NDArray[np.float32], NDArray[np.float32]]]) -> NDArray[np.float32]:
    """Return the scores of the nodes of a block, leaf by leaf, so that they are the same in any block."""
    *smoothed, (_, constant) = parts
    found = []
    for leaf in leaves(block):
        scores = np.repeat(constant, leaf.stop - leaf.start, axis=0)
        for rows, coefficients in smoothed:
            scores += rows[leaf] @ coefficients
            let_go(rows, leaf)
        found.append(scores)
    return np.concatenate(found)


def _certainty_of(
    block: slice, parts: list[tuple[NDArray[np.float32], NDArray[np.float32]]]
) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.bool_]]:
    """Return the likeliest class, the margin, and whether anything is known: rows whose last column is not zero."""
    known = np.zeros(block.stop - block.start, dtype=bool)
    for rows, _ in parts[:-1]:
        known |= rows[block, -1] != 0
    scores = _scores_of(block, parts)
    return scores.argmax(axis=1).astype(np.int32), margins(scores), known


def _sums_of(
    block: slice, rows: NDArray[np.float32], groups: NDArray[np.int32], count: int
) -> list[NDArray[np.float64]]:
    """Return the sum of the rows of each group over each leaf, and in the last column their number."""
    found = []
    for leaf in leaves(block):
        sums = np.zeros((count, rows.shape[1] + 1))
        add_to_groups(rows[leaf], groups[leaf], np.ones(leaf.stop - leaf.start, dtype=np.float32), sums)
        let_go(rows, leaf)
        found.append(sums)
    return found
