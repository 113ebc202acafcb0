"""A PyTorch Geometric transform that marks the nodes to train on, and those to validate and to test on."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.interop.pyg import check_is_data
from featprop.selection import select
from featprop.strategies import DEFAULT_STRATEGY, Strategy

__all__ = ["FeatPropSplit"]


class FeatPropSplit(BaseTransform):  # type: ignore[misc]
    """Set ``data.train_mask`` to the nodes a strategy picks, as `RandomNodeSplit` does at random.

    On request ``val_mask`` and ``test_mask`` are drawn at random from the other nodes. A mask that is not asked for
    stays as it is, and no node of it is drawn for another.

    Parameters
    ----------
    budget
        How many nodes to pick.
    strategy
        The name of a strategy, or one with options of its own.
    seed
        The same seed gives the same nodes.
    num_val
        How many nodes to validate on, or their share of all nodes if it is a float, as in `RandomNodeSplit`; 0 leaves
        ``val_mask`` alone.
    num_test
        How many nodes to test on, or their share; None leaves ``test_mask`` alone.
    """

    def __init__(
        self,
        budget: int,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        seed: int = 0,
        *,
        num_val: int | float = 0,
        num_test: int | float | None = None,
    ) -> None:
        self.budget = budget
        self.strategy = strategy
        self.seed = seed
        self.num_val = num_val
        self.num_test = num_test

    def forward(self, data: Data) -> Data:
        """Return the data with its masks; labels are not looked at."""
        check_is_data(data)
        n_val = _count("num_val", self.num_val, data.num_nodes)
        n_test = None if self.num_test is None else _count("num_test", self.num_test, data.num_nodes)
        unlabelled = Data(x=data.x, edge_index=data.edge_index, edge_weight=data.edge_weight, edge_attr=data.edge_attr)
        picks = select(Graph.from_pyg(unlabelled), self.budget, strategy=self.strategy, seed=self.seed)
        data.train_mask = _mask(data.num_nodes, picks.positions)
        if n_val or n_test is not None:
            self._draw(data, n_val, n_test)
        return data

    def _draw(self, data: Data, n_val: int, n_test: int | None) -> None:
        """Set the masks that are asked for: nodes that are in none of the others."""
        taken = data.train_mask.clone()
        for name, is_set in [("val_mask", n_val > 0), ("test_mask", n_test is not None)]:
            if not is_set and name in data:
                taken |= data[name].reshape(data.num_nodes, -1).any(dim=1)
        free = torch.nonzero(~taken).ravel().numpy()
        wanted = n_val + (n_test or 0)
        if wanted > len(free):
            found = f"{n_val:,} to validate and {n_test or 0:,} to test on"
            rule = f"must be at most {len(free):,} together, the nodes that no other mask holds"
            raise ParameterError("num_val and num_test", rule, found, "ask for fewer")
        drawn = np.random.default_rng([self.seed, wanted]).permutation(free)
        if n_val:
            data.val_mask = _mask(data.num_nodes, drawn[:n_val])
        if n_test is not None:
            data.test_mask = _mask(data.num_nodes, drawn[n_val:wanted])

    def __repr__(self) -> str:
        told: dict[str, object] = {"budget": self.budget, "strategy": self.strategy, "seed": self.seed}
        told |= {"num_val": self.num_val} if self.num_val else {}
        told |= {} if self.num_test is None else {"num_test": self.num_test}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"


def _count(what: str, wanted: int | float, n_nodes: int) -> int:
    """Return how many nodes are wanted: an int is a number of them, a float a share of all."""
    if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted >= 0:
        return wanted
    if isinstance(wanted, float) and 0 <= wanted <= 1:
        return round(n_nodes * wanted)
    rule = "must be a whole number of nodes or a share from 0.0 to 1.0"
    raise ParameterError(what, rule, repr(wanted), "pass 500, or 0.2 for a fifth")


def _mask(n_nodes: int, positions: NDArray[np.intp]) -> torch.Tensor:
    mask = torch.zeros(n_nodes, dtype=torch.bool)
    mask[torch.from_numpy(positions)] = True
    return mask
