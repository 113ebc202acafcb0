"""Sheets of Excel workbooks as tables."""

from __future__ import annotations

import datetime
import logging
import warnings
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from featprop.errors import FeatpropError, FileError, MissingExtraError, quote_error

__all__ = ["read_sheet", "sheet_names"]

log = logging.getLogger(__name__)

LARGEST = 2 * 10**9
"""Bytes that the parts of a workbook may have together once they are unpacked."""

PROTECTED = b"\xd0\xcf\x11\xe0"
"""How a workbook with a password begins, and one of Excel 97."""

ERRORS = frozenset(
    {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#GETTING_DATA", "#SPILL!", "#CALC!"}
)
"""What a cell holds whose formula failed."""

MOST_TITLES = 10
"""Rows that may stand above a table."""

EXACT = 2**53
"""Whole numbers up to here are exact in Excel."""

Row = tuple[Any, ...]


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a workbook, in its order."""
    with _opened(path) as book:
        return [sheet.title for sheet in book.worksheets]


def read_sheet(path: Path, text: Collection[str] | None, sheet: str | None) -> pa.Table:
    """Read one sheet of a workbook.

    The first row that is not empty names the columns, unless it is a title: one cell of text above a row of several.
    Numbers, dates, times and yes or no keep their type where a whole column has it; any other column is text.

    Parameters
    ----------
    text
        The columns to read as text; None for all.
    sheet
        The name of the sheet, whatever its case; None for the first one that is not hidden.
    """
    with _opened(path) as book:
        found = _sheet(book, sheet, path)
        found.reset_dimensions()
        filled = (tuple(map(_value, row)) for row in found.iter_rows(values_only=True))
        rows = [row for row in filled if any(cell is not None for cell in row)]
    above = _titles_above(rows)
    if above:
        log.info("%s: %d rows above the table left out", path, above)
    if not rows:
        raise FileError(f"{path}", "must hold a table", f"the empty sheet {found.title!r}", "name another sheet")
    columns = list(zip_longest(*rows[above:]))
    names = ["" if column[0] is None else _written(column[0]) for column in columns]
    arrays = [
        _column(list(column[1:]), as_text=text is None or name.strip() in text)
        for name, column in zip(names, columns, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=names)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a workbook; whatever is wrong with it becomes one clear error, and what openpyxl warns of is not shown."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError("An Excel workbook", "excel", "openpyxl") from error
    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _check_size(path)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            try:
                yield book
            finally:
                book.close()
        except FeatpropError:
            raise
        except Exception as error:  # openpyxl raises whatever its parsers happen to meet
            raise _damaged(path, quote_error(error)) from error


def _check_size(path: Path) -> None:
    """Refuse a file that is no archive, and one that would fill the memory."""
    with path.open("rb") as file:
        if file.read(4) == PROTECTED:
            cure = "save it as .xlsx without a password"
            raise FileError(f"{path}", "must be an .xlsx workbook", "one with a password or of Excel 97", cure)
    with zipfile.ZipFile(path) as archive:
        size = sum(part.file_size for part in archive.infolist())
    if size > LARGEST:
        rule = f"must have at most {LARGEST / 1e6:,.0f} MB when unpacked"
        raise FileError(f"{path}", rule, f"{size / 1e6:,.0f} MB", "save its sheet as CSV")


def _damaged(path: Path, found: str) -> FileError:
    return FileError(f"{path}", "must be an .xlsx workbook", f"this: {found}", "save it again in that format")


def _sheet(book: Any, name: str | None, path: Path) -> Any:
    sheets = book.worksheets
    listed = ", ".join(sheet.title for sheet in sheets)
    if name is None:
        if not sheets:
            raise _damaged(path, "no sheet of cells")
        return next((sheet for sheet in sheets if sheet.sheet_state == "visible"), sheets[0])
    for sheet in sheets:
        if sheet.title.strip().casefold() == name.strip().casefold():
            return sheet
    raise FileError(f"{path}", f"must have a sheet {name!r}", f"the sheets {listed}", "name one of them")


def _value(cell: Any) -> Any:
    """Return None for what Excel shows as nothing or as an error."""
    if isinstance(cell, str):
        return None if not cell.strip() or cell in ERRORS else cell
    return cell


def _titles_above(rows: list[Row]) -> int:
    """Count the rows above the names of the columns: a single cell at the left, over a row of several texts."""
    above = 0
    while above < min(MOST_TITLES, len(rows)) and isinstance(rows[above][0], str) and _filled(rows[above]) == 1:
        above += 1
    below = rows[above:]
    wide = sum(_filled(row) > 1 for row in below)
    is_table = wide > above and 2 * wide > len(below)
    return above if is_table and all(cell is None or isinstance(cell, str) for cell in below[0]) else 0


def _filled(row: Row) -> int:
    return sum(cell is not None for cell in row)


def _column(values: list[Any], *, as_text: bool) -> pa.Array:
    kinds = {type(value) for value in values if value is not None}
    if as_text or not kinds:
        return pa.array([None if value is None else _written(value) for value in values], pa.string())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds <= {int, float}:
        return _numbers(values)
    if kinds <= {datetime.datetime, datetime.date}:
        return pa.array([_moment(value) for value in values], pa.timestamp("us"))
    if kinds == {datetime.time}:
        return pa.array(values, pa.time64("us"))
    if kinds == {datetime.timedelta}:
        return pa.array(values, pa.duration("us"))
    return pa.array([None if value is None else _written(value) for value in values], pa.string())


def _numbers(values: list[Any]) -> pa.Array:
    """Return integers if every number is whole: Excel knows no other numbers than floating-point ones."""
    if all(value is None or (float(value).is_integer() and abs(value) <= EXACT) for value in values):
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _moment(value: Any) -> datetime.datetime | None:
    if value is None or isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, datetime.time())


def _written(value: Any) -> str:
    """Write a cell as Excel shows it: 161 for 161.0, TRUE for true, a day without its midnight."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)
