"""The ``ind.*`` files of Planetoid (Yang et al. 2016): pickles of Python 2, read without unpickling freely.

``allx`` and ``ally`` hold the features and classes of the first nodes, ``tx`` and ``ty`` those of the test nodes, in
the order of ``test.index``, and ``graph`` the neighbours of each node. In Citeseer some ids above the first nodes are
missing from the test index: isolated nodes without features or a class. Their label is unknown here; other readers
call it class 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featprop.adjacency import RawGraph
from featprop.errors import FileError, quote_error
from featprop.graph import UNKNOWN
from featprop.sources.unpickling import unpickled

__all__ = ["parts_of_planetoid"]


def parts_of_planetoid(files: Mapping[str, Path]) -> RawGraph:
    """Read the eight files ``ind.<name>.*``."""
    paths = {name.split(".", 2)[2]: path for name, path in files.items()}
    known, unseen = _matrix(paths["allx"]), _matrix(paths["tx"])
    known_classes, unseen_classes = _classes(paths["ally"]), _classes(paths["ty"])
    test = _test_index(paths["test.index"])
    start, n = known.shape[0], int(test.max()) + 1
    fits = known.shape[1] == unseen.shape[1] and len(known_classes) == start and len(unseen_classes) == len(test)
    if not fits or unseen.shape[0] != len(test) or test.min() < start or np.unique(test).size != test.size:
        found = f"{start:,} nodes and {len(test):,} test nodes from {test.min():,} to {test.max():,}"
        what = f"{paths['allx'].parent}"
        raise FileError(what, "must hold ind.* files of one data set", found, "get all eight files again")

    moved = sp.coo_array(unseen)
    placed = sp.coo_array((moved.data, (test[moved.coords[0]], moved.coords[1])), shape=(n, known.shape[1]))
    first = sp.coo_array(known)
    features = sp.coo_array(
        (
            np.concatenate([first.data, placed.data]),
            tuple(np.concatenate([a, b]) for a, b in zip(first.coords, placed.coords, strict=True)),
        ),
        shape=placed.shape,
    )
    labels = np.full(n, UNKNOWN, dtype=np.int64)
    labels[:start] = known_classes
    labels[test] = unseen_classes
    source, target = _edges(paths["graph"], n)
    return RawGraph(source, target, features, labels=labels)


def _matrix(path: Path) -> sp.csr_array:
    matrix = unpickled(path.read_bytes(), f"{path}")
    if not sp.issparse(matrix):
        raise FileError(f"{path}", "must hold a CSR matrix", type(matrix).__name__, "get the file again")
    return matrix


def _classes(path: Path) -> Any:
    """Return the class of each row of a one-hot matrix, -1 for a row of zeros."""
    one_hot = unpickled(path.read_bytes(), f"{path}")
    if not isinstance(one_hot, np.ndarray) or one_hot.ndim != 2:
        raise FileError(f"{path}", "must hold a matrix of classes", type(one_hot).__name__, "get the file again")
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNKNOWN)


def _test_index(path: Path) -> Any:
    try:
        return np.array(path.read_text(encoding="ascii").split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise FileError(
            f"{path}", "must hold one number a line", f"this: {quote_error(error)}", "get the file again"
        ) from error


def _edges(path: Path, n: int) -> tuple[Any, Any]:
    neighbours = unpickled(path.read_bytes(), f"{path}")
    try:
        nodes = np.array(list(neighbours), dtype=np.int64)
        counts = [len(ends) for ends in neighbours.values()]
        target = np.array([end for ends in neighbours.values() for end in ends], dtype=np.int64)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        found = f"this: {quote_error(error)}"
        raise FileError(f"{path}", "must hold the neighbours of each node", found, "get the file again") from error
    if nodes.size and nodes.max() >= n:
        found = f"node {nodes.max():,} of {n:,}"
        raise FileError(f"{path}", "must hold the neighbours of the nodes", found, "get all eight files again")
    return np.repeat(nodes, counts), target
