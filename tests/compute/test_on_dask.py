"""A real cluster of processes gives the answer of memory, also when one of them is killed on the way."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import featprop as fp
from featprop.compute import place, working
from featprop.compute.block_points import _norms_of
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.progress import listening

pytest.importorskip("distributed")

NODES = 300_000
"""So many that points are compared block by block, wherever these are."""


@pytest.fixture(scope="module")
def graph_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graphs") / "graph"
    fp.datasets.make(folder, nodes=NODES, edges=600_000, features=4, classes=3)
    return folder


@pytest.fixture(scope="module", autouse=True)
def quick_search() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("featprop.clustering.search_by_size.STREAMED_LIMIT", 1000)
        yield


@pytest.fixture(scope="module")
def in_memory(graph_folder: Path) -> tuple[list[object], np.ndarray, float]:
    return _answer(fp.read_graph(graph_folder))


def _answer(graph: Graph) -> tuple[list[object], np.ndarray, float]:
    picks = fp.select(graph, 6)
    labels = [graph.class_names()[position] for position in picks.positions]
    return list(picks), fp.GraphRidge().fit(graph, picks, labels).predict_proba(graph), picks.mean_distance


def _same(ours: tuple[list[object], np.ndarray, float], theirs: tuple[list[object], np.ndarray, float]) -> None:
    assert ours[0] == theirs[0]
    np.testing.assert_array_equal(ours[1], theirs[1])
    assert ours[2] == theirs[2]


def test_a_cluster_answers_as_memory_does(
    dask_client: object, graph_folder: Path, in_memory: tuple[list[object], np.ndarray, float], tmp_path: Path
) -> None:
    with working(client=dask_client, scratch=tmp_path):  # type: ignore[arg-type]
        assert len(place().blocks(NODES)) > 2
        _same(_answer(fp.read_graph(graph_folder)), in_memory)
    assert not list(tmp_path.iterdir())


def test_a_worker_that_is_killed_on_the_way_is_survived(
    dask_client: object, graph_folder: Path, in_memory: tuple[list[object], np.ndarray, float]
) -> None:
    killed: list[int] = []

    def kill_one(stage: str, done: int, total: int) -> None:
        if stage == "smoothing features" and done == 4 and not killed:
            pids = dask_client.run(os.getpid)  # type: ignore[attr-defined]
            killed.append(min(pids.values()))
            os.kill(killed[0], signal.SIGKILL)

    graph = fp.read_graph(graph_folder)
    with listening(kill_one):
        picks = fp.select(graph, 6, client=dask_client)  # type: ignore[arg-type]
    assert killed
    assert list(picks) == in_memory[0]


def test_a_graph_that_is_in_memory_here_is_written_for_the_workers(dask_client: object, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    ends, features = generator.integers(0, 5000, size=(2, 20_000)), generator.normal(size=(5000, 30))
    adjacency = sp.coo_array((generator.random(20_000) + 0.5, tuple(ends)), shape=(5000, 5000))
    here = fp.select(Graph.from_scipy(adjacency, features), 12)
    there = fp.select(Graph.from_scipy(adjacency, features), 12, client=dask_client, scratch=tmp_path)  # type: ignore[arg-type]
    assert list(here) == list(there)


def test_an_error_of_a_task_comes_back(dask_client: object) -> None:
    with working(client=dask_client) as at, pytest.raises(AttributeError, match="'str' object"):  # type: ignore[arg-type]
        at.run(_norms_of, 100_000, "no points")


def test_an_address_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.compute.scaling.PATIENCE", 1)
    said = "cluster must be the address of a Dask scheduler"
    with pytest.raises(ParameterError, match=said), working(cluster="tcp://127.0.0.1:9"):
        pass


@pytest.mark.parametrize("options", [{"workers": 1, "cluster": "tcp://127.0.0.1:9"}, {"workers": 0}, {"client": 3}])
def test_odd_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=r"^(client|cluster|workers) must be"), working(**options):  # type: ignore[arg-type]
        pass
