"""Find columns that are parts of one thing: the words of a bag, the dimensions of an embedding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.features.encoders import is_heavy_tailed, robust_scale
from featprop.features.parsing import read_numbers
from featprop.features.profile import Kind, Reason

MIN_NUMBERED_COLUMNS = 8
MIN_BAG_COLUMNS = 50
MIN_ZERO_SHARE = 0.8
"""Share of zeros in a column of counts."""
MAX_OFFSET = 30.0
"""Distance of the mean from 0, in standard deviations, up to which a group is taken unchanged."""
MAX_SPREAD_RATIO = 30.0
"""Ratio of the standard deviation of a column to the group's median up to which the column belongs to it."""


class Spread(NamedTuple):
    """How the numbers of a column are distributed."""

    deviation: float
    offset: float
    is_heavy_tailed: bool
    is_counts: bool


def find_groups(
    found: Mapping[str, Kind | Reason], columns: Mapping[str, pa.Array], decimal: str | None
) -> list[tuple[str, ...]]:
    """Return the columns that are parts of one thing, of those for which `infer_kind` found something.

    These are numeric columns without missing values that share a name with numbers at its end (``w_0``, ``w_1``, …), if
    their distributions are alike, and many numeric columns of mostly zeros and nothing below zero: counted words.
    """
    spreads: dict[str, Spread] = {}
    numbered: dict[str, list[str]] = {}
    for name, kind in found.items():
        if kind not in (Kind.NUMBER, Kind.FLAG, Reason.CONSTANT):
            continue
        numbers = read_numbers(columns[name], decimal or ".")
        if np.isnan(numbers).any():
            continue
        spreads[name] = _measure_spread(numbers)
        if match := re.fullmatch(r"(.*?[^0-9]?)\[?[0-9]+\]?", name):
            numbered.setdefault(match[1], []).append(name)
    groups = [
        tuple(names)
        for names in numbered.values()
        if len(names) >= MIN_NUMBERED_COLUMNS and _are_alike([spreads[name] for name in names])
    ]
    grouped = {name for group in groups for name in group}
    bag = [name for name, spread in spreads.items() if spread.is_counts and name not in grouped]
    return [*groups, tuple(bag)] if len(bag) >= MIN_BAG_COLUMNS else groups


def _measure_spread(numbers: NDArray[np.float64]) -> Spread:
    with np.errstate(over="ignore", invalid="ignore"):
        deviation, offset = float(numbers.std()), float(abs(numbers.mean()))
    is_counts = bool(numbers.min(initial=0) >= 0 and np.mean(numbers != 0) <= 1 - MIN_ZERO_SHARE)
    may_be_heavy = not is_counts and 0 < deviation < np.inf
    is_heavy = may_be_heavy and is_heavy_tailed(numbers, *robust_scale(numbers))
    return Spread(deviation, offset, is_heavy, is_counts)


def _are_alike(columns: list[Spread]) -> bool:
    """Return whether all columns are counts, or most have similar deviations around 0 without heavy tails."""
    if all(column.is_counts for column in columns):
        return True
    varying = [column for column in columns if column.deviation > 0]
    deviations = [column.deviation for column in varying]
    if not varying or not np.isfinite(deviations).all():
        return False
    usual = float(np.median(deviations))
    offset = float(np.median([column.offset for column in columns]))
    heavy = np.mean([column.is_heavy_tailed for column in varying])
    return bool(max(deviations) <= MAX_SPREAD_RATIO * usual and offset <= MAX_OFFSET * usual and heavy <= 0.5)
