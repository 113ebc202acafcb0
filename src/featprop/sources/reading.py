"""`read_graph`: a graph of any file, folder, database or description."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.errors import FileError, GraphError, quote_error, unknown_choice
from featprop.features import TablePreprocessor
from featprop.graph import Graph
from featprop.ids import closest, counts_rows, is_a, is_series, package_of
from featprop.sources.addresses import is_address, local_copy
from featprop.sources.building import build_graph
from featprop.sources.caching import cached_graph
from featprop.sources.description import FILE_NAME, GraphDescription
from featprop.sources.formats import graph_format
from featprop.sources.naming import ID_NAMES
from featprop.sources.native import is_native, open_native
from featprop.sources.tables import DATABASES, EXCEL, TABLE_SUFFIXES, Source, Tables, sheet_names, table_suffix

log = logging.getLogger(__name__)

DATABASE_ALIAS = "graph_database"


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
        raise missing_path(str(place))
    reader = None if place.is_dir() else graph_format(place)
    if reader is not None:
        return reader(place)
    description = describe(place)

    def build() -> Graph:
        with Tables(description.folder, description.attach) as tables:
            return build_graph(tables, description, *sources_of(tables, description), preprocessor)

    return cached_graph(description, preprocessor, build)


def is_described(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is of tables, which may be larger than memory, rather than of another kind of graph."""
    place = Path(path)
    if is_address(path) or not place.exists() or is_native(place):
        return False
    return place.is_dir() or graph_format(place) is None


def describe(place: Path) -> GraphDescription:
    """Return the description of a ``graph.toml``, a folder, a workbook, a database or a table of edges."""
    if place.is_dir():
        if (place / FILE_NAME).is_file():
            return describe(place / FILE_NAME)
        return _describe_folder(place)
    if place.suffix.lower() == ".toml":
        description = GraphDescription.from_toml(place)
        if description.nodes is None and description.edges is None:
            usual = _describe_folder(place.parent, place)
            features = description.features or usual.features
            return replace(description, nodes=usual.nodes, edges=usual.edges, features=features)
        return description
    if place.suffix.lower() in EXCEL:
        found = {role: f"{place.name}#{name}" for role, name in _named(place, sheet_names(place), "sheets").items()}
        return GraphDescription(found.get("nodes"), found.get("edges"), folder=place.parent)
    if place.suffix.lower() in DATABASES:
        attach = {DATABASE_ALIAS: str(place.resolve())}
        with Tables(attach=attach) as tables:
            query = f"SELECT table_name FROM duckdb_tables() WHERE database_name = '{DATABASE_ALIAS}' UNION ALL "
            query += f"SELECT view_name FROM duckdb_views() WHERE database_name = '{DATABASE_ALIAS}' AND NOT internal"
            names = [row[0] for row in tables.connection.execute(query).fetchall()]
        found = {
            role: f'SELECT * FROM {DATABASE_ALIAS}."{name}"' for role, name in _named(place, names, "tables").items()
        }
        return GraphDescription(found.get("nodes"), found.get("edges"), attach=attach)
    if table_suffix(place) in TABLE_SUFFIXES:
        return GraphDescription(edges=place.name, folder=place.parent)
    raise unreadable(place)


def sources_of(tables: Tables, description: GraphDescription) -> tuple[Source | None, Source | None]:
    """Return the tables of the nodes and of the edges."""
    nodes, edges = (
        None if spec is None else tables.source(spec, what)
        for spec, what in ((description.nodes, "nodes"), (description.edges, "edges"))
    )
    return nodes, edges


def graph_from_tables(nodes: Any, edges: Any, settings: Mapping[str, Any]) -> Graph:
    """Return the graph of two tables in memory: see `Graph.from_tables`."""
    known = [each.name for each in fields(GraphDescription) if each.name not in ("nodes", "edges", "attach", "folder")]
    for name in settings:
        if name not in known:
            raise unknown_choice("settings", name, known)
    description = GraphDescription(**settings)
    with Tables() as tables:
        node_source, edge_source = (
            None if frame is None else tables.arrow(as_table(frame, name, description.id), name)
            for frame, name in ((nodes, "nodes"), (edges, "edges"))
        )
        return build_graph(tables, description, node_source, edge_source)


