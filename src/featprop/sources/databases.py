"""The databases of a graph: how DuckDB attaches them, read-only, and `write_table`, the one way to write to them."""

from __future__ import annotations

import contextlib
import importlib
import importlib.resources
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from featprop.errors import FileError, MissingExtraError, ParameterError, already_exists, quote_error
from featprop.sources.description import GraphDescription

DATABASES = {".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".duckdb": "duckdb"}
EXTENSIONS = {"sqlite": "sqlite", "postgres": "postgres_scanner", "mysql": "mysql_scanner"}
ENTRY_POINTS = {"sqlite": "sqlite_scanner"}
"""What DuckDB calls an extension inside, where that differs from the name of its wheel."""
LOCKED: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
"""Settings that keep a query from loading extensions and from reading Python variables."""


def attach_database(
    connection: duckdb.DuckDBPyConnection, name: str, address: str, folder: Path, *, read_only: bool
) -> None:
    """Attach a database: ``"sqlite:FILE"``, ``"postgres:…"``, ``"mysql:…"``, or the path of a file.

    The address of an object store or of the web lets queries read from there.
    """
    kind, _, place = address.partition(":")
    if kind in ("s3", "gs", "https", "http") and place.startswith("//"):
        load_extension(connection, "httpfs", install=True)
        return
    if kind not in ("sqlite", "duckdb", "postgres", "mysql"):
        kind, place = DATABASES.get(Path(address).suffix.lower(), ""), address
        if not kind:
            message = f"Cannot tell what kind of database {address!r} is."
            hint = 'Write "sqlite:FILE", "duckdb:FILE", "postgres:…" or "mysql:…".'
            raise ParameterError(message, hint=hint, parameter=name, value=address)
    if kind in ("sqlite", "duckdb"):
        path = Path(place) if Path(place).is_absolute() else folder / place
        if not path.is_file():
            raise FileError(f"{path} is missing.", path=path)
        place = str(path)
    if kind != "duckdb":
        load_extension(connection, EXTENSIONS[kind], install=True)
    mode = ", READ_ONLY" if read_only else ""
    with reading(place if kind in ("sqlite", "duckdb") else name):
        connection.execute(f"ATTACH {quoted(place)} AS {identifier(name)} (TYPE {kind}{mode})")


def load_extension(connection: duckdb.DuckDBPyConnection, name: str, *, install: bool = False) -> None:
    """Load an extension of DuckDB: from its wheel, else from DuckDB's own folder, else `install` it."""
    with contextlib.suppress(ImportError):
        package = importlib.resources.files(importlib.import_module(f"duckdb_extension_{name}"))
        file = package / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if file.is_file():
            with tempfile.TemporaryDirectory(prefix="featprop-") as folder:
                link = Path(folder) / f"{ENTRY_POINTS.get(name, name)}.duckdb_extension"
                link.symlink_to(str(file))
                connection.execute(f"LOAD {quoted(str(link))}")
            return
    try:
        if install:
            connection.execute(f"INSTALL {name}")
        connection.execute(f"LOAD {name}")
    except duckdb.Error as error:
        raise MissingExtraError(f"Reading {name}", "sql", f"duckdb-extension-{name.replace('_', '-')}") from error


def write_table(description: GraphDescription, target: str, table: pa.Table, *, force: bool = False) -> None:
    """Write a table to a database under ``[attach]`` in one transaction: all of it or nothing.

    `target` is ``"database.table"`` or ``"database.schema.table"``. `force` replaces a table of that name with the same
    columns; any other table is never replaced.
    """
    name, *parts = target.split(".")
    if name not in description.attach or not 1 <= len(parts) <= 2 or not all(parts):
        known = ", ".join(f"{each}.predictions" for each in description.attach)
        raise ParameterError(
            f"`to` must name a table of an attached database, not {target!r}.",
            hint=f"For example: {known}." if known else "graph.toml has no [attach] with a database.",
            parameter="to",
            value=target,
            choices=description.attach,
        )
    place = ".".join(map(identifier, (name, *parts)))
    with duckdb.connect(config=LOCKED) as connection:
        attach_database(connection, name, description.attach[name], description.folder, read_only=False)
        connection.register("new_rows", table)
        with reading(target):
            connection.execute("BEGIN")  # closing the connection before COMMIT rolls back
            columns = _columns(connection, place)
            if columns is not None:
                if not force:
                    raise already_exists(target)
                if columns != table.column_names:
                    message = f"The table {target} has other columns than predictions."
                    raise ParameterError(message, hint="Choose another table.", parameter="to", value=target)
                connection.execute(f"DROP TABLE {place}")
            connection.execute(f"CREATE TABLE {place} AS SELECT * FROM new_rows")
            connection.execute("COMMIT")


def _columns(connection: duckdb.DuckDBPyConnection, place: str) -> list[str] | None:
    try:
        return [str(row[0]) for row in connection.execute(f"DESCRIBE SELECT * FROM {place}").fetchall()]
    except duckdb.CatalogException:
        return None


@contextlib.contextmanager
def reading(name: object) -> Iterator[None]:
    """Turn what DuckDB raises about a source into a `FileError`."""
    try:
        yield
    except (duckdb.Error, RuntimeError, UnicodeError) as error:
        if "INTERRUPT" in str(error):
            raise KeyboardInterrupt from error
        line = re.search(r"on Line: (\d+)", str(error))
        reason = re.sub(r"^[A-Z][A-Za-z ]+ Error: (CSV Error on Line: \d+)?", "", str(error)).strip()
        lines = [each for each in reason.split("\n") if each.strip() and not each.startswith("Original Line")]
        where = f", line {int(line[1]):,}" if line else ""
        text, hint = quote_error(ValueError(lines[0] if lines else reason)).rstrip(".!"), ""
        if "CSV Parser state machine" in text:
            text, hint = "some lines end in LF and others in CRLF or CR", "Save it with one kind of line ending."
        row = int(line[1]) - 1 if line else None
        raise FileError(f"{name}{where}: {text}.", hint=hint, path=name, row=row) from error


def quoted(text: str) -> str:
    """Return text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name of SQL."""
    return '"' + name.replace('"', '""') + '"'
