"""Read columns as text, numbers, dates and lists: typed columns directly, text through a handful of DuckDB casts.

A text column may hold numbers with decimal commas, thousands separators, currency signs and percent signs, dates in
the usual forms, and lists such as ``[0.5, 1]`` and ``1;0;0``. Where the values of a column allow two readings
(``1.234``, ``03/04/2020``), the result says so.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

BLANKS = frozenset(
    {
        "", "nan", "nat", "null", "n/a", "<na>", "<null>", "(null)", r"\n",
        "#n/a", "#na", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!",
        "0000-00-00", "0000-00-00 00:00:00",
    }
)  # fmt: skip
"""Words that programs write for nothing and that never name anything; ``\\n`` and dates of zeros are MySQL's."""
MISSING_WORDS = BLANKS | {
    "na", "n.a.", "n.a", "none", "nil", "missing", "unknown", "undefined", "not available", "not applicable",
    "inf", "+inf", "-inf", "infinity", "-infinity", "-", "--", "---", "–", "—", "?", ".", "..", "...",
    "(none)", "(blank)", "(empty)",
}  # fmt: skip
"""Words that mean a missing value among numbers, dates and flags, in lower case without surrounding spaces."""

MIN_READ_SHARE = 0.9
"""Share of the known values that must be numbers, dates or lists for a text column to be one of these."""
MIN_ROWS_FOR_ONE_UNREAD = 5
"""Number of values from which on one may be unreadable, whatever its share."""

PLAIN_NUMBER = r"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"
MAYBE_THOUSANDS = r"^-?[1-9][0-9]{0,2}\.[0-9]{3}$"
SPACES = " \t\u00a0\u2007\u2009\u202f"
APOSTROPHES = "'’"
CURRENCY = r"(?:\p{Sc}|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|kr|zł)"

DATE_START = r"^[0-9]{1,4}[-./ ]\S|^\p{L}{3,9}\.? [0-9]"
ISO_DATE = r"^[12]\d{3}[-/]\d{1,2}[-/]\d"
DATE_FORMS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y", "%d-%b-%Y", "%d %B %Y", "%B %d, %Y",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%b-%y",
)  # fmt: skip
"""Forms of dates besides ISO; of two that fit equally well the first counts, so days come before months."""
TIME_FORMS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
SHORT_YEAR = r"(\d{2}[./]\d{2}[./]|\d{1,2}-\p{L}+-)\d{2}"

LIST_TEXT = r"(?s)^\[.*\]$|^[-+.0-9eE]+(?:\s?;\s?[-+.0-9eE]+)+$"
SECOND_PARTS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True)
class ParsedColumn:
    """Numbers or dates read from a column."""

    values: NDArray[np.float64]  # numbers, or seconds since 1970; NaN where a value is missing or unreadable
    unread: NDArray[np.bool_]  # which values are neither missing nor readable
    form: str = ""  # decimal mark, or `strptime` form of dates; empty for typed columns and ISO dates
    is_ambiguous: bool = False  # whether every value also has another reading, as another number or date

    @property
    def is_mostly_read(self) -> bool:
        """Whether nearly all known values could be read."""
        read = int(np.count_nonzero(~np.isnan(self.values)))
        return is_most(read, read + int(np.count_nonzero(self.unread)))

    @classmethod
    def of_floats(cls, numbers: NDArray[np.float64], form: str = "") -> ParsedColumn:
        """Return numbers, of which the infinite ones count as missing."""
        return cls(np.where(np.isfinite(numbers), numbers, np.nan), np.isinf(numbers), form)

    @classmethod
    def all_unread(cls, values: pa.Array) -> ParsedColumn:
        """Return a column of which no value can be read."""
        return cls(np.full(len(values), np.nan), as_mask(values.is_valid()))

    def take(self, codes: pa.Array) -> ParsedColumn:
        """Return the values at these positions, a null position being a missing value."""
        places = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False)
        values, unread = np.append(self.values, np.nan)[places], np.append(self.unread, False)[places]
        return replace(self, values=values, unread=unread)


