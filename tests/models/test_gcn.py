"""The GCN: its receptive field against the whole graph and against PyG, and what it learns."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv

from featprop.errors import ModelError, ParameterError
from featprop.graph import Graph
from featprop.models import GCN, SGC, GraphRidge, NodeClassifier
from featprop.models.networks import Inputs, TwoLayers
from featprop.propagation import Propagation, normalised_adjacency
from tests.helpers import raises

CPU = torch.device("cpu")


def two_groups(n: int = 40, *, sparse: bool = False, seed: int = 0) -> Graph:
    """Two groups of nodes, joined within, with features that lean one way or the other."""
    generator = np.random.default_rng(seed)
    group = np.arange(n) % 2
    same = group[:, None] == group[None, :]
    adjacency = (generator.random((n, n)) < np.where(same, 0.3, 0.02)).astype(float)
    features = generator.normal(size=(n, 6)) + 2.0 * group[:, None]
    if sparse:
        features = sp.csr_array(np.hstack([np.where(features > 2.5, features, 0), np.zeros((n, 20))]))
    return Graph.from_scipy(adjacency, features, labels=np.array(["left", "right"])[group])


def inputs_of(model: GCN, graph: Graph, nodes: np.ndarray | None = None) -> Inputs:
    return Inputs.of(model.matrices(Propagation.of(graph), nodes), CPU)


@pytest.mark.parametrize("model", [GCN(random_state=3), SGC(random_state=3), GraphRidge()])
@pytest.mark.parametrize("sparse", [False, True])
def test_two_groups_are_separated(model: NodeClassifier, sparse: bool) -> None:
    graph = two_groups(sparse=sparse)
    model.fit(graph, [0, 1, 2, 3], ["left", "right", "left", "right"])
    truth = np.array(graph.class_names())
    assert (model.predict(graph) == truth).mean() > 0.85
    probabilities = model.predict_proba(graph)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
    assert model.class_names_ == ("left", "right")
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(graph))


@given(seed=st.integers(0, 1000), sparse=st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_receptive_field_gives_the_logits_of_the_whole_graph(seed: int, sparse: bool) -> None:
    graph = two_groups(sparse=sparse, seed=seed)
    nodes = np.random.default_rng(seed).permutation(graph.n_nodes)[:5]
    model = GCN()
    network = model.build(graph.n_features, 3, torch.Generator().manual_seed(seed)).eval()
    with torch.no_grad():
        part = network(inputs_of(model, graph, nodes))
        whole = network(inputs_of(model, graph))
    np.testing.assert_allclose(part[0].numpy(), whole[0, nodes].numpy(), atol=1e-5)


class PlainGCN(torch.nn.Module):
    """Two PyG layers on the whole graph, with the weights of one of ours."""

    def __init__(self, network: TwoLayers) -> None:
        super().__init__()
        (n_features, hidden), n_classes = network.weight1.shape, network.weight2.shape[2]
        self.first, self.second = GCNConv(n_features, hidden), GCNConv(hidden, n_classes)
        with torch.no_grad():
            self.first.lin.weight.copy_(network.weight1.T)
            self.second.lin.weight.copy_(network.weight2[0].T)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)


@pytest.mark.parametrize("sparse", [False, True])
def test_training_on_the_receptive_field_equals_pyg_on_the_whole_graph(sparse: bool) -> None:
    """Dropout off, 200 epochs of Adam on both sides from the same weights: the same logits to 1e-5."""
    graph = two_groups(sparse=sparse)
    data = graph.to_pyg()
    nodes, labels = [0, 1, 2, 3, 8], ["left", "right", "left", "right", "left"]
    model = GCN(dropout=0.0, random_state=5)
    start = model.build(graph.n_features, 2, torch.Generator().manual_seed(5))
    assert isinstance(start, TwoLayers)
    plain = PlainGCN(start)
    optimiser = torch.optim.Adam(plain.parameters(), lr=0.01, weight_decay=5e-4)
    targets = torch.tensor([0, 1, 0, 1, 0])
    for _ in range(200):
        optimiser.zero_grad()
        logits = plain(data.x, data.edge_index)[nodes]
        torch.nn.functional.cross_entropy(logits, targets).backward()
        optimiser.step()
    model.fit(graph, nodes, labels)
    with torch.no_grad():
        theirs = plain(data.x, data.edge_index).numpy()
    np.testing.assert_allclose(model.decision_function(graph), theirs, atol=1e-4, rtol=1e-5)


def test_dropout_applies_only_to_the_hidden_layer_in_training() -> None:
    graph = two_groups()
    model = GCN(dropout=0.5)
    network = model.build(graph.n_features, 2, torch.Generator().manual_seed(0))
    field = inputs_of(model, graph, np.arange(10))
    generator = torch.Generator().manual_seed(1)
    network.train()
    assert not torch.equal(network(field, [generator]), network(field, [generator]))
    network.eval()
    assert torch.equal(network(field), network(field))


def test_seed_determines_the_model_without_the_global_generator() -> None:
    graph = two_groups()
    before = torch.random.get_rng_state()
    first = GCN(random_state=1).fit(graph, [0, 1, 2, 3], [0, 1, 0, 1]).predict_proba(graph)
    again = GCN(random_state=1).fit(graph, [0, 1, 2, 3], [0, 1, 0, 1]).predict_proba(graph)
    other = GCN(random_state=2).fit(graph, [0, 1, 2, 3], [0, 1, 0, 1]).predict_proba(graph)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert torch.equal(before, torch.random.get_rng_state())


def test_class_names_may_be_anything_hashable() -> None:
    graph = two_groups()
    names = [("left", 1), None, ("left", 1), "right"]
    names[1] = "right"
    predicted = GCN(epochs=5).fit(graph, [0, 1, 2, 3], names).predict(graph)
    assert set(predicted) <= {("left", 1), "right"}
    integers = GCN(epochs=5).fit(graph, [0, 1], np.array([4, 7])).predict(graph)
    assert integers.dtype.kind == "i"


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("hidden", 0),
        ("dropout", 1.0),
        ("epochs", 0),
        ("learning_rate", 0.0),
        ("weight_decay", -1.0),
        ("learning_rate", float("inf")),
        ("random_state", -1),
        ("random_state", 2**64),
        ("device", "abacus"),
    ],
)
def test_invalid_parameters(parameter: str, value: Any) -> None:
    with raises(ParameterError, parameter=parameter, value=value):
        GCN(**{parameter: value}).fit(two_groups(), [0, 1], ["left", "right"])


def test_largest_seed() -> None:
    assert GCN(random_state=2**64 - 1, epochs=1).fit(two_groups(), [0, 1], ["left", "right"]).is_fitted


def test_unfitted_model_does_not_predict() -> None:
    with pytest.raises(ModelError):
        GCN().predict(two_groups())
    with pytest.raises(ModelError):
        GCN().state_dict()


def test_graph_with_another_number_of_features_is_refused() -> None:
    model = GCN(epochs=2).fit(two_groups(), [0, 1], ["left", "right"])
    narrow = Graph.from_scipy(sp.csr_array((3, 3)), np.ones((3, 2)))
    with raises(ModelError, value=2):
        model.predict(narrow)


def test_the_representation_is_the_hidden_layer(line: Graph) -> None:
    model = GCN(hidden=3, epochs=5).fit(line, ["a", "c"], ["left", "right"])
    weights = model.state_dict()
    S = normalised_adjacency(line)
    hidden = np.maximum(S @ line.features @ weights["weight1"].T + weights["bias1"], 0)
    np.testing.assert_allclose(model.representation(line), hidden, atol=1e-6)
    logits = S @ (hidden @ weights["weight2"].T) + weights["bias2"]
    np.testing.assert_allclose(model.decision_function(line), logits, atol=1e-5)


def test_cold_start_keeps_random_weights_and_predicts_the_class(line: Graph) -> None:
    model = GCN(hidden=3, random_state=5).fit(line, ["a", "c"], ["left", "left"], cold_start=True)
    fresh = model.build(2, 1, torch.Generator().manual_seed(5))
    hidden = np.maximum(normalised_adjacency(line) @ line.features @ fresh.weight1.detach().numpy(), 0)
    np.testing.assert_allclose(model.representation(line), hidden, atol=1e-6)
    assert model.representation(line).any()
    assert model.predict_proba(line).tolist() == [[1.0]] * 5
    assert set(model.outputs(line, ["hidden", "logits"])) == {"hidden", "logits"}
