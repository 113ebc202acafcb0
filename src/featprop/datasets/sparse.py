"""The sparse ``.npz`` of CoraFull, CitationFull, Amazon and Coauthor as data sets: edges without weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from featprop.adjacency import RawGraph
from featprop.sources.npz import raw_from_npz

__all__ = ["parts_of_sparse"]


def parts_of_sparse(files: Mapping[str, Path]) -> RawGraph:
    """Read the one file. Its entries say that there is an edge, as every reader of these data sets takes them."""
    (path,) = files.values()
    return replace(raw_from_npz(path), weights=None)
