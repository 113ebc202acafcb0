"""Graphs in ``.npz`` files.

======================================  =====================================================
``adj_data``, …, ``attr_data``, …       two CSR matrices in parts and ``labels``: CoraFull and its relatives
``adj_matrix``, ``node_attr``           two CSR matrices as Python objects and ``node_label``; published files only
``edge_index``, ``x``, ``y``            arrays as PyG calls them, or edges, node_features and node_labels
``data``, ``indices``, ``indptr``, …    an adjacency matrix that `scipy.sparse.save_npz` wrote
======================================  =====================================================

An array of Python objects is a pickle, which can run code: it is read only if the caller knows the file.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featprop.graph import Graph
from featprop.matrix import checked_csr

EDGES = ("edge_index", "edges", "edge_list")
FEATURES = ("x", "features", "node_features", "feat")
LABELS = ("y", "labels", "node_labels", "label")
WEIGHTS = ("edge_weight", "edge_weights", "weights")


def graph_from_npz(path: Path, *, allow_pickle: bool = False, weighted: bool = True) -> Graph:
    """Return the graph of a file of any of these layouts; NumPy raises nearly anything about a damaged one.

    Edges weigh 1 unless `weighted`.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError("it is not a zip archive")
    with (
        path.open("rb") as file,  # NumPy does not close a file that it fails to open as an archive
        np.errstate(all="ignore"),
        np.load(file, allow_pickle=allow_pickle, encoding="latin1") as archive,
    ):
        edges = next((name for name in EDGES if name in archive), None)
        if edges is not None:
            return _of_edges(archive, edges, weighted=weighted)
        adjacency, features, labels = _matrices(archive)
    if not weighted:
        adjacency.sum_duplicates()
        adjacency.data = np.ones(adjacency.nnz)
    return Graph.from_scipy(adjacency, features, labels=labels)


def _matrices(archive: Any) -> tuple[sp.csr_array, Any, Any]:
    """Return the adjacency matrix, and the features and the labels if they are there."""
    if "adj_data" in archive:
        return _csr(archive, "adj_"), _csr(archive, "attr_"), _first(archive, ("labels",))
    if "adj_matrix" in archive:
        adjacency, features = (sp.csr_array(archive[name].item()) for name in ("adj_matrix", "node_attr"))
        return adjacency, features, _first(archive, ("node_label",))
    if "format" in archive:
        return _scipy_matrix(archive), None, None
    raise ValueError(f"its arrays {', '.join(sorted(archive.files)[:8])} have no edges such as edge_index")


def _first(archive: Any, names: tuple[str, ...]) -> Any:
    """Return the first of these arrays that is there, or None."""
    return next((archive[name] for name in names if name in archive), None)


def _csr(archive: Any, prefix: str) -> sp.csr_array:
    data, indices, indptr, shape = (archive[f"{prefix}{part}"] for part in ("data", "indices", "indptr", "shape"))
    return checked_csr(data, indices, indptr, tuple(shape.tolist()))


def _of_edges(archive: Any, name: str, *, weighted: bool) -> Graph:
    edges = archive[name]
    if edges.ndim != 2 or edges.dtype.kind not in "iu" or 2 not in edges.shape:
        raise ValueError(f"{name} of shape {edges.shape} and type {edges.dtype}, not two rows of positions")
    by_rows = edges.shape[0] == 2 and (name == "edge_index" or edges.shape[1] != 2)
    source, target = edges if by_rows else edges.T
    features, labels, weights = (_first(archive, names) for names in (FEATURES, LABELS, WEIGHTS))
    if labels is not None and labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    ids = None
    if features is None:
        ids = np.arange(max(int(edges.max(initial=-1)) + 1, 0 if labels is None else len(labels)))
    return Graph.from_edges(source, target, features, weights=weights if weighted else None, ids=ids, labels=labels)


def _scipy_matrix(archive: Any) -> sp.csr_array:
    kind = archive["format"].astype(str).item()
    if kind in ("csr", "csc"):
        matrix = _csr(archive, "")
        return matrix if kind == "csr" else sp.csr_array(matrix.T)
    if kind == "coo":
        ends = archive["row"], archive["col"]
        return sp.csr_array(sp.coo_array((archive["data"], ends), shape=tuple(archive["shape"].tolist())))
    raise ValueError(f"a sparse matrix in the format {kind}")
