"""PyTorch Geometric's `Data`, in and out."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError, MissingExtraError
from featprop.graph import RawGraph
from featprop.ids import is_a
from featprop.matrix import Features, dense

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["check_is_data", "raw_from_pyg", "to_pyg"]

log = logging.getLogger(__name__)

INSTEAD = {
    "HeteroData": "pass data.to_homogeneous(), or choose one node type and its edges",
    "Batch": "pass one of batch.to_data_list(), or Data(x=batch.x, edge_index=batch.edge_index) for all as one",
    "TemporalData": "pass a Data with the edges of one time",
    "Dataset": "pass one of its graphs, such as dataset[0]",
}
"""What of PyTorch Geometric is no graph with one kind of nodes, and what to pass in its place."""


def check_is_data(data: Any) -> None:
    """Refuse what is not one graph with one kind of nodes, and say what to pass."""
    for name, cure in INSTEAD.items():
        if is_a(data, "torch_geometric", name):
            raise GraphError("The graph", "must be one Data of PyG", f"a {name}", cure)
    if not is_a(data, "torch_geometric", "Data"):
        found = f"an object of type {type(data).__name__}"
        raise GraphError("The graph", "must be one Data of PyG", found, "pass a torch_geometric.data.Data")


def raw_from_pyg(data: Data) -> RawGraph:
    """Take the edges, `x`, `y` and the weights of a `Data`: `edge_weight`, or an `edge_attr` of one number an edge."""
    check_is_data(data)
    if data.edge_index is None or data.x is None:
        missing = "edge_index" if data.edge_index is None else "x"
        raise GraphError("Data", "must have edge_index and x", f"no {missing}", f"set data.{missing}")
    if not is_a(data.x, "torch", "Tensor"):
        found, cure = f"an object of type {type(data.x).__name__}", "encode text as numbers, one column a word or value"
        raise GraphError("data.x", "must be a tensor of numbers", found, cure)
    source, target = data.edge_index.cpu().numpy()
    weights = _weights(data)
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
        weights=weights,
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
        raise MissingExtraError("A PyG Data", "pyg", (error.name or "torch_geometric").partition(".")[0]) from error
    entries = adjacency.tocoo()
    edge_index = torch.from_numpy(np.stack(entries.coords).astype(np.int64))
    data = Data(x=torch.from_numpy(dense(features)), edge_index=edge_index)
    if np.any(entries.data != 1):
        data.edge_weight = torch.from_numpy(entries.data.copy())
    if labels is not None:
        data.y = torch.from_numpy(labels.copy())
    return data


def _weights(data: Data) -> NDArray[Any] | None:
    if data.edge_weight is not None:
        return _numbers(data.edge_weight).reshape(-1)
    attributes = data.edge_attr
    if not is_a(attributes, "torch", "Tensor"):
        return None
    if attributes.dim() > 1 and attributes.shape[1:].numel() != 1:
        log.info("edge_attr has %s columns and is not looked at", f"{attributes.shape[1:].numel():,}")
        return None
    weights = _numbers(attributes).reshape(-1)
    if weights.dtype.kind not in "biuf" or not np.all(np.isfinite(weights) & (weights >= 0)):
        log.warning("edge_attr holds negative or missing numbers and is not taken as the weight of the edges")
        return None
    log.info("edge_attr is taken as the weight of the edges")
    return weights


def _features(x: Any) -> Any:
    if x.is_sparse or x.is_sparse_csr:
        x = x.detach().cpu().to_sparse_coo().coalesce()
        return sp.coo_array((_numbers(x.values()), tuple(x.indices().numpy())), shape=tuple(x.shape))
    return _numbers(x)


def _numbers(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array; types that NumPy does not have, such as bfloat16, become float32."""
    tensor = tensor.detach().cpu()
    try:
        return np.asarray(tensor.numpy())
    except TypeError:
        return np.asarray(tensor.float().numpy())
