"""`read_graph`: any graph on disk, by what it looks like."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.io.formats import FORMATS, Format, known_formats

__all__ = ["read_graph"]

log = logging.getLogger(__name__)


def read_graph(path: str | os.PathLike[str], features: Sequence[str] | None = None) -> Graph:
    """Read a graph from a folder of tables, a sparse-graph ``.npz`` or a folder that ``featprop convert`` wrote.

    Parameters
    ----------
    path
        A folder with ``nodes.csv`` or ``nodes.parquet`` (``id``, numeric feature columns or one list column,
        optional ``label``) and ``edges.csv`` or ``edges.parquet`` (``source``, ``target``, optional ``weight``;
        or the first two columns), an ``.npz`` in the layout of CoraFull, a folder in featprop's own format,
        which opens at once whatever its size, or any other format that is registered (`featprop.io.formats`).
    features
        Names or patterns (``w_*``) of the feature columns of a folder of tables; every numeric one if not given.
    """
    place = Path(path)
    found = _format_of(place)
    if features is not None and not found.has_columns:
        cure = f"leave --features out for {found.description}"
        raise ParameterError("features", "must name columns of a nodes table", ", ".join(features), cure)
    return found.read(place, features)


def _format_of(place: Path) -> Format:
    for name in _names():
        try:
            known = FORMATS.make(name)
        except ParameterError as error:
            log.warning("%s", error)
            continue
        if known.fits(place):
            return known
    cure = "put nodes.csv and edges.csv into a folder and pass the folder"
    if place.is_dir():
        found = ", ".join(sorted(entry.name for entry in place.iterdir())[:8]) or "an empty folder"
    elif place.exists():
        found = "another kind of file"
    else:
        found, cure = "no such file or folder", "check the path"
    raise FileError(f"{place}", f"must be {known_formats()}", found, cure)


def _names() -> Iterator[str]:
    """Yield featprop's own formats first: those of other packages are imported only if none of these fits."""
    yield from sorted(FORMATS.classes)
    yield from FORMATS.names()