def is_missing(texts: pa.Array) -> pa.Array:
    """Return which texts are null or one of `MISSING_WORDS`, ignoring case and surrounding spaces."""
    return _is_null_or_in(texts, MISSING_WORDS)


def is_blank(texts: pa.Array) -> pa.Array:
    """Return which texts are null or one of `BLANKS`: a category may be called NA or unknown."""
    return _is_null_or_in(texts, BLANKS)


def is_no_class(name: Hashable) -> bool:
    """Return whether a text in place of a class name means that there is no label; ``none`` may be a class."""
    return isinstance(name, str) and (name.strip().lower() in BLANKS or name.strip() == "None")


def _is_null_or_in(texts: pa.Array, words: frozenset[str]) -> pa.Array:
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(words), plain.type)))


def is_most(count: int, known: int) -> bool:
    """Return whether `count` of the `known` values are nearly all of them, or all but one."""
    one_unread = known >= MIN_ROWS_FOR_ONE_UNREAD and count == known - 1
    return known > 0 and (count >= MIN_READ_SHARE * known or one_unread)


def plain_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array, without dictionaries and views, and with one type for text."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_run_end_encoded(array.type):
        array = pc.run_end_decode(array)
    if pa.types.is_decimal(array.type):
        return array.cast(pa.float64(), safe=False)
    if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
        return array.cast(pa.string())
    return array


def sample(values: pa.Array, size: int = 2000) -> pa.Array:
    """Return at most `size` values, evenly spaced."""
    if len(values) <= size:
        return values
    return values.take(pa.array(np.linspace(0, len(values) - 1, size).astype(np.int64)))


def as_mask(values: pa.Array) -> NDArray[np.bool_]:
    """Return Arrow booleans as NumPy, null as false."""
    return np.asarray(pc.fill_null(values, False).to_numpy(zero_copy_only=False), dtype=bool)


def as_floats(values: pa.Array) -> NDArray[np.float64]:
    """Return numeric values as float64, null as NaN."""
    filled = pc.fill_null(values.cast(pa.float64(), safe=False), float("nan"))
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def as_text(values: pa.Array) -> pa.Array | None:
    """Return values as trimmed text, null where there is nothing; None for types that have no text.

    Whole numbers have no decimal point, whatever their type.
    """
    if pa.types.is_nested(values.type):
        return None
    if pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64())
        whole = pc.all(pc.or_kleene(pc.equal(numbers, pc.floor(numbers)), pc.is_null(numbers, nan_is_null=True)))
        if whole.as_py() and (pc.max(pc.abs(numbers)).as_py() or 0) < 2**53:
            values = pc.if_else(pc.is_nan(numbers), None, numbers).cast(pa.int64())
    try:
        return trim_text(values.cast(pa.string()))
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None


def trim_text(text: pa.Array) -> pa.Array:
    """Return text without surrounding spaces, null where it is blank."""
    text = pc.utf8_trim_whitespace(text)
    return _without(text, is_blank(text))


def holds_numbers(kind: pa.DataType) -> bool:
    """Return whether `read_numbers` reads values of this type, which is not text."""
    types = pa.types
    is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    return bool(is_number or types.is_duration(kind) or types.is_time(kind))


def read_numbers(values: pa.Array, decimal: str | None = None, *, force: bool = False) -> ParsedColumn:
    """Read a column as numbers.

    Durations and times of day are seconds. Infinite numbers are missing. A text that is a number with one of the two
    decimal marks only is read with that one.

    Parameters
    ----------
    values
        A typed or a text column.
    decimal
        Decimal mark (``"."`` or ``","``) of a text column whose values do not show it.
    force
        Use `decimal` for values that allow both, whatever the other values show.
    """
    kind = values.type
    if pa.types.is_string(kind):
        coded = values.dictionary_encode()
        return _read_number_texts(coded.dictionary, decimal, force).take(coded.indices)
    if not holds_numbers(kind):
        return ParsedColumn.all_unread(values)
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        whole = values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64())
        return ParsedColumn.of_floats(as_floats(whole) / SECOND_PARTS[kind.unit])
    return ParsedColumn.of_floats(as_floats(values.cast(pa.uint8()) if pa.types.is_boolean(kind) else values))


