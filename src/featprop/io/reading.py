"""`read_graph`: any graph on disk, by what it looks like."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from featprop.compute.addresses import is_address, local_copy
from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.ids import closest
from featprop.io.formats import FORMATS, Format, known_formats
from featprop.tables import Preparation, TableOptions

__all__ = ["format_of", "nothing_at", "read_graph"]

log = logging.getLogger(__name__)


def read_graph(
    path: str | os.PathLike[str],
    features: Sequence[str] | None = None,
    *,
    options: TableOptions | None = None,
    preparation: Preparation | None = None,
) -> Graph:
    """Read a graph from two tables, a sparse-graph ``.npz`` or a folder that ``featprop convert`` wrote.

    Parameters
    ----------
    path
        A folder with ``nodes.csv`` and ``edges.csv`` (or ``.parquet``, ``.xlsx``), a workbook with these two sheets, an
        ``.npz`` in the layout of CoraFull, a folder in featprop's own format, which opens at once whatever its size,
        or any other format that is registered (`featprop.io.formats`). An address that fsspec knows, such as
        ``s3://bucket/graph``, is fetched once and kept in the cache.
    features
        Names or patterns (``w_*``) of the columns of tables that become features; all that can if not given.
    options
        What else there is to say of tables: how columns are called, what they are, what edges weigh.
    preparation
        How columns become features, where a model learnt that before: its ``preparation_``.
    """
    place = local_copy(path) if is_address(path) else Path(path)
    found = format_of(place)
    said = options or TableOptions()
    if features is not None:
        said = replace(said, features=tuple(features))
    if not found.has_columns and said != TableOptions():
        named = ", ".join(f"--{name}" for name in said.to_jsonable())
        cure = f"leave it out for {found.description}"
        raise ParameterError(named, "must be about a table of nodes or edges", "a graph without tables", cure)
    if preparation is not None:
        said = said.or_else(preparation.options)
    return found.read(place, said, preparation)


def format_of(place: Path) -> Format:
    """Return the format of a file or folder."""
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
        raise nothing_at(f"{place}")
    raise FileError(f"{place}", f"must be {known_formats()}", found, cure)


def nothing_at(name: str, datasets: Sequence[str] | None = None) -> FileError:
    """Return the error about a path where nothing is, with what is beside it and called much the same.

    Parameters
    ----------
    name
        The path.
    datasets
        Data sets that are called much the same; None where only a path can be meant.
    """
    place, beside = Path(name), list[str]()
    with suppress(OSError):
        beside = sorted(entry.name for entry in place.parent.iterdir() if not entry.name.startswith("."))
    near = closest(place.name, beside)
    meant = [f"{place.parent / str(near)}"] if near is not None else []
    meant += [f"the data set {' or '.join(datasets)}"] if datasets else []
    rule = "must be a graph" if datasets is None else "must be a graph or the name of a data set"
    cure = f"check the path, or take {' or '.join(meant)}" if meant else "check the path"
    return FileError(name, rule, "no such file or folder", cure)


def _names() -> Iterator[str]:
    """Yield featprop's own formats first: those of other packages are imported only if none of these fits."""
    yield from sorted({*FORMATS.built_in, *FORMATS.classes})
    yield from FORMATS.names()
