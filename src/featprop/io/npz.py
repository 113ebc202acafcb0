"""The sparse-graph ``.npz`` of CoraFull and its relatives, read without unpickling anything."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featprop.errors import FileError
from featprop.interop.parts import GraphParts

__all__ = ["parts_of_npz"]


def parts_of_npz(path: Path) -> GraphParts:
    """Read ``adj_*`` and ``attr_*`` (CSR: data, indices, indptr, shape) and, if present, ``labels``."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            adjacency = _csr(archive, "adj").tocoo()
            features = _csr(archive, "attr")
            labels = archive.get("labels")
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        rule = "must be a sparse-graph .npz with adj_data, adj_indices, adj_indptr, adj_shape, the same for attr_"
        raise FileError(f"{path}", rule, f"this: {reason}", "write it again in that layout") from error
    source, target = adjacency.coords
    return GraphParts(source, target, features, weights=adjacency.data, labels=labels)


def _csr(archive: Any, name: str) -> sp.csr_array:
    data, indices, indptr = (archive[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    matrix = sp.csr_array((data, indices, indptr), shape=tuple(archive[f"{name}_shape"].tolist()))
    matrix.check_format(full_check=True)
    return matrix
