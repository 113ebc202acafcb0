"""Check that a label column holds classes, and find columns that give the labels away."""

from __future__ import annotations

import logging
from collections.abc import Collection, Hashable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import LabelError, first_five
from featprop.features.parsing import as_text, has_value, is_mostly_read, plain_array, read_numbers

log = logging.getLogger(__name__)

LABEL_NAMES = ("label", "labels", "class", "target", "y", "category", "ground_truth")
"""Usual names of the label column."""
MAX_NUMERIC_CLASSES = 20
MIN_ROWS_PER_NUMERIC_CLASS = 10
"""Numbers with more distinct values than the former and fewer rows for each than the latter may not be classes."""
MAX_CODE = 200
MAX_RARE_CODES = 70
"""More whole numbers than this, most of which appear once or twice, are counts; CoraFull has 70 classes."""
MULTI_LABEL_SEPARATOR = "|"
MIN_MULTI_LABEL_SHARE = 0.05
MIN_FILLED = 5
MIN_FILLED_SHARE = 0.9
"""Share of the labelled nodes that have a value in a column that no other node has a value in."""
MIN_LABELLED = 20
MIN_ROWS_PER_VALUE = 3.0
MAX_ERROR_RATIO = 0.02
"""Errors of the best guess from a column, divided by those of the most frequent class."""


class LeakReason(StrEnum):
    """How a column gives the labels away."""

    FILLED_WHERE_LABELLED = "filled-where-labelled"
    DETERMINES_LABELS = "determines-labels"


class Leak(NamedTuple):
    """A column that gives the labels away."""

    column: str
    reason: LeakReason


def suggest_label(names: Collection[str]) -> str | None:
    """Return the column that is named like a label column; None if there is none or several fit equally well."""
    for usual in LABEL_NAMES:
        alike = [name for name in names if name.strip().casefold() == usual]
        if alike:
            return alike[0] if len(alike) == 1 else None
    return None


def check_target(values: pa.Array | pa.ChunkedArray | Sequence[Any], column: str) -> None:
    """Raise `LabelError` for a label column that is not made of classes.

    Refused are numbers with many distinct values, unless they look like codes of classes (0, 1, 2, …, each several
    times), and cells that hold several labels (``drama|comedy``).
    """
    text = as_text(plain_array(values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)))
    if text is None:
        return
    known = text.filter(pa.array(has_value(text)))
    distinct = pc.count_distinct(known).as_py()
    few_rows_each = len(known) < MIN_ROWS_PER_NUMERIC_CLASS * distinct
    if distinct > MAX_NUMERIC_CLASSES and few_rows_each and _are_quantities(known):
        raise LabelError(
            f"Column {column!r} holds {distinct:,} different numbers, not classes.",
            hint="Cut the numbers into a few bins and use these as labels.",
            column=column,
            value=distinct,
        )
    multiple = known.filter(pc.match_substring(known, MULTI_LABEL_SEPARATOR))
    if len(multiple) > MIN_MULTI_LABEL_SHARE * len(known):
        raise LabelError(
            f"Column {column!r} holds several labels in {len(multiple):,} cells, for example {multiple[0].as_py()!r}.",
            hint="Keep one label per node, or make one column per label and train one model for each.",
            column=column,
            value=multiple[0].as_py(),
        )


def _are_quantities(text: pa.Array) -> bool:
    """Return whether texts are numbers, but not codes of classes: whole, from 0 or near it to 200, few of them rare."""
    numbers = read_numbers(text)
    if not is_mostly_read(numbers, text):
        return False
    distinct, rows = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    low, high = distinct[0], distinct[-1]
    are_codes = (distinct == np.floor(distinct)).all() and 0 <= low <= 0.1 * high and high <= MAX_CODE
    are_counts = len(distinct) > MAX_RARE_CODES and np.median(rows) <= 2
    return bool(are_counts or not are_codes)


def find_leaks(table: pa.Table, labels: Sequence[Hashable | None], ignore: Collection[str] = ()) -> list[Leak]:
    """Return the columns that may give the labels away, which makes estimates far too good, and log them.

    A column leaks if it has values at the labelled nodes and nowhere else, or if each of its few values goes with one
    class.

    Parameters
    ----------
    table
        The columns that become features.
    labels
        Label of each row, None where there is none.
    ignore
        Columns not to look at.
    """
    is_labelled = np.array([label is not None for label in labels], dtype=bool)
    codes = np.unique([str(label) for label in labels if label is not None], return_inverse=True)[1]
    leaks = []
    for name in table.column_names:
        text = None if name in ignore else as_text(plain_array(table.column(name)))
        if text is None:
            continue
        filled = has_value(text)
        if _is_filled_only_at(filled, is_labelled):
            leaks.append(Leak(name, LeakReason.FILLED_WHERE_LABELLED))
        elif _determines(text.filter(pa.array(is_labelled & filled)), codes[filled[is_labelled]]):
            leaks.append(Leak(name, LeakReason.DETERMINES_LABELS))
    if leaks:
        names = first_five([leak.column for leak in leaks])
        log.warning("Columns that may give the labels away: %s. Leave them out with `ignore`", names)
    return leaks


def _is_filled_only_at(filled: NDArray[np.bool_], is_labelled: NDArray[np.bool_]) -> bool:
    """Return whether nearly all labelled rows, and no others, have a value."""
    here, labelled = np.count_nonzero(filled & is_labelled), np.count_nonzero(is_labelled)
    return bool(here >= max(MIN_FILLED, MIN_FILLED_SHARE * labelled) and here == np.count_nonzero(filled) < filled.size)


def _determines(text: pa.Array, codes: NDArray[np.int64]) -> bool:
    """Return whether each of few values goes with one class, nearly always."""
    values = pc.utf8_lower(text).dictionary_encode()
    if len(codes) < max(MIN_LABELLED, MIN_ROWS_PER_VALUE * len(values.dictionary)):
        return False
    counts = np.zeros((len(values.dictionary), codes.max() + 1), dtype=np.int64)
    np.add.at(counts, (values.indices.to_numpy(zero_copy_only=False), codes), 1)
    errors, baseline = len(codes) - counts.max(axis=1).sum(), len(codes) - counts.sum(axis=0).max()
    return bool(baseline >= MIN_FILLED and errors <= MAX_ERROR_RATIO * baseline)
