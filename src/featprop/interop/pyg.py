"""PyTorch Geometric's `Data`, in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError, MissingExtraError
from featprop.interop.raw import RawGraph
from featprop.matrix import Features, dense

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["raw_from_pyg", "to_pyg"]


def raw_from_pyg(data: Data) -> RawGraph:
    """Take the edges, `x`, `y` and, where present, `edge_weight` of a `Data`."""
    if data.edge_index is None or data.x is None:
        missing = "edge_index" if data.edge_index is None else "x"
        raise GraphError("Data", "must have edge_index and x", f"no {missing}", f"set data.{missing}")
    source, target = data.edge_index.cpu().numpy()
    weights = data.edge_weight
    labels = data.y
    if labels is not None:
        labels = labels.squeeze(-1) if labels.dim() == 2 and labels.size(1) == 1 else labels
        if labels.dim() != 1:
            found = f"the shape {tuple(labels.shape)}"
            raise GraphError("data.y", "must hold one class a node", found, "choose one label column")
        labels = labels.cpu().numpy()
    return RawGraph(
        source=source,
        target=target,
        features=_features(data.x),
        weights=None if weights is None else weights.reshape(-1).cpu().numpy(),
        labels=labels,
    )


def to_pyg(
    adjacency: sp.csr_array,
    features: Features,
    labels: NDArray[np.int64] | None,
) -> Data:
    """Build a `Data` with `x`, `edge_index`, `y` (-1 where unknown) and, if any is not 1, `edge_weight`."""
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError("A PyG Data", "pyg", error.name or "torch_geometric") from error
    entries = adjacency.tocoo()
    edge_index = torch.from_numpy(np.stack(entries.coords).astype(np.int64))
    data = Data(x=torch.from_numpy(dense(features)), edge_index=edge_index)
    if np.any(entries.data != 1):
        data.edge_weight = torch.from_numpy(entries.data.copy())
    if labels is not None:
        data.y = torch.from_numpy(labels.copy())
    return data


def _features(x: Any) -> Any:
    x = x.detach().cpu()
    if x.is_sparse or x.is_sparse_csr:
        x = x.to_sparse_coo().coalesce()
        return sp.coo_array((x.values().numpy(), tuple(x.indices().numpy())), shape=tuple(x.shape))
    return x.numpy()
