"""One DuckDB connection that every table comes through: files of any kind, globs, queries, databases, data frames.

A CSV file keeps its text: DuckDB is told the columns, the delimiter and the quote, and infers no types, so that an id
such as ``007`` stays ``007``. `featprop.features` decides later what a column is. Other sources have types of their
own. A query in a ``graph.toml`` is one SELECT on a connection that cannot install extensions or write to a database
(SECURITY.md has the rest).
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from featprop.errors import FileError, ParameterError, first_five, quote_error
from featprop.resources import scratch_folder
from featprop.sources.databases import LOCKED, attach_database, identifier, load_extension, quoted, reading
from featprop.sources.description import is_sql
from featprop.sources.naming import neo4j_name

DELIMITED = (".csv", ".tsv", ".tab", ".txt")
PARQUET = (".parquet", ".pq")
JSON = (".json", ".jsonl", ".ndjson")
EXCEL = (".xlsx",)
COMPRESSED = (".gz", ".zst")
TABLE_SUFFIXES = (*DELIMITED, *PARQUET, *JSON, *EXCEL)
DUCKDB_SHARE = 0.5
"""Share of a bound on memory that DuckDB may use; ids, edges, features and the libraries need the rest."""
HEAD_BYTES = 1 << 18
"""Bytes at the start of a CSV file that tell its encoding, delimiter and header."""
MAX_LINE_BYTES = 1 << 21
DELIMITERS = ",;\t|"
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


class Tables:
    """The connection. Use it as a context manager.

    Parameters
    ----------
    folder
        The folder that relative paths start from.
    attach
        Databases by name: ``"sqlite:shop.db"``, ``"postgres:dbname=shop"``, ``"mysql:…"``, ``"shop.duckdb"``, or an
        ``s3://`` address, which lets queries read from there.
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
        self.folder = Path() if folder is None else folder
        self._opened = contextlib.ExitStack()
        self.scratch = self._opened.enter_context(scratch_folder(scratch))
        config = LOCKED | {"temp_directory": str(self.scratch / "spill")}
        if max_memory is not None:
            config["memory_limit"] = f"{int(DUCKDB_SHARE * max_memory)}B"
        self.connection = duckdb.connect(config=config)
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

    def __enter__(self) -> Tables:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and remove its files."""
        self.connection.close()
        self._opened.close()

    def source(self, spec: str, what: str = "table") -> Source:
        """Return the table of a file, a glob, a sheet of a workbook or a query.

        Parameters
        ----------
        spec
            The path, the glob or the query; ``"book.xlsx#sheet"`` is a sheet, without it the first.
        what
            Name of a table that has no file, for messages.
        """
        if is_sql(spec):
            return self._query(spec, what)
        book, _, sheet = spec.rpartition("#")
        paths = self._paths(book if table_suffix(Path(book)) in EXCEL else spec)
        suffix = table_suffix(paths[0])
        name = spec if "://" in spec else str(self.folder / spec)
        if suffix in DELIMITED:
            return self._delimited(paths, name)
        if suffix in EXCEL:
            return self._sheet(paths[0], sheet if table_suffix(Path(book)) in EXCEL else None, name)
        read = "read_parquet" if suffix in PARQUET else "read_json"
        return self.described(name, f"{read}({_listed(paths)}, union_by_name = true)")

    def lines(self, path: Path) -> str:
        """Return SQL for the lines of a text file, as the column ``line``."""
        options = "auto_detect = false, header = false, columns = {'line': 'VARCHAR'}, quote = '', escape = ''"
        return f"read_csv({quoted(str(self._in_utf8(path)[0]))}, {options}, delim = '\x01')"

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
            return self.connection.execute(query).to_arrow_table()

    def _query(self, sql: str, what: str) -> Source:
        with reading(what):
            statements = self.connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ParameterError(
                f"The SQL of {what} must be one SELECT statement.",
                hint="graph.toml describes a graph; it cannot change anything.",
                parameter=what,
                value=sql,
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
        if "://" in spec:
            return [Path(spec)]
        path = Path(spec) if Path(spec).is_absolute() else self.folder / spec
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
            known = ", ".join(TABLE_SUFFIXES)
            raise FileError(
                f"{path} is not a table featprop can read.",
                hint=f"Tables end in {known} (or with .gz, .zst).",
                path=path,
            )
        return [path]

    def _delimited(self, paths: Sequence[Path], name: str) -> Source:
        found = [self._in_utf8(path) for path in paths]
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
        if first.kept != first.columns:
            relation = f"(SELECT {', '.join(map(identifier, first.kept))} FROM {relation})"
        return self.described(name, relation, typed=False)

    def _sheet(self, path: Path, sheet: str | None, name: str) -> Source:
        """Read a sheet: with the types of its cells, or as text if a column has several."""
        sheet = sheet or sheet_names(path)[0]
        load_extension(self.connection, "excel")
        options = f"sheet = {quoted(sheet)}, header = true, stop_at_empty = false, empty_as_varchar = true"
        query = f"SELECT * FROM read_xlsx({quoted(str(path))}, {options}, all_varchar = %s)"
        with reading(name):
            try:
                table = self.connection.execute(query % "false").to_arrow_table()
            except (duckdb.ConversionException, duckdb.InvalidInputException):
                table = self.connection.execute(query % "true").to_arrow_table()
        if table.num_columns == 1:  # DuckDB reads as many columns as the first row has cells
            raise FileError(
                f"The first row of {name} has one cell only, {table.column_names[0]!r}.",
                hint="The first row must be the header: delete the rows above it.",
                path=name,
            )
        return self.arrow(table, name, typed=False)

    def _in_utf8(self, path: Path) -> tuple[Path, str]:
        """Return the file, or a copy in UTF-8 if it has another encoding, and the text at its start."""
        encoding, head = detect_encoding(path)
        if encoding == "utf-8":
            return path, head.decode("utf-8-sig", "ignore")
        copy = self.scratch / f"{len(list(self.scratch.iterdir()))}-utf8.csv"
        try:
            with opened(path) as file, copy.open("w", encoding="utf-8", newline="") as out:
                shutil.copyfileobj(io.TextIOWrapper(file, encoding=encoding, newline=""), out, 1 << 20)
        except UnicodeError as error:
            raise FileError(
                f"{path} is not text in {encoding}: {quote_error(error)}.", hint="Save it as UTF-8.", path=path
            ) from error
        return copy, head.decode(encoding, "ignore")


def read_table(path: Path, sheet: str | None = None) -> pa.Table:
    """Read one file as a table; all columns of a CSV file are text."""
    with Tables() as tables:
        return tables.fetch(tables.source(str(path) if sheet is None else f"{path}#{sheet}"))


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written, and which of its columns have a name or a value."""

    delimiter: str
    columns: tuple[str, ...]
    kept: tuple[str, ...]
    skip: int
    max_line_bytes: int


