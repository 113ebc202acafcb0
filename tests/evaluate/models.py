"""Models for the tests of evaluation, without PyTorch."""

from collections.abc import Mapping

import numpy as np

from featprop.models import NodeClassifier
from featprop.propagation import Propagation


class NearestMean(NodeClassifier):
    """Predicts the class with the nearest mean row, and does not cross-validate itself."""

    def learn(self, propagation: Propagation, nodes: np.ndarray, targets: np.ndarray) -> None:
        rows = np.asarray(propagation.rows(2))
        self._means = np.array([rows[nodes[targets == code]].mean(axis=0) for code in range(len(self.class_names_))])

    def scores(self, propagation: Propagation) -> np.ndarray:
        return -np.square(np.asarray(propagation.rows(2))[:, None] - self._means[None]).sum(axis=2)

    def state_dict(self) -> dict[str, np.ndarray]:
        return {}

    def load_state_dict(self, state: Mapping[str, np.ndarray]) -> None:
        pass


class Stubborn(NearestMean):
    """Always predicts the first class with high scores."""

    def scores(self, propagation: Propagation) -> np.ndarray:
        return np.tile(50 * np.eye(len(self.class_names_), dtype=np.float32)[0], (propagation.graph.n_nodes, 1))
