"""Workbooks: cells replaced by extremes of any type, rows and sheets dropped, the XML inside changed."""

from __future__ import annotations

import datetime as dt
import io
import random
import re
from contextlib import suppress
from typing import Any

import openpyxl
from openpyxl.utils.exceptions import IllegalCharacterError

from fuzz.mutations.archives import mutated_archive
from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import extreme_text
from fuzz.mutations.tables import mutated_rows

__all__ = ["mutated_workbook"]

CELLS: tuple[Any, ...] = (
    True, False, 0, -1, 1e300, 2**53, dt.datetime(1899, 12, 31), dt.datetime(9999, 12, 31, 23, 59), dt.date(2024, 2, 29),
    dt.time(23, 59), dt.timedelta(days=400), "=1/0", "=A1", "#N/A", "#DIV/0!", "1e400", "x" * 32_767,
)  # fmt: skip
XML = (
    b'<!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]>', b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
    b"<c r='XFD1048576'><v>1</v></c>", b"<c r='ZZZ99999999'><v>1</v></c>", b"<c r='A0'/>", b"<c t='s'><v>99999</v></c>",
    b"<c t='d'><v>x</v></c>", b"<c t='b'><v>7</v></c>", b"<c t='e'><v>#REF!</v></c>", b"<c><v>nan</v></c>", b"<row r='1048577'/>",
    b"<row r='-1'/>", b"<row r='x'/>", b"&amp;&#0;", b"<mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells>", b"<a>" * 2000,
)  # fmt: skip


def mutated_workbook(random: random.Random, content: bytes) -> bytes:
    """Return a workbook with a table that is changed, or with XML or bytes that are."""
    if random.random() < 0.5:
        return mutated_archive(random, content, _changed_xml)
    book = openpyxl.load_workbook(io.BytesIO(content))
    rows = [["" if value is None else str(value) for value in row] for row in book.active.values]
    if random.random() < 0.5:
        rows = mutated_rows(random, rows)
    if random.random() < 0.15:
        book.create_sheet(random.choice(["nodes", "edges", "Sheet2"])).append(["id", "label"])
    sheet = book.active
    if random.random() < 0.9:
        sheet.delete_rows(1, sheet.max_row)
    for row in rows:
        cells = [random.choice(CELLS) if random.random() < 0.02 else cell for cell in row]
        try:
            sheet.append(cells)
        except (IllegalCharacterError, ValueError):
            sheet.append([re.sub(r"[^ -~]", "?", str(cell))[:100] for cell in cells])
    if random.random() < 0.1:
        with suppress(IllegalCharacterError):
            sheet["BZ900"] = extreme_text(random)[:10] or 1
    file = io.BytesIO()
    try:
        book.save(file)
    except (ValueError, TypeError, IllegalCharacterError):
        return mutated_bytes(random, content)
    return file.getvalue()


def _changed_xml(random: random.Random, name: str, content: bytes) -> bytes:  # noqa: ARG001
    way = random.randrange(5)
    places = [found.start() for found in re.finditer(b"<", content)] or [0]
    at = random.choice(places)
    if way == 0:
        return mutated_bytes(random, content)
    if way == 1:
        return content[:at] + random.choice(XML) + content[at:]
    if way == 2:
        to = random.choice(places)
        return content[: min(at, to)] + content[max(at, to) :]
    values = list(re.finditer(rb'"([^"]*)"|>([^<]+)<', content))
    if not values:
        return b""
    found = random.choice(values)
    text = extreme_text(random).replace("<", "").encode("utf-8", "replace")
    edges = (b'"', b'"') if found[1] is not None else (b">", b"<")
    return content[: found.start()] + edges[0] + text + edges[1] + content[found.end() :]