def as_table(frame: Any, name: str, id_column: str | None = None) -> pa.Table:
    """Return a data frame of any library as an Arrow table.

    The index of a pandas data frame of nodes becomes the column ``id`` if there is none. Columns of mixed types become
    text.
    """
    if isinstance(frame, pa.Table):
        return frame
    if is_a(frame, "pandas", "DataFrame"):
        return _from_pandas(frame, name, id_column)
    if hasattr(frame, "__arrow_c_stream__") and not is_series(frame):
        return pa.table(frame)
    raise GraphError(
        f"`{name}` must be a table (pandas, Polars, Arrow, DuckDB), not {_described(frame)}.",
        parameter=name,
        value=type(frame).__name__,
    )


def missing_path(name: str, datasets: list[str] | None = None) -> FileError:
    """Return the error about a path where there is nothing, with names close to it.

    Parameters
    ----------
    name
        The path.
    datasets
        Names of data sets that are close; None where only a path can be meant.
    """
    place, siblings = Path(name), list[str]()
    with suppress(OSError):
        siblings = sorted(entry.name for entry in place.parent.iterdir() if not entry.name.startswith("."))
    near = closest(place.name, siblings)
    meant = [str(place.parent / str(near))] if near is not None else []
    meant += [f"the data set {' or '.join(datasets)}"] if datasets else []
    kind = "file or folder" if datasets is None else "file, folder or data set"
    hint = f"Did you mean {' or '.join(meant)}?" if meant else "Check the path."
    return FileError(f"There is no {kind} named {name}.", hint=hint, path=name, choices=meant)


def unreadable(place: Path) -> FileError:
    """Return the error about a file of a kind featprop does not read, with the shortest way in."""
    hints = {
        ".zip": "Unpack it and pass the folder.",
        ".tar": "Unpack it and pass the folder.",
        ".xls": "Save it as .xlsx with the sheets nodes and edges.",
        ".ods": "Save it as .xlsx with the sheets nodes and edges.",
        ".pkl": "A pickle can run code: load it in Python and pass the object to fp.Graph.from_networkx or from_scipy.",
        ".mat": "Load it with scipy.io.loadmat and pass the matrices to fp.Graph.from_scipy.",
        ".h5": "Load it in Python and pass the arrays to fp.Graph.from_scipy.",
        ".feather": "Write it as Parquet.",
        ".dot": "Read it with networkx.nx_pydot.read_dot and pass the graph to fp.Graph.from_networkx.",
        ".ttl": "Query the edges into a table of source and target.",
        ".nt": "Query the edges into a table of source and target.",
    }
    suffix = table_suffix(place) or "no suffix"
    usual = "Pass a folder with nodes.csv and edges.csv, or a table of edges."
    return FileError(f"{place} is not a graph featprop can read ({suffix}).", hint=hints.get(suffix, usual), path=place)


def _describe_folder(folder: Path, toml: Path | None = None) -> GraphDescription:
    """Return the description of a folder with files called nodes and edges, which `toml` does not name."""
    found = {role: name for role in ("nodes", "edges", "features") if (name := _find_table(folder, role)) is not None}
    if "nodes" not in found and "edges" not in found:
        if toml is not None:
            raise FileError(
                f"{toml} names neither nodes nor edges, and its folder has no tables of these names.",
                hint='Write, for example, edges = "edges.csv".',
                path=toml,
            )
        there = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
        shown = ", ".join(there[:8]) or "nothing"
        hint = "Name the tables nodes and edges, or write a graph.toml: `featprop init NODES EDGES`."
        raise FileError(
            f"{folder} holds no graph.toml and no tables nodes or edges, but {shown}.", hint=hint, path=folder
        )
    return GraphDescription(found.get("nodes"), found.get("edges"), found.get("features"), folder)


def _find_table(folder: Path, role: str) -> str | None:
    """Return the name of the one file of a role; Neo4j and others write relationships for edges."""
    stems = {"nodes": ("nodes", "node", "vertices"), "edges": ("edges", "edge", "relationships", "links")}
    for stem in stems.get(role, (role,)):
        names = sorted(
            entry.name
            for entry in folder.iterdir()
            if entry.is_file() and table_suffix(entry) in TABLE_SUFFIXES and entry.name.lower().split(".")[0] == stem
        )
        if len(names) > 1:
            raise FileError(
                f"{folder} holds several files of {role}: {', '.join(names)}.",
                hint="Remove all but one, or name one in graph.toml.",
                path=folder,
            )
        if names:
            return names[0]
    return None


