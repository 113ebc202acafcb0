"""Readers of the public forms of data sets, and the digits of scikit-learn.

A reader takes the paths of the files by name. What is wrong with the files may raise anything; `read_files` makes one
clear error of it.
"""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.adjacency import RawGraph
from featprop.datasets.published import is_published
from featprop.errors import FileError, quote_error
from featprop.graph import UNKNOWN, Graph
from featprop.progress import tracked
from featprop.sources.npz import raw_from_npz

DIGITS_NEIGHBOURS = 10
OGB_PARTS = ("edge.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")

Reader: TypeAlias = Callable[[Mapping[str, Path]], RawGraph]


def read_files(read: Reader, files: Mapping[str, Path]) -> Graph:
    """Return the graph that a reader makes of files; raise a `FileError` about these if it fails."""
    try:
        return Graph.from_raw(read(files))
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


def read_npz(files: Mapping[str, Path]) -> RawGraph:
    """Read the ``.npz`` of CoraFull and its relatives or of the heterophilous graphs, whose edges have no weights."""
    (path,) = files.values()
    return replace(raw_from_npz(path, allow_pickle=is_published(path)), weights=None)


def read_planetoid(files: Mapping[str, Path]) -> RawGraph:
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
    return RawGraph(source, target, features, labels=labels)


def _unpickle(path: Path) -> Any:
    if not is_published(path):
        message = f"{path} is not the published file. It is a pickle, which could run code."
        raise FileError(message, hint="Put the official file in its place.", path=path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the old names of NumPy's and SciPy's modules
        return pickle.loads(path.read_bytes(), encoding="latin1")


def read_content(files: Mapping[str, Path]) -> RawGraph:
    """Read ``cora.content`` (paper, words, class) and ``cora.cites`` (cited, citing); paper numbers become ids."""
    content, cites = (next(path for path in files.values() if path.suffix == end) for end in (".content", ".cites"))
    rows = [line.split() for line in content.read_text(encoding="utf-8").splitlines() if line.strip()]
    words = np.array([row[1:-1] for row in rows], dtype=np.float32)
    places = {row[0]: place for place, row in enumerate(rows)}
    ends = np.array([places[end] for end in cites.read_text(encoding="ascii").split()]).reshape(-1, 2)
    ids, labels = [int(row[0]) for row in rows], [row[-1] for row in rows]
    return RawGraph(ends[:, 1], ends[:, 0], sp.csr_array(words), ids=ids, labels=labels)


def read_ogb_zip(files: Mapping[str, Path]) -> RawGraph:
    """Read an archive of the Open Graph Benchmark (Hu et al. 2020), such as ``arxiv.zip``, without unpacking it."""
    (path,) = files.values()
    with zipfile.ZipFile(path) as archive:
        members = {PurePosixPath(name).name: name for name in archive.namelist() if "/raw/" in f"/{name}"}
        return _read_ogb(lambda part: archive.open(members[part]), path)


def read_ogb_files(files: Mapping[str, Path]) -> RawGraph:
    """Read the folder ``raw`` that the ogb package unpacks."""
    return _read_ogb(lambda part: files[part].open("rb"), files[OGB_PARTS[0]].parent)


def _read_ogb(open_part: Callable[[str], IO[bytes]], path: Path) -> RawGraph:
    arrays = []
    for part in tracked(OGB_PARTS, f"reading {path.name}", len(OGB_PARTS)):
        with open_part(part) as file:
            arrays.append(_read_numbers(file))
    edges, features, labels = arrays
    if edges.shape[1] != 2 or labels.shape[1] != 1:
        raise ValueError("edges need two columns and labels one")
    return RawGraph(edges[:, 0], edges[:, 1], features, labels=labels[:, 0])


def _read_numbers(file: IO[bytes]) -> NDArray[Any]:
    """Read a compressed CSV file without a header: int64 if its columns are integers, float32 otherwise."""
    import pyarrow as pa
    from pyarrow import csv

    stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "gzip")
    options = csv.ReadOptions(autogenerate_column_names=True, block_size=1 << 24)
    convert = csv.ConvertOptions(null_values=["", "nan", "NaN"])
    pieces = []
    for batch in csv.open_csv(stream, read_options=options, convert_options=convert):
        whole = all(pa.types.is_integer(kind) for kind in batch.schema.types)
        columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        pieces.append(np.column_stack(columns).astype(np.int64 if whole else np.float32))
    return np.concatenate(pieces)
