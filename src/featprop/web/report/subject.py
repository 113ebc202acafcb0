"""What a report is about: a graph, labels in their order, a model that learnt them, and what it says of every node."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from featprop.graph import UNKNOWN, Graph
from featprop.models import NodeClassifier
from featprop.plain import sorted_classes
from featprop.propagation import Coverage, Propagation, coverage_curve, covered
from featprop.web.page.card import title_of
from featprop.web.page.legible import legible_line

__all__ = ["Subject"]

LONGEST_CLASS = 60
MOST_IN_CURVE = 2000
"""Labels up to which the curve of coverage is drawn: it measures every node against every label."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A graph, its labels and a model fitted to them.

    Attributes
    ----------
    graph, model
        The graph, and the model that has learnt the labels.
    labels
        The class of each labelled node by id, in the order of the labels.
    audit
        The class of each node that was drawn for checking and has been looked at: no model learnt it.
    """

    graph: Graph
    model: NodeClassifier
    labels: Mapping[Hashable, Hashable]
    audit: Mapping[Hashable, Hashable] = field(default_factory=dict)

    @cached_property
    def classes(self) -> tuple[Hashable, ...]:
        """Those of the model, then those that the audit alone has."""
        return (*self.model.classes_, *sorted_classes(set(self.audit.values()) - set(self.model.classes_)))

    @cached_property
    def class_titles(self) -> list[str]:
        """What classes are called on the page."""
        return [legible_line(str(name), LONGEST_CLASS) or repr(name) for name in self.classes]

    @cached_property
    def positions(self) -> NDArray[np.intp]:
        """The labelled nodes, in order."""
        return self.graph.positions(self.labels)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The class of each of them."""
        return self._codes(self.labels)

    @cached_property
    def audited(self) -> NDArray[np.int64]:
        """The class by audit of every node, -1 where it was not checked."""
        found = np.full(self.graph.n_nodes, UNKNOWN, dtype=np.int64)
        found[self.graph.positions(self.audit)] = self._codes(self.audit)
        return found

    @cached_property
    def labelled(self) -> NDArray[np.int64]:
        """The label of every node, -1 where it has none."""
        found = np.full(self.graph.n_nodes, UNKNOWN, dtype=np.int64)
        found[self.positions] = self.codes
        return found

    @cached_property
    def probabilities(self) -> NDArray[np.float32]:
        """What the model says of every node."""
        return self.model.predict_proba(self.graph)

    @cached_property
    def predicted(self) -> NDArray[np.int64]:
        """The likeliest class of every node."""
        return np.asarray(self.probabilities.argmax(axis=1), dtype=np.int64)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """Its probability."""
        return np.asarray(self.probabilities.max(axis=1))

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """The class of every node: what a person said, else what the model says."""
        return np.where(self.labelled == UNKNOWN, self.predicted, self.labelled)

    @cached_property
    def covered(self) -> Coverage:
        """How far each node is from the nearest label, as the default strategy measures."""
        return covered(Propagation.of(self.graph).compared, self.positions)

    @cached_property
    def curve(self) -> NDArray[np.float64]:
        """The mean of that after each label, in their order; empty for very many."""
        if len(self.positions) > MOST_IN_CURVE:
            return np.empty(0)
        return coverage_curve(Propagation.of(self.graph).compared, self.positions)

    @cached_property
    def stands_for(self) -> NDArray[np.int64]:
        """Of how many nodes each label is the nearest."""
        return np.bincount(self.covered.nearest, minlength=len(self.positions))

    def title(self, position: int) -> str:
        """Return what to call a node."""
        return title_of(self.graph, position)

    def _codes(self, labels: Mapping[Hashable, Hashable]) -> NDArray[np.int64]:
        code_of = {name: code for code, name in enumerate(self.classes)}
        return np.array([code_of[name] for name in labels.values()], dtype=np.int64)
