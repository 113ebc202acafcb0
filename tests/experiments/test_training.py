"""Training several seeds as one batch gives each the model of a separate training."""

from collections.abc import Mapping

import numpy as np
import pytest

from featprop.experiments.settings import Spec
from featprop.experiments.training import train_seeds
from featprop.graph import Graph
from featprop.models import GCN, MODELS, NodeClassifier, get_model, register_model
from tests.graphs import class_graph


@pytest.fixture(scope="module", params=[False, True], ids=["dense", "sparse"])
def graph(request: pytest.FixtureRequest) -> Graph:
    return class_graph(200, 5, columns=10, within=0.1, between=0.01, signal=2.0, sparse=request.param)


def pools_of(graph: Graph, size: int, count: int) -> dict[int, np.ndarray]:
    return {seed: np.random.default_rng(seed).choice(graph.n_nodes, size, replace=False) for seed in range(count)}


def check_against_separate_training(name: str, graph: Graph, pools: Mapping[int, np.ndarray], epochs: int) -> None:
    names = graph.class_names()
    for seed, trained in train_seeds(Spec(name, {"epochs": epochs}), graph, pools).items():
        nodes = pools[seed]
        alone = get_model(name, random_state=seed, epochs=epochs)
        alone.fit(graph, graph.ids[nodes], [names[node] for node in nodes], cold_start=True)
        assert trained.model.class_names_ == alone.class_names_
        np.testing.assert_allclose(trained.model.predict_proba(graph), alone.predict_proba(graph), atol=2e-3)
        predicted = [graph.classes[code] for code in trained.predicted]
        assert np.mean(predicted == alone.predict(graph)) > 0.999
        np.testing.assert_allclose(trained.confidence, alone.predict_proba(graph).max(axis=1), atol=2e-3)


@pytest.mark.parametrize("name", ["gcn", "sgc"])
@pytest.mark.parametrize("size", [5, 40])
def test_batch_equals_separate_training(name: str, graph: Graph, size: int) -> None:
    check_against_separate_training(name, graph, pools_of(graph, size, 4), 60)


def test_seeds_may_have_different_numbers_of_classes(graph: Graph) -> None:
    labels = np.asarray(graph.labels)
    two, five = (np.concatenate([np.flatnonzero(labels == code)[: 20 // n] for code in range(n)]) for n in (2, 5))
    one = np.flatnonzero(labels == 0)[:20]
    check_against_separate_training("gcn", graph, {0: two, 1: five, 2: one}, 30)


class OtherGCN(GCN):
    """A subclass may differ anywhere, so it is not batched."""

    def learn(self, propagation: object, nodes: np.ndarray, targets: np.ndarray) -> None:
        super().learn(propagation, nodes, 1 - targets)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ridge", "other-gcn"])
def test_other_models_are_trained_one_seed_at_a_time(graph: Graph, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODELS, "classes", dict(MODELS.classes))
    register_model("other-gcn")(OtherGCN)
    pair = np.flatnonzero(np.isin(np.asarray(graph.labels), [0, 1]))[:20]
    trained = train_seeds(Spec(name), graph, {0: pair, 1: pair})
    names = [graph.class_names()[node] for node in pair]
    for seed in (0, 1):
        alone: NodeClassifier = get_model(name, **({"random_state": seed} if name == "other-gcn" else {}))
        alone.fit(graph, graph.ids[pair], names)
        assert np.array_equal(trained[seed].model.predict_proba(graph), alone.predict_proba(graph))
