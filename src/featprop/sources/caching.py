"""Graphs of large tables, kept in the cache so that the next command does not read and encode the tables again.

The name of a kept graph is a digest of its description and of the size, time and inode of its files. Only files have
such a digest: a query or a database is read each time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from featprop.errors import FeatpropError
from featprop.features import TablePreprocessor
from featprop.files import cache_folder
from featprop.graph import Graph
from featprop.sources.description import GraphDescription
from featprop.sources.native import CLOCK_TICK_NS, VERSION, is_native, open_native, write_native

log = logging.getLogger(__name__)

MIN_BYTES = 1 << 24
"""Size of tables from which on their graph is kept."""
MAX_GRAPHS = 4
"""Number of graphs that are kept; those not used for longest go."""


def cached_graph(
    description: GraphDescription, preprocessor: TablePreprocessor | None, read: Callable[[], Graph]
) -> Graph:
    """Return the kept graph of these tables, or `read` them and keep their graph."""
    folder = _folder_of(description)
    if folder is None:
        return read()
    with suppress(FeatpropError, OSError):
        if is_native(folder):
            graph = open_native(folder)
            own = None if graph.preprocessor is None else graph.preprocessor.fingerprint
            if preprocessor is None or preprocessor.fingerprint == own:
                os.utime(folder)
                for repair in graph.repairs:
                    log.info("%s", repair)
                return graph
    graph = read()
    if preprocessor is None:
        with suppress(FeatpropError, OSError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_native(graph, folder, force=True)
            kept = sorted(folder.parent.iterdir(), key=lambda each: each.stat().st_mtime)
            for old in kept[:-MAX_GRAPHS]:
                shutil.rmtree(old, ignore_errors=True)
    return graph


def _folder_of(description: GraphDescription) -> Path | None:
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
