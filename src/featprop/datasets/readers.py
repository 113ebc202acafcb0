"""Readers of the public forms of data sets, and the digits of scikit-learn."""

from __future__ import annotations

import hashlib
import pickle
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files as resources
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import RawGraph
from featprop.errors import FileError, quote_error
from featprop.graph import UNKNOWN, Graph
from featprop.progress import tracked
from featprop.sources.npz import opened_npz, raw_from_npz

DIGITS_NEIGHBOURS = 10
OGB_PARTS = ("edge.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")
AGAIN = "Download it again."
_REGISTRY = resources("featprop.datasets").joinpath("registry.txt").read_text(encoding="utf-8")
DIGESTS = dict(line.split() for line in _REGISTRY.splitlines() if not line.startswith("#"))
"""Digests of published files: ``sha256:…``, or ``git:…``, the SHA-1 of the content in a git repository."""


def digest_of(path: Path, kind: str) -> str:
    """Return the digest of a file, of the kind ``sha256`` or ``git``."""
    if kind == "git":
        content = path.read_bytes()
        whole = b"blob %d\0%b" % (len(content), content)
        return f"git:{hashlib.sha1(whole, usedforsecurity=False).hexdigest()}"
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def is_published(path: Path) -> bool:
    """Return whether a file is one whose digest is known: only such a file may be unpickled."""
    return not {digest_of(path, "sha256"), digest_of(path, "git")}.isdisjoint(DIGESTS.values())


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


def read_sparse(files: Mapping[str, Path]) -> RawGraph:
    """Read the sparse ``.npz`` of CoraFull, CitationFull, Amazon and Coauthor, whose edges have no weights."""
    (path,) = files.values()
    return replace(raw_from_npz(path, allow_pickle=is_published(path)), weights=None)


def read_heterophilous(files: Mapping[str, Path]) -> RawGraph:
    """Read the ``.npz`` of the heterophilous graphs (Platonov et al. 2023), without their ten splits."""
    (path,) = files.values()
    with opened_npz(path) as archive:
        features, labels, edges = (archive[name] for name in ("node_features", "node_labels", "edges"))
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(f"edges of shape {edges.shape} and type {edges.dtype}")
    return RawGraph(edges[:, 0], edges[:, 1], features, labels=labels)


def read_planetoid(files: Mapping[str, Path]) -> RawGraph:
    """Read the eight ``ind.*`` files of Planetoid (Yang et al. 2016): pickles of Python 2.

    ``allx`` and ``ally`` hold the features and classes of the first nodes, ``tx`` and ``ty`` those of the test nodes,
    in the order of ``test.index``, and ``graph`` the neighbours of each node. In Citeseer some ids above the first
    nodes are missing from the test index: isolated nodes without features or a class. Their label is unknown here;
    other readers call it class 0.
    """
    paths = {name.split(".", 2)[2]: path for name, path in files.items()}
    known, unseen = _read_matrix(paths["allx"]), _read_matrix(paths["tx"])
    known_classes, unseen_classes = _read_classes(paths["ally"]), _read_classes(paths["ty"])
    test = _read_test_index(paths["test.index"])
    start, n = known.shape[0], int(test.max()) + 1
    fits = known.shape[1] == unseen.shape[1] and len(known_classes) == start and len(unseen_classes) == len(test)
    if not fits or unseen.shape[0] != len(test) or test.min() < start or np.unique(test).size != test.size:
        folder = paths["allx"].parent
        raise FileError(f"The ind.* files in {folder} do not belong together.", hint=AGAIN, path=folder)

    moved, first = sp.coo_array(unseen), sp.coo_array(known)
    rows = np.concatenate([first.coords[0], test[moved.coords[0]]])
    columns = np.concatenate([first.coords[1], moved.coords[1]])
    features = sp.coo_array((np.concatenate([first.data, moved.data]), (rows, columns)), shape=(n, known.shape[1]))
    labels = np.full(n, UNKNOWN, dtype=np.int64)
    labels[:start] = known_classes
    labels[test] = unseen_classes
    source, target = _read_neighbours(paths["graph"], n)
    return RawGraph(source, target, features, labels=labels)


def _unpickled(path: Path) -> Any:
    if not is_published(path):
        message = f"{path} is not the published file. It is a pickle, which could run code."
        raise FileError(message, hint="Put the official file in its place.", path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the old names of NumPy's and SciPy's modules
        try:
            return pickle.loads(path.read_bytes(), encoding="latin1")
        except Exception as error:
            raise FileError(f"{path} is not a pickle: {quote_error(error)}.", hint=AGAIN, path=path) from error


def _read_matrix(path: Path) -> Any:
    matrix = _unpickled(path)
    if not sp.issparse(matrix):
        raise FileError(f"{path} does not hold a sparse matrix.", hint=AGAIN, path=path)
    return matrix


def _read_classes(path: Path) -> Any:
    """Return the class of each row of a one-hot matrix, -1 for a row of zeros."""
    one_hot = _unpickled(path)
    if not isinstance(one_hot, np.ndarray) or one_hot.ndim != 2:
        raise FileError(f"{path} does not hold a matrix of classes.", hint=AGAIN, path=path)
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), UNKNOWN)


