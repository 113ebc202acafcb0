"""A graph as two tables, ``nodes`` and ``edges``: files in a folder, or the sheets of a workbook."""

from __future__ import annotations

import logging
import shlex
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from featprop.errors import FileError
from featprop.graph import Graph, RawGraph
from featprop.interop.tables import raw_from_tables
from featprop.io.column_files import read_by_column
from featprop.io.formats import Format, register_format
from featprop.io.table_pieces import pieces_of
from featprop.io.tables import SUFFIXES, find_table, read_table, sheet_names
from featprop.tables import Preparation, TableOptions
from featprop.tables.by_column import ByColumn
from featprop.tables.naming import ID_NAMES
from featprop.tables.pieces import Pieces, WholeTable

__all__ = ["Tables", "TwoTables", "Workbook"]

log = logging.getLogger(__name__)

WORTH_CONVERTING = 3.0
"""Seconds a folder of tables may take to read before its reader is told of the faster format."""
LARGE = 1 << 23
"""Bytes of tables from which on it is they that take the time, and not the libraries that are loaded meanwhile."""


@register_format("tables")
class Tables(Format):
    """A folder of two tables."""

    description = "a folder with nodes.csv and edges.csv (or .parquet, .xlsx)"
    has_columns = True

    def fits(self, place: Path) -> bool:
        """Say whether at least one of the tables is there."""
        return any(_has_table(place, stem) for stem in ("nodes", "edges"))

    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:
        """Read the tables."""
        return _timed(place, options, preparation)


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
        return _timed(place, options, preparation)


def _timed(place: Path, options: TableOptions, preparation: Preparation | None) -> Graph:
    start, tables = time.monotonic(), TwoTables.at(place)
    graph = Graph.from_raw(tables.raw(options, preparation))
    seconds = time.monotonic() - start
    if seconds > WORTH_CONVERTING and tables.size >= LARGE:
        words = ["featprop", "convert", f"{place}", f"{place.resolve().stem}.fp", *options.to_arguments()]
        log.warning("Reading the tables took %.0f s: %s writes a graph that opens at once", seconds, shlex.join(words))
    return graph


@dataclass(frozen=True)
class TwoTables:
    """Where the tables of a graph are: two files, or two sheets of a workbook.

    Attributes
    ----------
    nodes_path, edges_path
        The files; of tables that are added to a graph, one may be missing.
    nodes_sheet, edges_sheet
        The sheets, if it is a workbook.
    """

    nodes_path: Path | None
    edges_path: Path | None
    nodes_sheet: str | None = None
    edges_sheet: str | None = None

    @classmethod
    def at(cls, place: Path, *, both: bool = True) -> TwoTables:
        """Find them in a folder or a workbook: `both`, or one of them at least."""
        if place.is_dir():
            there = {stem: both or _has_table(place, stem) for stem in ("nodes", "edges")}
            if not any(there.values()):
                there = dict.fromkeys(there, True)
            nodes, edges = (find_table(place, stem) if there[stem] else None for stem in there)
            return cls(nodes, edges)
        sheets = sheet_names(place)
        known = {name.strip().lower(): name for name in reversed(sheets)}
        missing = [name for name in ("nodes", "edges") if name not in known]
        if missing and (both or len(missing) == 2):
            found = f"the sheets {', '.join(sheets[:8])}"
            raise FileError(f"{place}", "must have the sheets nodes and edges", found, f"add the sheet {missing[0]}")
        nodes, edges = (place if name in known else None for name in ("nodes", "edges"))
        return cls(nodes, edges, known.get("nodes"), known.get("edges"))

    def nodes(self, options: TableOptions) -> pa.Table:
        """Read the nodes."""
        assert self.nodes_path is not None
        return read_table(self.nodes_path, text=_naming(options), sheet=self.nodes_sheet)

    def nodes_by_column(self, options: TableOptions, folder: Path) -> ByColumn:
        """Read the nodes, their columns to files of a folder if they are many."""
        assert self.nodes_path is not None
        return read_by_column(self.nodes_path, _naming(options), folder, self.nodes_sheet)

    def edges(self) -> Pieces:
        """Return the edges, to be read piece by piece."""
        assert self.edges_path is not None
        if self.edges_sheet is not None:
            return WholeTable(read_table(self.edges_path, text=None, sheet=self.edges_sheet))
        return pieces_of(self.edges_path)

    def raw(self, options: TableOptions, preparation: Preparation | None = None) -> RawGraph:
        """Read ``nodes`` (id, columns that become features, maybe a label) and ``edges`` (two ends, maybe a weight)."""
        called = self.nodes_name, self.edges_name
        nodes, edges = self.nodes(options), self.edges()
        return raw_from_tables(nodes, edges, options, *called, typed=self.typed, preparation=preparation)

    @property
    def size(self) -> int:
        """How many bytes the files have."""
        return sum(path.stat().st_size for path in {self.nodes_path, self.edges_path} if path is not None)

    @property
    def typed(self) -> bool:
        """Whether text is meant to be text: a CSV file has no types to keep."""
        return self.nodes_path is not None and self.nodes_path.suffix.lower() == ".parquet"

    @property
    def nodes_name(self) -> str:
        """What to call the nodes in messages."""
        return f"{self.nodes_path}" if self.nodes_sheet is None else f"{self.nodes_path}, sheet {self.nodes_sheet}"

    @property
    def edges_name(self) -> str:
        """What to call the edges in messages."""
        return f"{self.edges_path}" if self.edges_sheet is None else f"{self.edges_path}, sheet {self.edges_sheet}"


def _has_table(folder: Path, stem: str) -> bool:
    return any((folder / f"{stem}{suffix}").exists() for suffix in SUFFIXES)


def _naming(options: TableOptions) -> list[str]:
    """Return the columns of nodes whose values are names, not numbers."""
    return [name for name in (options.id, options.label, "label", *ID_NAMES) if name]
