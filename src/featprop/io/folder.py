"""A graph as two tables, ``nodes`` and ``edges``: files in a folder, or the sheets of a workbook."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from featprop.errors import FileError
from featprop.graph import Graph
from featprop.interop.raw import RawGraph
from featprop.interop.tables import raw_from_tables
from featprop.io.formats import Format, register_format
from featprop.io.tables import SUFFIXES, find_table, read_table, sheet_names
from featprop.tables import Preparation, TableOptions
from featprop.tables.naming import ID_NAMES

__all__ = ["Tables", "Workbook", "raw_from_folder"]

log = logging.getLogger(__name__)

WORTH_CONVERTING = 3.0
"""Seconds a folder of tables may take to read before its reader is told of the faster format."""


@register_format("tables")
class Tables(Format):
    """A folder of two tables."""

    description = "a folder with nodes.csv and edges.csv (or .parquet, .xlsx)"
    has_columns = True

    def fits(self, place: Path) -> bool:
        """Say whether at least one of the tables is there."""
        return any((place / f"{stem}{suffix}").exists() for stem in ("nodes", "edges") for suffix in SUFFIXES)

    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:
        """Read the tables."""
        return _timed(place, lambda: raw_from_folder(place, options, preparation))


@register_format("workbook")
class Workbook(Format):
    """A workbook with the sheets nodes and edges."""

    description = "an .xlsx workbook with the sheets nodes and edges"
    has_columns = True

    def fits(self, place: Path) -> bool:
        """Say whether it is a file of that ending."""
        return place.suffix.lower() == ".xlsx" and place.is_file()

    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:
        """Read the two sheets."""
        return _timed(place, lambda: _raw_from_workbook(place, options, preparation))


def _timed(place: Path, read: Callable[[], RawGraph]) -> Graph:
    start = time.monotonic()
    graph = Graph.from_raw(read())
    seconds = time.monotonic() - start
    if seconds > WORTH_CONVERTING:
        told = "Reading the tables took %.0f s: featprop convert %s FOLDER writes a graph that opens at once"
        log.warning(told, seconds, place)
    return graph


def raw_from_folder(folder: Path, options: TableOptions, preparation: Preparation | None = None) -> RawGraph:
    """Read ``nodes`` (id, columns that become features, optional label) and ``edges`` (two ends, optional weight)."""
    nodes_path, edges_path = find_table(folder, "nodes"), find_table(folder, "edges")
    return raw_from_tables(
        read_table(nodes_path, text=_naming(options)),
        read_table(edges_path, text=None),
        options,
        f"{nodes_path}",
        f"{edges_path}",
        typed=nodes_path.suffix.lower() == ".parquet",
        preparation=preparation,
    )


def _raw_from_workbook(path: Path, options: TableOptions, preparation: Preparation | None) -> RawGraph:
    there = sheet_names(path)
    known = {name.strip().lower(): name for name in reversed(there)}
    missing = [name for name in ("nodes", "edges") if name not in known]
    if missing:
        found = f"the sheets {', '.join(there[:8])}"
        raise FileError(f"{path}", "must have the sheets nodes and edges", found, f"add the sheet {missing[0]}")
    nodes = read_table(path, text=_naming(options), sheet=known["nodes"])
    edges = read_table(path, text=None, sheet=known["edges"])
    called = [f"{path}, sheet {known[name]}" for name in ("nodes", "edges")]
    return raw_from_tables(nodes, edges, options, called[0], called[1], typed=False, preparation=preparation)


def _naming(options: TableOptions) -> list[str]:
    """Return the columns of nodes whose values are names, not numbers."""
    return [name for name in (options.id, options.label, "label", *ID_NAMES) if name]
