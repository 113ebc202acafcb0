"""A PyTorch Geometric transform that marks the nodes to train on."""

from __future__ import annotations

import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from featprop.graph import Graph
from featprop.selection import select
from featprop.strategies import DEFAULT_STRATEGY, Strategy

__all__ = ["FeatPropSplit"]


class FeatPropSplit(BaseTransform):  # type: ignore[misc]
    """Set ``data.train_mask`` to the nodes a strategy picks, as `RandomNodeSplit` does at random.

    Parameters
    ----------
    budget
        How many nodes to pick.
    strategy
        The name of a strategy, or one with options of its own.
    seed
        The same seed gives the same nodes.
    """

    def __init__(self, budget: int, strategy: str | Strategy = DEFAULT_STRATEGY, seed: int = 0) -> None:
        self.budget = budget
        self.strategy = strategy
        self.seed = seed

    def forward(self, data: Data) -> Data:
        """Return the data with its `train_mask`; labels are not looked at."""
        unlabelled = Data(x=data.x, edge_index=data.edge_index, edge_weight=data.edge_weight)
        picks = select(Graph.from_pyg(unlabelled), self.budget, strategy=self.strategy, seed=self.seed)
        data.train_mask = torch.zeros(data.num_nodes, dtype=torch.bool)
        data.train_mask[torch.from_numpy(picks.positions)] = True
        return data

    def __repr__(self) -> str:
        return f"{type(self).__name__}(budget={self.budget}, strategy={self.strategy!r}, seed={self.seed})"
