"""`write_table`: the one way in which featprop writes to a database."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from featprop.errors import FileError, ParameterError, already_exists
from featprop.sources.description import GraphDescription
from featprop.sources.tables import attach_database, identifier, reading


def write_table(description: GraphDescription, target: str, table: pa.Table, *, force: bool = False) -> None:
    """Write a table to an attached database in one transaction: all of it or nothing.

    Parameters
    ----------
    description
        The graph, whose ``[attach]`` names the database.
    target
        ``"database.table"`` or ``"database.schema.table"``.
    table
        The table.
    force
        Replace a table of that name with the same columns; any other table is never replaced.
    """
    name, *parts = target.split(".")
    if name not in description.attach or not 1 <= len(parts) <= 2 or not all(parts):
        known = ", ".join(f"{each}.predictions" for each in description.attach) or "none: graph.toml has no [attach]"
        raise ParameterError(
            f"`to` must name a table of an attached database, not {target!r}.",
            hint=f"For example: {known}.",
            parameter="to",
            value=target,
            choices=description.attach,
        )
    place = ".".join(map(identifier, (name, *parts)))
    config = {"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    with duckdb.connect(config={**config, "python_enable_replacements": False}) as connection:
        attach_database(connection, name, description.attach[name], description.folder, read_only=False)
        connection.register("new_rows", table)
        with reading(target):
            connection.execute("BEGIN")
            try:
                columns = _columns(connection, place)
                if columns is not None:
                    if not force:
                        raise already_exists(target)
                    if columns != table.column_names:
                        raise ParameterError(
                            f"The table {target} has the columns {', '.join(columns[:8])}: it holds no predictions.",
                            hint="Choose another table.",
                            parameter="to",
                            value=target,
                        )
                    connection.execute(f"DROP TABLE {place}")
                connection.execute(f"CREATE TABLE {place} AS SELECT * FROM new_rows")
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise


def _columns(connection: duckdb.DuckDBPyConnection, place: str) -> list[str] | None:
    try:
        return [str(row[0]) for row in connection.execute(f"DESCRIBE SELECT * FROM {place}").fetchall()]
    except duckdb.CatalogException:
        return None


def attached_description(graph: Path) -> GraphDescription:
    """Return the description of a graph that can be written back to: a ``graph.toml`` or a folder with one."""
    from featprop.sources.reading import describe

    if graph.suffix.lower() == ".toml" or graph.is_dir():
        return describe(graph)
    raise FileError(f"{graph} has no [attach] with a database to write to.", hint="Pass a graph.toml.", path=graph)
