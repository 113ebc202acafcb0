"""CSV files as people and programs export them: any common delimiter, any common encoding, codes kept as text."""

from __future__ import annotations

import codecs
import logging
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import FileError, shorten
from featprop.io.encodings import encoding_of
from featprop.io.quotes import SHOWN, check_quotes
from featprop.tables.missing import is_missing
from featprop.tables.numbers import decimal_comma
from featprop.tables.thousands import DECIMAL_POINT, DOTTED, Dots

__all__ = [
    "BLOCKS",
    "Layout",
    "layout_of",
    "read_csv",
    "text_columns",
    "thousands_columns",
    "typed_csv",
    "uneven_row",
    "without_dots",
]

log = logging.getLogger(__name__)

DELIMITERS = ",;\t|"

START = 1 << 20
"""How many bytes are looked at before the whole file is read."""

BLOCKS = (START, 1 << 26)
"""How many bytes are read at once; the second is for files whose rows are longer than the first."""

CODE = r"^\s*[+-]?(?:0[0-9xX]|[0-9]{19})"
"""Digits that would not come back from a number: ``01234``, ``0x1F``, more of them than 64 bits hold."""

UNEVEN = re.compile(r"CSV parse error: (?:Row #([0-9]+): )?Expected ([0-9]+) columns, got ([0-9]+): ")
"""What PyArrow says of a row; its number only where one thread reads."""

Result = TypeVar("Result")

OTHERWISE_DOTTED = r"\.(?:[0-9]{0,2}|[0-9]{4,})(?:[^0-9]|$)|^\s*[+-]?(?:0|[0-9]{4,})?\."


def read_csv(path: Path, text: Collection[str] | None) -> pa.Table:
    """Read a CSV file; columns get the type that all their values have, text if they have none in common.

    Parameters
    ----------
    text
        The columns to read as text; None for all.
    """
    layout = layout_of(path)
    check_quotes(path, layout)
    layout.tell(path)
    dotted = thousands_columns(path, layout, text)
    return without_dots(typed_csv(path, layout, [*text_columns(path, layout, text), *dotted]), dotted)


def text_columns(path: Path, layout: Layout, text: Collection[str] | None) -> list[str]:
    """Return the columns to read as text: those named, all if `text` is None, and those of codes."""
    return _by_blocks(path, lambda block: _text_columns(path, text, *layout.options(block)))


def thousands_columns(path: Path, layout: Layout, text: Collection[str] | None) -> list[str]:
    """Return the columns of a file in which dots stand between thousands, and say so.

    All values of a column tell it together. In a file that has decimal points elsewhere, and in one without semicolons,
    which people use who write decimal commas, it is only said.
    """
    if text is None:
        return []
    found, has_points = _by_blocks(path, lambda block: _dots(path, text, *layout.options(block)))
    if layout.delimiter != ";":
        found = {name: dots for name, dots in found.items() if dots.are_many}
        has_points = True
    return [name for name, dots in found.items() if dots.settle(name.strip(), f"{path}", has_points=has_points)]


