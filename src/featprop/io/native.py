"""Featprop's own graph format: a folder of ``.npy`` files and ``graph.json``, opened without reading it.

::

    graph.json              what is here: counts, classes, names of features
    adjacency.indptr.npy    the CSR matrix of the edges, each in both directions
    adjacency.indices.npy
    adjacency.data.npy
    features.npy            or features.indptr.npy, features.indices.npy and features.data.npy if sparse
    labels.npy              index into classes, -1 where unknown; absent if no label is known
    ids.npy                 integer ids; ids.text.npy and ids.ends.npy for text; absent for 0..n-1

What is written was checked when the graph was built, so opening checks types and lengths only: its time does not
depend on the size of the graph. The arrays are mapped read-only into memory and loaded page by page as they are used.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, GraphError, reason
from featprop.graph import Graph, as_array
from featprop.io.atomic import replacing_folder
from featprop.progress import tracked

__all__ = ["check_may_replace", "is_native", "open_native", "write_description", "write_native", "writing_native"]

DESCRIPTION = "graph.json"
FORMAT = "featprop graph"
VERSION = 1


def is_native(folder: Path) -> bool:
    """Say whether a folder holds a graph in featprop's own format."""
    return (folder / DESCRIPTION).is_file()


def write_native(graph: Graph, folder: Path, *, force: bool = False) -> None:
    """Write a graph; the folder appears whole or not at all.

    Parameters
    ----------
    force
        Replace a graph of this format that is there already. Anything else there is never replaced.
    """
    check_may_replace(folder, force=force)
    arrays = _parts("adjacency", graph.adjacency)
    arrays |= _parts("features", graph.features) if sp.issparse(graph.features) else {"features": graph.features}
    if graph.labels is not None:
        arrays["labels"] = graph.labels
    kind, ids = _ids_to_write(graph.ids)
    arrays |= ids
    with writing_native(folder) as temporary:
        for name, array in tracked(arrays.items(), f"writing {folder.name}", len(arrays)):
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        write_description(
            temporary,
            nodes=graph.n_nodes,
            columns=graph.n_features,
            ids=kind,
            classes=graph.classes,
            feature_names=graph.feature_names,
        )


@contextmanager
def writing_native(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to write a graph to, which becomes `folder` when the block ends without error."""
    with replacing_folder(folder) as temporary:
        try:
            yield temporary
        except OSError as error:
            cure = "free some space there or choose another place"
            raise FileError(f"{folder}", "must be where the graph fits", error.strerror, cure) from error


def write_description(
    folder: Path,
    *,
    nodes: int,
    columns: int,
    ids: str = "range",
    classes: Iterable[Hashable] = (),
    feature_names: Iterable[str] | None = None,
) -> None:
    """Write ``graph.json``, the last file of a folder whose arrays are there already."""
    listed = list(classes)
    odd = [name for name in listed if not isinstance(name, bool | int | float | str)]
    if odd:
        found = f"the class {odd[0]!r}"
        raise GraphError("Classes", "must be numbers or text to be written", found, "rename them")
    description = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": nodes,
        "features": columns,
        "ids": ids,
        "classes": listed,
        "feature_names": None if feature_names is None else list(feature_names),
    }
    text = json.dumps(description, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def open_native(folder: Path) -> Graph:
    """Open a folder that `write_native` or the generator of graphs wrote."""
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        if description["format"] != FORMAT or description["version"] != VERSION:
            raise ValueError(f"{description['format']!r}, version {description['version']!r}")
        nodes, columns = int(description["nodes"]), int(description["features"])
        adjacency = _csr(folder, "adjacency", (nodes, nodes))
        sparse = (folder / "features.data.npy").exists()
        features = (
            _csr(folder, "features", (nodes, columns)) if sparse else _array(folder, "features", "f4", (nodes, columns))
        )
        labelled = (folder / "labels.npy").exists()
        labels = _array(folder, "labels", "i8", (nodes,)) if labelled else None
        ids = _read_ids(folder, description["ids"], nodes)
        names = description["feature_names"]
        return Graph(
            adjacency, features, ids, labels, tuple(description["classes"]), None if names is None else tuple(names)
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        rule = f"must be a whole graph in format {VERSION} of featprop"
        raise FileError(f"{folder}", rule, f"this: {reason(error)}", "write it again with featprop convert") from error


def check_may_replace(folder: Path, *, force: bool) -> None:
    """Refuse to write a graph over anything but nothing, an empty folder or, if forced, another graph."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder.is_dir() and is_native(folder)):
        found = "a folder with other files" if folder.is_dir() else "a file"
        raise FileError(f"{folder}", "must be a new folder", found, "choose another place")
    if not force:
        found = "a graph in featprop's format"
        raise FileError(f"{folder}", "must not be overwritten", found, "choose another place or pass --force")


def _parts(name: str, matrix: sp.csr_array) -> dict[str, NDArray[Any]]:
    """Return the arrays of a CSR matrix, its entries in order as readers of the format may expect."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return {f"{name}.{part}": getattr(matrix, part) for part in ("indptr", "indices", "data")}


def _array(folder: Path, name: str, dtypes: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Map one array, of one of the given types; None stands for any length."""
    array: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
    fits = len(array.shape) == len(shape) and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype not in [np.dtype(dtype) for dtype in dtypes.split()]:
        wanted = "any" if shape == (None,) else shape
        raise ValueError(f"{name}.npy of shape {array.shape} and type {array.dtype}, not {wanted} and {dtypes}")
    return array


def _csr(folder: Path, name: str, shape: tuple[int, int]) -> sp.csr_array:
    indptr = _array(folder, f"{name}.indptr", "i4 i8", (shape[0] + 1,))
    entries = int(indptr[-1])
    if indptr[0] != 0 or entries < 0:
        raise ValueError(f"{name}.indptr.npy from {indptr[0]} to {entries}")
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.indptr = np.asarray(indptr)
    matrix.indices = np.asarray(_array(folder, f"{name}.indices", indptr.dtype.str, (entries,)))
    matrix.data = np.asarray(_array(folder, f"{name}.data", "f4", (entries,)))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _ids_to_write(ids: NDArray[Any]) -> tuple[str, dict[str, NDArray[Any]]]:
    if ids.dtype.kind in "iu":
        if np.array_equal(ids, np.arange(len(ids))):
            return "range", {}
        return "integers", {"ids": ids.astype(np.int64)}
    names = ids.tolist()
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        found = f"{odd[0]!r} of type {type(odd[0]).__name__}"
        raise GraphError("Node ids", "must be integers or text to be written", found, "rename the nodes")
    encoded = [name.encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return "text", {"ids.text": np.frombuffer(b"".join(encoded), np.uint8), "ids.ends": ends}


def _read_ids(folder: Path, kind: str, nodes: int) -> NDArray[Any]:
    if kind == "range":
        return np.arange(nodes)
    if kind == "integers":
        return _array(folder, "ids", "i8", (nodes,))
    if kind != "text":
        raise ValueError(f"ids that are {kind!r}")
    text = _array(folder, "ids.text", "u1", (None,)).tobytes()
    ends = [0, *_array(folder, "ids.ends", "i8", (nodes,)).tolist()]
    return as_array([text[start:end].decode() for start, end in pairwise(ends)])
