"""SGC against PyG's SGConv, and linear all the way."""

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.nn import SGConv

from featprop.graph import Graph
from featprop.models import SGC
from featprop.propagation import propagate


def test_equals_sgconv_with_the_same_weights() -> None:
    generator = np.random.default_rng(0)
    graph = Graph.from_scipy(sp.random_array((30, 30), density=0.2, rng=generator) > 0, generator.normal(size=(30, 4)))
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
