"""The public files of data sets, readers of their forms, and the digits of scikit-learn.

A reader takes the paths of the files by name. What is wrong with the files may raise anything; `read_files` makes one
clear error of it.
"""

from __future__ import annotations

import hashlib
import pickle
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files as package_files
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, quote_error
from featprop.graph import UNKNOWN, Graph
from featprop.progress import tracked
from featprop.sources.npz import graph_from_npz

DIGITS_NEIGHBOURS = 10
OGB_PARTS = ("edge", "node-feat", "node-label")

Reader: TypeAlias = Callable[[Mapping[str, Path]], Graph]


@dataclass(frozen=True)
class RawFile:
    """One public file of a data set."""

    name: str  # in the cache and in a folder of placed files
    url: str | None = None  # its official address, if it still has one
    digest: str | None = None  # "sha256:…", or "git:…" (git's SHA-1 of the content) where no SHA-256 is known


def _read_registry() -> dict[str, RawFile]:
    lines = package_files("featprop.datasets").joinpath("registry.txt").read_text(encoding="utf-8").splitlines()
    known = {}
    for name, digest, *url in (line.split() for line in lines if not line.startswith("#")):
        known[name] = RawFile(name, url[0] if url else None, None if digest == "-" else digest)
    return known


FILES = _read_registry()
"""The files by name."""


def digest_of(path: Path, kind: str) -> str:
    """Return the digest of a file, of the kind ``sha256`` or ``git``."""
    digest = hashlib.sha256() if kind == "sha256" else hashlib.sha1(usedforsecurity=False)
    if kind == "git":
        digest.update(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as file:
        return f"{kind}:{hashlib.file_digest(file, lambda: digest).hexdigest()}"


def is_published(path: Path) -> bool:
    """Return whether a file is one whose digest is known: only such a file may be unpickled."""
    return {digest_of(path, "sha256"), digest_of(path, "git")} & {file.digest for file in FILES.values()} != set()


def read_files(read: Reader, files: Mapping[str, Path]) -> Graph:
    """Return the graph that a reader makes of files; raise a `FileError` about these if it fails."""
    try:
        return read(files)
    except FileError:
        raise
    except Exception as error:  # a damaged file can raise anything
        path = next(iter(files.values()))
        where, what = (path, f"{path}") if len(files) == 1 else (path.parent, f"{', '.join(files)} in {path.parent}")
        reason = f"{error} is missing or unknown" if isinstance(error, KeyError) else quote_error(error)
        raise FileError(f"{what} cannot be read: {reason}.", hint="Download it again.", path=where) from error


def digits() -> Graph:
    """Return scikit-learn's digits as a graph: 1,797 images of 8 × 8 pixels, each connected to the 10 most similar.

    The labels are the ten digits, the features the pixels scaled to 0..1. Pixels are integers, so equal distances
    occur: the first of several equally near images counts, and the graph is the same on every machine.
    """
    from scipy.spatial.distance import cdist
    from sklearn.datasets import load_digits

    images = load_digits()
    n = len(images.data)
    squared = cdist(images.data, images.data, "sqeuclidean")
    np.fill_diagonal(squared, np.inf)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :DIGITS_NEIGHBOURS]
    source = np.repeat(np.arange(n), DIGITS_NEIGHBOURS)
    adjacency = sp.coo_array((np.ones(source.size), (source, nearest.ravel())), shape=(n, n))
    return Graph.from_scipy(adjacency, images.data / 16.0, labels=images.target)


def read_npz(files: Mapping[str, Path]) -> Graph:
    """Read the ``.npz`` of CoraFull and its relatives or of the heterophilous graphs, whose edges have no weights."""
    (path,) = files.values()
    return graph_from_npz(path, allow_pickle=is_published(path), weighted=False)


