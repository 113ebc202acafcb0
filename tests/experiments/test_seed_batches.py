"""Training several seeds as one batch gives each the model of a separate training."""

import numpy as np
import pytest

from featprop.errors import LabelError, ParameterError
from featprop.experiments.training import fit_seeds
from featprop.graph import Graph
from featprop.models import GCN, SGC, NodeClassifier
from featprop.propagation import Propagation
from tests.graphs import class_graph
from tests.helpers import raises


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    return class_graph(200, 5, columns=10, within=0.1, between=0.01, signal=2.0, sparse=request.param)


def pools_of(graph: Graph, size: int, count: int) -> list[np.ndarray]:
    return [np.random.default_rng(seed).choice(graph.n_nodes, size, replace=False) for seed in range(count)]


def alone(kind: type[NodeClassifier], graph: Graph, pool: np.ndarray, seed: int, epochs: int) -> NodeClassifier:
    names = graph.class_names()
    return kind(random_state=seed, epochs=epochs).fit(graph, graph.ids[pool], [names[node] for node in pool])


@pytest.mark.parametrize("kind", [GCN, SGC])
@pytest.mark.parametrize("size", [5, 40])
def test_batch_equals_separate_training(kind: type[NodeClassifier], graph: Graph, size: int) -> None:
    pools = pools_of(graph, size, 4)
    models = [kind(random_state=seed, epochs=60) for seed in range(4)]
    fit_seeds(models, graph, pools)
    for seed, (model, pool) in enumerate(zip(models, pools, strict=True)):
        single = alone(kind, graph, pool, seed, 60)
        assert model.class_names_ == single.class_names_
        np.testing.assert_allclose(model.predict_proba(graph), single.predict_proba(graph), atol=2e-3)
        assert np.mean(model.predict(graph) == single.predict(graph)) > 0.999


def test_seeds_may_have_different_numbers_of_classes(graph: Graph) -> None:
    labels = np.asarray(graph.labels)
    few = np.concatenate([np.flatnonzero(labels == digit)[:10] for digit in (2, 4)])
    many = np.concatenate([np.flatnonzero(labels == digit)[:4] for digit in range(5)])
    models = [GCN(random_state=0, epochs=30), GCN(random_state=1, epochs=30)]
    fit_seeds(models, graph, [few, many])
    assert (models[0].class_names_, models[1].class_names_) == (("c", "e"), tuple("abcde"))
    for seed, pool in enumerate([few, many]):
        single = alone(GCN, graph, pool, seed, 30)
        np.testing.assert_allclose(models[seed].predict_proba(graph), single.predict_proba(graph), atol=1e-3)


class Majority(NodeClassifier):
    """A model that is not batched: predicts the most frequent class."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def learn(self, propagation: Propagation, nodes: np.ndarray, targets: np.ndarray) -> None:
        self.counts = np.bincount(targets).astype(np.float32)

    def scores(self, propagation: Propagation) -> np.ndarray:
        return np.tile(self.counts, (propagation.graph.n_nodes, 1))

    def state_dict(self) -> dict[str, np.ndarray]:
        return {"counts": self.counts}

    def load_state_dict(self, state: dict[str, np.ndarray]) -> None:
        self.counts = state["counts"]


class OtherGCN(GCN):
    """A subclass may differ anywhere, so it is not batched."""

    def learn(self, propagation: Propagation, nodes: np.ndarray, targets: np.ndarray) -> None:
        super().learn(propagation, nodes, 1 - targets)


def test_other_models_are_trained_one_seed_at_a_time(graph: Graph) -> None:
    pools = pools_of(graph, 30, 2)
    models = [Majority(random_state=0), Majority(random_state=1)]
    fit_seeds(models, graph, pools)
    for model, pool in zip(models, pools, strict=True):
        values, counts = np.unique(np.asarray(graph.labels)[pool], return_counts=True)
        assert set(model.predict(graph)) == {graph.classes[values[counts.argmax()]]}
    pair = np.flatnonzero(np.isin(np.asarray(graph.labels), [0, 1]))[:20]
    plain, other = GCN(epochs=60), OtherGCN(epochs=60)
    fit_seeds([plain], graph, [pair])
    fit_seeds([other], graph, [pair])
    assert np.mean(plain.predict(graph)[pair] != other.predict(graph)[pair]) > 0.9


def test_models_that_differ_cannot_be_batched(graph: Graph) -> None:
    mixed = np.arange(4)
    with raises(ParameterError, parameter="models"):
        fit_seeds([GCN(), SGC()], graph, [mixed, mixed])
    with raises(ParameterError, parameter="models"):
        fit_seeds([GCN(), GCN(random_state=1)], graph, [mixed, np.arange(5)])
    with raises(LabelError):
        fit_seeds([GCN()], graph.without_labels(), [mixed])


def test_seed_with_one_class_learns_nothing(graph: Graph) -> None:
    zeros, mixed = np.flatnonzero(np.asarray(graph.labels) == 0)[:4], np.arange(4)
    models = [GCN(epochs=20), GCN(random_state=1, epochs=20)]
    fit_seeds(models, graph, [zeros, mixed])
    assert models[0].class_names_ == ("a",)
    assert set(models[0].predict(graph)) == {"a"}
    np.testing.assert_allclose(
        models[1].predict_proba(graph), alone(GCN, graph, mixed, 1, 20).predict_proba(graph), atol=1e-3
    )
