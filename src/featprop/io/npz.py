"""The sparse-graph ``.npz`` of CoraFull and its relatives, read without unpickling anything."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, reason
from featprop.interop.parts import GraphParts

__all__ = ["parts_of_npz"]

PARTS = ("data", "indices", "indptr", "shape")


def parts_of_npz(path: Path) -> GraphParts:
    """Read ``adj_*`` and ``attr_*`` (CSR: data, indices, indptr, shape) and, if present, ``labels``."""
    rule = "must be a sparse-graph .npz with adj_data, adj_indices, adj_indptr, adj_shape and the same for attr_"
    cure = "write it again in that layout"
    if not zipfile.is_zipfile(path):
        raise FileError(f"{path}", rule, "a file that is no .npz", cure)
    try:
        with np.load(path, allow_pickle=False) as archive:
            adjacency = _csr(archive, "adj").tocoo()
            features = _csr(archive, "attr")
            labels = archive.get("labels")
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise FileError(f"{path}", rule, f"this: {reason(error)}", cure) from error
    if adjacency.shape != features.shape[:1] * 2:
        found = f"the shapes {adjacency.shape} and {features.shape}"
        raise FileError(f"{path}", "must have a square adj_ with one row a row of attr_", found, cure)
    source, target = adjacency.coords
    return GraphParts(source, target, features, weights=adjacency.data, labels=labels)


def _csr(archive: Any, name: str) -> sp.csr_array:
    data, indices, indptr, shape = (_member(archive, f"{name}_{part}") for part in PARTS)
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    matrix.check_format(full_check=True)
    return matrix


def _member(archive: Any, name: str) -> NDArray[Any]:
    if name not in archive:
        raise KeyError(name)
    member: NDArray[Any] = archive[name]
    return member
