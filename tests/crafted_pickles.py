"""Pickles crafted to do harm: endless values, calls, sizes beyond memory."""

from __future__ import annotations

import pickle
import struct


def _doubled(start: bytes, double: bytes, times: int) -> bytes:
    """Return a pickle of a value that holds the one before twice, and so on: shared references that explode."""
    steps = b"".join(double.replace(b"@", bytes([place])) + b"q" + bytes([place + 1]) for place in range(times))
    return b"\x80\x02" + start + b"q\x00" + steps


LISTS = _doubled(b"](K\x01e", b"](h@h@e", 60)
TUPLES = _doubled(b"K\x01\x85", b"h@h@\x86", 60)
WIDE = _doubled(b"](K\x01e", b"](" + b"h@" * 100 + b"e", 15)
DTYPE = b"cnumpy\ndtype\n"
ARRAY = b"cnumpy\nndarray\n)R"


def _array(shape: bytes, code: bytes = b"U\x02u1", content: bytes = b"U\x00") -> bytes:
    """Return the operations that make an array, the type made of the operation `code`."""
    return ARRAY + b"(K\x01" + shape + DTYPE + code + b"\x85R\x89" + content + b"tb"


def _often(value: bytes, times: int = 1_000) -> bytes:
    """Return a pickle with thirty times as many references to a value, of which a fifteenth is written out."""
    return b"\x80\x02" + value + b"q\x00(" + b"h\x00" * 30 + b"tq\x01(" + b"h\x01" * times + b"t."


EMPTY, ONE_AXIS = b"K\x00\x85", b"K\x01\x85"
CSR = (
    b"cscipy.sparse._csr\ncsr_array\n)R}(U\x04data" + _array(EMPTY) + b"U\x07indices" + _array(EMPTY)
    + b"U\x06indptr" + _array(ONE_AXIS, content=b"U\x01\x00") + b"U\x06_shapeK\x00K\x00\x86ub"
)  # fmt: skip

CRAFTED: dict[str, bytes] = {
    "lists in lists": LISTS + b".",
    "a hundred in each": WIDE + b".",
    "tuples in tuples": TUPLES + b".",
    "tuples as a key": b"\x80\x02}" + TUPLES[2:] + b"K\x01s.",
    "tuples in a set": b"\x80\x04\x8f(" + TUPLES[2:] + b"\x90.",
    "tuples in a frozen set": b"\x80\x04(" + TUPLES[2:] + b"\x91.",
    "lists as the code of a type": LISTS + b"0" + DTYPE + b"h\x3c\x85R.",
    "lists as an encoding": LISTS + b"0" + b"c_codecs\nencode\nX\x01\x00\x00\x00ah\x3c\x86R.",
    "lists as a persistent id": LISTS + b"Q.",
    "lists as a shape": LISTS + b"0cnumpy\nndarray\nK\x00\x85R(K\x01h\x3c" + DTYPE + b"U\x02f8\x85R\x89U\x00tb.",
    "one long number as every length": b"\x80\x02\x8a\xff" + b"\x7f" * 255 + b"q\x000"
    + _array(b"(" + b"h\x00" * 2_000 + b"t") + b".",
    "long numbers as the lengths of a matrix": b"\x80\x02" + CSR.replace(b"K\x00K\x00\x86", b"\x8a\xff" + b"\x7f" * 255
    + b"2\x86") + b".",
    "as many axes as bytes": b"\x80\x02" + _array(b"(" + b"K\x01" * 20_000 + b"t") + b".",
    "many arguments for many calls": b"\x80\x02(" + b"N" * 10_000 + b"tq\x000" + DTYPE + b"q\x010("
    + b"h\x01h\x00R" * 6_000 + b"t.",
    "a long name of a type for many arrays": b"\x80\x02B" + struct.pack("<I", 30_000) + b"O" * 30_000 + b"q\x000("
    + _array(EMPTY, b"h\x00", b"]") * 300 + b"t.",
    "one array many times": _often(_array(EMPTY)),
    "an array of 64 axes many times": _often(_array(b"(" + b"K\x00" * 64 + b"t")),
    "an array of objects many times": _often(_array(EMPTY, b"U\x02O8", b"]")),
    "one matrix many times": _often(CSR),
    "one list many times": _often(b"]"),
    "lists in a list many times": _often(b"]" * 15 + b"a" * 14),
    "one dictionary many times": _often(b"}K\x01Ns"),
    "dictionaries in a dictionary many times": _often(b"}" + b"K\x01}" * 15 + b"s" * 15),
    "tuples in a tuple many times": _often(b")" + b"\x85" * 14),
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "a dictionary in itself": b"\x80\x02}q\x00K\x01h\x00s.",
    "one text many times": b"\x80\x02X" + struct.pack("<I", 10**6) + b"a" * 10**6 + b"q\x000"
    + b"](" + b"c_codecs\nencode\nh\x00U\x06latin1\x86R" * 20_000 + b"e.",
    "one list for many nodes": b"\x80\x02](" + b"K\x01" * 10_000 + b"eq\x000}("
    + b"".join(b"J" + struct.pack("<i", key) + b"h\x00" for key in range(10_000)) + b"u.",
    "colliding keys": b"\x80\x02}("
    + b"".join(b"\x8a\x0a" + (key * (2**61 - 1)).to_bytes(10, "little") + b"K\x01" for key in range(1, 40_000)) + b"u.",
    "a text longer than memory": b"\x80\x04\x8d" + struct.pack("<Q", 2**62) + b"a.",
    "bytes longer than memory": b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b"a.",
    "a bytearray longer than memory": b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b"a.",
    "a frame longer than memory": b"\x80\x04\x95" + struct.pack("<Q", 2**62) + b".",
    "a place in the memo far away": b"\x80\x02K\x01r" + struct.pack("<I", 2**31) + b"00.",
    "a long number": b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"\x01.",
    "a long number in digits": b"L" + b"9" * 100_000 + b"L\n.",
    "ten thousand deep": b"\x80\x02" + b"]" * 10_000 + b"a" * 9_999 + b".",
    "a call": pickle.dumps(print, 2)[:-1] + b"U\x05owned\x85R.",
    "nothing on the stack": b"\x80\x02R.",
    "marks": b"\x80\x02" + b"(" * 100_000 + b".",
    "a state for a class": b"\x80\x02cnumpy\nndarray\n}U\x01aK\x01sb.",
    "an object of a class": b"\x80\x04cnumpy\nndarray\n)}\x92.",
    "an old instance": b"(icollections\ndefaultdict\n.",
    "an extension": b"\x80\x02\x82\x01.",
    "no end": b"\x80\x02K\x01",
}  # fmt: skip
