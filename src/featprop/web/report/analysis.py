"""What a report is about: a fitted model, its predictions, how good they are, and what to review."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from featprop.evaluate import Advice, AuditScore, Diagnostics, Estimate, Flag, Interval, diagnose, learning_curve
from featprop.evaluate.advice import advise_from_curve
from featprop.evaluate.audit_scoring import score_audit
from featprop.evaluate.estimate import MIN_LABELS
from featprop.graph import UNKNOWN, Graph
from featprop.ids import sorted_classes
from featprop.models import NodeClassifier
from featprop.propagation import Coverage, Propagation, measure_coverage
from featprop.web.common.formatting import clean_line

MAX_CLASS_CHARS = 60
MAX_CURVE_NODES = 50_000
"""Nodes up to which the learning curve has estimates for fewer labels, which take twenty trainings."""


@dataclass(frozen=True)
class Findings:
    """Evaluation of the predictions; any part may be missing."""

    audit: AuditScore | None = None  # score on the audit
    advice: Advice | None = None  # estimate without the audit, and whether more labels are worth it
    diagnostics: Diagnostics | None = None  # what to review

    @property
    def estimate(self) -> Estimate | None:
        """Estimate without the audit."""
        return None if self.advice is None else self.advice.curve.now

    @property
    def best(self) -> AuditScore | Estimate | None:
        """The audit if there is one, otherwise the estimate."""
        return self.audit or self.estimate

    @property
    def suspect_labels(self) -> tuple[Flag, ...]:
        """The labels for which the other labels suggest another class."""
        labels = () if self.diagnostics is None else self.diagnostics.wrong_labels
        return tuple(each for each in labels if each.suggestion is not None)


class Analysis:
    """A graph, its labels, a model fitted to them, and its predictions.

    Parameters
    ----------
    graph, model
        The graph and the fitted model.
    labels
        Class of each labelled node, in the order of labelling.
    audit
        Class of each labelled audit node.
    weights
        Sampling weights of the audit nodes.
    """

    def __init__(
        self,
        graph: Graph,
        model: NodeClassifier,
        labels: Mapping[Hashable, Hashable],
        audit: Mapping[Hashable, Hashable] | None = None,
        weights: Mapping[Hashable, float] | None = None,
    ) -> None:
        self.graph, self.model, self.labels, self.audit, self.weights = graph, model, labels, audit or {}, weights
        known = model.class_names_
        self.classes = (*known, *sorted_classes(set(self.audit.values()) - set(known)))
        self.class_titles = [clean_line(str(name), MAX_CLASS_CHARS) or repr(name) for name in self.classes]
        self.positions = graph.positions(labels)
        self.labelled, self.audited = (self._codes(each) for each in (labels, self.audit))  # -1 without a label
        self.is_open = np.zeros(graph.n_nodes, dtype=bool)  # whether a node may be selected and has no label
        self.is_open[graph.candidate_positions] = True
        self.is_open[self.positions] = False
        self.probabilities = model.predict_proba(graph)
        self.predicted = self.probabilities.argmax(axis=1).astype(np.int64)
        self.confidence = self.probabilities.max(axis=1)
        self.known = np.where(self.labelled == UNKNOWN, self.predicted, self.labelled)
        rows = model.held_out_proba_
        self.held_out = rows if rows is not None and len(rows) == len(self.positions) else None  # cross-validated

    @cached_property
    def covered(self) -> Coverage:
        """Distance of every node to the nearest label, in the features of the default strategy."""
        return measure_coverage(Propagation.of(self.graph).compared, self.positions)

    @cached_property
    def findings(self) -> Findings:
        """Evaluation of the predictions."""
        graph, model = self.graph, self.model
        audit = score_audit(graph, model, self.audit, self.weights) if self.audit else None
        if len(model.class_names_) < 2:
            return Findings(audit)
        advice = None
        if len(self.labels) >= MIN_LABELS and self.is_open.any():
            curve = learning_curve(graph, model, earlier=graph.n_nodes <= MAX_CURVE_NODES)
            advice = advise_from_curve(model, curve, None if audit is None else audit.accuracy)
        return Findings(audit, advice, diagnose(graph, model, coverage=self.covered))

    @property
    def accuracy(self) -> Interval | None:
        """Accuracy from the audit if there is one, otherwise the estimate."""
        return None if self.findings.best is None else self.findings.best.accuracy

    @property
    def headline(self) -> str:
        """The accuracy with its interval, or why there is none, without a final period."""
        if self.accuracy is not None:
            return f"{'Estimated accuracy' if self.findings.audit is None else 'Accuracy'} {self.accuracy}"
        if not self.is_open.any():
            return "Every node is labelled"
        if len(self.model.class_names_) < 2:
            return f"All labels are {self.class_titles[0]}, so there is nothing to predict yet"
        return f"{len(self.labels):,} labels are too few for an accuracy estimate"

    @property
    def warning(self) -> str | None:
        """Warning if always predicting the most common class may be as accurate, without a final period."""
        counts = np.bincount(self.predicted[self.is_open], minlength=1)
        if self.accuracy is None or not counts.sum() or counts.max() / counts.sum() < self.accuracy.low:
            return None
        name = self.class_titles[int(counts.argmax())]
        return (
            f"{100 * counts.max() / counts.sum():.0f} % of the nodes are predicted {name}, so always predicting {name} "
            "may be as accurate; check each class"
        )

    def _codes(self, labels: Mapping[Hashable, Hashable]) -> NDArray[np.int64]:
        code_of = {name: code for code, name in enumerate(self.classes)}
        found = np.full(self.graph.n_nodes, UNKNOWN, dtype=np.int64)
        found[self.graph.positions(labels)] = [code_of[name] for name in labels.values()]
        return found


def describe_graph(graph: Graph) -> dict[str, str]:
    """Return statistics of nodes, edges and features as text, by name."""
    from scipy.sparse.csgraph import connected_components

    degrees = np.diff(graph.adjacency.indptr)
    count, parts = connected_components(graph.adjacency, directed=False)
    largest = int(np.bincount(parts).max())
    isolated = int(np.count_nonzero(degrees == 0))
    weights = graph.adjacency.data
    return {
        "nodes": f"{graph.n_nodes:,}",
        "edges": f"{graph.n_edges:,}"
        + (f", weights {weights.min():.4g} to {weights.max():.4g}" if weights.size and (weights != 1).any() else ""),
        "components": f"{count:,}" + (f", the largest with {largest:,} nodes" if count > 1 else ""),
        "isolated nodes": f"{isolated:,}",
        "degrees": f"mean {degrees.mean():.3g}, median {np.median(degrees):.3g}, maximum {degrees.max():,}",
        "features": f"{graph.n_features:,}",
        "repairs": "; ".join(graph.repairs) or "none",
    }
