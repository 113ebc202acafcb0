"""Sparse-graph ``.npz`` files: the layout of CoraFull and its relatives, and the layout of pickled matrices."""

from __future__ import annotations

from pathlib import Path

from featprop.interop.parts import GraphParts
from featprop.io.archive import opened_npz

__all__ = ["parts_of_npz"]

LAYOUT = "a sparse-graph .npz with adj_data, adj_indices, adj_indptr, adj_shape, the same for attr_"


def parts_of_npz(path: Path) -> GraphParts:
    """Read ``adj_*`` and ``attr_*`` (CSR: data, indices, indptr, shape) and, if present, ``labels``.

    Files with the pickled matrices ``adj_matrix`` and ``node_attr`` and the array ``node_label`` are read too.
    """
    with opened_npz(path, LAYOUT) as archive:
        if "adj_matrix" in archive.names and "adj_data" not in archive.names:
            adjacency, features = archive.matrix("adj_matrix"), archive.matrix("node_attr")
            labels = archive.optional("node_label")
        else:
            adjacency, features = archive.csr("adj"), archive.csr("attr")
            labels = archive.optional("labels")
    entries = adjacency.tocoo()
    source, target = entries.coords
    return GraphParts(source, target, features, weights=entries.data, labels=labels)
