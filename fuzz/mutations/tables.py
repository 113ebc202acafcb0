"""Tables of text: cells replaced by extremes, rows and columns dropped, repeated, reordered, other dialects."""

from __future__ import annotations

import csv
import io
import random

from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import extreme_text

__all__ = ["mutated_csv", "mutated_rows", "rows_of", "written_csv"]

Rows = list[list[str]]


def mutated_csv(random: random.Random, content: bytes) -> bytes:
    """Return a CSV file with some changes of its table, of how it is written, or of its bytes."""
    if random.random() < 0.25:
        return mutated_bytes(random, content)
    written = written_csv(random, mutated_rows(random, rows_of(content)))
    return mutated_bytes(random, written) if random.random() < 0.1 else written


def rows_of(content: bytes) -> Rows:
    """Return the rows of a valid file."""
    return list(csv.reader(io.StringIO(content.decode())))


def written_csv(random: random.Random, rows: Rows) -> bytes:
    """Return a table as a file, now and then as other programs write it, and in another encoding."""
    text = io.StringIO()
    plain = random.random() < 0.7
    writer = csv.writer(
        text,
        delimiter="," if plain else random.choice(",;\t|:"),
        quoting=csv.QUOTE_MINIMAL if plain else random.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
        lineterminator="\n" if plain else random.choice(["\n", "\r\n", "\r", "\n\n"]),
    )
    writer.writerows(rows)
    encoding = "utf-8" if plain else random.choice(["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32"])
    return text.getvalue().encode(encoding, "replace")


def mutated_rows(random: random.Random, rows: Rows) -> Rows:
    """Return a table, the first row its header, with one to six changes."""
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        rows = _changed(random, [list(row) for row in rows]) or [[]]
    return rows


def _changed(random: random.Random, rows: Rows) -> Rows:
    width, row = max(map(len, rows)), random.randrange(len(rows))
    column, way = random.randrange(max(1, width)), random.randrange(14)
    if way <= 3 and rows[row]:
        rows[row][random.randrange(len(rows[row]))] = extreme_text(random)
    elif way == 4:
        some = random.random()
        value = extreme_text(random)
        for each in rows[1:]:
            if column < len(each) and random.random() < some:
                each[column] = value if random.random() < 0.8 else extreme_text(random)
    elif way == 5:
        del rows[row]
    elif way == 6:
        rows[row:row] = [rows[row]] * random.choice([1, 2, 50])
    elif way == 7:
        start = random.choice([0, 1])
        head, body = rows[:start], rows[start:]
        random.shuffle(body)
        rows = head + body
    elif way == 8:
        for each in rows:
            del each[column : column + 1]
    elif way == 9:
        for each in rows:
            each.append(each[column] if column < len(each) else "")
    elif way == 10:
        order = list(range(width))
        random.shuffle(order)
        rows = [[each[place] for place in order if place < len(each)] for each in rows]
    elif way == 11 and rows[0]:
        rows[0][random.randrange(len(rows[0]))] = extreme_text(random)
    elif way == 12:
        rows = rows[: random.randrange(4)]
    else:
        rows[row] = rows[row][: random.randrange(width + 1)] + [extreme_text(random)] * random.randrange(3)
    return rows
