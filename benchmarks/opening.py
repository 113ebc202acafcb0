"""Time to read one graph as CSV tables, Parquet tables, a sparse .npz and in featprop's format.

    python benchmarks/opening.py [nodes]

Each is read in a separate process, which also prints its peak memory (Linux only).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import scipy.sparse as sp

from featprop.datasets import make

READ = """
import re, sys, time
from pathlib import Path
from featprop.sources import read_graph
start = time.perf_counter()
graph = read_graph(sys.argv[1])
seconds = time.perf_counter() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
print(f"{seconds:10.3f} s {peak / 1024:10,.0f} MB")
"""


def main(nodes: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        graph = make(place / "own format", nodes=nodes, edges=10 * nodes, features=32)
        edges = sp.triu(graph.adjacency, format="coo")
        tables = {
            "nodes": pa.table(
                {"id": graph.ids, "label": graph.labels} | {f"x{i}": graph.features[:, i] for i in range(32)}
            ),
            "edges": pa.table({"source": edges.coords[0], "target": edges.coords[1]}),
        }
        for suffix, write in (("csv", pyarrow.csv.write_csv), ("parquet", pyarrow.parquet.write_table)):
            (place / suffix).mkdir()
            for name, table in tables.items():
                write(table, place / suffix / f"{name}.{suffix}")
        features = sp.csr_array(graph.features)
        arrays = {
            f"{name}_{part}": np.array(getattr(matrix, part))
            for name, matrix in (("adj", graph.adjacency), ("attr", features))
            for part in ("data", "indices", "indptr", "shape")
        }
        np.savez_compressed(place / "sparse.npz", labels=graph.labels, **arrays)
        print(f"{graph}\n{'':>12}   time to open   peak memory")
        for name in ("csv", "parquet", "sparse.npz", "own format"):
            done = subprocess.run(
                [sys.executable, "-c", READ, place / name], capture_output=True, text=True, check=True
            )
            print(f"{name:>12} {done.stdout.rstrip()}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 200_000)