def read_planetoid(files: Mapping[str, Path]) -> Graph:
    """Read the eight ``ind.*`` files of Planetoid (Yang et al. 2016): pickles of Python 2.

    ``allx`` and ``ally`` hold the features and classes of the first nodes, ``tx`` and ``ty`` those of the test nodes,
    in the order of ``test.index``, and ``graph`` the neighbours of each node. In Citeseer some ids above the first
    nodes are missing from the test index: isolated nodes without features or a class. Their label is unknown here;
    other readers call it class 0.
    """
    paths = {name.split(".", 2)[2]: path for name, path in files.items()}
    allx, tx, ally, ty, neighbours = (_unpickle(paths[part]) for part in ("allx", "tx", "ally", "ty", "graph"))
    test = np.array(paths["test.index"].read_text(encoding="ascii").split(), dtype=np.int64)
    nodes = np.concatenate([np.arange(allx.shape[0]), test])
    if np.unique(nodes).size < nodes.size:
        raise ValueError("test.index names a node twice")
    n = int(nodes.max()) + 1
    words, one_hot = sp.coo_array(sp.vstack([allx, tx])), np.vstack([ally, ty])
    rows, columns = words.coords
    features = sp.coo_array((words.data, (nodes[rows], columns)), shape=(n, words.shape[1]))
    labels = np.full(n, UNKNOWN, dtype=np.int64)
    labels[nodes] = np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNKNOWN)
    source = np.repeat(np.array(list(neighbours), dtype=np.int64), [len(ends) for ends in neighbours.values()])
    target = np.array([end for ends in neighbours.values() for end in ends], dtype=np.int64)
    return Graph.from_edges(source, target, features, labels=labels)


def _unpickle(path: Path) -> Any:
    if not is_published(path):
        message = f"{path} is not the published file. It is a pickle, which could run code."
        raise FileError(message, hint="Put the official file in its place.", path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the old names of NumPy's and SciPy's modules
        return pickle.loads(path.read_bytes(), encoding="latin1")


def read_content(files: Mapping[str, Path]) -> Graph:
    """Read ``cora.content`` (paper, words, class) and ``cora.cites`` (cited, citing); paper numbers become ids."""
    content, cites = (next(path for path in files.values() if path.suffix == end) for end in (".content", ".cites"))
    rows = [line.split() for line in content.read_text(encoding="utf-8").splitlines() if line.strip()]
    words = np.array([row[1:-1] for row in rows], dtype=np.float32)
    places = {row[0]: place for place, row in enumerate(rows)}
    ends = np.array([places[end] for end in cites.read_text(encoding="ascii").split()]).reshape(-1, 2)
    ids, labels = [int(row[0]) for row in rows], [row[-1] for row in rows]
    return Graph.from_edges(ends[:, 1], ends[:, 0], sp.csr_array(words), ids=ids, labels=labels)


def read_ogb(files: Mapping[str, Path]) -> Graph:
    """Read an archive of the Open Graph Benchmark (Hu et al. 2020), such as ``arxiv.zip``, without unpacking it."""
    (path,) = files.values()
    arrays = []
    with zipfile.ZipFile(path) as archive:
        members = {PurePosixPath(name).name: name for name in archive.namelist() if "/raw/" in f"/{name}"}
        for part in tracked(OGB_PARTS, f"reading {path.name}", len(OGB_PARTS)):
            with archive.open(members[f"{part}.csv.gz"]) as file:
                arrays.append(_read_numbers(file))
    edges, features, labels = arrays
    if edges.shape[1] != 2 or labels.shape[1] != 1:
        raise ValueError("edges need two columns and labels one")
    return Graph.from_edges(edges[:, 0], edges[:, 1], features, labels=labels[:, 0])


def _read_numbers(file: IO[bytes]) -> NDArray[Any]:
    """Read a compressed CSV file without a header: int64 if its columns are integers, float32 otherwise."""
    import pyarrow as pa
    from pyarrow import csv

    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "gzip")
    options = csv.ReadOptions(autogenerate_column_names=True, block_size=1 << 24)
    convert = csv.ConvertOptions(null_values=["", "nan", "NaN"])
    table = csv.read_csv(stream, read_options=options, convert_options=convert)
    kind = np.int64 if all(pa.types.is_integer(each) for each in table.schema.types) else np.float32
    return np.column_stack([column.to_numpy().astype(kind) for column in table.columns])
