"""Data of a report: a graph, its labels, a fitted model and its predictions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph
from featprop.ids import sorted_classes
from featprop.models import NodeClassifier
from featprop.propagation import Coverage, Propagation, coverage_curve, measure_coverage
from featprop.web.common.card import node_title
from featprop.web.common.formatting import clean_line

MAX_CLASS_CHARS = 60
MAX_CURVE_LABELS = 2000
"""Labels up to which there is a coverage curve, which measures every node against every label."""


@dataclass(frozen=True, eq=False)
class ReportContext:
    """A graph, its labels and a model fitted to them."""

    graph: Graph  # graph and fitted model
    model: NodeClassifier
    labels: Mapping[Hashable, Hashable]  # class of each labelled node, in the order of labelling
    audit: Mapping[Hashable, Hashable] = field(default_factory=dict)  # class of each labelled audit node

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
    def codes(self) -> NDArray[np.int64]:
        """Class codes of the labelled nodes."""
        return self._codes(self.labels)

    @cached_property
    def audited(self) -> NDArray[np.int64]:
        """Audit label of every node, -1 without one."""
        found = np.full(self.graph.n_nodes, UNKNOWN, dtype=np.int64)
        found[self.graph.positions(self.audit)] = self._codes(self.audit)
        return found

    @cached_property
    def labelled(self) -> NDArray[np.int64]:
        """Label of every node, -1 without one."""
        found = np.full(self.graph.n_nodes, UNKNOWN, dtype=np.int64)
        found[self.positions] = self.codes
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
    def covered(self) -> Coverage:
        """Distance of every node to the nearest label, in the features of the default strategy."""
        return measure_coverage(Propagation.of(self.graph).compared, self.positions)

    @cached_property
    def curve(self) -> NDArray[np.float64]:
        """Mean distance after each label; empty for too many labels."""
        if len(self.positions) > MAX_CURVE_LABELS:
            return np.empty(0)
        return coverage_curve(Propagation.of(self.graph).compared, self.positions)

    @cached_property
    def represents(self) -> NDArray[np.int64]:
        """Number of nodes to which each label is the nearest."""
        return np.bincount(self.covered.nearest, minlength=len(self.positions))

    def title(self, position: int) -> str:
        """Return the title of a node."""
        return node_title(self.graph, position)

    def _codes(self, labels: Mapping[Hashable, Hashable]) -> NDArray[np.int64]:
        code_of = {name: code for code, name in enumerate(self.classes)}
        return np.array([code_of[name] for name in labels.values()], dtype=np.int64)
