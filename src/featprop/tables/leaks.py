"""Columns that know too much: filled where a node is labelled and nowhere else, as the result of its examination is."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from featprop.errors import first_five
from featprop.tables.missing import is_missing

__all__ = ["tell_of_leaks"]

log = logging.getLogger(__name__)

FEWEST = 5
"""Values from which on it is no chance that a column has them at labelled nodes only."""
NEARLY_ALL = 0.9
"""The share of the labelled nodes that have a value."""


def tell_of_leaks(column: Callable[[str], pa.Array | None], names: Sequence[str], labelled: NDArray[np.intp]) -> None:
    """Warn of columns that hold values at labelled nodes only: no other node has one to predict from.

    Parameters
    ----------
    column
        Returns a column by its name, None if there is none.
    names
        The columns that become features.
    labelled
        The positions of the labelled nodes.
    """
    if len(labelled) < FEWEST:
        return
    found = [name for name in names if (values := column(name)) is not None and _is_filled_there_only(values, labelled)]
    if found:
        told = "Columns that hold a value at the labelled nodes and nowhere else: %s: they may hold the answer itself, "
        told += "which makes estimates far too good; leave them out with %s"
        log.warning(told, first_five(found), " ".join(f"--column {shlex.quote(f'{name}=out')}" for name in found[:5]))


def _is_filled_there_only(values: pa.Array, labelled: NDArray[np.intp]) -> bool:
    """Say whether nearly all of these nodes, and no others, have a value."""
    missing = is_missing(values) if pa.types.is_string(values.type) else values.is_null(nan_is_null=True)
    filled = ~np.asarray(missing.to_numpy(zero_copy_only=False), dtype=bool)
    here = np.count_nonzero(filled[labelled])
    return bool(here >= max(FEWEST, NEARLY_ALL * len(labelled)) and here == np.count_nonzero(filled) < len(values))
