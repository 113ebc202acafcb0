"""Every backend gives the same results, for any number of blocks."""

from pathlib import Path

import numpy as np
import pytest

import featprop as fp
from featprop.compute import (
    Backend,
    DiskBackend,
    use_backend,
)
from featprop.compute.mapped_arrays import is_mapped
from featprop.compute.points import Points
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.propagation import FEATURE_SETS, Propagation
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
    labels = graph.class_names()
    seen = set()
    for backend in backends(tmp_path):
        with use_backend(backend):
            fresh = fp.read_graph(tmp_path / "graph-0")
            picks = fp.select(fresh, 20)
            given = [labels[position] for position in picks.positions]
            more = fp.select(fresh, 10, labelled=picks.nodes, labels=given)
            model = fp.GraphRidge().fit(fresh, picks, given)
            seen.add(
                (
                    tuple(picks),
                    tuple(more),
                    model.predict_proba(fresh).tobytes(),
                    model.held_out_proba_.tobytes() if model.held_out_proba_ is not None else b"",
                    picks.represents.tobytes(),
                    picks.mean_distance,
                )
            )
    assert len(seen) == 1


def mapped(rows: np.ndarray, tmp_path: Path) -> np.ndarray:
    """Return the rows as a mapped file."""
    folder = tmp_path / "rows"
    folder.mkdir()
    file = DiskBackend(folder, 2**30).map_file(rows.shape, rows.dtype)
    file[...] = rows
    return file


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_points_of_mapped_rows_equal_points_in_memory(metric: str, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(500, 6)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    whole, files = Points.wrap(rows, metric), Points.wrap(mapped(rows, tmp_path), metric)
    centres, index, some = np.array([3, 99, 400]), generator.integers(0, 3, 500), np.array([7, 2, 480])
    np.testing.assert_array_equal(files.squared_norms, whole.squared_norms)
    for ours, theirs in zip(files.nearest(files.take(centres)), whole.nearest(whole.take(centres)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    exact = [each.exact_distances(each.take(centres), index) for each in (files, whole)]
    np.testing.assert_array_equal(*exact)
    np.testing.assert_allclose(files.distances(some), whole.distances(some), rtol=1e-4, atol=1e-6)
    centre = np.full(6, 0.3, dtype=np.float32)
    np.testing.assert_allclose(files.relative_sq_distances(centre), whole.relative_sq_distances(centre), atol=1e-5)
    matrix = generator.normal(size=(6, 2)).astype(np.float32)
    np.testing.assert_allclose(files.multiply(matrix), whole.multiply(matrix), rtol=1e-5)
    assert not is_mapped(files.take(slice(0, 500)).rows)


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
