"""CSV and Parquet tables, with ids and class names kept exactly as they were written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import FileError, first_five, reason

__all__ = ["SUFFIXES", "class_names", "column", "find_table", "name_of", "names", "numbers_of", "read_table"]

SUFFIXES = (".csv", ".parquet")
DELIMITERS = ",;\t"


def find_table(folder: Path, stem: str) -> Path:
    """Return ``stem.csv`` or ``stem.parquet`` in `folder`."""
    found = [folder / f"{stem}{suffix}" for suffix in SUFFIXES if (folder / f"{stem}{suffix}").exists()]
    if len(found) == 1:
        return found[0]
    what = f"{folder}"
    if found:
        raise FileError(what, f"must hold one file of {stem}", f"{stem}.csv and {stem}.parquet", "remove one of them")
    there = ", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "an empty folder"
    raise FileError(what, f"must hold {stem}.csv or {stem}.parquet", there, f"add the file of {stem}")


def read_table(path: Path, text: Collection[str] | None = ()) -> pa.Table:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    text
        The columns of a CSV file to read as text, so that an id such as ``007`` stays as it is; None for all.
        The other columns get the type their values have.
    """
    if not path.is_file():
        found = "a folder" if path.is_dir() else "no such file"
        raise FileError(f"{path}", "must be a file", found, "check the path")
    try:
        if path.suffix.lower() == ".parquet":
            import pyarrow.parquet as pq

            table = pq.read_table(path)
        else:
            table = _read_csv(path, text)
        repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        kind = "a Parquet file" if path.suffix.lower() == ".parquet" else "a CSV file in UTF-8"
        cure = "save it again in that format"
        raise FileError(f"{path}", f"must be {kind}", f"this: {reason(error)}", cure) from error
    if repeated:
        raise FileError(f"{path}", "must have distinct columns", f"{first_five(repeated)} repeated", "rename them")
    _check_text(table, path)
    return table


def column(table: pa.Table, name: str, path: Path) -> pa.Array:
    """Return a column as one array, or say which columns there are."""
    index = table.schema.get_field_index(name)
    if index < 0:
        found = ", ".join(table.column_names[:8]) + (", …" if table.num_columns > 8 else "")
        raise FileError(f"{path}", f"must have a column {name!r}", f"the columns {found}", f"name a column {name}")
    values = table.column(index)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)


def names(table: pa.Table, name: str, path: Path) -> pa.Array:
    """Return a column of ids or class names: what Parquet calls text stays text, a CSV has no types to keep."""
    values = column(table, name, path)
    try:
        return _names_of(values, typed=path.suffix.lower() == ".parquet")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        what, rule = f"Column {name!r} of {path}", "must hold text or whole numbers"
        raise FileError(what, rule, f"the type {values.type}", "write one name in every row") from error


def class_names(table: pa.Table, name: str, path: Path) -> list[Hashable | None]:
    """Return a column of class names, each a number or text by itself: a class has one name whatever the others are."""
    values = names(table, name, path)
    if pa.types.is_integer(values.type) or path.suffix.lower() == ".parquet":
        return list(values.to_pylist())
    encoded = values.dictionary_encode()
    found = [name_of(text) for text in encoded.dictionary.to_pylist()]
    return [None if code is None else found[code] for code in encoded.indices.to_pylist()]


def name_of(text: str) -> Hashable:
    """Return the 64-bit integer that is written so, or the text if none is: ``1`` is 1, ``007`` is text."""
    return int(text) if re.fullmatch("0|-?[1-9][0-9]{0,18}", text) and -(2**63) <= int(text) < 2**63 else text


def _check_text(table: pa.Table, path: Path) -> None:
    """Refuse text that is not UTF-8: Parquet stores whatever bytes it was given."""
    for name, values in zip(table.column_names, table.columns, strict=True):
        try:
            values.validate(full=True)
        except pa.ArrowInvalid as error:
            what, found = f"Column {name!r} of {path}", f"this: {reason(error)}"
            raise FileError(what, "must hold text in UTF-8", found, "write it again in that encoding") from error


def _names_of(values: pa.Array, *, typed: bool) -> pa.Array:
    """Return ids or class names as 64-bit integers if they read back unchanged, as text otherwise.

    Empty text is missing (null). Text that is `typed` as text is never read as a number.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_integer(values.type) and not pa.types.is_uint64(values.type):
        return values.cast(pa.int64())
    text = values.cast(pa.string())
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
    if typed and (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return text
    try:
        integers = text.cast(pa.int64())
    except pa.ArrowInvalid:
        return text
    return integers if integers.cast(pa.string()).equals(text) else text


def numbers_of(values: pa.Array) -> NDArray[Any] | None:
    """Return a numeric or boolean column as float64 with NaN for missing values; None if it is neither."""
    kind = values.type
    if pa.types.is_boolean(kind):
        values = values.cast(pa.uint8())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    filled = pc.fill_null(values.cast(pa.float64(), safe=False), float("nan"))
    return np.asarray(filled.to_numpy(zero_copy_only=False))


def _read_csv(path: Path, text: Collection[str] | None) -> pa.Table:
    from pyarrow import csv

    with path.open(encoding="utf-8-sig") as lines:
        header = lines.readline().rstrip("\r\n")
    delimiter = max(DELIMITERS, key=header.count)
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    if text is None:
        text = csv.open_csv(path, parse_options=parse).schema.names
    convert = csv.ConvertOptions(column_types=dict.fromkeys(text, pa.string()), strings_can_be_null=False)
    return csv.read_csv(path, parse_options=parse, convert_options=convert)
