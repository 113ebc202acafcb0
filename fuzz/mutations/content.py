"""Bytes flipped, cut, moved, repeated and joined with those of another file."""

from __future__ import annotations

import random
import struct

__all__ = ["mutated_bytes"]

PIECES = (
    b"\x00", b"\xff", b"\x80", b"\n", b"\r", b'"', b",", b"\x00" * 16, b"\xff" * 8, b"\xef\xbb\xbf", b"\xff\xfe", b"\xc0\x80",
    b"nan", b"-1", b"1e999", b"9" * 40, b"PK\x05\x06", b"PAR1", b"[" * 100, b"{" * 100, b"A" * 5000,
)  # fmt: skip
WHOLE = (0, 1, -1, 2**7, 2**15 - 1, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63))


def mutated_bytes(random: random.Random, content: bytes, other: bytes = b"") -> bytes:
    """Return content with one to four changes.

    Parameters
    ----------
    random
        Where chance is from.
    content
        What is there.
    other
        Another file, a part of which may come in.
    """
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 3, 4])):
        changed = _changed(random, changed, other)
    return bytes(changed)


def _changed(random: random.Random, content: bytearray, other: bytes) -> bytearray:
    if not content:
        return bytearray(random.choice(PIECES))
    # every second change is near the beginning or the end, where formats say what they are
    size = len(content)
    near = random.choice([size, size, min(size, 128), min(size, 16)])
    at = random.randrange(near) if random.random() < 0.75 else size - 1 - random.randrange(near)
    end = min(size, at + random.choice([1, 2, 4, 8, 64, 1024]))
    way = random.randrange(10)
    if way <= 2:
        content[at] ^= 1 << random.randrange(8) if way else random.randrange(1, 256)
    elif way == 3:
        del content[at:]
    elif way == 4:
        del content[at:end]
    elif way == 5:
        content[at:at] = content[at:end] * random.choice([1, 1, 2, 100])
    elif way == 6:
        block = content[at:end]
        del content[at:end]
        to = random.randrange(len(content) + 1)
        content[to:to] = block
    elif way == 7:
        content[at:at] = random.choice(PIECES)
    elif way == 8:
        number = struct.pack(random.choice("<>") + "q", random.choice(WHOLE))
        width = random.choice([1, 2, 4, 8])
        content[at : at + width] = number[:width]
    elif other:
        content[at:] = other[random.randrange(len(other)) :]
    else:
        content[at:end] = bytes(random.randrange(256) for _ in range(end - at))
    return content
