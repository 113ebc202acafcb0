"""`read_graph`: a graph of any file, folder, database or description.

The graph of large tables is kept in the cache so that the next command does not read and encode them again. Its name
there is a digest of the description and of the size, time and inode of the files. Only files have such a digest: a
query or a database is read each time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from featprop.errors import FeatpropError, FileError, first_five
from featprop.features import TablePreprocessor
from featprop.files import cache_folder
from featprop.graph import Graph
from featprop.ids import closest
from featprop.sources.building import build_graph
from featprop.sources.databases import DATABASES, reading
from featprop.sources.delimited import table_suffix
from featprop.sources.description import FILE_NAME, GraphDescription
from featprop.sources.formats import graph_format
from featprop.sources.native import VERSION, is_native, open_native, write_native
from featprop.sources.tables import EXCEL, TABLE_SUFFIXES, Tables, sheet_names

log = logging.getLogger(__name__)

DATABASE_ALIAS = "graph_database"
ROLES = {
    "nodes": ("nodes", "node", "vertices"),
    "edges": ("edges", "edge", "relationships", "links"),
    "features": ("features",),
}
"""Usual names of the tables; Neo4j and others write relationships for edges."""
MIN_BYTES = 1 << 24
"""Size of tables from which on their graph is kept."""
MAX_GRAPHS = 4
"""Number of graphs that are kept; those not used for longest go."""


def read_graph(path: str | os.PathLike[str], *, preprocessor: TablePreprocessor | None = None) -> Graph:
    """Read a graph.

    Parameters
    ----------
    path
        A ``graph.toml``; a folder with one, or with ``nodes.*`` and ``edges.*`` (CSV, TSV, Parquet, JSON, Excel); a
        workbook or a SQLite or DuckDB file with the tables nodes and edges; a table of edges; a graph file (GraphML,
        GEXF, GML, Pajek, edge or adjacency list, MatrixMarket, node-link JSON, ``.npz``, PyG ``.pt``); or a folder
        that ``featprop convert`` wrote, which opens at once whatever its size.
    preprocessor
        How columns become features, where a model learned that before: its ``preprocessor_``.
    """
    place = Path(path)
    if is_native(place):
        return open_native(place)
    if not place.exists():
        near = closest(place.name, [entry.name for entry in place.parent.iterdir()] if place.parent.is_dir() else [])
        hint = "Check the path." if near is None else f"Did you mean {place.parent / str(near)}?"
        raise FileError(f"There is no file or folder named {place}.", hint=hint, path=place)
    reader = None if place.is_dir() else graph_format(place)
    if reader is not None:
        return reader(place)
    return _cached_graph(describe(place), preprocessor)


def is_described(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is of tables, which may be larger than memory, rather than of another kind of graph."""
    place = Path(path)
    if not place.exists() or is_native(place):
        return False
    return place.is_dir() or graph_format(place) is None


