"""A PyTorch Geometric transform that selects the training nodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from featprop.active import select
from featprop.errors import GraphError, MissingExtraError, ParameterError
from featprop.graph import Graph
from featprop.sources.objects import check_is_data
from featprop.strategies import DEFAULT_STRATEGY, Strategy

try:
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import BaseTransform
except ModuleNotFoundError as error:
    package = (error.name or "").partition(".")[0]
    if package not in ("torch", "torch_geometric"):
        raise
    raise MissingExtraError("featprop.FeatPropSplit", "pyg", package) from error


class FeatPropSplit(BaseTransform):  # type: ignore[misc]
    """Set ``data.train_mask`` to the nodes a strategy selects, where `RandomNodeSplit` draws them at random.

    Optionally draws ``val_mask`` and ``test_mask`` at random from the other nodes. A mask that is not drawn stays
    unchanged, and its nodes are neither selected nor drawn.

    Parameters
    ----------
    budget
        Number of nodes to select.
    strategy
        Name of a strategy, or a strategy object.
    random_state
        Seed; the same seed gives the same nodes.
    num_val
        Number of validation nodes, or their share of all nodes if it is a float, as in `RandomNodeSplit`; 0 keeps
        ``val_mask``.
    num_test
        Number of test nodes, or their share; None keeps ``test_mask``.
    """

    def __init__(
        self,
        budget: int,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        random_state: int = 0,
        *,
        num_val: int | float = 0,
        num_test: int | float | None = None,
    ) -> None:
        self.budget = budget
        self.strategy = strategy
        self.random_state = random_state
        self.num_val = num_val
        self.num_test = num_test

    def forward(self, data: Data) -> Data:
        """Return the data with its masks; labels are ignored."""
        check_is_data(data)
        n_val = _count("num_val", self.num_val, data.num_nodes)
        n_test = None if self.num_test is None else _count("num_test", self.num_test, data.num_nodes)
        unlabelled = Data(x=data.x, edge_index=data.edge_index, edge_weight=data.edge_weight, edge_attr=data.edge_attr)
        graph = Graph.from_pyg(unlabelled)
        is_kept = {"val_mask": not self.num_val, "test_mask": n_test is None}
        kept = _union(data, [name for name, keep in is_kept.items() if keep and name in data])
        picks = select(graph, self.budget, strategy=self.strategy, exclude=kept, random_state=self.random_state)
        data.train_mask = _mask(data.num_nodes, picks.positions)
        if self.num_val or n_test is not None:
            self._draw(data, kept, n_val, n_test)
        return data

    def _draw(self, data: Data, kept: torch.Tensor, n_val: int, n_test: int | None) -> None:
        """Draw the requested masks from the nodes that are in no other mask."""
        free = torch.nonzero(~(data.train_mask | kept)).ravel().numpy()
        wanted = n_val + (n_test or 0)
        if wanted > len(free):
            raise ParameterError(
                f"`num_val` and `num_test` ask for {wanted:,} nodes, but only {len(free):,} are in no other mask.",
                parameter="num_val" if self.num_val else "num_test",
                value=wanted,
            )
        drawn = np.random.default_rng([self.random_state, wanted]).permutation(free)
        if self.num_val:
            data.val_mask = _mask(data.num_nodes, drawn[:n_val])
        if n_test is not None:
            data.test_mask = _mask(data.num_nodes, drawn[n_val:wanted])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _count(parameter: str, wanted: int | float, n_nodes: int) -> int:
    """Return the number of nodes: an int is the number itself, a float a share of all."""
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) and wanted >= 0:
        return int(wanted)
    if isinstance(wanted, float | np.floating) and 0 <= wanted <= 1:
        return round(n_nodes * wanted)
    message = f"`{parameter}` must be a number of nodes or a share from 0.0 to 1.0, not {wanted!r}."
    raise ParameterError(message, parameter=parameter, value=wanted)


def _union(data: Data, names: list[str]) -> torch.Tensor:
    """Return the mask of the nodes in any of these masks, or in any column of one with several."""
    union = torch.zeros(data.num_nodes, dtype=torch.bool)
    for name in names:
        mask = torch.as_tensor(data[name]).cpu()
        if mask.dtype not in (torch.bool, torch.uint8) or mask.dim() == 0 or len(mask) != data.num_nodes:
            raise GraphError(
                f"data.{name} must have one boolean per node, but its shape is {tuple(mask.shape)} and its type "
                f"{mask.dtype}.",
                hint=f"Correct it, or delete data.{name}.",
                parameter=name,
            )
        union |= mask.bool().reshape(data.num_nodes, -1).any(dim=1)
    return union


def _mask(n_nodes: int, positions: NDArray[np.intp]) -> torch.Tensor:
    mask = torch.zeros(n_nodes, dtype=torch.bool)
    mask[torch.from_numpy(positions)] = True
    return mask
