"""Graphs at a URL: from a web server, downloaded once, and again after a change."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import featprop as fp
from featprop.errors import FileError
from featprop.sources.reading import is_address, local_copy
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
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/graph"
        server.shutdown()
        thread.join()


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


@pytest.mark.parametrize(
    ("path", "address"),
    [
        *((path, True) for path in ("s3://bucket/graph", "https://host/x", "s3:/bucket/graph", "memory://x")),
        *((path, False) for path in ("graph", "/tmp/graph", "./a:b", "C:/graph", "a/b://c", "")),
    ],
)
def test_urls_are_told_from_paths(path: str, address: bool) -> None:
    assert is_address(path) == address


@pytest.mark.parametrize("path", ["memory://nothing/here", "nosuchscheme://x/y", "http://127.0.0.1:9/graph"])
def test_unreadable_address_is_reported(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path))
    with raises(FileError, path=path):
        fp.read_graph(path)
    assert not list(tmp_path.rglob("*.npy"))
