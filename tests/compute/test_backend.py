"""Every backend gives the same results, for any number of blocks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import featprop as fp
from featprop.compute import Backend, DiskBackend, split_into_chunks, use_backend
from featprop.compute.kernels import normalize_rows
from featprop.compute.mapped_arrays import is_mapped
from featprop.compute.points import Points
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.propagation import FEATURE_SETS, Propagation
from tests.graphs import labels_at
from tests.helpers import raises


class FewColumns(DiskBackend):
    """Mapped files with room for a few columns at once."""

    def __init__(self, folder: Path, columns: int) -> None:
        super().__init__(folder, 2**30)
        self.columns = columns

    def allocate_rows(self, n: int, width: int) -> np.ndarray:
        return self.map_file((n, width), np.float32)

    def max_columns(self, n: int, width: int) -> int:
        return min(self.columns, width)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.compute.backend.CHUNK_ROWS", 64)
    monkeypatch.setattr("featprop.compute.points.CHUNK_ROWS", 64)


def make_graph(tmp_path: Path, **options: object) -> Graph:
    about = {"nodes": 500, "edges": 2000, "features": 12, "classes": 4} | options
    return fp.datasets.make(tmp_path / f"graph-{len(list(tmp_path.iterdir()))}", **about)  # type: ignore[arg-type]


def backends(tmp_path: Path) -> list[Backend]:
    folder = tmp_path / "scratch"
    folder.mkdir(exist_ok=True)
    in_memory = [Backend(chunks) for chunks in (1, 3, 1000)]
    return [*in_memory, DiskBackend(folder, 2**30), FewColumns(folder, 5), FewColumns(folder, 1)]


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("kind", ["gaussian", "words"])
def test_feature_sets_are_bit_identical(tmp_path: Path, kind: str) -> None:
    make_graph(tmp_path, kind=kind, features=40 if kind == "words" else 12)
    first: dict[str, np.ndarray] = {}
    for backend in backends(tmp_path):
        with use_backend(backend):
            ours = Propagation(fp.read_graph(tmp_path / "graph-0"))
            found = {name: ours.features(name) for name in FEATURE_SETS}
            for name, rows in found.items():
                np.testing.assert_array_equal(rows, first.setdefault(name, np.array(rows)))
            ours.graph.cache.values.clear()


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_picks_scores_and_coverage_are_identical(tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.clustering.solver.MAX_STREAMED_ROWS", 300)
    monkeypatch.setattr("featprop.clustering.kmedoids.choose_method", lambda problem: method)
    graph = make_graph(tmp_path)
    seen = set()
    for backend in backends(tmp_path):
        with use_backend(backend):
            fresh = fp.read_graph(tmp_path / "graph-0")
            picks = fp.select(fresh, 20)
            given = labels_at(graph, picks.positions)
            more = fp.select(fresh, 10, labelled=picks.nodes, labels=given)
            model = fp.GraphRidge().fit(fresh, picks, given)
            arrays = model.predict_proba(fresh), model.held_out_proba_, picks.represents
            numbers = tuple(np.asarray(array).tobytes() for array in arrays)
            seen.add((tuple(picks), tuple(more), picks.mean_distance, *numbers))
    assert len(seen) == 1


def nearest_of(block: slice, rows: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of a block to the nearest centre, and its products with the centres chunk by chunk."""
    points, others = Points.wrap(rows, "euclidean"), Points.wrap(centres, "euclidean")
    products = [rows[chunk] @ centres.T for chunk in split_into_chunks(block)]
    return points.block(block).nearest(others)[1], np.concatenate(products)


def test_threads_and_blocks_do_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads share the rows of a product, which rounds those at the border differently."""
    for module in ("backend", "points"):
        monkeypatch.setattr(f"featprop.compute.{module}.CHUNK_ROWS", 1000)
    monkeypatch.setattr("featprop.compute.points.BLOCK_BYTES", 2**18)
    rows, centres = (np.random.default_rng(n).random((n, 99), dtype=np.float32) for n in (5000, 64))
    answers, products = set(), set()
    for threads, chunks in ((1, 1), (1, 3), (2, 1), (2, 5)):
        with threadpool_limits(threads, user_api="blas"):
            products.add((rows @ centres.T).tobytes())
            found = zip(*Backend(chunks).map(nearest_of, len(rows), rows, centres), strict=True)
            whole = Points.wrap(rows, "euclidean").nearest(Points.wrap(centres, "euclidean"))[1]
        answers.add((whole.tobytes(), *(np.concatenate(each).tobytes() for each in found)))
    if len(products) == 1:
        pytest.skip("products on this machine do not depend on threads")
    assert len(answers) == 1
    (answer,) = answers
    assert answer[0] == answer[1]


def mapped(rows: np.ndarray, folder: Path) -> np.ndarray:
    """Return the rows as a mapped file."""
    (folder / "rows").mkdir()
    file = DiskBackend(folder / "rows", 2**30).map_file(rows.shape, rows.dtype)
    file[...] = rows
    return file


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda points: points.squared_norms,
        lambda points: points.take(np.array([480, 2, 99, 2])).rows,
        lambda points: points.sample(90).rows,
        lambda points: points.distances(np.array([7, 2, 480])),
        lambda points: points.nearest(points.take(np.array([3, 99, 400]))),
        lambda points: points.exact_distances(points.take(np.array([3, 99, 400])), np.arange(500) % 3),
        lambda points: points.relative_sq_distances(np.full(6, 0.3, dtype=np.float32)),
        lambda points: points.multiply(np.eye(6, 2, dtype=np.float32)),
    ],
)
def test_points_of_mapped_rows_equal_those_in_memory(ask: Callable[[Points], Any], metric: str, tmp_path: Path) -> None:
    rows = normalize_rows(np.random.default_rng(0).normal(size=(500, 6)).astype(np.float32))
    whole, files = Points.wrap(rows, metric), Points.wrap(mapped(rows, tmp_path), metric)
    np.testing.assert_allclose(ask(files), ask(whole), rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e25])
def test_many_rows_are_shifted_into_rows_of_the_backend(size: float, tmp_path: Path) -> None:
    rows = (np.random.default_rng(0).normal(size=(200, 4)) * size + size).astype(np.float32)
    expected = Points(rows)
    with use_backend(FewColumns(tmp_path, 4)):
        points = Points(mapped(rows, tmp_path))
    assert is_mapped(points.rows) == (size == 1.0), "rows that must be rescaled are copied to memory"
    assert points.scale == expected.scale
    np.testing.assert_array_equal(points.rows, expected.rows)


def test_few_rows_stay_in_memory_and_many_go_to_files(tmp_path: Path) -> None:
    backend = DiskBackend(tmp_path, 2**30)
    assert not isinstance(backend.allocate_rows(1000, 10), np.memmap)
    assert not list(tmp_path.iterdir())
    rows = backend.allocate_rows(2_000_000, 50)
    assert isinstance(rows, np.memmap)
    assert [file.stat().st_size for file in tmp_path.iterdir()] == [rows.nbytes]
    assert backend.max_columns(2_000_000, 50) < 50
    assert backend.max_columns(10**9, 50) == 1


def test_too_small_memory_limit_is_refused(tmp_path: Path) -> None:
    with raises(ParameterError, parameter="max_memory", value=10**6):
        DiskBackend(tmp_path, 10**6)