def without_dots(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Take the dots between thousands out of columns of text, and make numbers of them if all of them are."""
    for name in names:
        texts = pc.utf8_trim_whitespace(table.column(name))
        digits = pc.if_else(pc.match_substring_regex(texts, DOTTED), pc.replace_substring(texts, ".", ""), texts)
        digits = pc.if_else(is_missing(texts), pa.scalar(None, digits.type), digits)
        with suppress(pa.ArrowInvalid):
            digits = digits.cast(pa.int64())
        table = table.set_column(table.column_names.index(name), name, digits)
    return table


def typed_csv(path: Path, layout: Layout, as_text: Sequence[str]) -> pa.Table:
    """Read a CSV file; columns other than those `as_text` get the type that all their values have."""
    return _by_blocks(path, lambda block: _typed(path, as_text, *layout.options(block)))


def _by_blocks(path: Path, act: Callable[[int], Result]) -> Result:
    """Return what `act` gives, with larger blocks if a row is too long."""
    for block in BLOCKS[:-1]:
        try:
            return act(block)
        except pa.ArrowInvalid:
            if path.stat().st_size <= block:
                raise
    return act(BLOCKS[-1])


def uneven_row(path: Path, error: Exception) -> FileError | None:
    """Return the error about a row of more or fewer columns than the header; None if PyArrow's is about anything else.

    The file is read once more, to count the rows before it.
    """
    if not UNEVEN.match(str(error)):
        return None
    from pyarrow import csv

    layout = layout_of(path)
    read, parse = layout.options(BLOCKS[-1])
    read.use_threads = False
    found = error
    try:
        with csv.open_csv(path, read, parse) as file:
            convert = csv.ConvertOptions(column_types=dict.fromkeys(file.schema.names, pa.string()))
        with csv.open_csv(path, read, parse, convert) as file:
            for _ in file:
                pass
    except (pa.ArrowException, UnicodeError) as again:
        found = again
    told = UNEVEN.match(str(found))
    if told is None:
        return None
    row = f"row {int(told[1]) - 1 - layout.skip:,}" if told[1] else "a row"
    rule = f"must have {int(told[2]):,} columns in every row, as in its header"
    written = " ".join(str(found)[told.end() :].split())
    shown = shorten(written, SHOWN)
    cure = f"quote the field if it holds {layout.delimiter!r}, or mend the row"
    return FileError(f"{path}", rule, f"{int(told[3]):,} in {row} ({shown})", cure)


class Layout(NamedTuple):
    """How a CSV file is written: its encoding, its delimiter, and how many lines stand before the header."""

    encoding: str
    delimiter: str
    skip: int

    def options(self, block: int) -> tuple[Any, Any]:
        """Return what PyArrow needs to know to read the file, so many bytes at once."""
        from pyarrow import csv

        encoding = self.encoding.replace("utf-8", "utf8")
        read = csv.ReadOptions(encoding=encoding, skip_rows=self.skip, block_size=block)
        return read, csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)

    def tell(self, path: Path) -> None:
        """Say in which encoding a file was read, if it is not the usual one."""
        if self.encoding != "utf-8":
            log.info("read %s as %s", path, self.encoding)


def layout_of(path: Path) -> Layout:
    """Return how a CSV file is written."""
    encoding = encoding_of(path)
    return Layout(encoding, *_delimiter(path, encoding))


def _text_columns(path: Path, text: Collection[str] | None, options: Any, parse: Any) -> list[str]:
    from pyarrow import csv

    written = csv.open_csv(path, options, parse).schema.names
    if text is None:
        return list(written)
    return [name for name in written if name.strip() in text] + _codes(path, written, options, parse)


def _dots(path: Path, text: Collection[str], options: Any, parse: Any) -> tuple[dict[str, Dots], bool]:
    """Return the dots of columns that leave open what these are, and whether other columns have decimal points.

    Looked at are columns with such a dot in the first block.
    """
    from pyarrow import csv

    with csv.open_csv(path, options, parse) as file:
        written = file.schema.names
    if len(set(written)) < len(written):
        return {}, False
    convert = csv.ConvertOptions(column_types=dict.fromkeys(written, pa.string()))
    with csv.open_csv(path, options, parse, convert) as file:
        first = next(iter(file), None)
    if first is None or not first.num_rows or _has_decimal_comma(first.columns):
        return {}, False
    places = [place for place in np.flatnonzero(_any(first.columns, DOTTED)) if written[place].strip() not in text]
    found = {written[place]: Dots() for place in places if Dots.of(first.columns[place]) is not None}
    if not found:
        return {}, False
    convert.include_columns = list(found)
    with csv.open_csv(path, options, parse, convert) as file:
        for batch in file:
            more = {name: Dots.of(batch.column(name)) for name in found}
            found = {name: found[name] + dots for name, dots in more.items() if dots is not None}
    has_points = _any(first.columns, DECIMAL_POINT).any()
    return {name: dots for name, dots in found.items() if dots.is_open}, bool(has_points)


def _has_decimal_comma(columns: list[pa.Array]) -> bool:
    return any(decimal_comma(columns[place]) for place in np.flatnonzero(_any(columns, ",")))


def _typed(path: Path, as_text: Sequence[str], options: Any, parse: Any) -> pa.Table:
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types=dict.fromkeys(as_text, pa.string()), strings_can_be_null=False)
    table = csv.read_csv(path, options, parse, convert)
    whole = [field.name for field in table.schema if pa.types.is_integer(field.type)]
    late = _late_codes(path, whole, options, parse) if whole else []
    if not late:
        return table
    convert.column_types = dict.fromkeys([*as_text, *late], pa.string())
    return csv.read_csv(path, options, parse, convert)


def _late_codes(path: Path, whole: list[str], options: Any, parse: Any) -> list[str]:
    """Return the columns of whole numbers that somewhere in the file have digits which a number would not keep."""
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types=dict.fromkeys(whole, pa.string()), include_columns=whole)
    found: set[str] = set()
    for batch in csv.open_csv(path, options, parse, convert):
        is_code = _any(batch.columns, CODE) if batch.num_rows else np.zeros(len(whole), dtype=bool)
        found |= {whole[place] for place in np.flatnonzero(is_code)}
    return sorted(found)


def _delimiter(path: Path, encoding: str) -> tuple[str, int]:
    """Return the delimiter and how many lines stand before the header.

    The delimiter is the one that occurs most in the header outside quotes, unless the line ``sep=;`` names it.
    """
    with path.open("rb") as file:
        start = codecs.getincrementaldecoder(encoding)().decode(file.read(START)).lstrip("\ufeff")
    named = re.match(r'"?sep=(.)"?\r?\n', start, re.IGNORECASE)
    if named:
        return named[1], 1
    unquoted = re.sub(r'"[^"]*"', "", start.lstrip("\r\n"))
    header = re.split(r"[\r\n]", unquoted, maxsplit=1)[0]
    return max(DELIMITERS, key=header.count), 0


def _codes(path: Path, written: list[str], options: Any, parse: Any) -> list[str]:
    """Return the columns that read as numbers but are not: by the values of the first block."""
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types=dict.fromkeys(written, pa.string()))
    try:
        first = csv.open_csv(path, options, parse, convert).read_next_batch()
    except StopIteration:
        return []
    columns = first.columns
    is_code = _any(columns, CODE)
    if parse.delimiter != "," and _has_decimal_comma(columns):
        is_code |= _any(columns, DOTTED) & ~_any(columns, OTHERWISE_DOTTED)
    return [written[place] for place in np.flatnonzero(is_code)]


def _any(columns: list[pa.Array], pattern: str) -> NDArray[np.bool_]:
    """Say of each column whether a value fits the pattern; all at once, for there may be a hundred thousand."""
    fits = pc.match_substring_regex(pa.concat_arrays(columns), pattern).to_numpy(zero_copy_only=False)
    return np.asarray(fits.reshape(len(columns), -1).any(axis=1))
