"""Edges converted by the workers of a cluster: byte for byte the graph that one process writes."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import featprop as fp
import featprop.compute.dask_backend
from featprop.compute import compute_on
from featprop.errors import GraphError
from featprop.interop import positions
from featprop.io import buckets, converting, edge_tasks, table_pieces
from featprop.io.appending import append_tables
from featprop.io.converting import convert_tables, tables_at
from featprop.progress import listening
from featprop.tables import TableOptions

pytest.importorskip("distributed")

NODES, EDGES = 400, 6000
Convert = Callable[..., None]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_pieces, "ROWS", 500)
    monkeypatch.setattr(buckets, "BUCKET", 900)
    monkeypatch.setattr(positions, "FEW", 0)
    monkeypatch.setattr(converting, "entries_at_once", lambda *_: 700)


def write(folder: Path, kind: str, *, names: bool = False, weight: Callable[[float], str] | None = None) -> Path:
    """Write tables: edges of which many go to one node, loops, zeros and repeated ones among them."""
    generator = np.random.default_rng(0)
    ids = generator.permutation(NODES) * 3 + 1
    source = np.where(generator.random(EDGES) < 0.4, ids[5], generator.choice(ids, EDGES))
    weights = (generator.integers(0, 9, EDGES) / 4).tolist()
    ends = {"source": source, "target": generator.choice(ids, EDGES)}
    if names:
        ends, ids = {end: [f"n{each}" for each in found] for end, found in ends.items()}, [f"n{each}" for each in ids]
    columns = {**ends, "weight": weights if weight is None else [weight(each) for each in weights]}
    folder.mkdir()
    for name, table in {"nodes": {"id": ids, "w": generator.random(NODES)}, "edges": columns}.items():
        if kind == "csv":
            pyarrow.csv.write_csv(pa.table(table), folder / f"{name}.csv")
        else:
            pyarrow.parquet.write_table(pa.table(table), folder / f"{name}.parquet", row_group_size=1100)
    return folder


def convert(folder: Path, out: Path, scratch: Path | None = None, **options: object) -> None:
    tables = tables_at(folder)
    assert tables is not None
    convert_tables(tables, out, TableOptions(**options), max_memory=10**9, scratch=scratch)  # type: ignore[arg-type]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "checked.json"}


@pytest.fixture
def handed_out(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Remember what is handed out to workers."""
    found: list[str] = []
    each = fp.compute.dask_backend.DaskBackend.map_items

    def remember(
        self: object, task: Callable[..., object], items: Iterator[object], *more: object, **kind: object
    ) -> object:
        def counted() -> Iterator[object]:
            for item in items:
                found.append(task.__name__)
                yield item

        return each(self, task, counted(), *more, **kind)  # type: ignore[arg-type]

    monkeypatch.setattr(fp.compute.dask_backend.DaskBackend, "map_items", remember)
    return found


@pytest.mark.parametrize("repeated", ["max", "sum", "count"])
@pytest.mark.parametrize(("kind", "names"), [("csv", True), ("csv", False), ("parquet", True), ("parquet", False)])
def test_workers_write_the_same_bytes(
    kind: str, names: bool, repeated: str, dask_client: object, tmp_path: Path, handed_out: list[str]
) -> None:
    tables = write(tmp_path / "tables", kind, names=names)
    convert(tables, tmp_path / "here", repeated=repeated)
    with compute_on(client=dask_client):  # type: ignore[arg-type]
        convert(tables, tmp_path / "there", tmp_path / "scratch", repeated=repeated)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert handed_out.count("spread") >= 6
    assert handed_out.count("merge") >= 10
    assert not list((tmp_path / "scratch").iterdir())


def test_what_only_all_edges_tell_is_told_here(dask_client: object, tmp_path: Path, handed_out: list[str]) -> None:
    tables = write(tmp_path / "tables", "csv", weight=lambda number: f"{number} €".replace(".", ","))
    convert(tables, tmp_path / "here")
    with compute_on(client=dask_client):  # type: ignore[arg-type]
        convert(tables, tmp_path / "there")
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert {"spread", "merge"} == set(handed_out)
    with (tables / "edges.csv").open("a") as file:
        file.write("4711,4712,1\n")
    errors = []
    for options in ({}, {"client": dask_client}):
        with pytest.raises(GraphError, match="must join ids of the nodes") as caught, compute_on(**options):  # type: ignore[arg-type]
            convert(tables, tmp_path / "other")
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("stage", ["reading edges", "sorting edges"])
def test_a_worker_that_is_killed_on_the_way_is_survived(stage: str, dask_client: object, tmp_path: Path) -> None:
    tables = write(tmp_path / "tables", "csv")
    convert(tables, tmp_path / "here")
    killed: list[int] = []

    def kill_one(now: str, done: int, total: int) -> None:
        if now == stage and done == 3 and not killed:
            killed.append(min(dask_client.run(os.getpid).values()))  # type: ignore[attr-defined]
            os.kill(killed[0], signal.SIGKILL)

    with listening(kill_one), compute_on(client=dask_client):  # type: ignore[arg-type]
        convert(tables, tmp_path / "there")
    assert killed
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_workers_add_to_a_graph(dask_client: object, tmp_path: Path, handed_out: list[str]) -> None:
    tables, more = write(tmp_path / "tables", "csv"), tmp_path / "more"
    more.mkdir()
    (more / "edges.csv").write_bytes((tables / "edges.csv").read_bytes())
    (tables / "edges.csv").write_text("source,target,weight\n1,4,0.5\n4,7,0.5\n")
    found = tables_at(more, both=False)
    assert found is not None
    for name, options in (("here", {}), ("there", {"client": dask_client})):
        convert(tables, tmp_path / name)
        with compute_on(**options):  # type: ignore[arg-type]
            append_tables(found, tmp_path / name, TableOptions(), max_memory=10**9)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")
    assert {"spread", "merge"} == set(handed_out)


def test_a_task_may_be_done_twice(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    (tmp_path / "edges").mkdir()
    files = buckets.Buckets(tmp_path / "edges", 5000, lambda keys, count: keys * count // 2000, weighted=True)
    files.add([buckets.Keyed(generator.integers(0, 2000, 5000), generator.random(5000, dtype=np.float32))])
    first, second = (edge_tasks.merge(1, files, 200, "sum") for _ in range(2))
    assert len(first) > 2
    for one, other in zip(first, second, strict=True):
        for ours, theirs in zip(one.take(), other.take(), strict=True):
            np.testing.assert_array_equal(ours, theirs)  # type: ignore[arg-type]
