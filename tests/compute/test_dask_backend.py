"""A Dask cluster of local processes gives the results of the memory backend, even if a worker is killed.

This process computes products on two threads and a chunk at a time, the workers on one thread and two chunks at a time.
"""

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

import featprop as fp
from featprop.compute import compute_on, get_backend
from featprop.compute.backend import CHUNK_ROWS, split_evenly
from featprop.compute.dask_backend import DaskBackend
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.progress import listening
from featprop.propagation import Propagation
from tests.graphs import labels_at, random_graph
from tests.helpers import raises

pytest.importorskip("distributed")

NODES = 140_000
"""Several chunks."""
Answer = tuple[list[object], float | None, bytes, str]


def read_rows(block: slice, points: Any) -> Any:
    return points.rows[block]


@pytest.fixture(scope="module")
def graph_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs") / "graph"
    fp.datasets.make(folder, nodes=NODES, edges=280_000, features=32, classes=3)
    return folder


@pytest.fixture(scope="module", autouse=True)
def quick_search_on_two_threads() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched, threadpool_limits(2, user_api="blas"):
        patched.setattr("featprop.clustering.solver.MAX_STREAMED_ROWS", 1000)
        patched.setattr(DaskBackend, "split_rows", lambda self, n: split_evenly(n, 2 * CHUNK_ROWS))
        yield


@pytest.fixture(scope="module")
def in_memory(graph_folder: Path) -> Answer:
    return _answer(fp.read_graph(graph_folder))


def _answer(graph: Graph) -> Answer:
    picks = fp.select(graph, 6)
    model = fp.GraphRidge().fit(graph, picks, labels_at(graph, picks.positions))
    compared = hashlib.sha256(Propagation.of(graph).compared.rows.tobytes()).hexdigest()
    return list(picks), picks.mean_distance, model.predict_proba(graph).tobytes(), compared


def test_cluster_gives_the_results_of_memory(
    dask_client: object, graph_folder: Path, in_memory: Answer, tmp_path: Path
) -> None:
    with compute_on(client=dask_client, scratch=tmp_path):  # type: ignore[arg-type]
        assert len(get_backend().split_rows(NODES)) == 2 < NODES / CHUNK_ROWS
        assert _answer(fp.read_graph(graph_folder)) == in_memory
    assert not list(tmp_path.iterdir())


def test_killed_worker_does_not_change_the_result(dask_client: object, graph_folder: Path, in_memory: Answer) -> None:
    killed: list[int] = []

    def kill_one(stage: str, done: int, total: int) -> None:
        if stage == "smoothing features" and done >= 4 and not killed:
            pids = dask_client.run(os.getpid)  # type: ignore[attr-defined]
            killed.append(min(pids.values()))
            os.kill(killed[0], signal.SIGKILL)

    graph = fp.read_graph(graph_folder)
    with listening(kill_one):
        picks = fp.select(graph, 6, client=dask_client)  # type: ignore[arg-type]
    assert killed
    assert list(picks) == in_memory[0]


def test_graph_in_memory_is_sent_to_the_workers(dask_client: object, tmp_path: Path) -> None:
    one, other = (random_graph(2000, 12, density=0.002, weighted=True) for _ in range(2))
    there = fp.select(other, 12, client=dask_client, scratch=tmp_path)  # type: ignore[arg-type]
    assert list(fp.select(one, 12)) == list(there)


def test_error_of_a_task_reaches_the_caller(dask_client: object) -> None:
    with compute_on(client=dask_client) as backend, pytest.raises(AttributeError):  # type: ignore[arg-type]
        backend.run(read_rows, 100_000, "no points")


def test_unreachable_scheduler_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.compute.dask_backend.CONNECT_TIMEOUT_S", 1)
    address = "tcp://127.0.0.1:9"
    with raises(ParameterError, parameter="cluster", value=address), compute_on(cluster=address):
        pass


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        ({"workers": 1, "cluster": "tcp://127.0.0.1:9"}, {"parameter": "cluster"}),
        ({"workers": 0}, {"parameter": "workers", "value": 0}),
        ({"client": 3}, {"parameter": "client", "value": 3}),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], fields: dict[str, object]) -> None:
    with raises(ParameterError, **fields), compute_on(**options):  # type: ignore[arg-type]
        pass