def _cached_graph(description: GraphDescription, preprocessor: TablePreprocessor | None) -> Graph:
    """Return the kept graph of large tables, or read them and keep their graph."""
    folder = _cache_folder_of(description)
    if folder is not None and is_native(folder):
        with suppress(FeatpropError, OSError):
            graph = open_native(folder)
            own = None if graph.preprocessor is None else graph.preprocessor.fingerprint
            if preprocessor is None or preprocessor.fingerprint == own:
                os.utime(folder)
                for repair in graph.repairs:
                    log.info("%s", repair)
                return graph
    with Tables(description.folder, description.attach) as tables:
        graph = build_graph(tables, description, *tables.sources_of(description), preprocessor)
    if folder is not None and preprocessor is None:
        with suppress(FeatpropError, OSError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_native(graph, folder, force=True)
            kept = sorted(folder.parent.iterdir(), key=lambda each: each.stat().st_mtime)
            for old in kept[:-MAX_GRAPHS]:
                shutil.rmtree(old, ignore_errors=True)
    return graph


def _cache_folder_of(description: GraphDescription) -> Path | None:
    """Return where the graph of these tables is kept, None if they are small or no files."""
    specs = [spec for spec in (description.nodes, description.edges, description.features) if spec is not None]
    paths = [description.folder / spec.partition("#")[0] for spec in specs]
    if description.attach or not all(path.is_file() for path in paths):
        return None
    states = [path.stat() for path in paths]
    if sum(state.st_size for state in states) < MIN_BYTES:
        return None
    files = [
        (str(path.resolve()), state.st_size, state.st_mtime_ns, state.st_ino)
        for path, state in zip(paths, states, strict=True)
    ]
    key = json.dumps([VERSION, description.to_toml(), files])
    return cache_folder() / "tables" / hashlib.sha256(key.encode()).hexdigest()[:16]


def describe(place: Path) -> GraphDescription:
    """Return the description of a ``graph.toml``, a folder, a workbook, a database or a table of edges."""
    if place.is_dir():
        return describe(place / FILE_NAME) if (place / FILE_NAME).is_file() else _describe_folder(place, place)
    suffix = table_suffix(place)
    if suffix == ".toml":
        description = GraphDescription.from_toml(place)
        if description.nodes is None and description.edges is None:
            usual = _describe_folder(place.parent, place)
            features = description.features or usual.features
            return replace(description, nodes=usual.nodes, edges=usual.edges, features=features)
        return description
    if suffix in EXCEL:
        sheets = _find_roles(place, {name: name for name in sheet_names(place)})
        specs: dict[str, Any] = {role: f"{place.name}#{name}" for role, name in sheets.items()}
        return GraphDescription(folder=place.parent, **specs)
    if suffix in DATABASES:
        attach = {DATABASE_ALIAS: str(place.resolve())}
        with Tables(attach=attach) as tables, reading(place):
            query = f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{DATABASE_ALIAS}' UNION ALL "
            query += f"SELECT view_name FROM duckdb_views() WHERE database_name = '{DATABASE_ALIAS}' AND NOT internal"
            names = [row[0] for row in tables.connection.execute(query).fetchall()]
        found = _find_roles(place, {name: name for name in names})
        queries: dict[str, Any] = {role: f'SELECT * FROM {DATABASE_ALIAS}."{name}"' for role, name in found.items()}
        return GraphDescription(attach=attach, **queries)
    if suffix in TABLE_SUFFIXES:
        return GraphDescription(edges=place.name, folder=place.parent)
    hint = "Unpack archives, save sheets as .xlsx, and load other files in Python: see fp.Graph.from_networkx."
    raise FileError(f"{place} is not a graph featprop can read ({suffix or 'no suffix'}).", hint=hint, path=place)


def attached_description(graph: Path) -> GraphDescription:
    """Return the description of a graph that can be written back to: a ``graph.toml`` or a folder with one."""
    if graph.suffix.lower() == ".toml" or (graph / FILE_NAME).is_file():
        return describe(graph)
    raise FileError(f"{graph} has no [attach] with a database to write to.", hint="Pass a graph.toml.", path=graph)


def _describe_folder(folder: Path, place: Path) -> GraphDescription:
    """Return the description of a folder with files called nodes and edges; `place` is what messages name."""
    files = (entry for entry in folder.iterdir() if entry.is_file() and table_suffix(entry) in TABLE_SUFFIXES)
    return GraphDescription(folder=folder, **_find_roles(place, {file.name: file.name.split(".")[0] for file in files}))


def _find_roles(place: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """Return which files, sheets or tables at a place hold the nodes, the edges and the features.

    `names` maps them to what may be a usual name, such as a file name without its suffix.
    """
    found = {}
    for role, usual in ROLES.items():
        for stem in usual:
            alike = sorted(name for name, title in names.items() if title.strip().lower() == stem)
            if len(alike) > 1:
                message = f"{place} holds several tables of {role}: {', '.join(alike)}."
                raise FileError(message, hint="Remove all but one, or name one in graph.toml.", path=place)
            if alike:
                found[role] = alike[0]
                break
    if "nodes" not in found and "edges" not in found:
        message = (
            f"{place} has no tables named nodes or edges; it has {first_five(sorted(names)) if names else 'none'}."
        )
        hint = "Rename them, or write a graph.toml: `featprop init` does so for files, and [attach] names a database."
        raise FileError(message, hint=hint, path=place)
    return found
