"""An empty cache, no placed files and no network for every test, and small public forms."""

import pickle
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import requests
import scipy.sparse as sp

from featprop.datasets import readers


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FEATPROP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FEATPROP_DATA", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of placed files."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("FEATPROP_DATA", str(folder))
    return folder


@pytest.fixture
def no_network(monkeypatch):
    """Every address fails at once; returns the list of requested addresses."""
    asked = []

    def refuse(url, **_):
        asked.append(url)
        raise requests.ConnectionError("no network in this test")

    monkeypatch.setattr(requests, "get", refuse)
    return asked


@pytest.fixture
def server(tmp_path):
    """Files over HTTP from a folder: yields the folder and its address."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield folder, f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def published(monkeypatch):
    """The pickles that tests write count as published files."""
    monkeypatch.setattr(readers, "is_published", lambda _: True)


class Papers:
    """A citation graph to write in any public form.

    The first `start` papers are in allx, those of `test` in tx, in that order, and any other in no file of features,
    as in Citeseer: it has no class, -1.
    """

    def __init__(self, words, classes, edges, start, test):
        self.words, self.classes, self.edges = np.array(words, np.float32), np.array(classes), tuple(edges)
        self.start, self.test = start, tuple(test)

    def one_hot(self, nodes):
        return (self.classes[list(nodes)][:, None] == np.arange(self.classes.max() + 1)).astype(np.int32)

    def write_ind(self, folder, name="small"):
        """Write the eight files of Planetoid, as Python 2 would have."""
        folder.mkdir(parents=True, exist_ok=True)
        graph = {node: [] for node in range(len(self.words))}
        for a, b in self.edges:
            graph[a].append(b)
            graph[b].append(a)
        contents = {
            "x": sp.csr_matrix(self.words[:2]),
            "y": self.one_hot(range(2)),
            "allx": sp.csr_matrix(self.words[: self.start]),
            "ally": self.one_hot(range(self.start)),
            "tx": sp.csr_matrix(self.words[list(self.test)]),
            "ty": self.one_hot(self.test),
            "graph": graph,
        }
        for part, content in contents.items():
            (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(content, protocol=2))
        (folder / f"ind.{name}.test.index").write_text("".join(f"{node}\n" for node in self.test))
        return {path.name: path for path in sorted(folder.glob(f"ind.{name}.*"))}

    def write_content(self, folder, name="small", order=(7, 3, 0, 5, 1, 4, 2)):
        """Write the seven papers with a class as content and cites; paper p is number 10 p + 7."""
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            [10 * paper + 7, *self.words[paper].astype(int), f"topic_{'cab'[self.classes[paper]]}"] for paper in order
        ]
        content, cites = folder / f"{name}.content", folder / f"{name}.cites"
        content.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
        cites.write_text("".join(f"{10 * a + 7}\t{10 * b + 7}\n" for a, b in self.edges))
        return {path.name: path for path in (content, cites)}

    def arrays(self, **more):
        """Return the arrays of the sparse .npz layout, each edge in one direction."""
        source, target = np.array(self.edges).T
        adjacency = sp.csr_matrix((np.ones(len(source), np.float32), (source, target)), shape=(8, 8))
        words = sp.csr_matrix(self.words)
        parts = {
            f"{name}_{part}": np.array(getattr(matrix, part))
            for name, matrix in (("adj", adjacency), ("attr", words))
            for part in ("data", "indices", "indptr", "shape")
        }
        return parts | {"labels": self.classes} | more


@pytest.fixture
def small():
    """Eight papers of five words in three classes; number 6 has no words, no edge and no class."""
    words = [
        [1, 0, 0, 1, 0],
        [1, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 1, 1],
        [1, 0, 0, 0, 1],
        [0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0],
    ]
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 7), (4, 4), (0, 1)]
    return Papers(words, [0, 0, 1, 1, 2, 2, -1, 1], edges, start=5, test=(7, 5))


@pytest.fixture
def many():
    """Random papers, enough of them for the 500 that PyG takes to validate; five have no words and no class."""
    generator = np.random.default_rng(3)
    n, start = 640, 600
    left_out = generator.choice(np.arange(start, n - 1), 5, replace=False)
    words = generator.random((n, 30)) < 0.1
    classes = generator.integers(4, size=n)
    words[left_out], classes[left_out] = 0, -1
    test = generator.permutation(np.setdiff1d(np.arange(start, n), left_out)).tolist()
    return Papers(words, classes, generator.integers(n, size=(2000, 2)).tolist(), start, test)
