"""Locations of mapped arrays, and releasing their pages."""

from pathlib import Path

import numpy as np
import pytest

from featprop.compute.mapped_arrays import ArrayLocation, locate_array, release_pages


@pytest.fixture
def mapped(tmp_path: Path) -> np.ndarray:
    np.save(tmp_path / "rows.npy", np.arange(60_000, dtype=np.float32).reshape(10_000, 6))
    return np.lib.format.open_memmap(tmp_path / "rows.npy", mode="r")


def test_location_of_a_mapped_array_opens_it(mapped: np.ndarray) -> None:
    for array in (mapped, np.asarray(mapped), mapped[100:7000], np.asarray(mapped)[5:].view()):
        found = locate_array(array)
        assert found is not None
        assert not found.writable
        np.testing.assert_array_equal(found.open(), array)


def test_arrays_without_a_location(mapped: np.ndarray) -> None:
    rows = np.ones((4, 2), dtype=np.float32)
    release_pages(rows, slice(0, 2))
    assert rows.all()
    for array in (rows, np.empty((0, 3), dtype=np.float32), mapped[:, 1:3], mapped[::2]):
        assert locate_array(array) is None


def test_removed_file_has_no_location_but_keeps_its_values(mapped: np.ndarray) -> None:
    Path(mapped.filename).unlink()  # type: ignore[attr-defined]
    assert locate_array(mapped) is None
    assert mapped[9_999, 5] == 59_999


def test_writes_are_visible_in_every_mapping(tmp_path: Path) -> None:
    (tmp_path / "rows.bin").write_bytes(bytes(4 * 50_000))
    where = ArrayLocation(tmp_path / "rows.bin", 0, "<f4", (10_000, 5), writable=True)
    ours, theirs = where.open(), where.open()
    ours[20:30] = 7
    release_pages(ours, slice(0, 5000))
    assert (theirs[20:30] == 7).all()
    assert locate_array(ours) == where
    locked = ours.view()
    locked.flags.writeable = False
    found = locate_array(locked)
    assert found is not None
    assert not found.writable


def test_released_pages_are_read_again(mapped: np.ndarray) -> None:
    before = float(mapped.sum(dtype=np.float64))
    for part in (slice(None), slice(0, 10), slice(9_990, 10_000), slice(5, 5), slice(333, 7777)):
        release_pages(mapped, part)
    release_pages(mapped[50:60])
    assert float(mapped.sum(dtype=np.float64)) == before


def test_copy_on_write_mapping_keeps_its_values(mapped: np.ndarray) -> None:
    """Its pages differ from the file: releasing them would restore the old values."""
    own = np.memmap(mapped.filename, np.float32, "c", offset=mapped.offset, shape=mapped.shape)  # type: ignore[attr-defined]
    own[:] = -1
    release_pages(own)
    release_pages(np.asarray(own)[100:200], slice(0, 50))
    assert (own == -1).all()
    assert locate_array(own) is None, "another process would map the file"
