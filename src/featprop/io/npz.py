"""Sparse-graph ``.npz`` files: the layout of CoraFull and its relatives, and the layout of pickled matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from featprop.errors import FileError
from featprop.graph import Graph, RawGraph
from featprop.io.archive import AGAIN, NpzArchive, opened_npz
from featprop.io.formats import Format, register_format
from featprop.tables import Preparation, TableOptions

__all__ = ["Npz", "raw_from_npz"]

LAYOUT = "a sparse-graph .npz with adj_data, adj_indices, adj_indptr, adj_shape and the same for attr_"


@register_format("npz")
class Npz(Format):
    """A sparse-graph ``.npz``."""

    description = "a sparse-graph .npz file"

    def fits(self, place: Path) -> bool:
        """Say whether it is a file of that ending."""
        return place.suffix.lower() == ".npz" and place.is_file()

    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:  # noqa: ARG002
        """Read the file."""
        return Graph.from_raw(raw_from_npz(place))


def raw_from_npz(path: Path) -> RawGraph:
    """Read ``adj_*`` and ``attr_*`` (CSR: data, indices, indptr, shape) and, if present, ``labels``.

    Files with the pickled matrices ``adj_matrix`` and ``node_attr`` and the array ``node_label`` are read too.
    """
    with opened_npz(path, LAYOUT) as archive:
        if "adj_matrix" in archive.names and "adj_data" not in archive.names:
            adjacency, features = archive.matrix("adj_matrix"), archive.matrix("node_attr")
            labels = _labels(archive, "node_label")
        else:
            adjacency, features = archive.csr("adj"), archive.csr("attr")
            labels = _labels(archive, "labels")
    if adjacency.shape != features.shape[:1] * 2:
        found = f"the shapes {adjacency.shape} and {features.shape}"
        raise FileError(f"{path}", "must have a square adj_ with one row a row of attr_", found, AGAIN)
    entries = adjacency.tocoo()
    source, target = entries.coords
    return RawGraph(source, target, features, weights=entries.data, labels=labels)


def _labels(archive: NpzArchive, name: str) -> Any:
    labels = archive.optional(name)
    if not isinstance(labels, np.ndarray | list | None):
        raise ValueError(f"a {type(labels).__name__} as the {name}")
    if isinstance(labels, np.ndarray) and labels.dtype == object:
        odd = [label for label in labels.tolist() if not isinstance(label, int | float | str | None)]
        if odd:
            raise ValueError(f"a {type(odd[0]).__name__} among the {name}")
    return labels
