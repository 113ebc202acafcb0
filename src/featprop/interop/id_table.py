"""Compiled kernels of a table of ids: open addressing, one slot in two taken at most, 4 bytes a slot."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["fill_numbers", "fill_texts", "find_numbers", "find_texts", "read_numbers", "slots_for"]

FREE = -1


def slots_for(count: int) -> NDArray[np.int32]:
    """Return an empty table for so many ids, a power of two of at least twice as many slots."""
    return np.full(1 << (2 * count - 1).bit_length(), FREE, dtype=np.int32)


@njit(nogil=True, cache=True)
def _mixed(number):  # type: ignore[no-untyped-def]
    number = np.uint64(number)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@njit(nogil=True, cache=True)
def _hashed(data, start, stop):  # type: ignore[no-untyped-def]
    number = np.uint64(0xCBF29CE484222325)
    for place in range(start, stop):
        number = (number ^ np.uint64(data[place])) * np.uint64(0x100000001B3)
    return _mixed(number)


@njit(nogil=True, cache=True)
def _alike(a, a_start, a_stop, b, b_start, b_stop):  # type: ignore[no-untyped-def]
    if a_stop - a_start != b_stop - b_start:
        return False
    for place in range(a_stop - a_start):  # noqa: SIM110 (a generator would not be compiled)
        if a[a_start + place] != b[b_start + place]:
            return False
    return True


@njit(nogil=True, cache=True)
def fill_numbers(ids, slots):  # type: ignore[no-untyped-def]
    """Enter integers; one that is there already is left as it is. Return how many are distinct."""
    distinct = 0
    last = np.uint64(len(slots) - 1)
    for node in range(len(ids)):
        slot = _mixed(ids[node]) & last
        while slots[slot] != FREE and ids[slots[slot]] != ids[node]:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] == FREE:
            slots[slot] = node
            distinct += 1
    return distinct


@njit(nogil=True, cache=True)
def find_numbers(ends, is_number, ids, slots):  # type: ignore[no-untyped-def]
    """Return the position of each integer, -1 where there is none."""
    last = np.uint64(len(slots) - 1)
    found = np.full(len(ends), FREE, dtype=np.int64)
    for edge in range(len(ends)):
        if is_number[edge]:
            slot = _mixed(ends[edge]) & last
            while slots[slot] != FREE and ids[slots[slot]] != ends[edge]:
                slot = (slot + np.uint64(1)) & last
            found[edge] = slots[slot]
    return found


@njit(nogil=True, cache=True)
def fill_texts(starts, data, slots):  # type: ignore[no-untyped-def]
    """Enter texts; one that is there already is left as it is. Return how many are distinct."""
    distinct = 0
    last = np.uint64(len(slots) - 1)
    for node in range(len(starts) - 1):
        slot = _hashed(data, starts[node], starts[node + 1]) & last
        while slots[slot] != FREE:
            other = slots[slot]
            if _alike(data, starts[other], starts[other + 1], data, starts[node], starts[node + 1]):
                break
            slot = (slot + np.uint64(1)) & last
        if slots[slot] == FREE:
            slots[slot] = node
            distinct += 1
    return distinct


@njit(nogil=True, cache=True)
def find_texts(starts, data, is_there, id_starts, id_data, slots):  # type: ignore[no-untyped-def]
    """Return the position of each text, -1 where there is none."""
    last = np.uint64(len(slots) - 1)
    found = np.full(len(starts) - 1, FREE, dtype=np.int64)
    for edge in range(len(found)):
        if not is_there[edge]:
            continue
        slot = _hashed(data, starts[edge], starts[edge + 1]) & last
        while slots[slot] != FREE:
            other = slots[slot]
            if _alike(id_data, id_starts[other], id_starts[other + 1], data, starts[edge], starts[edge + 1]):
                break
            slot = (slot + np.uint64(1)) & last
        found[edge] = slots[slot]
    return found


@njit(nogil=True, cache=True)
def read_numbers(starts, data):  # type: ignore[no-untyped-def]
    """Return the 64-bit integers that texts are, and which of them are one that would be written so."""
    count = len(starts) - 1
    numbers, is_number = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.bool_)
    for row in range(count):
        start, stop = starts[row], starts[row + 1]
        negative = stop > start and data[start] == 45
        first = start + 1 if negative else start
        digits = stop - first
        if digits < 1 or digits > 19 or (data[first] == 48 and (digits > 1 or negative)):
            continue
        size = np.uint64(0)
        fits = True
        for place in range(first, stop):
            if data[place] < 48 or data[place] > 57:
                fits = False
                break
            size = size * np.uint64(10) + np.uint64(data[place] - 48)
        most = np.uint64(9223372036854775808) if negative else np.uint64(9223372036854775807)
        if fits and size <= most:
            numbers[row] = -np.int64(size) if negative else np.int64(size)
            is_number[row] = True
    return numbers, is_number
