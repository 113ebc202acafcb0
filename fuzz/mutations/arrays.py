"""Arrays in ``.npy``: other types, other shapes, extreme numbers, pickles, damaged headers."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np

from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import NUMBERS
from fuzz.mutations.pickles import CRAFTED

__all__ = ["crafted_npy", "mutated_npy", "npy"]

TYPES = (
    "i1",
    "u1",
    "i2",
    "u4",
    "i4",
    "i8",
    "u8",
    "f2",
    "f4",
    "f8",
    ">f8",
    ">i4",
    "?",
    "c8",
    "U5",
    "S3",
    "M8[s]",
    "m8[ns]",
    "O",
)
HEADERS = (b"(-1,)", b"(0,)", b"(9999999999999,)", b"(4611686018427387904, 2)", b"('a',)", b"((((((((", b"1", b"(1e3,)")


def npy(array: Any) -> bytes:
    """Return an array as the content of a file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def crafted_npy(pickled: bytes) -> bytes:
    """Return an array of one object whose pickle is this one."""
    file = io.BytesIO()
    header = {"descr": "|O", "fortran_order": False, "shape": ()}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + pickled


def mutated_npy(random: random.Random, content: bytes) -> bytes:
    """Return such a file with an array that is changed, with a header or bytes that are, or with a crafted pickle."""
    way = random.random()
    if way < 0.1:
        return crafted_npy(random.choice(list(CRAFTED.values())))
    if way < 0.2:
        return mutated_bytes(random, content)
    if way < 0.35:
        start, found, rest = content.partition(b"'shape': (")
        if found:
            _, _, rest = rest.partition(b")")
            return start + b"'shape': " + random.choice(HEADERS) + rest
        return mutated_bytes(random, content[:128]) + content[128:]
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # a header that was changed before can raise anything
        return mutated_bytes(random, content)
    with np.errstate(all="ignore"):
        return npy(_changed(random, array))


def _changed(random: random.Random, array: Any) -> Any:
    array, way = np.array(array), random.randrange(8)
    flat = array.reshape(-1)
    try:
        if way <= 2 and flat.size:
            for _ in range(random.choice([1, 3])):
                number = random.choice(NUMBERS) if random.random() < 0.5 else random.randrange(-3, 70)
                flat[random.randrange(flat.size)] = np.array(number).astype(array.dtype)
        elif way == 3:
            return array.astype(random.choice(TYPES))
        elif way == 4:
            shapes = [(0,), (-1, 1), (1, -1), (1, 1, -1), (-1,), (flat.size, 1)]
            return flat[:0] if random.random() < 0.2 else array.reshape(random.choice(shapes[1:]))
        elif way == 5:
            return flat[: random.randrange(flat.size + 1)] if array.ndim == 1 else array[: random.randrange(len(array))]
        elif way == 6:
            return np.concatenate([flat, flat])[: random.choice([flat.size + 1, 2 * flat.size])]
        else:
            return random.choice([array[::-1], np.sort(flat)[::-1], np.asfortranarray(array), array[:1], np.array(3)])
    except (ValueError, TypeError, OverflowError, IndexError):
        return np.zeros(random.choice([0, 1, 3]))
    return array
