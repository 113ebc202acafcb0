"""PyTorch Geometric's `Data` in and out."""

import logging
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset, TemporalData
from torch_geometric.utils import is_undirected, to_undirected

from featprop.errors import GraphError
from featprop.graph import Graph
from featprop.matrix import dense


@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_of_a_type_that_numpy_does_not_have(sparse: bool) -> None:
    x = torch.tensor([[1.5, 0.0], [0.0, 3.0]], dtype=torch.bfloat16)
    given = Data(x=x.to_sparse() if sparse else x, edge_index=torch.tensor([[0], [1]]))
    assert dense(Graph.from_pyg(given).features).tolist() == [[1.5, 0], [0, 3]]
    for name in ("edge_weight", "edge_attr"):
        weighted = given.clone()
        weighted[name] = torch.tensor([0.5], dtype=torch.bfloat16)
        assert Graph.from_pyg(weighted).adjacency.toarray().tolist() == [[0, 0.5], [0.5, 0]]


def test_three_nodes_by_hand() -> None:
    data = Data(
        x=torch.tensor([[1.0, 0.0], [0.0, 3.0], [5.0, 6.0]]),
        edge_index=torch.tensor([[0, 2, 2], [1, 1, 2]]),
        edge_weight=torch.tensor([2.0, 0.5, 7.0]),
        y=torch.tensor([4, -1, 2]),
    )
    graph = Graph.from_pyg(data)
    assert graph.adjacency.toarray().tolist() == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    assert graph.features.tolist() == [[1, 0], [0, 3], [5, 6]]
    assert graph.ids.tolist() == [0, 1, 2]
    assert graph.classes == (2, 4)
    assert graph.class_names() == [4, None, 2]


@given(seed=st.integers(0, 10_000), n=st.integers(1, 12), weighted=st.booleans(), labelled=st.booleans())
@settings(max_examples=60)
def test_round_trip(seed: int, n: int, weighted: bool, labelled: bool) -> None:
    generator = np.random.default_rng(seed)
    upper = sp.triu(sp.random_array((n, n), density=0.3, rng=generator), k=1)
    edge_index = torch.from_numpy(np.stack(upper.coords).astype(np.int64)).reshape(2, -1)
    weights = generator.integers(2, 9, size=upper.nnz) / 4 if weighted else np.ones(upper.nnz)
    edge_index, weights = to_undirected(edge_index, torch.from_numpy(weights).float(), num_nodes=n)
    labels = torch.from_numpy(np.append(np.arange(n - 1) % 3, -1)) if labelled and n > 3 else None
    data = Data(x=torch.from_numpy(generator.normal(size=(n, 4))).float(), edge_index=edge_index, y=labels)
    if weighted:
        data.edge_weight = weights
    back = Graph.from_pyg(data).to_pyg()
    assert torch.equal(back.x, data.x)
    assert torch.equal(back.edge_index, data.edge_index)
    assert back.edge_index.dtype == torch.int64
    assert is_undirected(back.edge_index, num_nodes=n)
    if bool((weights == 1).all()):
        assert "edge_weight" not in back
    else:
        assert torch.equal(back.edge_weight, weights)
    assert ("y" in back) == (labels is not None)
    if labels is not None:
        assert torch.equal(back.y, labels)
    back.validate(raise_on_error=True)


def test_from_a_graph_of_ours_and_back(line: Graph) -> None:
    data = line.to_pyg()
    assert data.num_nodes == 5
    assert data.y.tolist() == [0, -1, 1, -1, -1]
    again = Graph.from_pyg(data)
    np.testing.assert_array_equal(again.adjacency.toarray(), line.adjacency.toarray())
    np.testing.assert_array_equal(dense(again.features), dense(line.features))
    assert again.labels is not None
    assert again.labels.tolist() == data.y.tolist()


def test_what_comes_out_shares_nothing_with_the_graph(line: Graph) -> None:
    data = line.to_pyg()
    data.x.zero_()
    data.y.zero_()
    assert line.features.sum() == 7.5
    assert line.class_names() == ["left", None, "right", None, None]


