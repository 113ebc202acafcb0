"""The PyG transform beside PyG's own."""

import torch
import torch_geometric.transforms as T
from torch_geometric.data import Data
from torch_geometric.utils import erdos_renyi_graph

import featprop as fp


def data() -> Data:
    torch.manual_seed(0)
    return Data(x=torch.randn(50, 4), edge_index=erdos_renyi_graph(50, 0.1), y=torch.zeros(50, dtype=torch.long))


def test_it_composes_and_marks_the_picks() -> None:
    transform = T.Compose([T.NormalizeFeatures(), fp.FeatPropSplit(budget=7, seed=1)])
    marked = transform(data())
    picks = fp.select(fp.Graph.from_pyg(T.NormalizeFeatures()(data())), budget=7, seed=1)
    assert marked.train_mask.dtype == torch.bool
    assert marked.train_mask.nonzero().ravel().tolist() == sorted(picks.nodes.tolist())


def test_the_given_data_is_not_changed() -> None:
    given = data()
    fp.FeatPropSplit(budget=3)(given)
    assert "train_mask" not in given


def test_it_tells_what_it_does() -> None:
    assert repr(fp.FeatPropSplit(5)) == "FeatPropSplit(budget=5, strategy='featprop-diffused', seed=0)"
