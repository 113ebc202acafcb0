"""`load`: a data set by name, from the cache or from the first source that has it."""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from enum import StrEnum
from pathlib import Path

from featprop.datasets.catalogue import CATALOGUE, Dataset, find, is_known
from featprop.datasets.download import Found, find_placed, obtain
from featprop.datasets.readers import read_files
from featprop.errors import FileError
from featprop.features import TablePreprocessor
from featprop.files import cache_folder, restore_interrupted
from featprop.graph import Graph
from featprop.resources import scratch_folder
from featprop.sources import read_graph
from featprop.sources.native import SOURCE, is_native, open_native, write_native

log = logging.getLogger(__name__)


class Status(StrEnum):
    """Where a data set is on this machine."""

    BUILT_IN = "built in"
    CACHED = "cached"
    PLACED = "placed"
    MISSING = "missing"


def load(name: str) -> Graph:
    """Return a data set as a graph with labels.

    A data set in the cache opens at once, without the network; any other is downloaded, converted and cached.

    Parameters
    ----------
    name
        One of those that ``featprop datasets`` lists, such as ``"cora"``.
    """
    entry = find(name)
    if entry.build:
        return entry.build()
    if not is_native(graph_folder(entry.name)):
        with _locked(entry.name):
            if not is_native(graph_folder(entry.name)):
                return _fetch(entry)
    try:
        return open_native(graph_folder(entry.name))
    except FileError as error:
        error.hint = f"Download it again with: featprop datasets fetch {entry.name} --force"
        raise


def fetch(name: str) -> Graph:
    """Get a data set from the first source that has it, even if it is cached already, and cache it."""
    entry = find(name)
    if entry.build:
        return entry.build()
    with _locked(entry.name):
        return _fetch(entry)


def resolve(source: str | os.PathLike[str], preprocessor: TablePreprocessor | None = None) -> Graph:
    """Return the graph at a path or, if the path does not exist, the data set of that name.

    Parameters
    ----------
    source
        A path as `read_graph` takes it, or a name as `load` takes it.
    preprocessor
        How columns become features, as in `read_graph`.
    """
    name = os.fspath(source)
    restore_interrupted(Path(source))
    if Path(source).exists():
        return read_graph(source, preprocessor=preprocessor)
    if not is_known(name):
        close = difflib.get_close_matches(name.lower(), CATALOGUE, n=3)
        hint = f"Did you mean the data set {' or '.join(close)}?" if close else "Check the path."
        raise FileError(f"There is no file, folder or data set called {name}.", hint=hint, path=name)
    return load(name)


def status(entry: Dataset) -> Status:
    """Return where a data set is on this machine."""
    if entry.build:
        return Status.BUILT_IN
    if is_native(graph_folder(entry.name)):
        return Status.CACHED
    return Status.PLACED if find_placed(entry) else Status.MISSING


def cached_form(entry: Dataset) -> str | None:
    """Return the public form from which a data set was cached, None if it is not cached."""
    try:
        source = json.loads((graph_folder(entry.name) / SOURCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(source.get("form")) if isinstance(source, dict) else None


def graph_folder(name: str) -> Path:
    """Return the cache folder of a data set in featprop's format."""
    return cache_folder() / "graphs" / name


def _fetch(entry: Dataset) -> Graph:
    with scratch_folder() as folder:
        found = obtain(entry, folder)
        log.info("Reading %s in its form %s (%s)", entry.name, found.form.name, found.source)
        graph = read_files(found.form.read, found.files)
        _check_counts(entry, graph, found)
    cached = graph_folder(entry.name)
    try:
        write_native(graph, cached, force=True, source={"form": found.form.name, "route": found.source})
    except FileError as error:
        log.warning("%s is not cached: %s", entry.name, error)
        return graph
    return open_native(cached)


def _check_counts(entry: Dataset, graph: Graph, found: Found) -> None:
    """Refuse files of the right name that are another data set: Cora has many versions."""
    expected = (entry.nodes, entry.features, entry.classes)
    counts = (graph.n_nodes, graph.n_features, len(graph.classes))
    if counts != expected:
        here, there = ("{:,} nodes, {:,} features and {:,} classes".format(*each) for each in (counts, expected))
        path = next(iter(found.files.values()))
        message = f"{path} has {here}, but {entry.name} has {there}."
        raise FileError(message, hint=f"Replace it with the file of {entry.name}, or remove it.", path=path)


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """Wait until no other process is fetching this data set; do not wait where the cache has no locks."""
    from filelock import FileLock

    lock = cache_folder() / "locks" / name
    with ExitStack() as stack:
        with suppress(OSError):
            lock.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(lock))
        yield
