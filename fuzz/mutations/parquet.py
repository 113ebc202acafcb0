"""Parquet files: columns of other types, extreme values, odd schemas, damaged bytes."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import extreme_text

__all__ = ["mutated_parquet"]

WHEN = dt.datetime(2024, 2, 29, 12)
MAKERS: tuple[Callable[[int], Any], ...] = (
    lambda n: pa.nulls(n),
    lambda n: pa.nulls(n, pa.string()),
    lambda n: pa.array([place % 128 for place in range(n)], pa.int8()),
    lambda n: pa.array([2**64 - 1 - place for place in range(n)], pa.uint64()),
    lambda n: pa.array([-(2**63) + place for place in range(n)], pa.int64()),
    lambda n: pa.array([float(place) for place in range(n)], pa.float16()),
    lambda n: pa.array([[float("nan"), float("inf"), 1e308, -1e308, 5e-324][place % 5] for place in range(n)]),
    lambda n: pa.array([place % 2 == 0 for place in range(n)]),
    lambda n: pa.array([decimal.Decimal(place).scaleb(-3) for place in range(n)], pa.decimal128(20, 3)),
    lambda n: pa.array([decimal.Decimal(10) ** 37 + place for place in range(n)], pa.decimal128(38, 0)),
    lambda n: pa.array([decimal.Decimal(place) for place in range(n)], pa.decimal256(70, 0)),
    lambda n: pa.array([WHEN + dt.timedelta(days=place) for place in range(n)], pa.timestamp("ns")),
    lambda n: pa.array([WHEN] * n, pa.timestamp("us", tz="Asia/Kathmandu")),
    lambda n: pa.array([[2**63 - 1, -(2**63) + 1, 0][place % 3] for place in range(n)], pa.timestamp("s")),
    lambda n: pa.array([[2**31 - 1, -(2**31), 0][place % 3] for place in range(n)], pa.date32()),
    lambda n: pa.array([place * 86_400_000 for place in range(n)], pa.date64()),
    lambda n: pa.array([place % 86400 for place in range(n)], pa.time32("s")),
    lambda n: pa.array(list(range(n)), pa.time64("ns")),
    lambda n: pa.array(list(range(n)), pa.duration("ms")),
    lambda n: pa.array([bytes([place % 256, 255]) for place in range(n)], pa.binary()),
    lambda n: pa.array([b"abcd"] * n, pa.binary(4)),
    lambda n: pa.array([f"text {place}" for place in range(n)], pa.large_string()),
    lambda n: pa.array([f"n{place}" for place in range(n)]).dictionary_encode(),
    lambda n: pa.array([[None, "a", ""][place % 3] for place in range(n)]).dictionary_encode(),
    lambda n: pa.array([[1.0] * (place % 4) for place in range(n)], pa.list_(pa.float64())),
    lambda n: pa.array([[float("nan"), 1e300] for _ in range(n)], pa.list_(pa.float64())),
    lambda n: pa.array([None if place % 2 else [None, 1.0] for place in range(n)], pa.list_(pa.float32(), 2)),
    lambda n: pa.array([["a", "b"]] * n),
    lambda n: pa.array([[[1, 2], [3]]] * n),
    lambda n: pa.array([{"x": place, "y": [place]} for place in range(n)]),
    lambda n: pa.array([[("a", place)] for place in range(n)], pa.map_(pa.string(), pa.int64())),
    lambda n: pa.array(["\x00", "a\x00b", ""] * (n // 3) + ["é"] * (n % 3)),
    lambda n: pa.array(["x" * 10_000] * n),
    lambda n: pa.array([f"n{place}" for place in range(n)]),
)  # fmt: skip


def mutated_parquet(random: random.Random, content: bytes) -> bytes:
    """Return a Parquet file with a table that is changed, or with bytes that are."""
    if random.random() < 0.35:
        return mutated_bytes(random, content)
    table = pq.read_table(io.BytesIO(content))
    for _ in range(random.choice([1, 1, 2, 3])):
        table = _changed(random, table)
    sink = io.BytesIO()
    try:
        pq.write_table(
            table,
            sink,
            row_group_size=random.choice([None, None, 1, 7]),
            compression=random.choice(["snappy", "none", "gzip", "zstd"]),
            version=random.choice(["1.0", "2.6"]),
            use_dictionary=random.random() < 0.5,
            store_schema=random.random() < 0.7,
        )
    except (pa.ArrowException, ValueError, OSError):
        return mutated_bytes(random, content)
    return mutated_bytes(random, sink.getvalue()) if random.random() < 0.1 else sink.getvalue()


def _changed(random: random.Random, table: pa.Table) -> pa.Table:
    if not table.num_columns:
        return table
    column, way = random.randrange(table.num_columns), random.randrange(9)
    name = table.column_names[column]
    if way <= 2:
        return table.set_column(column, name, random.choice(MAKERS)(table.num_rows))
    if way == 3:
        values = table.column(column).to_pylist()
        for _ in range(random.choice([1, 5, len(values)])):
            if values:
                values[random.randrange(len(values))] = random.choice([extreme_text(random), None])
        return table.set_column(column, name, pa.array([None if value is None else str(value) for value in values]))
    if way == 4:
        return table.drop_columns([name]) if table.column_names.count(name) == 1 else table
    if way == 5:
        return table.append_column(random.choice([name, extreme_text(random)]), table.column(column))
    if way == 6:
        places = list(range(table.num_rows))
        random.shuffle(places)
        places = random.choice([places, places[:1], [], places + places, places[: len(places) // 2]])
        return table.take(pa.array(places, pa.int64()))
    if way == 7:
        names = list(table.column_names)
        names[column] = extreme_text(random)
        return table.rename_columns(names)
    order = list(range(table.num_columns))
    random.shuffle(order)
    return table.select(order)