def _named(place: Path, names: list[str], what: str) -> dict[str, str]:
    """Return the names of the sheets or tables of nodes and edges."""
    lower = {name.strip().lower(): name for name in reversed(names)}
    found: dict[str, str] = {role: lower[role] for role in ("nodes", "edges") if role in lower}
    if not found:
        shown = ", ".join(names[:8]) or "none"
        raise FileError(
            f"{place} has no {what} named nodes and edges; it has {shown}.",
            hint=f"Rename the {what}, or write a graph.toml that names them in SQL.",
            path=place,
        )
    return found


def _from_pandas(frame: Any, name: str, id_column: str | None) -> pa.Table:
    if frame.index.nlevels > 1:
        raise GraphError(
            f"`{name}` has an index of {frame.index.nlevels} levels.",
            hint="Call reset_index() and name the id column.",
            parameter=name,
        )
    frame = frame.rename(columns=str)
    names = list(frame.columns)
    repeated = sorted({each for each in names if names.count(each) > 1})
    if repeated:
        raise GraphError(
            f"`{name}` has several columns named {repeated[0]!r}.",
            hint="Rename them.",
            parameter=name,
            column=repeated[0],
        )
    wanted = (id_column,) if id_column is not None else ID_NAMES
    has_ids = any(each in wanted or each.strip().lower() in wanted for each in names)
    own = None if frame.index.name is None else str(frame.index.name)
    if (name == "nodes" and not has_ids and (own is not None or not counts_rows(frame.index))) or (
        own is not None and own not in names
    ):
        title = id_column or (own if own is not None and own.strip().lower() in ID_NAMES else "id")
        frame = frame.reset_index(names=title if name == "nodes" and not has_ids else own)
    columns = {}
    for each in frame.columns:
        series = frame[each]
        if is_a(series.dtype, "pandas", "SparseDtype"):
            series = series.sparse.to_dense()
        columns[each] = _series(series, each, name)
    return pa.table(columns) if columns else pa.table({"": pa.nulls(len(frame))})


def _series(series: Any, column: str, name: str) -> pa.Array:
    try:
        values = pa.Array.from_pandas(series)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        if not isinstance(values.type, pa.ExtensionType):
            return values
    except (pa.ArrowException, TypeError, ValueError) as error:
        simple = (str, bytes, bool, int, float, np.generic)
        if not all(isinstance(value, simple) for value in series[series.notna()]):
            raise GraphError(
                f"Column {column!r} of `{name}` holds values of several kinds: {quote_error(error)}.",
                hint="Convert it to numbers or text, or drop it.",
                parameter=name,
                column=column,
            ) from error
        log.info("Column %r of %s holds values of several types and is read as text", column, name)
    missing = series.isna().tolist()
    return pa.array([None if gone else str(value) for value, gone in zip(series, missing, strict=True)], pa.string())


def _described(thing: Any) -> str:
    return "None" if thing is None else f"an object of type {type(thing).__name__}"


def _hint_for(thing: Any) -> str:
    """Return how to build a graph from an object of another kind."""
    parts = thing if isinstance(thing, list | tuple) and thing else [thing]
    if thing is None:
        return "Read one with fp.read_graph(path)."
    if any(is_a(part, "pandas", "DataFrame") or hasattr(part, "__arrow_c_stream__") for part in parts):
        return "Build it with fp.Graph.from_tables(nodes, edges)."
    if any(is_a(part, "torch_geometric", "Data") for part in parts):
        return "Pass one of them."
    if any(sp.issparse(part) or isinstance(part, np.ndarray) or is_a(part, "torch", "Tensor") for part in parts):
        return "Build it with fp.Graph.from_scipy(adjacency, features)."
    if package_of(thing) == "dgl":
        return "Build it with fp.Graph.from_scipy(graph.adj_external(scipy_fmt='csr'), graph.ndata['feat'].numpy())."
    if package_of(thing) == "igraph":
        return "Pass graph.to_networkx()."
    return "Build one with fp.Graph.from_tables, from_scipy, from_pyg or from_networkx."
