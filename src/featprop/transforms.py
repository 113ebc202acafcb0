"""A PyTorch Geometric transform that marks the nodes to train on, and those to validate and to test on."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from featprop.active import select
from featprop.errors import GraphError, ParameterError
from featprop.graph import Graph
from featprop.sources.objects import check_is_data
from featprop.strategies import DEFAULT_STRATEGY, Strategy

__all__ = ["FeatPropSplit"]


class FeatPropSplit(BaseTransform):  # type: ignore[misc]
    """Set ``data.train_mask`` to the nodes a strategy picks, as `RandomNodeSplit` does at random.

    On request ``val_mask`` and ``test_mask`` are drawn at random from the other nodes. One that is not asked for stays
    as it is, and no node of it is picked or drawn for another.

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
        graph = Graph.from_pyg(unlabelled)
        stays = {"val_mask": not self.num_val, "test_mask": n_test is None}
        kept = _held(data, [name for name, does in stays.items() if does and name in data])
        data.train_mask = _mask(data.num_nodes, self._picked(graph, kept))
        if self.num_val or n_test is not None:
            self._draw(data, kept, n_val, n_test)
        return data

    def _picked(self, graph: Graph, kept: torch.Tensor) -> NDArray[np.intp]:
        """Return the positions of the nodes to train on: none of a mask that stays."""
        room = graph.n_nodes - int(kept.sum())
        if room < graph.n_nodes and isinstance(self.budget, int | np.integer) and self.budget > room:
            rule = f"must be at most {room:,}, the nodes that val_mask and test_mask do not hold"
            cure = "ask for fewer, or for new masks with num_val and num_test"
            raise ParameterError("budget", rule, self.budget, cure)
        return select(graph, self.budget, strategy=self.strategy, exclude=kept, seed=self.seed).positions

    def _draw(self, data: Data, kept: torch.Tensor, n_val: int, n_test: int | None) -> None:
        """Set the masks that are asked for: nodes that are in none of the others."""
        free = torch.nonzero(~(data.train_mask | kept)).ravel().numpy()
        wanted = n_val + (n_test or 0)
        if wanted > len(free):
            found = f"{n_val:,} to validate and {n_test or 0:,} to test on"
            rule = f"must be at most {len(free):,} together, the nodes that no other mask holds"
            raise ParameterError("num_val and num_test", rule, found, "ask for fewer")
        drawn = np.random.default_rng([self.seed, wanted]).permutation(free)
        if self.num_val:
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
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) and wanted >= 0:
        return int(wanted)
    if isinstance(wanted, float | np.floating) and 0 <= wanted <= 1:
        return round(n_nodes * wanted)
    rule = "must be a whole number of nodes or a share from 0.0 to 1.0"
    raise ParameterError(what, rule, repr(wanted), "pass 500, or 0.2 for a fifth")


def _held(data: Data, names: list[str]) -> torch.Tensor:
    """Return which nodes are in any of these masks, or in any column of one that has several."""
    held = torch.zeros(data.num_nodes, dtype=torch.bool)
    for name in names:
        mask = torch.as_tensor(data[name]).cpu()
        if mask.dtype not in (torch.bool, torch.uint8) or mask.dim() == 0 or len(mask) != data.num_nodes:
            found = f"the shape {tuple(mask.shape)} and the type {mask.dtype}"
            raise GraphError(
                f"data.{name}", "must be true or false for each node", found, f"mend it or del data.{name}"
            )
        held |= mask.bool().reshape(data.num_nodes, -1).any(dim=1)
    return held


def _mask(n_nodes: int, positions: NDArray[np.intp]) -> torch.Tensor:
    mask = torch.zeros(n_nodes, dtype=torch.bool)
    mask[torch.from_numpy(positions)] = True
    return mask
