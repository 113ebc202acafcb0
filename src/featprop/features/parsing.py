"""Read columns as text, numbers, dates and lists: typed columns directly, text through a handful of DuckDB casts.

A text column may hold numbers with decimal commas, thousands separators, currency signs and percent signs, dates in
the usual forms, and lists such as ``[0.5, 1]`` and ``1;0;0``. Where the values of a column allow two readings
(``1.234``, ``03/04/2020``), `find_decimal_mark` and `find_date_form` say so.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Hashable
from typing import NamedTuple

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

PLAIN_NUMBER = r"^-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"
MAYBE_THOUSANDS = r"^-?[1-9][0-9]{0,2}\.[0-9]{3}$"
SPACES = " \t\u00a0\u2007\u2009\u202f"
APOSTROPHES = "'’"
CURRENCY = r"(?:\p{Sc}|EUR|USD|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|kr|zł)"

ISO_DATE = r"^[12]\d{3}[-/]\d{1,2}[-/]\d"
DATE_FORMS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y", "%d-%b-%Y", "%d %B %Y", "%B %d, %Y",
)  # fmt: skip
"""Forms of dates besides ISO; of two that fit equally well the first counts, so days come before months."""
YEAR = r"\d{4}"
TIME_FORMS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")

LIST_TEXT = r"(?s)^\[.*\]$|^[-+.0-9eE]+(?:\s?;\s?[-+.0-9eE]+)+$"


class Form(NamedTuple):
    """How the numbers or dates of a text column are written."""

    text: str  # decimal mark, or form of dates as `strptime` has it, empty for ISO dates
    is_ambiguous: bool  # whether another form reads all values as well, but differently


def is_missing(texts: pa.Array, words: frozenset[str] = MISSING_WORDS) -> pa.Array:
    """Return which texts are null or one of these words, ignoring case and surrounding spaces."""
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    return pc.or_kleene(pc.is_null(texts), pc.is_in(plain, value_set=pa.array(sorted(words), plain.type)))


def is_no_class(name: Hashable) -> bool:
    """Return whether a text in place of a class name means that there is no label; ``none`` may be a class."""
    return isinstance(name, str) and (name.strip().lower() in BLANKS or name.strip() == "None")


def has_value(values: pa.Array) -> NDArray[np.bool_]:
    """Return which values are neither null, NaN nor a word for nothing."""
    is_text = pa.types.is_string(values.type)
    return ~as_mask(is_missing(values) if is_text else pc.is_null(values, nan_is_null=True))


def is_most(count: int, known: int) -> bool:
    """Return whether `count` of the `known` values are nearly all of them."""
    return known > 0 and count >= MIN_READ_SHARE * known


def is_mostly_read(read: NDArray[np.float64], values: pa.Array) -> bool:
    """Return whether nearly all values of a column were read as numbers or dates."""
    return is_most(int(np.count_nonzero(~np.isnan(read))), int(np.count_nonzero(has_value(values))))


def plain_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array without dictionaries, with one type for text and seconds for durations and times."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_decimal(kind):
        return array.cast(pa.float64(), safe=False)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(pa.string())
    if pa.types.is_duration(kind) or pa.types.is_time(kind):
        exact = array.cast(pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us"), safe=False)
        return pc.divide(exact.cast(pa.int64()).cast(pa.float64(), safe=False), 1e6)
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
        text = clean_text(values.cast(pa.string()), BLANKS)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None
    return pc.if_else(pc.equal(text, "-0"), "0", text) if pa.types.is_floating(values.type) else text


def clean_text(text: pa.Array, words: frozenset[str] = MISSING_WORDS) -> pa.Array:
    """Return text without surrounding spaces, null where it is one of these words."""
    return pc.if_else(is_missing(text, words), pa.scalar(None, pa.string()), pc.utf8_trim_whitespace(text))


def holds_numbers(kind: pa.DataType) -> bool:
    """Return whether `read_numbers` reads values of this type, which is not text."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def read_numbers(values: pa.Array, decimal: str = ".") -> NDArray[np.float64]:
    """Read a column as numbers, NaN where a value is missing, infinite or not a number.

    Text that both decimal marks make a number is read with `decimal`, other text with the mark it shows.
    """

    def read(distinct: pa.Array) -> NDArray[np.float64]:
        text = clean_text(distinct)
        if decimal == "." and _matches_all(text, PLAIN_NUMBER):
            return as_floats(text)
        marks = (".", ",") if decimal == "." else (",", ".")
        return as_floats(*_evaluate(text, f"coalesce({_number_sql(*marks)}, {_number_sql(*reversed(marks))})"))

    if holds_numbers(values.type):
        numbers = as_floats(values)
        return np.where(np.isfinite(numbers), numbers, np.nan)
    return _read_distinct(values, read)


def find_decimal_mark(values: pa.Array, default: str | None = None) -> Form:
    """Return the decimal mark of a column: the one that reads more of its values, `default` or a point in a tie."""
    if not pa.types.is_string(values.type):
        return Form(default or ".", is_ambiguous=False)
    text = clean_text(pc.unique(values))
    if _matches_all(text, PLAIN_NUMBER) and not as_mask(pc.match_substring_regex(text, MAYBE_THOUSANDS)).any():
        return Form(".", is_ambiguous=False)
    point, comma = map(as_floats, _evaluate(text, _number_sql(".", ","), _number_sql(",", ".")))
    lead = np.count_nonzero(~np.isnan(comma)) - np.count_nonzero(~np.isnan(point))
    if lead:
        return Form("," if lead > 0 else ".", is_ambiguous=False)
    differ = bool((point != comma)[~np.isnan(point) & ~np.isnan(comma)].any())
    return Form(default or ".", differ and default is None)


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


