"""One DuckDB connection that every table comes through: files of any kind, globs, queries, databases, data frames.

A CSV file keeps its text: DuckDB gets the columns, the delimiter and the quote, and infers no types, so that an id
such as ``007`` stays ``007``. `featprop.features` decides later what a column is. Other sources have types of their
own. A query in a ``graph.toml`` is one SELECT on a connection that cannot install extensions or write to a database
(SECURITY.md has the rest).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import pyarrow as pa

from featprop.errors import FileError, ParameterError, quote_error
from featprop.resources import scratch_folder
from featprop.sources.databases import LOCKED, attach_database, identifier, load_extension, quoted, reading
from featprop.sources.delimited import in_utf8, read_dialect, table_suffix
from featprop.sources.description import GraphDescription, is_sql
from featprop.sources.naming import neo4j_name

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
JSON = (".json", ".jsonl", ".ndjson")
EXCEL = (".xlsx",)
TABLE_SUFFIXES = (*DELIMITED, *PARQUET, *JSON, *EXCEL)
DUCKDB_SHARE = 0.5
"""Share of a bound on memory that DuckDB may use; ids, edges, features and the libraries need the rest."""
SPREADSHEET_BYTES = 1 << 31
"""Most bytes a workbook may unpack to."""


@dataclass(frozen=True)
class Source:
    """A table that the connection can query.

    Attributes
    ----------
    name
        The file, or what else messages call it.
    relation
        SQL that stands after FROM.
    columns
        DuckDB type of each column by name.
    typed
        Whether text is text by intention: a CSV file has no types.
    """

    name: str
    relation: str
    columns: Mapping[str, str]
    typed: bool = True


class Tables(contextlib.ExitStack):
    """The connection, as a context manager.

    Parameters
    ----------
    folder
        The folder that relative paths start from.
    attach
        Databases by name, as `attach_database` takes them.
    max_memory
        Bytes to use in all; DuckDB spills to `scratch` when it needs more than its share of them.
    scratch
        Folder for what does not fit into memory.
    """

    def __init__(
        self,
        folder: Path | None = None,
        attach: Mapping[str, str] | None = None,
        max_memory: int | None = None,
        scratch: Path | None = None,
    ) -> None:
        super().__init__()
        self.folder = Path() if folder is None else folder
        self.scratch = self.enter_context(scratch_folder(scratch))
        config = LOCKED | {"temp_directory": str(self.scratch / "spill")}
        if max_memory is not None:
            config["memory_limit"] = f"{int(DUCKDB_SHARE * max_memory)}B"
        self.connection = self.enter_context(duckdb.connect(config=config))
        self._views = 0
        try:
            for name, address in (attach or {}).items():
                attach_database(self.connection, name, address, self.folder, read_only=True)
            if self.folder != Path():
                self.connection.execute(f"SET file_search_path = {quoted(str(self.folder.resolve()))}")
            self.connection.execute("SET lock_configuration = true")
        except BaseException:
            self.close()
            raise

    def source(self, spec: str, what: str = "table") -> Source:
        """Return the table of a file, a glob, a sheet of a workbook (``"book.xlsx#sheet"``, else the first) or a query.

        Messages call a query `what`.
        """
        if is_sql(spec):
            return self._query(spec, what)
        if "://" in spec:
            return self.described(spec, quoted(spec))
        book, _, sheet = spec.rpartition("#")
        if table_suffix(Path(book)) in EXCEL:
            return self._sheet(self._paths(book)[0], sheet, str(self.folder / spec))
        paths, name = self._paths(spec), str(self.folder / spec)
        suffix = table_suffix(paths[0])
        if suffix in EXCEL:
            return self._sheet(paths[0], sheet_names(paths[0])[0], name)
        if suffix in DELIMITED:
            return self._delimited(paths, name)
        read = "read_parquet" if suffix in PARQUET else "read_json"
        return self.described(name, f"{read}({_listed(paths)}, union_by_name = true)")

    def sources_of(self, description: GraphDescription) -> tuple[Source | None, Source | None]:
        """Return the tables of the nodes and of the edges."""
        nodes, edges = description.nodes, description.edges
        return (
            None if nodes is None else self.source(nodes, "nodes"),
            None if edges is None else self.source(edges, "edges"),
        )

    def lines(self, path: Path) -> str:
        """Return SQL for the lines of a text file, as the column ``line``."""
        options = "auto_detect = false, header = false, columns = {'line': 'VARCHAR'}, quote = '', escape = ''"
        return f"read_csv({quoted(str(in_utf8(path, self.scratch)[0]))}, {options}, delim = '\x01')"

    def arrow(self, table: pa.Table, name: str, *, typed: bool = True) -> Source:
        """Return the table of an Arrow table."""
        self._views += 1
        view = f"arrow_{self._views}"
        self.connection.register(view, table)
        return self.described(name, view, typed=typed)

    def fetch(self, source: Source, columns: Sequence[str] | None = None, where: str | None = None) -> pa.Table:
        """Return a source, or some of its columns, or the rows that meet a condition, as an Arrow table."""
        chosen = "*" if columns is None else ", ".join(map(identifier, columns))
        with reading(source.name):
            query = f"SELECT {chosen} FROM {source.relation} WHERE {where or 'true'}"
            return self.connection.sql(query).to_arrow_table()

    def store(self, source: Source, where: str, integers: str | None = None) -> Source:
        """Copy the rows that meet a condition into a table of DuckDB's, which spills them if memory is short.

        Text in the column `integers` becomes integers if all of it reads back unchanged, which takes less memory.
        """
        with reading(source.name):
            self.connection.execute(f"CREATE TEMP TABLE stored AS SELECT * FROM {source.relation} WHERE {where}")
            if integers is not None and source.columns[integers] == "VARCHAR":
                name = identifier(integers)
                same = f"coalesce(CAST(try_cast({name} AS BIGINT) AS VARCHAR) = {name}, false)"
                if self.connection.execute(f"SELECT bool_and({same}) FROM stored").fetchall()[0][0]:
                    self.connection.execute(f"ALTER TABLE stored ALTER {name} TYPE BIGINT")
        return replace(source, relation="stored")

    def _query(self, sql: str, what: str) -> Source:
        with reading(what):
            statements = self.connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            message = f"The SQL of {what} must be one SELECT statement."
            raise ParameterError(
                message, hint="Write a single query, without COPY, INSERT or SET.", parameter=what, value=sql
            )
        for path in map(Path, re.findall(r"'([^']*)'", sql)):
            if path.suffix and path.is_file() and path.resolve() != (self.folder / path).resolve():
                raise FileError(
                    f"The SQL of {what} names {str(path)!r}, which DuckDB would read from the working directory.",
                    hint=f"Write the whole path, or run featprop in {self.folder}.",
                    path=path,
                )
        return self.described(what, f"({sql.strip().rstrip(';')}\n)")

    def described(self, name: str, relation: str, *, typed: bool = True) -> Source:
        """Return the source of a relation, with the columns it has."""
        with reading(name):
            rows = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        columns = {str(row[0]): str(row[1]) for row in rows}
        renamed = {column: neo4j_name(column) for column in columns}
        if renamed != {column: column for column in columns} and len(set(renamed.values())) == len(columns):
            chosen = ", ".join(f"{identifier(old)} AS {identifier(new)}" for old, new in renamed.items())
            relation = f"(SELECT {chosen} FROM {relation})"
            columns = {renamed[column]: kind for column, kind in columns.items()}
        return Source(name, relation, columns, typed)

    def _paths(self, spec: str) -> list[Path]:
        """Return the files a path or a glob stands for."""
        path = self.folder / spec
        if any(mark in spec for mark in "*?[") and not path.exists():
            with reading(spec):
                rows = self.connection.execute(f"SELECT file FROM glob({quoted(str(path))}) ORDER BY 1").fetchall()
            if not rows:
                raise FileError(f"No file matches {path}.", path=path)
            return [Path(row[0]) for row in rows]
        if not path.is_file():
            raise FileError(f"{path} is {'a folder, not a table' if path.is_dir() else 'missing'}.", path=path)
        if not path.stat().st_size:
            raise FileError(f"{path} is empty.", hint="Export it again.", path=path)
        if table_suffix(path) not in TABLE_SUFFIXES:
            hint = f"Tables end in {', '.join(TABLE_SUFFIXES)} (or with .gz, .zst)."
            raise FileError(f"{path} is not a table featprop can read.", hint=hint, path=path)
        return [path]

    def _delimited(self, paths: Sequence[Path], name: str) -> Source:
        found = [in_utf8(path, self.scratch) for path in paths]
        dialects = [read_dialect(head, path) for (_, head), path in zip(found, paths, strict=True)]
        first = dialects[0]
        for dialect, path in zip(dialects, paths, strict=True):
            if dialect.columns != first.columns:
                raise FileError(f"{path} has other columns than {paths[0]}.", path=path)
        columns = ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in first.columns)
        relation = (
            f"read_csv({_listed([path for path, _ in found])}, auto_detect = false, columns = {{{columns}}}, "
            f"header = true, delim = {quoted(first.delimiter)}, quote = '\"', escape = '\"', "
            f"skip = {first.skip}, max_line_size = {first.max_line_bytes})"
        )
        return self.described(name, relation, typed=False)

    def _sheet(self, path: Path, sheet: str, name: str) -> Source:
        """Read a sheet: with the types of its cells, or as text if a column has several."""
        load_extension(self.connection, "excel")
        options = f"sheet = {quoted(sheet)}, header = true, stop_at_empty = false, empty_as_varchar = true"
        query = f"SELECT * FROM read_xlsx({quoted(str(path))}, {options}, all_varchar = %s)"
        with reading(name):
            try:
                table = self.connection.sql(query % "false").to_arrow_table()
            except (duckdb.ConversionException, duckdb.InvalidInputException):
                table = self.connection.sql(query % "true").to_arrow_table()
        if table.num_columns == 1:  # DuckDB reads as many columns as the first row has cells
            message = f"The first row of {name} has one cell only, {table.column_names[0]!r}."
            raise FileError(message, hint="The first row must be the header: delete the rows above it.", path=name)
        return self.arrow(table, name, typed=False)


def read_table(path: Path, sheet: str | None = None) -> pa.Table:
    """Read one file as a table; all columns of a CSV file are text."""
    with Tables() as tables:
        return tables.fetch(tables.source(str(path) if sheet is None else f"{path}#{sheet}"))


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook; refuse one that unpacks to far more than it should."""
    import zipfile
    from xml.etree import ElementTree

    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > SPREADSHEET_BYTES:
                raise ValueError(f"it unpacks to {size / 1e9:.1f} GB")
            content = archive.read("xl/workbook.xml")
        if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
            raise ValueError("its XML declares entities")
        root = ElementTree.fromstring(content)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile, ElementTree.ParseError, NotImplementedError) as error:
        hint = "Save old .xls files and files with a password as .xlsx, large ones as CSV or Parquet."
        raise FileError(f"{path} is not an .xlsx workbook: {quote_error(error)}.", hint=hint, path=path) from error
    return [each.get("name", "") for each in root.iter() if each.tag.rpartition("}")[2] == "sheet"]


def _listed(paths: Sequence[Path]) -> str:
    return "[" + ", ".join(quoted(str(path)) for path in paths) + "]"
