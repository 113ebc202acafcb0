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
import time
from contextlib import suppress
from pathlib import Path

from featprop.errors import FeatpropError, FileError
from featprop.features import TablePreprocessor
from featprop.files import cache_folder
from featprop.graph import Graph
from featprop.ids import closest
from featprop.sources.addresses import is_address, local_copy
from featprop.sources.building import build_graph
from featprop.sources.description import GraphDescription
from featprop.sources.formats import graph_format
from featprop.sources.inferring import describe, sources_of
from featprop.sources.native import CLOCK_TICK_NS, VERSION, is_native, open_native, write_native
from featprop.sources.tables import Tables

log = logging.getLogger(__name__)

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
        GEXF, GML, Pajek, edge or adjacency list, MatrixMarket, node-link JSON, ``.npz``, PyG ``.pt``); a folder that
        ``featprop convert`` wrote, which opens at once whatever its size; or the address of one that fsspec knows,
        such as ``s3://bucket/graph``.
    preprocessor
        How columns become features, where a model learned that before: its ``preprocessor_``.
    """
    place = local_copy(path) if is_address(path) else Path(path)
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
    if is_address(path) or not place.exists() or is_native(place):
        return False
    return place.is_dir() or graph_format(place) is None


def _cached_graph(description: GraphDescription, preprocessor: TablePreprocessor | None) -> Graph:
    """Return the kept graph of large tables, or read them and keep their graph."""
    folder = _cache_folder_of(description)
    if folder is None:
        return _build(description, preprocessor)
    with suppress(FeatpropError, OSError):
        if is_native(folder):
            graph = open_native(folder)
            own = None if graph.preprocessor is None else graph.preprocessor.fingerprint
            if preprocessor is None or preprocessor.fingerprint == own:
                os.utime(folder)
                for repair in graph.repairs:
                    log.info("%s", repair)
                return graph
    graph = _build(description, preprocessor)
    if preprocessor is None:
        with suppress(FeatpropError, OSError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_native(graph, folder, force=True)
            kept = sorted(folder.parent.iterdir(), key=lambda each: each.stat().st_mtime)
            for old in kept[:-MAX_GRAPHS]:
                shutil.rmtree(old, ignore_errors=True)
    return graph


def _build(description: GraphDescription, preprocessor: TablePreprocessor | None) -> Graph:
    with Tables(description.folder, description.attach) as tables:
        return build_graph(tables, description, *sources_of(tables, description), preprocessor)


def _cache_folder_of(description: GraphDescription) -> Path | None:
    """Return where the graph of these tables is kept, None if they are small, no files, or have just changed."""
    specs = [spec for spec in (description.nodes, description.edges, description.features) if spec is not None]
    paths = [description.folder / spec for spec in specs]
    paths = [path if path.is_file() else path.parent / path.name.rpartition("#")[0] for path in paths]
    if description.attach or not all(path.is_file() for path in paths):
        return None
    states = [path.stat() for path in paths]
    is_settled = all(state.st_mtime_ns < time.time_ns() - CLOCK_TICK_NS for state in states)
    if sum(state.st_size for state in states) < MIN_BYTES or not is_settled:
        return None
    files = [
        [str(path.resolve()), state.st_size, state.st_mtime_ns, state.st_ino]
        for path, state in zip(paths, states, strict=True)
    ]
    key = json.dumps([VERSION, description.to_toml(), files])
    return cache_folder() / "tables" / hashlib.sha256(key.encode()).hexdigest()[:16]
