"""`read_graph`: any graph on disk, by what it looks like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.io.folder import parts_of_folder
from featprop.io.npz import parts_of_npz

__all__ = ["read_graph"]


def read_graph(path: str | os.PathLike[str], features: Sequence[str] | None = None) -> Graph:
    """Read a graph from a folder of tables or a sparse-graph ``.npz``.

    Parameters
    ----------
    path
        A folder with ``nodes.csv`` or ``nodes.parquet`` (``id``, numeric feature columns or one list column,
        optional ``label``) and ``edges.csv`` or ``edges.parquet`` (``source``, ``target``, optional ``weight``;
        or the first two columns), or an ``.npz`` in the layout of CoraFull.
    features
        Names or patterns (``w_*``) of the feature columns of a folder; every numeric one if not given.
    """
    place = Path(path)
    if place.is_dir():
        return Graph.from_parts(parts_of_folder(place, features))
    if not place.exists():
        raise FileError(
            f"{place}", "must be a graph folder or an .npz file", "no such file or folder", "check the path"
        )
    if place.suffix.lower() != ".npz":
        cure = "put nodes.csv and edges.csv into a folder and pass the folder"
        raise FileError(f"{place}", "must be a graph folder or an .npz file", "another kind of file", cure)
    if features is not None:
        cure = "leave --features out for an .npz file"
        raise ParameterError("features", "must name columns of a nodes table", ", ".join(features), cure)
    return Graph.from_parts(parts_of_npz(place))
