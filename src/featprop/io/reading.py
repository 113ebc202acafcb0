"""`read_graph`: any graph on disk, by what it looks like."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from pathlib import Path

from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.io.folder import parts_of_folder
from featprop.io.native import is_native, open_native
from featprop.io.npz import parts_of_npz

__all__ = ["read_graph"]

log = logging.getLogger(__name__)

WORTH_CONVERTING = 3.0
"""Seconds a folder of tables may take to read before its reader is told of the faster format."""


def read_graph(path: str | os.PathLike[str], features: Sequence[str] | None = None) -> Graph:
    """Read a graph from a folder of tables, a sparse-graph ``.npz`` or a folder that ``featprop convert`` wrote.

    Parameters
    ----------
    path
        A folder with ``nodes.csv`` or ``nodes.parquet`` (``id``, numeric feature columns or one list column,
        optional ``label``) and ``edges.csv`` or ``edges.parquet`` (``source``, ``target``, optional ``weight``;
        or the first two columns), an ``.npz`` in the layout of CoraFull, or a folder in featprop's own format,
        which opens at once whatever its size.
    features
        Names or patterns (``w_*``) of the feature columns of a folder of tables; every numeric one if not given.
    """
    place = Path(path)
    if place.is_dir() and not is_native(place):
        return _read_tables(place, features)
    if not place.exists():
        raise FileError(
            f"{place}", "must be a graph folder or an .npz file", "no such file or folder", "check the path"
        )
    if place.is_file() and place.suffix.lower() != ".npz":
        cure = "put nodes.csv and edges.csv into a folder and pass the folder"
        raise FileError(f"{place}", "must be a graph folder or an .npz file", "another kind of file", cure)
    if features is not None:
        kind = "an .npz file" if place.is_file() else "a converted graph"
        cure = f"leave --features out for {kind}"
        raise ParameterError("features", "must name columns of a nodes table", ", ".join(features), cure)
    return open_native(place) if place.is_dir() else Graph.from_parts(parts_of_npz(place))


def _read_tables(folder: Path, features: Sequence[str] | None) -> Graph:
    start = time.monotonic()
    graph = Graph.from_parts(parts_of_folder(folder, features))
    seconds = time.monotonic() - start
    if seconds > WORTH_CONVERTING:
        log.warning(
            "Reading the tables took %.0f s: featprop convert %s FOLDER writes a graph that opens at once",
            seconds,
            folder,
        )
    return graph
