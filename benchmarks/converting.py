"""Read large tables: edges per second compared with PyArrow's reader, peak memory, and a second command.

    python benchmarks/converting.py [--edges 20e6] [--max-memory 1GB] [--only csv parquet wide] [--folder FOLDER]

The tables in FOLDER have a tenth as many nodes as edges, with 8 numeric columns, and random weighted edges. Ids are
unsorted numbers, or names with ``--names``. Each run is a separate process. PyArrow only reads the same edges:
``pyarrow.csv.open_csv`` with the same columns as text, and ``ParquetFile.iter_batches``.

``wide`` writes a CSV file of counted words, 5,196 rows of 8,189 columns, and runs ``featprop select`` twice with an
empty cache: the second command opens the graph and the truncated SVD that the first one kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from performance import measured

CHUNK = 1_000_000
READ = {
    "csv": """
import sys
import pyarrow as pa
import pyarrow.csv as csv
text = csv.ConvertOptions(column_types=dict.fromkeys(("source", "target", "weight"), pa.string()))
parse = csv.ParseOptions(newlines_in_values=True)
print(sum(len(batch) for batch in csv.open_csv(sys.argv[1], csv.ReadOptions(block_size=1 << 23), parse, text)))
""",
    "parquet": """
import sys
import pyarrow.parquet as pq
print(sum(len(batch) for batch in pq.ParquetFile(sys.argv[1]).iter_batches(1 << 19)))
""",
}


def make_tables(folder: Path, kind: str, edges: int, names: bool) -> None:
    """Write nodes and edges, a million rows at a time."""
    folder.mkdir(parents=True)
    generator = np.random.default_rng(0)
    nodes = edges // 10
    ids = generator.permutation(nodes) * 3 + 7
    columns = {f"x{i}": generator.standard_normal(nodes).round(3) for i in range(8)}
    _write(folder / f"nodes.{kind}", kind, [pa.table({"id": _named(ids, names), **columns})])
    _write(folder / f"edges.{kind}", kind, (_edges(ids, generator, count, names) for count in _counts(edges)))


def _counts(edges: int) -> list[int]:
    return [min(CHUNK, edges - start) for start in range(0, edges, CHUNK)]


def _edges(ids: np.ndarray, generator: np.random.Generator, count: int, names: bool) -> pa.Table:
    ends = {end: _named(generator.choice(ids, count), names) for end in ("source", "target")}
    return pa.table({**ends, "weight": generator.random(count).round(3)})


def _named(ids: np.ndarray, names: bool) -> pa.Array:
    return pa.compute.binary_join_element_wise("node-", pa.array(ids).cast(pa.string()), "") if names else pa.array(ids)


def _write(path: Path, kind: str, tables: Iterable[pa.Table]) -> None:
    writer = None
    for table in tables:
        if writer is None:
            writer = (pa_csv.CSVWriter if kind == "csv" else pq.ParquetWriter)(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def measure_second_command(folder: Path, rows: int = 5196, columns: int = 8189) -> None:
    """Print the CPU time of two equal commands on wide features."""
    tables = folder / "wide"
    tables.mkdir()
    generator = np.random.default_rng(0)
    words = (generator.random((rows, columns), dtype=np.float32) < 0.01).astype(np.int8)
    names = ["id", *(f"w_{column}" for column in range(columns))]
    ends = generator.integers(0, rows, size=(2, 30_000))
    _write(tables / "nodes.csv", "csv", [pa.table([pa.array(np.arange(rows)), *map(pa.array, words.T)], names)])
    _write(tables / "edges.csv", "csv", [pa.table({"source": ends[0], "target": ends[1]})])
    time.sleep(3)  # a table that has just changed is not kept
    os.environ["FEATPROP_CACHE"] = str(folder / "cache")
    command = [sys.executable, "-m", "featprop", "select", str(tables), "--budget", "10", "--force"]
    spent = []
    for _ in range(2):
        before = os.times()
        measured([*command, "--out", str(folder / "picks.csv")])
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    print(f"wide: {rows:,} x {columns:,}, first command {spent[0]:.1f} s of CPU, second {spent[1]:.1f} s")
    print(f"  the second takes {spent[1] / spent[0]:.2f} x the first", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=float, default=20e6)
    parser.add_argument("--max-memory", default="1GB")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--only", nargs="+", choices=[*READ, "wide"], default=[*READ, "wide"])
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    edges = int(given.edges)
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        if "wide" in given.only:
            measure_second_command(Path(made))
        for kind in [each for each in given.only if each in READ]:
            tables, out = Path(made) / kind, Path(made) / "out"
            make_tables(tables, kind, edges, given.names)
            path = str(tables / f"edges.{kind}")
            read, _ = measured([sys.executable, "-c", READ[kind], path])
            options = ["--max-memory", given.max_memory, "--scratch", made]
            spent, peak = measured([sys.executable, "-m", "featprop", "convert", str(tables), str(out), *options])
            again, _ = measured([sys.executable, "-c", READ[kind], path])
            read = min(read, again)
            size = sum(file.stat().st_size for file in tables.iterdir()) / 1e9
            print(f"{kind}: {edges:,} edges, {edges // 10:,} nodes, {size:.1f} GB")
            print(f"  {spent:.0f} s, {edges / spent:,.0f} edges per second, peak {peak:.2f} GB of {given.max_memory}")
            print(f"  {spent / read:.1f} x PyArrow's reader of the edges alone ({read:.1f} s)", flush=True)
            shutil.rmtree(tables)
            shutil.rmtree(out)


if __name__ == "__main__":
    main()