def read_dates(values: pa.Array, form: str = "") -> NDArray[np.float64]:
    """Read a column as dates in seconds since 1970, NaN where a value is missing, or neither ISO nor of this form."""
    kind = values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        whole = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return as_floats(whole) / 1e6
    return _read_distinct(values, lambda texts: as_floats(*_evaluate(clean_text(texts), _date_sql(form))))


def find_date_form(values: pa.Array) -> Form:
    """Return the form of the dates of a column that are not ISO dates; ambiguous if days and months may be swapped."""
    if not pa.types.is_string(values.type):
        return Form("", is_ambiguous=False)
    text = sample(clean_text(pc.unique(values)).drop_null())
    text = text.filter(pc.match_substring_regex(text, YEAR))
    iso, *others = (as_floats(each) for each in _evaluate(text, *map(_date_sql, ("", *DATE_FORMS))))
    read = {form: seconds[np.isnan(iso)] for form, seconds in zip(DATE_FORMS, others, strict=True)}
    counts = {form: int(np.count_nonzero(~np.isnan(seconds))) for form, seconds in read.items()}
    best = max(counts, key=counts.__getitem__)
    if not counts[best]:
        return Form("", is_ambiguous=False)
    twin = best.translate(str.maketrans("dm", "md"))
    may_be_swapped = twin != best and counts.get(twin) == counts[best]
    return Form(best, may_be_swapped and not np.array_equal(read[best], read[twin], equal_nan=True))


def _date_sql(form: str) -> str:
    """Return SQL that reads the text ``t`` as an ISO date or one of this form, in seconds since 1970."""
    iso = f"CASE WHEN regexp_matches(t, {_quote(ISO_DATE)}) THEN TRY_CAST(t AS TIMESTAMP) END"
    if not form:
        return f"epoch({iso})"
    forms = ", ".join(f"'{form}{time}'" for time in TIME_FORMS)
    return rf"epoch(coalesce({iso}, CASE WHEN regexp_matches(t, '{YEAR}') THEN try_strptime(t, [{forms}]) END))"


def read_lists(values: pa.Array, item: pa.DataType | None = None) -> pa.Array:
    """Return lists of float64 or of string, of the type `item` if given; null where a value is not a list.

    Text such as ``[0.5, 1]``, ``["a", "b"]`` and ``1;0;0`` is read as lists; without `item`, if nearly all of it is.
    """
    kind = values.type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    no_lists = pa.nulls(len(values), pa.list_(item or pa.string()))
    if not is_list:
        return _read_list_texts(values, item, no_lists) if pa.types.is_string(kind) else no_lists
    is_text = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
    try:
        return values.cast(pa.list_(item or (pa.string() if is_text else pa.float64())))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return no_lists


def _read_list_texts(values: pa.Array, item: pa.DataType | None, no_lists: pa.Array) -> pa.Array:
    text = clean_text(values)
    is_list = pc.match_substring_regex(text, LIST_TEXT)
    if item is None and not is_most(int(np.count_nonzero(as_mask(is_list))), len(text) - text.null_count):
        return no_lists
    text = pc.if_else(is_list, text, pa.scalar(None, pa.string()))
    body = r"regexp_replace(trim(t, '[] ' || chr(10)), '\s*[,;\s]\s*', ',', 'g')"
    (numbers,) = _evaluate(text, f"TRY_CAST('[' || {body} || ']' AS DOUBLE[])")
    if item is None:
        has_numbers = pc.list_flatten(numbers).null_count <= (1 - MIN_READ_SHARE) * len(pc.list_flatten(numbers))
        item = pa.float64() if has_numbers else pa.string()
    return numbers if pa.types.is_floating(item) else _evaluate(text, "TRY_CAST(t AS VARCHAR[])")[0]


def _read_distinct(values: pa.Array, read: Callable[[pa.Array], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Read each distinct text of a column once; a column of another type is all NaN."""
    if not pa.types.is_string(values.type):
        return np.full(len(values), np.nan)
    coded = values.dictionary_encode()
    places = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False)
    found: NDArray[np.float64] = np.append(read(coded.dictionary), np.nan)[places]
    return found


def _matches_all(text: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(text, pattern), min_count=0).as_py())


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _evaluate(text: pa.Array, *expressions: str) -> list[pa.Array]:
    """Evaluate SQL expressions over the text column ``t``."""
    selected = ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(expressions))
    with _connect(os.getpid()).cursor() as cursor:
        cursor.register("texts", pa.table({"t": text}))
        return [plain_array(column) for column in cursor.sql(f"SELECT {selected} FROM texts").to_arrow_table().columns]


@functools.cache
def _connect(process: int) -> duckdb.DuckDBPyConnection:  # noqa: ARG001
    """Return this process's connection, which reads nothing but registered tables."""
    return duckdb.connect(config={"threads": 1, "enable_external_access": False, "python_enable_replacements": False})
