"""Quotes in a CSV file that are not closed: the cell that one opens takes the rows after it for its text.

A quote counts where PyArrow's reader has it count: it opens a cell only as the first letter of it, two in a row are one
of the text, and any other is text.
"""

from __future__ import annotations

import codecs
import itertools
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featprop.errors import FileError, shorten

if TYPE_CHECKING:
    from featprop.io.csv_files import Layout

__all__ = ["SHOWN", "check_quotes"]

log = logging.getLogger(__name__)

BLOCK = 1 << 21
"""Bytes that are looked at together."""

LONGEST = 1 << 27
"""Bytes of the longest row that anybody reads."""

LOOKED_AT = 1 << 16
"""Bytes of a cell of several lines that are looked at."""

SHOWN = 80
"""Letters of a row that a message shows."""

ROWS = 2
DELIMITERS = 4
"""Lines inside of a cell that make rows of it, and delimiters that these have together, at least."""

CURE = 'close the quote where the cell ends, or double it ("") where it belongs to the text'

NEWLINE, RETURN, QUOTE = b'\n\r"'
AFTER = np.frombuffer(b"\n\r \t", np.uint8)
"""What may stand after the quote that closes a cell, beside the delimiter."""


class _Rows(NamedTuple):
    """Some rows of a file, one after the other, and the cells in quotes: where each opens and where it is closed.

    What is after `end` belongs to the next rows; a cell that is not closed has its end where the text has it.
    """

    text: bytes
    opened: NDArray[np.int64]
    closed: NDArray[np.int64]
    end: int


def check_quotes(path: Path, layout: Layout) -> None:
    """Refuse a CSV file with a quote that is never closed, and warn of a cell that holds what look like rows.

    The file is read in pieces; one without quotes costs no more than that.
    """
    suspects: list[tuple[int, int]] = []
    expected = 0
    for number, rows in enumerate(_pieces(path, layout)):
        if number == 0:
            expected = _delimiters_in_header(rows, layout)
        if len(rows.opened) and rows.closed[-1] == len(rows.text) and rows.end == len(rows.text):
            raise _unclosed(path, layout, number, int(rows.opened[-1]))
        suspects += [(number, place) for place in _suspects(rows, layout, expected)]
    if suspects:
        row, _ = _row(path, layout, *suspects[0])
        more = f" (and {len(suspects) - 1:,} more such cells)" if len(suspects) > 1 else ""
        log.warning(
            "%s: the quote that opens in %s makes one cell of lines that look like rows%s: %s", path, row, more, CURE
        )


def _unclosed(path: Path, layout: Layout, number: int, place: int) -> FileError:
    row, shown = _row(path, layout, number, place)
    return FileError(f"{path}", "must close every quote", f"one that opens in {row} ({shown}) and never closes", CURE)


def _pieces(path: Path, layout: Layout) -> Iterator[_Rows]:
    """Yield all rows; the last end where the file does, or where a row is longer than anybody reads."""
    delimiter, rest = ord(layout.delimiter), b""
    for block, is_last in _blocks(path, layout.encoding):
        text = rest + block
        opened, closed = _in_quotes(text, delimiter)
        ended = is_last or len(text) > LONGEST
        end = len(text) if ended else _last_end(text, opened, closed)
        if end:
            yield _Rows(text, opened, closed, end)
        rest = text[end:]
        if ended:
            return


def _blocks(path: Path, encoding: str) -> Iterator[tuple[bytes, bool]]:
    """Yield the file in an encoding whose quotes, delimiters and line ends are those of ASCII, without its mark."""
    with path.open("rb") as file:
        wide = codecs.getreader(encoding)(file) if encoding.startswith(("utf-16", "utf-32")) else None
        block = (wide.read(BLOCK).encode() if wide else file.read(BLOCK)).removeprefix(codecs.BOM_UTF8)
        while block:
            following = wide.read(BLOCK).encode() if wide else file.read(BLOCK)
            yield block, not following
            block = following


