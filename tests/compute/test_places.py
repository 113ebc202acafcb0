"""The answer is the same at every place, for any number of blocks."""

from pathlib import Path

import numpy as np
import pytest

import featprop as fp
from featprop.clustering import k_medoids
from featprop.compute import InMemory, OnDisk, Place, leaves, place, sum_in_order, working_at
from featprop.compute.block_points import BlockPoints
from featprop.compute.points import Points
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.propagation import FEATURE_SETS, Propagation, propagate

SMALL_LEAF = 64
"""So few rows that a small graph has many leaves."""


class _Narrow(OnDisk):
    """Mapped files, with room for a few columns at once only."""

    def __init__(self, folder: Path, columns: int) -> None:
        super().__init__(folder, 2**30)
        self.columns = columns

    def rows(self, n: int, width: int) -> np.ndarray:
        return self.file((n, width), np.float32)

    def columns_at_once(self, n: int, width: int) -> int:
        return min(self.columns, width)


@pytest.fixture
def many_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("leaf", "places"):
        monkeypatch.setattr(f"featprop.compute.{module}.LEAF", SMALL_LEAF)
    monkeypatch.setattr("featprop.propagation.propagation.IN_BLOCKS", 100)


def made(tmp_path: Path, seed: int, **options: object) -> Graph:
    about = {"nodes": 1000, "edges": 4000, "features": 12, "classes": 4, "random_state": seed} | options
    return fp.datasets.make(tmp_path / f"graph-{len(list(tmp_path.iterdir()))}", **about)  # type: ignore[arg-type]


def places(tmp_path: Path) -> list[Place]:
    folder = tmp_path / "scratch"
    folder.mkdir(exist_ok=True)
    return [InMemory(1), InMemory(3), InMemory(1000), OnDisk(folder, 2**30), _Narrow(folder, 5), _Narrow(folder, 1)]


@pytest.mark.usefixtures("many_leaves")
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["gaussian", "words"])
def test_rows_are_the_same_to_the_last_bit(tmp_path: Path, seed: int, kind: str) -> None:
    graph = made(tmp_path, seed, kind=kind, features=40 if kind == "words" else 12)
    first: dict[str, np.ndarray] = {}
    for at in places(tmp_path):
        with working_at(at):
            ours = Propagation(fp.read_graph(tmp_path / "graph-0"))
            found = {name: ours.features(name) for name in FEATURE_SETS}
            found["rows"] = np.asarray(propagate(graph, 0).shape)
            for name, rows in found.items():
                np.testing.assert_array_equal(rows, first.setdefault(name, np.array(rows)))
            ours.graph.cache.drop(lambda key: True)


@pytest.mark.usefixtures("many_leaves")
@pytest.mark.parametrize("plan", ["exact", "sampled"])
@pytest.mark.parametrize("seed", [0, 1])
def test_picks_scores_and_coverage_are_the_same(
    tmp_path: Path, seed: int, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featprop.clustering.search_by_size.STREAMED_LIMIT", 300)
    monkeypatch.setattr("featprop.clustering.kmedoids.choose_plan", lambda problem: plan)
    graph = made(tmp_path, seed)
    labels = graph.class_names()
    seen = set()
    for at in places(tmp_path):
        with working_at(at):
            fresh = fp.read_graph(tmp_path / "graph-0")
            picks = fp.select(fresh, 20, random_state=seed)
            told = [labels[position] for position in picks.positions]
            more = fp.select(fresh, 10, labelled=picks.nodes, labels=told, random_state=seed)
            model = fp.GraphRidge().fit(fresh, picks, told)
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


def test_sums_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.compute.leaf.LEAF", 10)
    values = np.random.default_rng(0).normal(size=95) * 10.0 ** np.random.default_rng(1).integers(-8, 8, 95)
    totals = set()
    for step in (10, 20, 50, 100):
        blocks = [slice(start, min(start + step, 95)) for start in range(0, 95, step)]
        totals.add(float(sum_in_order([values[leaf].sum() for leaf in leaves(block)] for block in blocks)))
    assert len(totals) == 1
    assert totals.pop() == pytest.approx(values.sum())


@pytest.mark.usefixtures("many_leaves")
def test_points_in_blocks_are_points() -> None:
    generator = np.random.default_rng(0)
    left, right = generator.normal(size=(2, 500, 3)).astype(np.float32)
    whole, blocks = Points(np.hstack([left, right]) * np.float32(0.5)), BlockPoints([left, right], [0.5, 0.5])
    centres = np.array([3, 99, 400])
    assert (len(blocks), blocks.width) == (len(whole), whole.width)
    np.testing.assert_array_equal(blocks.rows, whole.rows)
    for ours, theirs in zip(blocks.nearest(blocks.take(centres)), whole.nearest(whole.take(centres)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    index = generator.integers(0, 3, 500)
    np.testing.assert_array_equal(
        blocks.exact_distances(blocks.take(centres), index), whole.exact_distances(whole.take(centres), index)
    )
    np.testing.assert_allclose(blocks.distances(centres), whole.distances(centres), rtol=1e-4, atol=1e-6)
    centre = np.full(6, 3, dtype=np.float32)
    np.testing.assert_allclose(blocks.squared_to(centre), whole.squared_to(centre), atol=1e-5)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e25])
def test_points_in_blocks_are_measured_in_a_unit_that_fits(size: float) -> None:
    rows = (np.random.default_rng(0).normal(size=(200, 4)) * size).astype(np.float32)
    ours, theirs = BlockPoints.of(rows), Points(rows)
    assert np.frexp(ours.unit)[0] == 0.5, "a power of two"
    np.testing.assert_allclose(ours.distances(np.array([5])), theirs.distances(np.array([5])), rtol=1e-5)


def test_a_search_of_points_in_blocks_is_that_of_points() -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32)
    blocks, whole = (k_medoids(each, 12, plan="sampled") for each in (BlockPoints([rows]), Points(rows)))
    np.testing.assert_array_equal(blocks.medoids, whole.medoids)
    np.testing.assert_array_equal(blocks.labels, whole.labels)


def test_memory_is_the_place_unless_somebody_says_otherwise(tmp_path: Path) -> None:
    assert isinstance(place(), InMemory)
    with working_at(OnDisk(tmp_path, 2**30)) as chosen:
        assert place() is chosen
    assert isinstance(place(), InMemory)


def test_few_rows_stay_in_memory_and_many_go_to_files(tmp_path: Path) -> None:
    at = OnDisk(tmp_path, 2**30)
    assert not isinstance(at.rows(1000, 10), np.memmap)
    assert not list(tmp_path.iterdir())
    rows = at.rows(2_000_000, 50)
    assert isinstance(rows, np.memmap)
    assert [file.stat().st_size for file in tmp_path.iterdir()] == [rows.nbytes]
    assert at.columns_at_once(2_000_000, 50) < 50
    assert at.columns_at_once(10**9, 50) == 1


def test_a_bound_that_cannot_be_met_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"^max_memory must be at least 1\.0 GB; found 1\.0 MB: allow more\.$"):
        OnDisk(tmp_path, 10**6)