def _read_test_index(path: Path) -> Any:
    try:
        return np.array(path.read_text(encoding="ascii").split(), dtype=np.int64)
    except (ValueError, OverflowError) as error:
        message = f"{path} does not hold one number per line: {quote_error(error)}."
        raise FileError(message, hint=AGAIN, path=path) from error


def _read_neighbours(path: Path, n: int) -> tuple[Any, Any]:
    neighbours = _unpickled(path)
    try:
        nodes = np.array(list(neighbours), dtype=np.int64)
        counts = [len(ends) for ends in neighbours.values()]
        target = np.array([end for ends in neighbours.values() for end in ends], dtype=np.int64)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        message = f"{path} does not hold the neighbours of each node: {quote_error(error)}."
        raise FileError(message, hint=AGAIN, path=path) from error
    if nodes.size and nodes.max() >= n:
        message = f"{path} names node {nodes.max():,}, but the other files have {n:,} nodes."
        raise FileError(message, hint=AGAIN, path=path, node=int(nodes.max()))
    return np.repeat(nodes, counts), target


def read_content(files: Mapping[str, Path]) -> RawGraph:
    """Read ``cora.content`` (paper, words, class) and ``cora.cites`` (cited, citing); paper numbers become ids."""
    content = next(path for name, path in files.items() if name.endswith(".content"))
    cites = next(path for name, path in files.items() if name.endswith(".cites"))
    rows = [line.split() for line in content.read_text(encoding="utf-8").splitlines() if line.strip()]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) < 3:
        raise FileError(f"{content} must have rows of one length: id, words, class.", hint=AGAIN, path=content)
    path = content
    try:
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        words = np.array([row[1:-1] for row in rows], dtype=np.float32)
        path = cites
        ends = np.array(cites.read_text(encoding="ascii").split(), dtype=np.int64).reshape(-1, 2)
    except (ValueError, OverflowError) as error:
        raise FileError(f"{path} must hold numbers: {quote_error(error)}.", hint=AGAIN, path=path) from error
    order = np.argsort(ids)
    positions = order[np.minimum(np.searchsorted(ids, ends, sorter=order), len(ids) - 1)]
    if not np.array_equal(ids[positions], ends):
        unknown = int(ends[ids[positions] != ends][0])
        message = f"{cites} cites paper {unknown}, which {content.name} does not have."
        raise FileError(message, hint=AGAIN, path=cites, node=unknown)
    labels = [row[-1] for row in rows]
    return RawGraph(positions[:, 1], positions[:, 0], sp.csr_array(words), ids=ids, labels=labels)


def read_ogb_zip(files: Mapping[str, Path]) -> RawGraph:
    """Read an archive of the Open Graph Benchmark (Hu et al. 2020), such as ``arxiv.zip``, without unpacking it."""
    (path,) = files.values()
    try:
        with zipfile.ZipFile(path) as archive:
            members = {PurePosixPath(name).name: name for name in archive.namelist() if "/raw/" in f"/{name}"}
            for part in OGB_PARTS:
                if part not in members:
                    raise FileError(f"{path} does not contain raw/{part}.", hint=AGAIN, path=path)
            arrays = []
            for part in tracked(OGB_PARTS, f"reading {path.name}", len(OGB_PARTS)):
                with archive.open(members[part]) as file:
                    arrays.append(_read_numbers(file, path, part))
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
        raise FileError(f"{path} is not a valid zip file: {quote_error(error)}.", hint=AGAIN, path=path) from error
    return _from_ogb(arrays, path)


def read_ogb_files(files: Mapping[str, Path]) -> RawGraph:
    """Read the folder ``raw`` that the ogb package unpacks."""
    arrays = []
    for part in tracked(OGB_PARTS, f"reading {files[OGB_PARTS[0]].parent}", len(OGB_PARTS)):
        with files[part].open("rb") as file:
            arrays.append(_read_numbers(file, files[part], part))
    return _from_ogb(arrays, files[OGB_PARTS[0]].parent)


def _from_ogb(arrays: list[NDArray[Any]], path: Path) -> RawGraph:
    edges, features, labels = arrays
    if edges.shape[1] != 2 or labels.shape[1] != 1:
        raise FileError(f"{path} must have edges with two columns and labels with one.", path=path)
    return RawGraph(edges[:, 0], edges[:, 1], features, labels=labels[:, 0])


def _read_numbers(file: IO[bytes], path: Path, part: str) -> NDArray[Any]:
    """Read a compressed CSV file without a header: int64 if its columns are integers, float32 otherwise."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "gzip")
        options = csv.ReadOptions(autogenerate_column_names=True, block_size=1 << 24)
        convert = csv.ConvertOptions(null_values=["", "nan", "NaN"])
        pieces = []
        for batch in csv.open_csv(stream, read_options=options, convert_options=convert):
            whole = all(pa.types.is_integer(kind) for kind in batch.schema.types)
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            pieces.append(np.column_stack(columns).astype(np.int64 if whole else np.float32))
        return np.concatenate(pieces)
    except (pa.ArrowException, OSError, ValueError) as error:
        message = f"{part} in {path} is not a compressed CSV file of numbers: {quote_error(error)}."
        raise FileError(message, hint=AGAIN, path=path) from error
