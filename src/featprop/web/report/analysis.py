"""What a report is about: a fitted model, its predictions, how good they are, and what to review."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
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
from featprop.propagation import Coverage, Propagation, coverage_curve, measure_coverage
from featprop.web.common.formatting import clean_line

MAX_CLASS_CHARS = 60
MAX_COVERAGE_LABELS = 2000
"""Labels up to which there is a coverage curve, which measures every node against every label."""
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


@dataclass(frozen=True, eq=False)
class Analysis:
    """A graph, its labels and a model fitted to them."""

    graph: Graph
    model: NodeClassifier
    labels: Mapping[Hashable, Hashable]  # class of each labelled node, in the order of labelling
    audit: Mapping[Hashable, Hashable] = field(default_factory=dict)  # class of each labelled audit node
    weights: Mapping[Hashable, float] | None = None  # sampling weights of the audit nodes

    @cached_property
    def classes(self) -> tuple[Hashable, ...]:
        """Classes of the model, then those that occur only in the audit."""
        return (*self.model.class_names_, *sorted_classes(set(self.audit.values()) - set(self.model.class_names_)))

    @cached_property
    def class_titles(self) -> list[str]:
        """Names of the classes on the page."""
        return [clean_line(str(name), MAX_CLASS_CHARS) or repr(name) for name in self.classes]

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """Positions of the labelled nodes, in order."""
        return self.graph.positions(self.labels)

    @cached_property
    def labelled(self) -> NDArray[np.int64]:
        """Class code of the label of every node, -1 without one."""
        return self._codes(self.labels)

    @cached_property
    def audited(self) -> NDArray[np.int64]:
        """Class code of the audit label of every node, -1 without one."""
        return self._codes(self.audit)

    @cached_property
    def is_open(self) -> NDArray[np.bool_]:
        """Whether each node has a prediction that counts: it may be selected and has no label."""
        found = np.zeros(self.graph.n_nodes, dtype=bool)
        found[self.graph.candidate_positions] = True
        found[self.positions] = False
        return found

    @cached_property
    def probabilities(self) -> NDArray[np.float32]:
        """Class probabilities of every node."""
        return self.model.predict_proba(self.graph)

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """Predicted class of every node."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """Confidence of every prediction."""
        return np.asarray(self.probabilities.max(axis=1))

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """Label of every node, else its prediction."""
        return np.where(self.labelled == UNKNOWN, self.predicted, self.labelled)

    @cached_property
    def held_out(self) -> NDArray[np.float32] | None:
        """Cross-validated class probabilities of each label; None if the model does not cross-validate itself."""
        rows = self.model.held_out_proba_
        return rows if rows is not None and len(rows) == len(self.positions) else None

    @cached_property
    def covered(self) -> Coverage:
        """Distance of every node to the nearest label, in the features of the default strategy."""
        return measure_coverage(Propagation.of(self.graph).compared, self.positions)

    @cached_property
    def coverage_curve(self) -> NDArray[np.float64]:
        """Mean distance after each label; empty for too many labels."""
        if len(self.positions) > MAX_COVERAGE_LABELS:
            return np.empty(0)
        return coverage_curve(Propagation.of(self.graph).compared, self.positions)

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
