"""The sparse ``.npz`` of CoraFull, CitationFull, Amazon and Coauthor as data sets: edges without weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from featprop.interop.parts import GraphParts
from featprop.io.npz import parts_of_npz

__all__ = ["parts_of_sparse"]


def parts_of_sparse(files: Mapping[str, Path]) -> GraphParts:
    """Read the one file. Its entries say that there is an edge, as every reader of these data sets takes them."""
    (path,) = files.values()
    return replace(parts_of_npz(path), weights=None)
