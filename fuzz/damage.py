"""Hypothesis strategies that damage valid content: bytes, tables, trees of values, arrays, archives, databases."""

from __future__ import annotations

import copy
import csv
import io
import json
import re
import sqlite3
import zipfile
from contextlib import closing, suppress
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from hypothesis.strategies import DrawFn
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

NUMBERS: tuple[Any, ...] = (
    0, -0.0, 1, -1, 2, 127, 255, 65536, 2**31 - 1, -(2**31), 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 10**30,
    0.1, 1.5, -0.5, 1e-320, 3.4e38, 1e39, 1e155, 1.8e308, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "nan", "inf", "-Infinity", "None", "NULL", "N/A", "true", "FALSE", "yes", "0", "-0", "-1", "007", "1.0",
    "1,5", "1.234,56", "1e309", "1e-400", "0x10", "1_000", "١٢٣", "½", "9223372036854775808", "9" * 40, "1" * 5000,
    "2024-02-30", "0000-00-00", "10000-01-01", "24:00", "31.12.2024", "2024-01-01T00:00:00+25:00", "\x00", "a\x00b",
    "\x1b[31m", "\ufeff", "\u202eabc", "\u200b", "e\u0301", "🙂", "日本", "\r", "a\nb", '"', "'", ",", ";", "=1+1", "@sum",
    "#REF!", "../../etc/passwd", "<script>alert(1)</script>", "%s%n", "{0}", "{{7*7}}", "$(touch x)", "a" * 10_000,
    "[1, 2]", "[", "{}", "[nan]", "[1e400]", "1 2 3", "$1,000", "50%", "€5", ".", "skip", "label", "id", "source", "n1",
)  # fmt: skip
DIALECTS = (",", ";", "\t", "|"), ("\n", "\r\n"), ("utf-8", "utf-8-sig", "utf-16", "cp1252")
PIECES = (b"\x00", b"\xff", b"\n", b'"', b",", b"\xff" * 8, b"\xef\xbb\xbf", b"\xff\xfe", b"-1", b"9" * 40, b"[" * 100)
ODD_JSON = (b'{"a": 1, "a": 2}', b"[" * 100_000, b'{"a":' * 50_000, b"NaN", b"1e999", b"", b"null", b"[]", b'"\\ud800"')
SHAPES = (b"(-1,)", b"(0,)", b"(9999999999999,)", b"(4611686018427387904, 2)", b"('a',)", b"((((((((", b"(1e3,)")
TYPES = ("i1", "u4", "i8", "u8", "f2", "f4", ">f8", "?", "c8", "U5", "S3", "M8[s]")
SCHEMA = (
    "DROP VIEW audit", "DROP TABLE events", "PRAGMA user_version = 99", "PRAGMA application_id = 0", "VACUUM",
    "CREATE TABLE other (a)", "ALTER TABLE events ADD COLUMN extra", "PRAGMA journal_mode = DELETE",
    "DROP VIEW holding; CREATE VIEW holding AS SELECT * FROM holding",
    "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
)  # fmt: skip
ROLLBACK_MODE, WAL_MODE = b"\x01\x01", b"\x02\x02"
"""Bytes 18 and 19 of a database; one in WAL mode cannot be opened in memory."""
COLUMNS = ("number", "key", "time", "annotator", "round", "kind", "node", "label", "text", "source", "undoes")

texts = st.deferred(lambda: st.sampled_from(TEXTS) | st.text(max_size=12))  # the statistics show a short name
cells = texts | st.sampled_from(NUMBERS).map(str)
scalars = st.sampled_from(NUMBERS) | texts | st.none() | st.booleans()
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


