"""Text files: their compression, their encoding, and the delimiter and header of those with columns."""

from __future__ import annotations

import codecs
import csv
import io
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from featprop.errors import FileError, first_five, quote_error

COMPRESSED = {".gz": "gzip", ".zst": "zstd"}
HEAD_BYTES = 1 << 18
"""Bytes at the start of a file that tell its encoding, delimiter and header."""
MAX_LINE_BYTES = 1 << 21
DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Dialect:
    """How a delimited file is written."""

    delimiter: str
    columns: tuple[str, ...]
    skip: int
    max_line_bytes: int


def table_suffix(path: Path) -> str:
    """Return the suffix that tells the kind of a table, also of a backup (``.bak``) or a compressed file."""
    suffixes = [suffix.lower() for suffix in path.suffixes if not re.fullmatch(r"\.(bak|\d+)", suffix)]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file that may be compressed with gzip or Zstandard."""
    try:
        with pa.input_stream(str(path), compression=COMPRESSED.get(path.suffix.lower())) as file:
            yield file
    except (OSError, pa.ArrowException, EOFError) as error:
        raise FileError(f"{path} cannot be read: {quote_error(error)}.", path=path) from error


def detect_encoding(path: Path) -> tuple[str, bytes]:
    """Return the encoding of a text file, UTF-8, UTF-16 or Windows-1252, and the bytes at its start."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with opened(path) as file:
        head = file.read(HEAD_BYTES)
        while b"\n" not in head and b"\r" not in head and (more := file.read(HEAD_BYTES)):
            head += more
        if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16", head
        if len(head) >= 4 and head[0] and not head[1] and head[2] and not head[3]:
            return "utf-16-le", head
        piece = head
        try:
            while piece:
                decoder.decode(piece)
                piece = file.read(1 << 22)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252", head
    return "utf-8", head


def in_utf8(path: Path, folder: Path) -> tuple[Path, str]:
    """Return the file, or a copy in that folder if its encoding is not UTF-8, and the text at its start."""
    encoding, head = detect_encoding(path)
    if encoding == "utf-8":
        return path, head.decode("utf-8-sig", "ignore")
    copy = folder / f"{len(list(folder.iterdir()))}-utf8.csv"
    try:
        with opened(path) as file, copy.open("w", encoding="utf-8", newline="") as out:
            shutil.copyfileobj(io.TextIOWrapper(file, encoding=encoding, newline=""), out, 1 << 20)
    except UnicodeError as error:
        message = f"{path} is not text in {encoding}: {quote_error(error)}."
        raise FileError(message, hint="Save it as UTF-8.", path=path) from error
    return copy, head.decode(encoding, "ignore")


def read_dialect(text: str, path: Path) -> Dialect:
    """Return the delimiter and the columns of a delimited file that starts with this text."""
    if "\x00" in text[:1024]:
        raise FileError(f"{path} is not a text file.", hint="Save it as CSV in UTF-8.", path=path)
    lines = text.splitlines()
    skip = next((place for place, line in enumerate(lines) if line.strip()), None)
    if skip is None:
        raise FileError(f"{path} is empty.", hint="Export it again.", path=path)
    if lines[skip].lower().startswith("sep=") and skip + 1 < len(lines):  # Excel's own first line
        skip += 1
    outside_quotes = "".join(lines[skip].split('"')[::2])
    delimiter = max(DELIMITERS, key=outside_quotes.count)
    header = next(csv.reader(io.StringIO("\n".join(lines[skip : skip + 50])), delimiter=delimiter))
    columns = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(header)]
    repeated = sorted(name for name, count in Counter(columns).items() if count > 1)
    if repeated:
        message = f"{path} has several columns of the same name: {first_five(repeated)}."
        raise FileError(message, hint="Rename all but one.", path=path, column=repeated[0])
    longest = max(len(line.encode()) for line in lines)
    return Dialect(delimiter, tuple(columns), skip, max(MAX_LINE_BYTES, 4 * longest))