def _in_quotes(text: bytes, delimiter: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where cells in quotes open and close, of text that begins with a row.

    Of quotes one after the other an even number changes nothing. An odd one at the start of a cell opens it, or closes
    one whose text ends with a delimiter or a line end; anywhere else it closes a cell, or is text of one without them.
    """
    none = np.empty(0, dtype=np.int64)
    if QUOTE not in text:
        return none, none
    letters = np.frombuffer(text, np.uint8)
    heads, tails = _odd_runs(np.flatnonzero(letters == QUOTE))
    before = letters[heads - 1]
    at_start = (before == delimiter) | (before == NEWLINE) | (before == RETURN) | (heads == 0)
    turns = np.cumsum(at_start, dtype=np.int32)
    is_open = (turns - np.maximum.accumulate(np.where(at_start, 0, turns))) & 1 == 1
    changes = np.diff(is_open, prepend=False)
    opened, closed = heads[changes & is_open], tails[changes & ~is_open]
    return opened, closed if len(closed) == len(opened) else np.append(closed, len(text))


def _odd_runs(quotes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where an odd number of quotes one after the other begins and ends."""
    begins = np.diff(quotes, prepend=-2) != 1
    if begins.all():
        return quotes, quotes
    first = np.flatnonzero(begins)
    lengths = np.diff(first, append=len(quotes))
    heads = quotes[first]
    is_odd = lengths % 2 == 1
    return heads[is_odd], (heads + lengths - 1)[is_odd]


def _last_end(text: bytes, opened: NDArray[np.int64], closed: NDArray[np.int64]) -> int:
    """Return where the last row ends that does; 0 if none does."""
    end = len(text)
    while end:
        end = max(text.rfind(b"\n", 0, end), text.rfind(b"\r", 0, end)) + 1
        cell = int(np.searchsorted(opened, end)) - 1
        if cell < 0 or closed[cell] < end:
            break
        end = int(opened[cell])
    return end


def _suspects(rows: _Rows, layout: Layout, expected: int) -> list[int]:
    """Return where cells open that hold line ends, and rows between these or more text after their last quote."""
    if not len(rows.opened):
        return []
    letters = np.frombuffer(rows.text, np.uint8)
    ends = np.flatnonzero(letters[: rows.end] == NEWLINE)
    lines = np.bincount(_cells(rows, ends) + 1, minlength=len(rows.opened) + 1)[1:]
    several = np.flatnonzero(lines)
    opened, closed = rows.opened, rows.closed
    after = letters[np.minimum(closed[several] + 1, len(letters) - 1)]
    is_last = closed[several] + 1 == len(letters)
    torn = ~(is_last | (after == ord(layout.delimiter)) | np.isin(after, AFTER))
    found = opened[several[torn]].tolist()
    whole = several[~torn & (lines[several] > ROWS)]
    delimiter = layout.delimiter.encode()
    for place, end in zip(opened[whole].tolist(), closed[whole].tolist(), strict=True):
        if _holds_rows(rows.text, place, end, delimiter, expected):
            found.append(place)
    return sorted(found)


def _holds_rows(text: bytes, opened: int, closed: int, delimiter: bytes, expected: int) -> bool:
    """Say whether the whole lines in a cell, or the first of them, all have as many delimiters as the header.

    Those of prose have a space after them.
    """
    start = text.find(b"\n", opened) + 1
    if text.count(delimiter, start, text.find(b"\n", start)) != expected:
        return False
    lines = text[start : min(closed, start + LOOKED_AT)].split(b"\n", DELIMITERS)[:-1]
    enough = len(lines) >= ROWS and expected * len(lines) >= DELIMITERS
    return enough and all(line.count(delimiter) == expected and delimiter + b" " not in line for line in lines)


def _delimiters_in_header(rows: _Rows, layout: Layout) -> int:
    """Return how many delimiters the header has outside of quotes."""
    letters = np.frombuffer(rows.text, np.uint8)
    ends = _row_ends(rows, len(letters))
    start = int(ends[layout.skip - 1]) if layout.skip and len(ends) > layout.skip else 0
    end = int(ends[layout.skip]) if len(ends) > layout.skip else len(letters)
    places = start + np.flatnonzero(letters[start:end] == ord(layout.delimiter))
    return int(np.count_nonzero(_outside(rows, places)))


def _row(path: Path, layout: Layout, number: int, place: int) -> tuple[str, str]:
    """Return which row is at a place of some piece, and what it begins with."""
    row = -layout.skip
    for rows in itertools.islice(_pieces(path, layout), number):
        row += len(_row_ends(rows, rows.end))
    rows = next(itertools.islice(_pieces(path, layout), number, None))
    ends = _row_ends(rows, place)
    row += len(ends)
    start = int(ends[-1]) if len(ends) else 0
    written = rows.text[start : start + 8 * SHOWN].decode(errors="replace").splitlines()
    line = next((line for line in written if line.strip()), "")
    return f"row {row:,}" if row > 0 else "the header", shorten(line, SHOWN)


def _row_ends(rows: _Rows, before: int) -> NDArray[np.int64]:
    """Return where rows end that are not empty."""
    letters = np.frombuffer(rows.text, np.uint8)[:before]
    ends = np.flatnonzero((letters == NEWLINE) | (letters == RETURN))
    ends = ends[_outside(rows, ends)]
    return ends[np.diff(ends, prepend=-1) > 1]


def _outside(rows: _Rows, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    return _cells(rows, places) < 0


def _cells(rows: _Rows, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return in which cell in quotes each place is, -1 for none."""
    if not len(rows.opened):
        return np.full(len(places), -1)
    cells = np.searchsorted(rows.opened, places, side="right") - 1
    return np.where(places > rows.closed[cells], -1, cells)
