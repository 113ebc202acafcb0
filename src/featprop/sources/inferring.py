"""What the tables of a graph are: found in a folder, a workbook or a database, or inferred for ``featprop init``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from featprop.errors import FileError
from featprop.features import suggest_label
from featprop.sources.building import distinct_columns, find_id_column
from featprop.sources.databases import DATABASES, reading
from featprop.sources.description import FILE_NAME, GraphDescription, is_sql
from featprop.sources.edges import EdgeReader
from featprop.sources.naming import ID_NAMES, find_column
from featprop.sources.tables import EXCEL, TABLE_SUFFIXES, Source, Tables, sheet_names, table_suffix

DATABASE_ALIAS = "graph_database"


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
            with reading(place):
                names = [row[0] for row in tables.connection.execute(query).fetchall()]
        found = {
            role: f'SELECT * FROM {DATABASE_ALIAS}."{name}"' for role, name in _named(place, names, "tables").items()
        }
        return GraphDescription(found.get("nodes"), found.get("edges"), attach=attach)
    if table_suffix(place) in TABLE_SUFFIXES:
        return GraphDescription(edges=place.name, folder=place.parent)
    raise unreadable(place)


def attached_description(graph: Path) -> GraphDescription:
    """Return the description of a graph that can be written back to: a ``graph.toml`` or a folder with one."""
    if graph.suffix.lower() == ".toml" or (graph / FILE_NAME).is_file():
        return describe(graph)
    raise FileError(f"{graph} has no [attach] with a database to write to.", hint="Pass a graph.toml.", path=graph)


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


def sources_of(tables: Tables, description: GraphDescription) -> tuple[Source | None, Source | None]:
    """Return the tables of the nodes and of the edges."""
    nodes, edges = (
        None if spec is None else tables.source(spec, what)
        for spec, what in ((description.nodes, "nodes"), (description.edges, "edges"))
    )
    return nodes, edges


def infer_description(description: GraphDescription) -> tuple[GraphDescription, list[str]]:
    """Find the columns of ids, ends, weights and labels that a description does not name.

    The id column is the one with a usual name if it has every end of the edges, else any column that has. Returns the
    description with the columns it found and a line on each.
    """
    found: list[str] = []
    with Tables(description.folder, description.attach) as tables:
        nodes, edges = sources_of(tables, description)
        reader = None
        if edges is not None:
            reader = EdgeReader(tables, edges, description)
            ends = reader.columns
            found.append(f"edges run from column {ends.source!r} to {ends.target!r}")
            description = replace(description, source=ends.source, target=ends.target)
            if ends.weight is not None:
                found.append(f"edge weights are in column {ends.weight!r}")
                description = replace(description, weight=ends.weight)
        if nodes is not None:
            columns = list(nodes.columns)
            id_column = find_column(columns, ID_NAMES, nodes.name, description.id, "id")
            if reader is not None and description.id is None:
                match, n_ends = find_id_column(reader, nodes, prefer=id_column)
                if match is not None:
                    found.append(f"all {n_ends:,} ids of the edges are in column {match!r}")
                    id_column = match
            if id_column is None:
                likely = distinct_columns(tables, nodes)
                if len(likely) != 1:
                    raise FileError(
                        f"Cannot tell which column of {nodes.name} has the ids: {', '.join(likely) or 'none'}.",
                        hint="Name it with `id`.",
                        path=nodes.name,
                        parameter="id",
                        choices=likely[:8],
                    )
                id_column = likely[0]
                found.append(f"column {id_column!r} is the only one with distinct values: it holds the ids")
            label = find_column(columns, (), nodes.name, description.label, "label") or suggest_label(columns)
            if label is not None and description.label is None:
                found.append(f"labels are in column {label!r}")
            description = replace(description, id=id_column, label=label)
    return description, found


def relative_source(spec: str, folder: Path) -> str:
    """Return a path as ``graph.toml`` in that folder names it; a query stays."""
    if is_sql(spec):
        return spec
    path = Path(spec)
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.resolve().as_posix()