def read_dialect(text: str, shown: Path) -> Dialect:
    """Return the delimiter and the columns of a delimited file that starts with this text."""
    if "\x00" in text[:1024]:
        raise FileError(f"{shown} is not a text file.", hint="Save it as CSV in UTF-8.", path=shown)
    lines = text.splitlines()
    skip = 0
    while skip < len(lines) and not lines[skip].strip():
        skip += 1
    if skip == len(lines):
        raise FileError(f"{shown} is empty.", hint="Export it again.", path=shown)
    if lines[skip].lower().startswith("sep=") and skip + 1 < len(lines):  # Excel's own first line
        skip += 1
    counts = {delimiter: _count_outside_quotes(lines[skip], delimiter) for delimiter in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda each: counts[each])
    written = next(csv.reader(io.StringIO("\n".join(lines[skip:])), delimiter=delimiter))
    columns = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(written)]
    repeated = sorted(name for name, count in Counter(columns).items() if count > 1)
    if repeated:
        raise FileError(
            f"{shown} has several columns of the same name: {first_five(repeated)}.",
            hint="Rename all but one.",
            path=shown,
            column=repeated[0],
        )
    body = list(csv.reader(io.StringIO("\n".join(lines[skip + 1 : skip + 50])), delimiter=delimiter))
    kept = [
        name
        for place, name in enumerate(columns)
        if written[place].strip() or any(len(row) > place and row[place].strip() for row in body)
    ]
    longest = max(len(line.encode()) for line in lines)
    return Dialect(delimiter, tuple(columns), tuple(kept), skip, max(MAX_LINE_BYTES, 4 * longest))


def detect_encoding(path: Path) -> tuple[str, bytes]:
    """Return the encoding of a text file, UTF-8, UTF-16 or Windows-1252 (Latin-1), and the bytes at its start."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with opened(path) as file:
        head = file.read(HEAD_BYTES)
        while b"\n" not in head and b"\r" not in head and (more := file.read(HEAD_BYTES)):
            head += more
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", head
        if len(head) >= 4 and head[0] and not head[1] and head[2] and not head[3]:
            return "utf-16-le", head
        try:
            piece = head
            while piece:
                decoder.decode(piece)
                piece = file.read(1 << 22)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            undefined = b"\x81\x8d\x8f\x90\x9d"  # bytes Windows-1252 does not have
            return "latin-1" if any(byte in piece for byte in undefined) else "cp1252", head
    return "utf-8", head


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file that may be compressed with gzip or Zstandard."""
    kinds = {".gz": "gzip", ".zst": "zstd"}
    try:
        with pa.input_stream(str(path), compression=kinds.get(path.suffix.lower())) as file:
            yield file
    except (OSError, pa.ArrowException, EOFError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{path} cannot be read: {quote_error(error)}.", path=path) from error


def table_suffix(path: Path) -> str:
    """Return the suffix that tells the kind of a table, also of a backup (``.bak``) or a compressed file."""
    suffixes = [suffix.lower() for suffix in path.suffixes if not re.fullmatch(r"\.(bak|\d+)", suffix)]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


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


def _count_outside_quotes(line: str, mark: str) -> int:
    return sum(part.count(mark) for part in line.split('"')[::2])


def _listed(paths: Sequence[Path]) -> str:
    return "[" + ", ".join(quoted(re.sub("^(s3|gs|https?):/", r"\1://", str(path))) for path in paths) + "]"