def test_what_goes_in_is_not_shared_either() -> None:
    data = Data(x=torch.ones(2, 2), edge_index=torch.tensor([[0], [1]]))
    graph = Graph.from_pyg(data)
    data.x.zero_()
    assert graph.features.tolist() == [[1, 1], [1, 1]]


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("layout", ["strided", "coo", "csr"])
def test_sparse_features_stay_sparse(layout: str) -> None:
    x = torch.zeros(4, 200)
    x[1, 7], x[3, 199] = 2.0, -1.0
    given_as = {"strided": x, "coo": x.to_sparse(), "csr": x.to_sparse_csr()}[layout]
    graph = Graph.from_pyg(Data(x=given_as, edge_index=torch.empty(2, 0, dtype=torch.long)))
    assert isinstance(graph.features, sp.csr_array)
    np.testing.assert_array_equal(graph.features.toarray(), x.numpy())
    assert torch.equal(graph.to_pyg().x, x)


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (torch.tensor([[3], [1]]), [3, 1]),
        (torch.tensor([0.5, float("nan")]), [0.5, None]),
        (torch.tensor([True, False]), [True, False]),
    ],
)
def test_labels_of_other_shapes_and_types(y: torch.Tensor, names: list[Any]) -> None:
    data = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]), y=y)
    assert Graph.from_pyg(data).class_names() == names


def test_features_that_need_a_gradient_are_read() -> None:
    data = Data(x=torch.ones(2, 1, requires_grad=True), edge_index=torch.tensor([[0], [1]]))
    assert Graph.from_pyg(data).features.tolist() == [[1], [1]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"x": None}, "Data must have edge_index and x; found no x: set data.x."),
        ({"edge_index": None}, "Data must have edge_index and x; found no edge_index: set data.edge_index."),
        (
            {"y": torch.ones(2, 3)},
            "data.y must hold one class a node; found the shape (2, 3): choose one label column.",
        ),
        (
            {"y": torch.tensor([1, 2, 3])},
            "not 3",
        ),
        ({"x": torch.ones(2)}, "(2,)"),
        (
            {"edge_index": torch.tensor([[0], [2]])},
            "position 2",
        ),
        (
            {"edge_weight": torch.tensor([-1.0])},
            "from 0 to 1 weighs -1.0",
        ),
    ],
)
def test_bad_data(parts: dict[str, Any], message: str) -> None:
    data = Data(**{"x": torch.ones(2, 1), "edge_index": torch.tensor([[0], [1]]), **parts})
    with pytest.raises(GraphError) as caught:
        Graph.from_pyg(data)
    assert message in str(caught.value)


@pytest.mark.parametrize("shape", [(2,), (2, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_one_number_an_edge_is_its_weight(
    shape: tuple[int, ...], dtype: torch.dtype, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "featprop")
    attributes = torch.tensor([3, 2]).reshape(shape).to(dtype)
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=attributes)
    assert Graph.from_pyg(data).adjacency.toarray().tolist() == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]
    assert "edge_attr is taken as the weight of the edges" in caplog.messages
    data.edge_weight = torch.tensor([5.0, 7.0])
    assert Graph.from_pyg(data).adjacency.toarray().tolist() == [[0, 5, 0], [5, 0, 7], [0, 7, 0]]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (torch.ones(2, 3), "edge_attr has 3 columns and is not looked at"),
        (
            torch.tensor([1.0, -1.0]),
            "edge_attr holds negative or missing numbers and is not taken as the weight of the edges",
        ),
        (
            torch.tensor([1.0, float("nan")]),
            "edge_attr holds negative or missing numbers and is not taken as the weight of the edges",
        ),
    ],
)
def test_other_attributes_of_edges_are_left_alone_and_told(
    attributes: torch.Tensor, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "featprop")
    data = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=attributes)
    assert set(Graph.from_pyg(data).adjacency.data.tolist()) == {1}
    assert message in caplog.messages


class Pair(InMemoryDataset):
    def __init__(self) -> None:
        super().__init__()
        self.data, self.slices = self.collate([SMALL, SMALL])


SMALL = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
RULE = "The graph must be one Data of PyG; found"


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (HeteroData(), f"{RULE} a HeteroData: pass data.to_homogeneous(), or choose one node type and its edges."),
        (
            Batch.from_data_list([SMALL, SMALL]),
            f"{RULE} a Batch: pass one of batch.to_data_list(), or Data(x=batch.x, edge_index=batch.edge_index) "
            "for all as one.",
        ),
        (TemporalData(), f"{RULE} a TemporalData: pass a Data with the edges of one time."),
        (Pair(), f"{RULE} a Dataset: pass one of its graphs, such as dataset[0]."),
        ([SMALL], f"{RULE} an object of type list: pass a torch_geometric.data.Data."),
        (
            Data(x=["red", "blue"], edge_index=torch.tensor([[0], [1]])),
            "data.x must be a tensor of numbers; found an object of type list: "
            "encode text as numbers, one column a word or value.",
        ),
    ],
)
def test_what_is_no_data(thing: Any, message: str) -> None:
    with pytest.raises(GraphError) as caught:
        Graph.from_pyg(thing)
    assert str(caught.value) == message