def _read_number_texts(values: pa.Array, decimal: str | None, force: bool) -> ParsedColumn:
    text = _known_text(values)
    is_plain = pc.all(pc.match_substring_regex(text, PLAIN_NUMBER), min_count=0).as_py()
    if is_plain and not pc.any(pc.match_substring_regex(text, MAYBE_THOUSANDS), min_count=0).as_py():
        return ParsedColumn.of_floats(as_floats(text), ".")
    point, comma = (as_floats(each) for each in _evaluate(text, [_number_sql(".", ","), _number_sql(",", ".")]))
    read_by_point, read_by_comma = ~np.isnan(point), ~np.isnan(comma)
    lead = 0 if force else np.count_nonzero(read_by_comma) - np.count_nonzero(read_by_point)
    mark = ("," if lead > 0 else ".") if lead else decimal or "."
    first, second = (comma, point) if mark == "," else (point, comma)
    numbers = np.where(np.isnan(first), second, first)
    differ = bool((read_by_point & read_by_comma & (point != comma)).any())
    return ParsedColumn(
        numbers, as_mask(text.is_valid()) & np.isnan(numbers), mark, differ and not lead and not decimal
    )


def _number_sql(point: str, comma: str) -> str:
    """Return SQL that reads the text ``t`` as a number with this decimal mark and this thousands separator."""
    separator = f"[{comma}{SPACES}{APOSTROPHES}]"
    sign, space, exponent = "[-+−]?", f"[{SPACES}]?", r"(?:[eE][-+]?\d+)?"
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:{separator}\d{{2,3}})*{separator}\d{{3}})?"
    digits = rf"{whole}(?:[{point}]\d*)?{exponent}"
    pattern = f"{sign}{space}{CURRENCY}?{space}{sign}{space}{digits}{space}(?:%|{CURRENCY})?"
    bare = f"regexp_replace(replace(t, '−', '-'), {_quote(f'{CURRENCY}|[{SPACES}{APOSTROPHES}+%]')}, '', 'g')"
    number = f"TRY_CAST(replace(replace({bare}, '{comma}', ''), '{point}', '.') AS DOUBLE)"
    number = f"CASE WHEN isfinite({number}) THEN {number} END"
    return f"CASE WHEN regexp_full_match(t, {_quote(pattern)}) THEN {number} / if(ends_with(t, '%'), 100, 1) END"


def read_dates(values: pa.Array, form: str | None = None) -> ParsedColumn:
    """Read a column as dates, in seconds since 1970.

    Parameters
    ----------
    values
        A typed or a text column.
    form
        Form of the dates that are not ISO dates, one of `DATE_FORMS`; found from the values if not given.
    """
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        whole = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return ParsedColumn(as_floats(whole) / 1e6, np.zeros(len(values), dtype=bool))
    if not pa.types.is_string(kind):
        return ParsedColumn.all_unread(values)
    coded = values.dictionary_encode()
    text = _known_text(coded.dictionary)
    is_ambiguous = False
    if form is None:
        starts = int(np.count_nonzero(as_mask(pc.match_substring_regex(text, DATE_START))))
        if not is_most(starts, len(text) - text.null_count):
            return ParsedColumn.all_unread(values)
        form, is_ambiguous = _find_date_form(sample(text.drop_null()))
    seconds = as_floats(_evaluate(text, [_date_sql(form)])[0])
    return ParsedColumn(seconds, as_mask(text.is_valid()) & np.isnan(seconds), form, is_ambiguous).take(coded.indices)


