"""`load`: a data set by name, from the cache or by the first route that brings it."""

from __future__ import annotations

import json
import logging
import os
import shutil
from pathlib import Path

from featprop.compute.addresses import is_address
from featprop.datasets.cache import alone_with, graph_folder, raw_folder, sweep_converted
from featprop.datasets.catalogue import close_names, find, is_known
from featprop.datasets.entry import Dataset
from featprop.datasets.routes import Found, obtain, placed
from featprop.errors import FeatpropError, FileError
from featprop.features import TablePreprocessor
from featprop.graph import Graph
from featprop.io.atomic import restore_interrupted
from featprop.sources import read_graph
from featprop.sources.native import SOURCE, is_native, open_native, write_native
from featprop.sources.reading import missing_path

__all__ = ["fetch", "kept_form", "load", "resolve", "whereabouts"]

log = logging.getLogger(__name__)


def load(name: str) -> Graph:
    """Return a data set as a graph with labels.

    What the cache has is opened at once, without the network; anything else is fetched, converted and kept.

    Parameters
    ----------
    name
        One of those that ``featprop datasets`` lists, such as ``"cora"``.
    """
    entry = find(name)
    if entry.build:
        return entry.build()
    if not is_native(graph_folder(entry.name)):
        with alone_with(entry.name):
            if not is_native(graph_folder(entry.name)):
                return _fetched(entry)
    sweep_converted(entry.name)
    try:
        return open_native(graph_folder(entry.name))
    except FileError as error:
        hint = f"Get it again with: featprop datasets fetch {entry.name} --force"
        raise FileError(error.message, hint=hint, path=error.path) from error


def fetch(name: str) -> Graph:
    """Get a data set by the first route that has it, even if the cache holds it already, and keep it."""
    entry = find(name)
    if entry.build:
        return entry.build()
    with alone_with(entry.name):
        return _fetched(entry)


def resolve(source: str | os.PathLike[str], preprocessor: TablePreprocessor | None = None) -> Graph:
    """Return the graph of a path or, if there is nothing at that path, of the data set of that name.

    Parameters
    ----------
    source
        A path as `read_graph` takes it, or a name as `load` takes it.
    preprocessor
        How its columns become features, where a model learned that before.
    """
    name = os.fspath(source)
    if is_address(source):
        return read_graph(source, preprocessor=preprocessor)
    restore_interrupted(Path(source))
    if Path(source).exists():
        return read_graph(source, preprocessor=preprocessor)
    if not is_known(name):
        raise missing_path(name, close_names(name))
    return load(name)


def whereabouts(entry: Dataset) -> str:
    """Say where a data set is, without the network: ``"embedded"``, ``"cache"``, ``"placed"`` or ``"no"``."""
    if entry.build:
        return "embedded"
    if is_native(graph_folder(entry.name)):
        return "cache"
    return "placed" if placed(entry) else "no"


def kept_form(entry: Dataset) -> str | None:
    """Return the public form in which the cache got a data set, None if it is not there or does not say."""
    try:
        source = json.loads((graph_folder(entry.name) / SOURCE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return str(source.get("form")) if isinstance(source, dict) else None


def _fetched(entry: Dataset) -> Graph:
    found = obtain(entry)
    log.info("Reading %s in its form %s (%s)", entry.name, found.form.name, found.route)
    try:
        graph = Graph.from_raw(found.form.read(found.files))
        _check_counts(entry, graph, found)
    except FeatpropError:
        shutil.rmtree(raw_folder(entry.name), ignore_errors=True)
        raise
    kept = graph_folder(entry.name)
    try:
        write_native(graph, kept, force=True, source={"form": found.form.name, "route": found.route})
    except FileError as error:
        log.warning("Not kept for the next time: %s", error)
        return graph
    shutil.rmtree(raw_folder(entry.name), ignore_errors=True)
    return open_native(kept)


def _check_counts(entry: Dataset, graph: Graph, found: Found) -> None:
    """Refuse a file of the right name that is another data set: Cora has many versions."""
    expected = (entry.nodes, entry.features, entry.classes)
    counts = (graph.n_nodes, graph.n_features, len(graph.classes))
    if counts != expected:
        nodes, features, classes = (f"{number:,}" for number in expected)
        raise FileError(
            " and ".join(sorted({str(path.parent / path.name) for path in found.files.values()})[:2]),
            f"must be {entry.name}: {nodes} nodes, {features} features, {classes} classes",
            "{:,} nodes, {:,} features, {:,} classes".format(*counts),
            f"put the file of {entry.name} there, or remove this one",
        )
