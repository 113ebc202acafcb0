"""Convert tables with many edges: rows per second compared with PyArrow's reader, and peak memory.

    python benchmarks/converting.py [--edges 20e6] [--max-memory 1GB] [--only csv parquet] [--folder FOLDER]

The tables in FOLDER have a tenth as many nodes as edges, with 8 numeric columns, and random weighted edges. Ids are
unsorted numbers, or names with ``--names``. Each run is a separate process. PyArrow only reads the same edges:
``pyarrow.csv.open_csv`` with the same columns as text, and ``ParquetFile.iter_batches``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=float, default=20e6)
    parser.add_argument("--max-memory", default="1GB")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--only", nargs="+", choices=list(READ), default=list(READ))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    edges = int(given.edges)
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        for kind in given.only:
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