@st.composite
def damaged_bytes(draw: DrawFn, content: bytes) -> bytes:
    """Overwrite, drop, repeat or insert bytes, often near the start or the end, where formats describe themselves."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        size = len(changed)
        # a workbook holds the time, so its size may differ when a case runs again: what is drawn must not depend on it
        place = draw(st.integers(0, 64) | st.integers(-64, 0) | st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
        place = int(place * size) if isinstance(place, float) else place
        at = min(max(place if place >= 0 else size + place, 0), size)
        end = draw(st.sampled_from([at, at + 1, at + 8, at + 1024, size]))
        changed[at:end] = draw(st.sampled_from([b"", changed[at:end] * 3, *PIECES]) | st.binary(max_size=16))
    return bytes(changed)


@st.composite
def damaged_table(draw: DrawFn, content: bytes, suffix: str = ".csv") -> bytes:
    """Change cells, rows and columns of a CSV file, how it is written, or its bytes."""
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    for _ in range(draw(st.integers(0, 2))):
        row, column = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, len(rows[0]) - 1))
        way = draw(st.sampled_from(["cell", "cell", "title", "column", "drop", "copy", "row", "rows", "order", "head"]))
        if way in ("cell", "title"):
            rows[0 if way == "title" else row][column] = draw(cells)
        elif way == "column":
            few = draw(st.lists(cells, min_size=1, max_size=3))
            rows[1:] = [[*each[:column], few[at % len(few)], *each[column + 1 :]] for at, each in enumerate(rows[1:])]
        elif way in ("drop", "copy") and len(rows[0]) > 1:
            rows = [each[:column] + each[column + 1 :] + each[:1] * (way == "copy") for each in rows]
        elif way in ("row", "rows"):
            rows[row : row + 1] = [list(rows[row]) for _ in range(50 if way == "rows" else row == 0)]
        elif way == "order":
            rows[1:] = draw(st.permutations(rows[1:]))
        elif way == "head":
            rows = rows[: draw(st.integers(1, 3))]
    written = draw(rewritten_csv(rows)) if suffix == ".csv" else _write_frame(rows, suffix)
    return draw(damaged_bytes(written)) if draw(st.integers(0, 9)) == 0 else written


@st.composite
def rewritten_csv(draw: DrawFn, rows: list[list[str]]) -> bytes:
    """Write a table as other programs do: another delimiter, quoting, line end and encoding."""
    delimiter, line_end, encoding = (draw(st.sampled_from(choices)) for choices in DIALECTS)
    text, quoting = io.StringIO(), draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting).writerows(rows)
    return text.getvalue().encode(encoding, "replace")


def _write_frame(rows: list[list[str]], suffix: str) -> bytes:
    """Write a table as Parquet or as a workbook, with numbers where all cells of a column are."""
    text, file = io.StringIO(), io.BytesIO()
    csv.writer(text).writerows([ILLEGAL_CHARACTERS_RE.sub("", cell) for cell in row] for row in rows)
    frame = pd.read_csv(io.StringIO(text.getvalue()), keep_default_na=False)
    write = frame.to_parquet if suffix == ".parquet" else frame.to_excel
    write(file, index=False)
    return file.getvalue()


@st.composite
def damaged_tree(draw: DrawFn, tree: Any) -> Any:
    """Replace, remove or copy values somewhere in a tree of lists and dictionaries."""
    whole = [copy.deepcopy(tree)]
    for _ in range(draw(st.integers(1, 3))):
        parent: Any = whole
        while True:
            keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
            key = draw(st.sampled_from(keys))
            child = parent[key]
            if not isinstance(child, list | dict) or not child or draw(st.integers(0, 5)) == 0:
                break
            parent = child
        way = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if way == "replace" or parent is whole:
            parent[key] = draw(values)
        elif way == "remove":
            del parent[key]
        elif isinstance(parent, list):
            parent.insert(key, draw(values))
        else:
            parent[draw(texts)] = child
    return whole[0]


@st.composite
def damaged_json(draw: DrawFn, content: bytes) -> bytes:
    """Change values of a JSON or JSONL file, or its bytes."""
    way = draw(st.integers(0, 9))
    if way < 2:
        return draw(damaged_bytes(content) if way else st.sampled_from(ODD_JSON))
    try:
        return json.dumps(draw(damaged_tree(json.loads(content)))).encode()
    except json.JSONDecodeError:
        lines = draw(damaged_tree([json.loads(line) for line in content.splitlines()]))
        return "\n".join(map(json.dumps, lines if isinstance(lines, list) else [lines])).encode()


@st.composite
def damaged_npy(draw: DrawFn, content: bytes) -> bytes:
    """Change the array, the header or the bytes of a ``.npy`` file."""
    way, file = draw(st.sampled_from(["array", "array", "array", "bytes", "shape"])), io.BytesIO()
    if way == "shape":
        return re.sub(rb"(?<='shape': )\([^)]*\)", draw(st.sampled_from(SHAPES)), content, count=1)
    if way == "bytes" or b"'descr': '|O'" in content[:128]:
        return draw(damaged_bytes(content))
    array = np.load(io.BytesIO(content))
    some = hnp.from_dtype(array.dtype) | st.integers(0, 70)
    with np.errstate(all="ignore"):
        changes = [
            array.astype(draw(st.sampled_from(TYPES))),
            np.where(np.arange(array.size).reshape(array.shape) == draw(st.integers(0, 70)), draw(some), array),
            np.resize(array, draw(st.sampled_from([0, 1, array.size + 1, 2 * array.size]))),
            array[::-1],
            array.reshape(1, -1),
            np.array(3),
        ]
    np.save(file, draw(st.sampled_from(changes)), allow_pickle=False)
    return file.getvalue()


@st.composite
def damaged_arrays(draw: DrawFn, content: bytes) -> bytes:
    """Damage, drop or swap arrays of a ``.npz`` file, or change its bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name, other = (draw(st.sampled_from(list(members))) for _ in range(2))
    way = draw(st.sampled_from(["array"] * 8 + ["swap", "drop", "bytes"]))
    if way == "bytes":
        return draw(damaged_bytes(content))
    if way == "drop":
        del members[name]
    else:
        members[name] = draw(damaged_npy(members[name])) if way == "array" else members[other]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, inside in members.items():
            archive.writestr(member, inside)
    return file.getvalue()


@st.composite
def damaged_database(draw: DrawFn, content: bytes) -> bytes:
    """Change the schema or the rows of a label log, or bytes of the file."""
    way = draw(st.sampled_from(["bytes", "schema", "rows", "rows"]))
    if way == "bytes":
        return draw(damaged_bytes(content))
    statement, column = draw(st.sampled_from(SCHEMA)), draw(st.sampled_from(COLUMNS))
    value = draw(scalars | st.binary(max_size=4) | values.map(json.dumps))
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(content[:18] + ROLLBACK_MODE + content[20:])
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        with suppress(sqlite3.Error, OverflowError):
            if way == "schema":
                database.executescript(statement)
            else:
                database.executescript(
                    "PRAGMA ignore_check_constraints = 1;" + "".join(f"DROP TRIGGER {name};" for name, _ in triggers)
                )
                database.execute(f"UPDATE events SET {column} = ? WHERE number = ?", (value, draw(st.integers(1, 20))))
                database.executescript(";".join(sql for _, sql in triggers))
        database.commit()
        damaged = database.serialize()
    return damaged[:18] + WAL_MODE + damaged[20:]
