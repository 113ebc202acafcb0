"""What several tests start from: a graph small enough to solve by hand, and its files on disk."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import settings
from typer.testing import CliRunner

from featprop.cli import app
from featprop.graph import Graph
from featprop.matrix import dense
from featprop.models import MODELS
from featprop.propagation import normalised_adjacency
from featprop.strategies import STRATEGIES
from tests.graphs import write_class_folder

os.environ.setdefault("OMP_NUM_THREADS", "1")
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background, and so would children
settings.register_profile(  # other examples in each run, but in CI, where the same code must get the same answer
    "tests", deadline=None, max_examples=60, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("tests")

NODES = "id,w1,w2,label\na,1,0,left\nb,1,0.5,\nc,0,1,right\nd,0,2,\ne,1,1,\n"
EDGES = "source,target\na,b\nb,c\nc,d\nd,e\n"

Table = str | bytes | pa.Table
WriteFolder = Callable[..., Path]
Run = Callable[..., Any]
ByHand = Callable[..., np.ndarray]


@pytest.fixture
def line() -> Graph:
    """The nodes a, b, c, d, e in a line; a is left, c is right."""
    adjacency = sp.diags_array([np.ones(4), np.ones(4)], offsets=[-1, 1], format="csr")
    features = np.array([[1, 0], [1, 0.5], [0, 1], [0, 2], [1, 1]])
    return Graph.from_scipy(adjacency, features, ids=list("abcde"), labels=["left", None, "right", None, None])


def unit_length(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-6)


@pytest.fixture(scope="session")
def centred_by_hand() -> ByHand:
    """Centre features as the formula of `Reduction` is written, in double precision, all columns kept."""

    def centre(features: Any) -> np.ndarray:
        given = dense(features).astype(float)
        moved = given - given.mean(axis=0)
        last = np.sqrt(np.square(moved).sum(axis=1).mean() / given.shape[1])
        return unit_length(np.hstack([moved, np.full((len(given), 1), last)]) * given.any(axis=1, keepdims=True))

    return centre


@pytest.fixture(scope="session")
def features_by_hand(centred_by_hand: ByHand) -> ByHand:
    """Compute a feature set of a graph as the formulas are written, with dense matrices in double precision."""

    def compute(graph: Graph, name: str) -> np.ndarray:
        S = normalised_adjacency(graph).toarray().astype(float)
        powers = [np.linalg.matrix_power(S, step) @ centred_by_hand(graph.features) for step in range(21)]
        total = sum(0.1 * 0.9**step * power for step, power in enumerate(powers))
        rows = unit_length({"own": powers[0], "two-hops": powers[2], "diffused": total}[name])
        known = rows.any(axis=1, keepdims=True)
        return unit_length((rows - rows.sum(axis=0) / max(1, known.sum())) * known)

    return compute


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A real cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


@pytest.fixture
def write_folder(tmp_path: Path) -> WriteFolder:
    """Write a graph folder, that of `line` but for the tables given: text or bytes as CSV, a table as Parquet."""

    def write(nodes: Table | None = NODES, edges: Table | None = EDGES, name: str = "graph") -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for stem, table in [("nodes", nodes), ("edges", edges)]:
            if isinstance(table, pa.Table):
                pq.write_table(table, folder / f"{stem}.parquet")
            elif table is not None:
                (folder / f"{stem}.csv").write_bytes(table.encode() if isinstance(table, str) else table)
        return folder

    return write


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in process, in the temporary folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def install_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Install a package with entry points, as pip would, for one test."""
    site = tmp_path / "site"
    info = site / "some_package-1.0.dist-info"
    info.mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    for registry in (STRATEGIES, MODELS):
        monkeypatch.setattr(registry, "classes", dict(registry.classes))

    def write(group: str, code: str, **entries: str) -> None:
        (site / "some_package.py").write_text(code)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: some-package\nVersion: 1.0\n")
        lines = [f"{name.replace('_', '-')} = {target}" for name, target in entries.items()]
        (info / "entry_points.txt").write_text(f"[{group}]\n" + "\n".join(lines) + "\n")
        monkeypatch.delitem(sys.modules, "some_package", raising=False)

    return write


@pytest.fixture
def contents(tmp_path: Path) -> Callable[[], dict[str, bytes | None]]:
    """Return every path in the temporary folder and what the files hold."""

    def read() -> dict[str, bytes | None]:
        found = sorted(tmp_path.rglob("*"))
        return {str(path.relative_to(tmp_path)): path.read_bytes() if path.is_file() else None for path in found}

    return read


@pytest.fixture
def graph_folder(tmp_path: Path) -> Path:
    """240 nodes of three classes as a graph folder with labels."""
    return write_class_folder(tmp_path / "blobs")