def _find_date_form(text: pa.Array) -> tuple[str, bool]:
    """Return the form of the dates that are not ISO dates, and whether days and months may be swapped."""
    iso, *others = (as_floats(each) for each in _evaluate(text, list(map(_date_sql, ("", *DATE_FORMS)))))
    read = {form: np.where(np.isnan(iso), seconds, np.nan) for form, seconds in zip(DATE_FORMS, others, strict=True)}
    counts = {form: int(np.count_nonzero(~np.isnan(seconds))) for form, seconds in read.items()}
    best = max(counts, key=counts.__getitem__)
    if not counts[best]:
        return "", False
    swapped = best.translate(str.maketrans("dm", "md"))
    has_twin = "%m" in best and counts.get(swapped) == counts[best]
    return best, has_twin and not np.array_equal(read[best], read[swapped], equal_nan=True)


def _date_sql(form: str) -> str:
    """Return SQL that reads the text ``t`` as an ISO date or one of this form, in seconds since 1970."""
    iso = f"CASE WHEN regexp_matches(t, {_quote(ISO_DATE)}) THEN TRY_CAST(t AS TIMESTAMP) END"
    if not form:
        return f"epoch({iso})"
    if form.endswith("%y"):
        other = f"CASE WHEN regexp_full_match(t, {_quote(SHORT_YEAR)}) THEN try_strptime(t, '{form}') END"
    else:
        forms = ", ".join(f"'{form}{time}'" for time in TIME_FORMS)
        other = rf"CASE WHEN regexp_matches(t, '\d{{4}}') THEN try_strptime(t, [{forms}]) END"
    return f"epoch(coalesce({iso}, {other}))"


def read_lists(values: pa.Array, item: pa.DataType | None = None) -> pa.Array | None:
    """Return a column of lists of float64 or of string, or None if it is not one.

    Text such as ``[0.5, 1]``, ``["a", "b"]`` and ``1;0;0`` is read as lists, null where a value is not one.

    Parameters
    ----------
    values
        A typed or a text column.
    item
        Type of the items, float64 or string; found from the values if not given.
    """
    kind = values.type
    if pa.types.is_string(kind):
        return _read_list_texts(values, item)
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    is_text = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
    try:
        return values.cast(pa.list_(item or (pa.string() if is_text else pa.float64())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def _read_list_texts(values: pa.Array, item: pa.DataType | None) -> pa.Array | None:
    text = _known_text(values)
    is_list = pc.match_substring_regex(text, LIST_TEXT)
    if item is None and not is_most(int(np.count_nonzero(as_mask(is_list))), len(text) - text.null_count):
        return None
    text = _without(text, pc.invert(is_list))
    body = r"regexp_replace(trim(t, '[] ' || chr(10)), '\s*[,;\s]\s*', ',', 'g')"
    numbers, words = _evaluate(text, [f"TRY_CAST('[' || {body} || ']' AS DOUBLE[])", "TRY_CAST(t AS VARCHAR[])"])
    if item is not None:
        return words if pa.types.is_string(item) else numbers
    items = pc.list_flatten(numbers)
    return numbers if items.null_count <= (1 - MIN_READ_SHARE) * len(items) else words


def _known_text(values: pa.Array) -> pa.Array:
    """Return trimmed text, null where it is a word for a missing value."""
    return _without(pc.utf8_trim_whitespace(values), is_missing(values))


def _without(text: pa.Array, mask: pa.Array) -> pa.Array:
    return pc.if_else(mask, pa.scalar(None, pa.string()), text)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _evaluate(text: pa.Array, expressions: Sequence[str]) -> list[pa.Array]:
    """Evaluate SQL expressions over the text column ``t``."""
    selected = ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(expressions))
    with _connect(os.getpid()).cursor() as cursor:
        cursor.register("texts", pa.table({"t": text}))
        table = cursor.sql(f"SELECT {selected} FROM texts").to_arrow_table()
    return [plain_array(column) for column in table.columns]


@functools.cache
def _connect(process: int) -> duckdb.DuckDBPyConnection:  # noqa: ARG001
    """Return this process's connection, which reads nothing but registered tables."""
    return duckdb.connect(config={"threads": 1, "enable_external_access": False, "python_enable_replacements": False})
