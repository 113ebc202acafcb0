"""Graphs at a URL: downloaded once, from a web server, and by workers without a copy."""

import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import featprop as fp
from featprop.compute.addresses import is_address, local_copy
from featprop.compute.mapped_arrays import locate_array
from featprop.errors import FileError
from featprop.files import cache_folder
from tests.helpers import raises

pytest.importorskip("fsspec")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path / "cache"))
    fp.datasets.make(tmp_path / "served" / "graph", nodes=300, edges=900, features=4)
    return tmp_path / "served" / "graph"


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """A graph behind Python's own web server."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder.parent)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    port = process.stdout.readline().split("port ")[1].split()[0]
    for _ in range(50):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/").close()
            break
        except OSError:
            time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/graph"
    process.kill()
    process.communicate()


def test_graph_from_a_web_server_equals_the_local_graph(address: str, folder: Path) -> None:
    pytest.importorskip("aiohttp")
    graph = fp.read_graph(address)
    assert graph.fingerprint == fp.read_graph(folder).fingerprint
    assert list(fp.select(graph, 5)) == list(fp.select(fp.read_graph(folder), 5))


def test_files_are_downloaded_once_and_again_after_a_change(folder: Path) -> None:
    address = folder.as_uri()
    first = local_copy(address)
    before = (first / "graph.json").stat().st_mtime_ns
    assert local_copy(Path(address)) == first, "a Path loses a slash"
    assert (first / "graph.json").stat().st_mtime_ns == before
    assert [entry.name for entry in first.parent.iterdir()] == [first.name]
    fp.datasets.make(folder, nodes=310, edges=900, features=4, force=True)
    assert local_copy(address) != first
    assert fp.read_graph(address).n_nodes == 310


def test_worker_without_the_copy_downloads_the_file(folder: Path) -> None:
    graph = fp.read_graph(folder.as_uri())
    where = locate_array(np.asarray(graph.features))
    assert where is not None
    assert where.address == f"{folder.as_uri()}/features.npy"
    expected = np.array(graph.features)
    shutil.rmtree(where.path.parent)
    np.testing.assert_array_equal(where.open(), expected)
    assert [entry.name for entry in where.path.parent.iterdir()] == ["features.npy"]


def test_partial_copy_is_completed(folder: Path) -> None:
    where = locate_array(np.asarray(fp.read_graph(folder.as_uri()).features))
    assert where is not None
    shutil.rmtree(where.path.parent)
    where.open()
    assert fp.read_graph(folder.as_uri()).fingerprint == fp.read_graph(folder).fingerprint


def test_leftovers_of_a_killed_download_are_removed(folder: Path) -> None:
    above = cache_folder() / "addresses"
    for _ in ("nothing was fetched yet", "all is there"):
        (above / "featprop-scratch-killed").mkdir(parents=True)
        (above / "featprop-scratch-killed" / "features.npy").write_bytes(b"half")
        copy = local_copy(folder.as_uri())
        assert list(above.iterdir()) == [copy]


@pytest.mark.parametrize("path", ["s3://bucket/graph", "gs://a/b", "https://host/x", "s3:/bucket/graph", "memory://x"])
def test_addresses(path: str) -> None:
    assert is_address(path)


@pytest.mark.parametrize("path", ["graph", "/tmp/graph", "./a:b", "C:/graph", "a/b://c", ""])
def test_paths(path: str) -> None:
    assert not is_address(path)


@pytest.mark.parametrize("path", ["memory://nothing/here", "nosuchscheme://x/y", "http://127.0.0.1:9/graph"])
def test_unreadable_address_is_reported(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path))
    with raises(FileError, path=path):
        fp.read_graph(path)
    assert not list(tmp_path.rglob("*.npy"))
