"""The ``.npz`` of the heterophilous graphs (Platonov et al. 2023): plain arrays, each edge once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from featprop.graph import RawGraph
from featprop.io.archive import opened_npz

__all__ = ["parts_of_heterophilous"]


def parts_of_heterophilous(files: Mapping[str, Path]) -> RawGraph:
    """Read ``node_features``, ``node_labels`` and ``edges`` (two columns); the ten splits are left alone."""
    (path,) = files.values()
    with opened_npz(path, "a graph .npz with node_features, node_labels and edges") as archive:
        features, labels, edges = (archive.array(name) for name in ("node_features", "node_labels", "edges"))
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(f"edges of shape {edges.shape} and type {edges.dtype}")
    return RawGraph(edges[:, 0], edges[:, 1], features, labels=labels)
