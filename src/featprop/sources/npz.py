"""Graphs in ``.npz`` files. Object arrays are pickles, and only `featprop.sources.unpickling` reads them.

======================================  =====================================================
``adj_data``, …, ``attr_data``, …       two CSR matrices in parts and ``labels``: CoraFull and its relatives
``adj_matrix``, ``node_attr``           two pickled CSR matrices and ``node_label``
``edge_index``, ``x``, ``y``            arrays as PyG calls them, or edges, node_features and node_labels
``data``, ``indices``, ``indptr``, …    an adjacency matrix that `scipy.sparse.save_npz` wrote
======================================  =====================================================
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featprop.adjacency import RawGraph
from featprop.errors import FileError, quote_error
from featprop.graph import Graph
from featprop.matrix import checked_csr
from featprop.sources.unpickling import unpickled

EDGES = ("edge_index", "edges", "edge_list")
FEATURES = ("x", "features", "node_features", "feat")
LABELS = ("y", "labels", "node_labels", "label")
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
)
"""What Python, NumPy and SciPy raise about a file that is damaged or has another layout."""


def read_npz(path: Path) -> Graph:
    """Read a graph of any of these layouts."""
    return Graph.from_raw(raw_from_npz(path))


def raw_from_npz(path: Path) -> RawGraph:
    """Return the arrays of a graph of any of these layouts."""
    with opened_npz(path) as archive:
        names = archive.names
        if "adj_data" in names:
            return _of_matrices(archive.csr("adj"), archive.csr("attr"), _labels(archive, "labels"), path)
        if "adj_matrix" in names:
            matrices = archive.matrix("adj_matrix"), archive.matrix("node_attr")
            return _of_matrices(*matrices, _labels(archive, "node_label"), path)
        edges = next((name for name in EDGES if name in names), None)
        if edges is not None:
            return _of_edges(archive, edges)
        if {"data", "shape", "format"} <= names:
            return _of_matrices(_scipy_matrix(archive), None, None, path)
        raise FileError(
            f"{path} has the arrays {', '.join(sorted(names)[:8])}, which do not make a graph.",
            hint="Save edge_index, x and y with numpy.savez, or the adjacency matrix with scipy.sparse.save_npz.",
            path=path,
        )


@contextmanager
def opened_npz(path: Path) -> Iterator[NpzArchive]:
    """Open an ``.npz``; whatever the block finds wrong with it becomes one clear error."""
    if not zipfile.is_zipfile(path):
        raise FileError(f"{path} is not an .npz file.", path=path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield NpzArchive(path, archive)
    except FileError:
        raise
    except DAMAGE as error:
        raise FileError(
            f"{path} cannot be read: {quote_error(error)}.", hint="Get the file again.", path=path
        ) from error


class NpzArchive:
    """An open ``.npz``.

    Parameters
    ----------
    path
        The file, for messages.
    archive
        The open file.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive
        self.names = {name.removesuffix(".npy") for name in archive.namelist()}

    def array(self, name: str) -> Any:
        """Return one array; of an object array, what its pickle holds."""
        if name not in self.names:
            raise KeyError(name)
        with self.archive.open(f"{name}.npy") as file, _naming(name):
            if np.lib.format.read_magic(file) == (1, 0):
                _, _, dtype = np.lib.format.read_array_header_1_0(file)
            else:
                _, _, dtype = np.lib.format.read_array_header_2_0(file)
            if dtype.hasobject:
                value = unpickled(file.read(), f"{name} in {self.path}")
                return value.item() if isinstance(value, np.ndarray) and value.shape == () else value
        with self.archive.open(f"{name}.npy") as file, _naming(name), np.errstate(all="ignore"):
            return np.lib.format.read_array(file, allow_pickle=False)

    def optional(self, name: str) -> Any:
        """Return one array, or None if it is not there."""
        return self.array(name) if name in self.names else None

    def first(self, names: tuple[str, ...]) -> Any:
        """Return the first of these arrays that is there, or None."""
        return next((self.array(name) for name in names if name in self.names), None)

    def matrix(self, name: str) -> sp.csr_array:
        """Return a matrix that was saved as one pickled object."""
        matrix = self.array(name)
        if not sp.issparse(matrix):
            raise ValueError(f"{name} is no CSR matrix")
        return matrix

    def csr(self, name: str) -> sp.csr_array:
        """Return a matrix that was saved as its data, indices, indptr and shape."""
        prefix = f"{name}_" if name else ""
        data, indices, indptr, shape = (
            self.array(f"{prefix}{part}") for part in ("data", "indices", "indptr", "shape")
        )
        return checked_csr(data, indices, indptr, tuple(shape.tolist()))


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the array that NumPy cannot read: it has Python parse headers, and a damaged one raises nearly anything."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        raise ValueError(f"{name}.npy, {quote_error(error)}") from error


def _of_matrices(adjacency: sp.csr_array, features: Any, labels: Any, path: Path) -> RawGraph:
    n = adjacency.shape[0] if features is None else features.shape[0]
    if adjacency.shape != (n, n):
        raise FileError(
            f"{path} has an adjacency matrix of shape {adjacency.shape} and {n:,} rows of features.", path=path
        )
    entries = adjacency.tocoo()
    source, target = entries.coords
    ids = np.arange(n) if features is None else None
    return RawGraph(source, target, features, weights=entries.data, ids=ids, labels=labels)


def _of_edges(archive: NpzArchive, name: str) -> RawGraph:
    edges = np.asarray(archive.array(name))
    if edges.ndim != 2 or edges.dtype.kind not in "iu" or 2 not in edges.shape:
        raise ValueError(f"{name} of shape {edges.shape} and type {edges.dtype}, not two rows of positions")
    by_rows = edges.shape[0] == 2 and (name == "edge_index" or edges.shape[1] != 2)
    source, target = edges if by_rows else edges.T
    features, labels = archive.first(FEATURES), archive.first(LABELS)
    if isinstance(labels, np.ndarray) and labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    weights = archive.first(("edge_weight", "edge_weights", "weights"))
    n = (
        len(features)
        if features is not None
        else max(int(edges.max(initial=-1)) + 1, 0 if labels is None else len(labels))
    )
    return RawGraph(source, target, features, weights, np.arange(n) if features is None else None, labels)


def _scipy_matrix(archive: NpzArchive) -> sp.csr_array:
    kind = archive.array("format").item()
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if kind == "csr":
        return archive.csr("")
    if kind == "csc":
        return sp.csr_array(archive.csr("").T)
    if kind == "coo":
        rows, columns, data = (archive.array(name) for name in ("row", "col", "data"))
        return sp.csr_array(sp.coo_array((data, (rows, columns)), shape=tuple(archive.array("shape").tolist())))
    raise ValueError(f"a sparse matrix in the format {kind!r}")


def _labels(archive: NpzArchive, name: str) -> Any:
    labels = archive.optional(name)
    if not isinstance(labels, np.ndarray | list | None):
        raise ValueError(f"a {type(labels).__name__} as the {name}")
    if isinstance(labels, np.ndarray) and labels.dtype == object:
        odd = [label for label in labels.tolist() if not isinstance(label, int | float | str | None)]
        if odd:
            raise ValueError(f"a {type(odd[0]).__name__} among the {name}")
    return labels
