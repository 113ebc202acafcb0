"""Where nodes are: ids become positions, a piece of the edges at a time, by a table that is made once.

An end is a node if both are written alike: 7 in a column of numbers is ``7`` in one of text, and ``007`` is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from featprop.errors import GraphError, first_five

__all__ = ["Positions", "repeated_ids"]

FEW = 1 << 16
"""Ids up to which PyArrow makes its table anew for every piece: that takes less time than loading the compiler."""


class Positions:
    """The nodes of a graph, to look for.

    Parameters
    ----------
    ids
        64-bit integers or text, none of them missing; of repeated ones, the first is found.

    Attributes
    ----------
    distinct
        How many ids there are, repeated ones counted once.
    """

    def __init__(self, ids: pa.Array) -> None:
        self.ids = ids
        self.is_counted = _is_counted(ids)
        self.slots: NDArray[np.int32] | None = None
        self.distinct = len(ids)
        if not self.is_counted and len(ids) > FEW:
            from featprop.interop import id_table

            self.slots = id_table.slots_for(len(ids))
            if pa.types.is_integer(ids.type):
                self.distinct = id_table.fill_numbers(ids.to_numpy(), self.slots)
            else:
                self.distinct = id_table.fill_texts(*_texts(ids), self.slots)
        elif not self.is_counted:
            self.distinct = pc.count_distinct(ids).as_py()

    def __getstate__(self) -> dict[str, Any]:
        """Return arrays alone, which another process may map instead of reading them."""
        by_number = pa.types.is_integer(self.ids.type)
        return self.__dict__ | {"ids": (self.ids.to_numpy(),) if by_number else _texts(self.ids)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the arrays."""
        first, *rest = state["ids"]
        buffers = [None, pa.py_buffer(first), *map(pa.py_buffer, rest)]
        ids = (
            pa.Array.from_buffers(pa.string(), len(first) - 1, buffers)
            if rest
            else pa.Array.from_buffers(pa.int64(), len(first), buffers)
        )
        self.__dict__.update(state | {"ids": ids})

    @property
    def nbytes(self) -> int:
        """How many bytes ids and table take."""
        return int(self.ids.nbytes) + (0 if self.slots is None else self.slots.nbytes)

    def of(self, ends: pa.Array) -> NDArray[np.int64]:
        """Return the position of each end, -1 for one that is no node.

        Parameters
        ----------
        ends
            64-bit integers or text.
        """
        by_number = pa.types.is_integer(self.ids.type)
        if self.slots is None and not self.is_counted:
            same = ends.type == self.ids.type
            found = pc.index_in(*((ends, self.ids) if same else (ends.cast(pa.string()), self.ids.cast(pa.string()))))
            return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False)).astype(np.int64)
        if not by_number:
            from featprop.interop import id_table

            starts, data = _texts(ends.cast(pa.string()))
            found = id_table.find_texts(starts, data, _is_there(ends), *_texts(self.ids), self.slots)
            return np.asarray(found)
        numbers, is_number = _as_numbers(ends)
        if self.is_counted:
            start = self.ids[0].as_py()
            inside = is_number & (numbers >= start) & (numbers < start + len(self.ids))
            return np.where(inside, numbers - start, -1)
        from featprop.interop import id_table

        return np.asarray(id_table.find_numbers(numbers, is_number, self.ids.to_numpy(), self.slots))


def repeated_ids(names: Iterable[Hashable], what: str = "Node ids") -> GraphError:
    """Return the error about ids that several nodes have, `what` being what to call them."""
    repeated = [repr(name) for name, count in Counter(names).items() if count > 1]
    return GraphError(what, "must be distinct", f"{first_five(repeated)} repeated", "keep one row a node")


def _is_counted(ids: pa.Array) -> bool:
    """Say whether ids are integers one after the other."""
    if not pa.types.is_integer(ids.type) or not len(ids):
        return False
    numbers = ids.to_numpy()
    return bool(numbers[-1] - numbers[0] == len(ids) - 1 and (np.diff(numbers) == 1).all())


def _as_numbers(ends: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return ends as integers, and which of them are integers as they are written."""
    there = _is_there(ends)
    if pa.types.is_integer(ends.type):
        return np.asarray(pc.fill_null(ends, 0).to_numpy(zero_copy_only=False)), there
    from featprop.interop import id_table

    numbers, is_number = id_table.read_numbers(*_texts(ends))
    return numbers, is_number & there


def _is_there(values: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False))


def _texts(values: pa.Array) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return where each text begins, and all bytes."""
    _, offsets, data = values.buffers()
    if offsets is None or not len(values):
        return np.zeros(1, np.int32), np.zeros(0, np.uint8)
    kind = np.int64 if pa.types.is_large_string(values.type) else np.int32
    starts = np.frombuffer(offsets, dtype=kind)[values.offset : values.offset + len(values) + 1]
    return starts, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
