"""GCN and SGC against PyG, and the receptive field of the GCN against the whole graph."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GCNConv, SGConv

from featprop.graph import Graph
from featprop.models import GCN, SGC
from featprop.models.networks import Inputs, TwoLayers
from featprop.propagation import Propagation, normalised_adjacency, propagate
from tests.graphs import class_graph, random_graph

CPU = torch.device("cpu")


def two_groups(sparse: bool = False, seed: int = 0) -> Graph:
    return class_graph(40, 2, within=0.3, between=0.02, signal=2.0, sparse=sparse, seed=seed)


def inputs_of(model: GCN, graph: Graph, nodes: np.ndarray | None = None) -> Inputs:
    return Inputs.of(model.matrices(Propagation.of(graph), nodes), CPU)


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


def test_equals_sgconv_with_the_same_weights() -> None:
    graph = random_graph(30, 4, density=0.2, weighted=False)
    model = SGC(layers=3, epochs=20).fit(graph, [0, 1, 2], ["a", "b", "c"])
    convolution = SGConv(4, 3, K=3)
    convolution.lin.load_state_dict({name: torch.from_numpy(value) for name, value in model.state_dict().items()})
    data = graph.to_pyg()
    with torch.no_grad():
        theirs = convolution(data.x, data.edge_index).numpy()
    np.testing.assert_allclose(model.decision_function(graph), theirs, atol=1e-5)


def test_representation_is_the_input_of_the_layer(line: Graph) -> None:
    model = SGC(layers=1, epochs=2).fit(line, ["a", "c"], ["left", "right"])
    np.testing.assert_allclose(model.representation(line), propagate(line, 1))
