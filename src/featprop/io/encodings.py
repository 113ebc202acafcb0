"""The encoding of a text file, found without holding the file in memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path

from featprop.errors import FileError

__all__ = ["encoding_of"]

BLOCK = 1 << 20

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""In this order: the mark of UTF-16 begins that of UTF-32."""

OTHER_FILES = {
    b"PAR1": "a Parquet file",
    b"PK\3\4": "a zip file, as the workbooks of Excel are",
    b"\xd0\xcf\x11\xe0": "a workbook of Excel 97 or one with a password",
    b"\x1f\x8b": "a compressed file",
}

NO_TEXT = re.compile(rb"[\0-\x08\x0e-\x19\x1c-\x1f]")
"""Control characters that no export writes; the end-of-file mark of DOS is not among them."""

NOT_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def encoding_of(path: Path) -> str:
    """Return the encoding of a text file: UTF-8 or UTF-16 if it can be, otherwise cp1252, otherwise Latin-1.

    Raises
    ------
    FileError
        If the file is no text, or is UTF-8 that was damaged: read as cp1252 its other letters would come out wrong.
    """
    with path.open("rb") as file:
        start = file.read(BLOCK)
    for magic, found in OTHER_FILES.items():
        if start.startswith(magic):
            raise _not_text(path, found)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if wide := _without_byte_order_mark(start):
        return wide
    if _is_utf8(path, marked=start.startswith(codecs.BOM_UTF8)):
        return "utf-8"
    return _of_single_bytes(path)


def _without_byte_order_mark(start: bytes) -> str | None:
    """Return the kind of UTF-16 if every other byte is often zero, as it is in digits, delimiters and most letters."""
    first, second = (start[side::2].count(0) for side in (0, 1))
    often = max(first, second)
    if not often or often * 20 < len(start) or often < 10 * min(first, second):
        return None
    return "utf-16-be" if first > second else "utf-16-le"


def _is_utf8(path: Path, *, marked: bool) -> bool:
    """Say whether a file is UTF-8, and refuse one that says so by its mark, or is but for a few bytes."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = letters = 0
    for block, is_last in _blocks(path):
        try:
            letters += len(block) - len(decoder.decode(block, final=is_last))
            lines += block.count(b"\n")
        except UnicodeDecodeError as error:
            rest = error.object.decode("utf-8", errors="replace")
            damaged = rest.count("\ufffd")
            letters += sum(character > "\x7f" for character in rest) - damaged
            if marked or letters > damaged:
                line = lines + error.object[: error.start].count(b"\n") + 1
                byte = f"0x{error.object[error.start]:02x}"
                raise _not_text(path, f"UTF-8 that is damaged in line {line:,}, at the byte {byte}") from error
            return False
    return True


def _of_single_bytes(path: Path) -> str:
    encoding = "cp1252"
    for block, _ in _blocks(path):
        if NO_TEXT.search(block):
            raise _not_text(path, "bytes that are no text")
        if NOT_IN_CP1252.search(block):
            encoding = "latin-1"
    return encoding


def _blocks(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield the file in blocks, each with whether it is the last."""
    with path.open("rb") as file:
        block = file.read(BLOCK)
        while block:
            following = file.read(BLOCK)
            yield block, not following
            block = following


def _not_text(path: Path, found: str) -> FileError:
    return FileError(f"{path}", "must be a CSV file in UTF-8", f"this: {found}", "save it again in that format")
