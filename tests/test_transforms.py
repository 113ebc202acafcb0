"""`FeatPropSplit`, compared with PyG's `RandomNodeSplit`."""

from typing import Any

import numpy as np
import pytest
import torch
import torch_geometric.transforms as T
from torch_geometric.data import Data
from torch_geometric.utils import erdos_renyi_graph

import featprop as fp
from featprop.errors import GraphError, ParameterError
from tests.helpers import raises


def data() -> Data:
    torch.manual_seed(0)
    return Data(x=torch.randn(50, 4), edge_index=erdos_renyi_graph(50, 0.1), y=torch.zeros(50, dtype=torch.long))


def test_train_mask_is_the_selection() -> None:
    transform = T.Compose([T.NormalizeFeatures(), fp.FeatPropSplit(budget=7, random_state=1)])
    marked = transform(data())
    picks = fp.select(fp.Graph.from_pyg(T.NormalizeFeatures()(data())), budget=7, random_state=1)
    assert repr(transform.transforms[1]) == (
        "FeatPropSplit(budget=7, strategy='featprop-diffused', random_state=1, num_val=0, num_test=None)"
    )
    assert marked.train_mask.nonzero().ravel().tolist() == sorted(picks.nodes.tolist())


def test_masks_that_are_not_requested_are_kept() -> None:
    marked = fp.FeatPropSplit(budget=3)(data())
    assert "val_mask" not in marked
    assert "test_mask" not in marked
    given = data()
    given.val_mask, given.test_mask = torch.arange(50) < 10, torch.arange(50) >= 40
    marked = fp.FeatPropSplit(budget=3)(given)
    assert torch.equal(marked.val_mask, given.val_mask)
    assert torch.equal(marked.test_mask, given.test_mask)


@pytest.mark.parametrize(
    ("num_val", "num_test", "counts"),
    [
        (10, 20, (10, 20)),
        (0.1, 0.5, (5, 25)),
        (0, 4, (None, 4)),
        (6, None, (6, None)),
    ],
)
def test_validation_and_test_masks(num_val: Any, num_test: Any, counts: tuple[int | None, int | None]) -> None:
    def split(seed: int) -> Data:
        return fp.FeatPropSplit(7, "degree", seed, num_val=num_val, num_test=num_test)(data())

    marked = split(1)
    masks = [marked[name] for name in ("train_mask", "val_mask", "test_mask") if name in marked]
    assert int(torch.stack(masks).sum(dim=0).max()) == 1, "each node is in one of them at most"
    for name, count in zip(("val_mask", "test_mask"), counts, strict=True):
        assert (name in marked) == (count is not None)
        if count is not None:
            assert marked[name].dtype == torch.bool
            assert int(marked[name].sum()) == count
            assert torch.equal(split(1)[name], marked[name])
            assert not count or not torch.equal(split(2)[name], marked[name])


@pytest.mark.parametrize(
    "kept", [torch.arange(50) >= 20, (torch.arange(50) >= 20).byte(), (torch.arange(100) >= 40).reshape(50, 2)]
)
def test_nothing_is_drawn_from_a_kept_mask(kept: torch.Tensor) -> None:
    given = data()
    given.test_mask = kept
    marked = fp.FeatPropSplit(7, num_val=10)(given)
    assert torch.equal(marked.test_mask, kept)
    assert not ((marked.val_mask | marked.train_mask) & (torch.arange(50) >= 20)).any()


def public() -> Data:
    """Return a graph with masks, as data sets with a public split have them."""
    given = data()
    given.train_mask, given.val_mask, given.test_mask = (torch.arange(50) % 5 == place for place in (0, 1, 2))
    return given


def test_the_selection_avoids_the_masks_of_a_public_split() -> None:
    marked = fp.FeatPropSplit(budget=30)(public())
    assert int(marked.train_mask.sum()) == 30, "the existing train_mask is replaced and excludes no node"
    assert not (marked.train_mask & (marked.val_mask | marked.test_mask)).any()
    with raises(ParameterError, parameter="budget", value=31):
        fp.FeatPropSplit(31)(public())


@pytest.mark.parametrize("mask", [torch.arange(50), torch.tensor(True), torch.ones(49, dtype=torch.bool)])
def test_invalid_mask(mask: torch.Tensor) -> None:
    given = data()
    given.test_mask = mask
    with raises(GraphError, parameter="test_mask"):
        fp.FeatPropSplit(3)(given)


@pytest.mark.parametrize("wrong", [-1, 1.5, "many", True, np.int64(-1)])
def test_invalid_count(wrong: Any) -> None:
    with raises(ParameterError, parameter="num_val", value=wrong):
        fp.FeatPropSplit(7, num_val=wrong)(data())
