"""featprop's own graph format: a folder of ``.npy`` files and ``graph.json``, opened without reading it.

::

    graph.json              counts, classes, names of features, how columns became features
    adjacency.indptr.npy    the CSR matrix of the edges, each in both directions
    adjacency.indices.npy
    adjacency.data.npy
    features.npy            or features.indptr.npy, features.indices.npy and features.data.npy if sparse
    labels.npy              index into classes, -1 where unknown; absent without labels
    candidates.npy          mask of the nodes to select, audit and predict; absent for all
    ids.arrow               integers, text, or JSON for ids of other types; absent for 0..n-1
    table.arrow             the table of the nodes; absent if there was none
    checked.json            sizes and times of these files when they were checked

The arrays are mapped read-only and loaded page by page as they are used. A folder that changed since it was written or
checked is checked once when it is opened; after that the time to open it does not depend on its size.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from featprop.adjacency import MeanWeight, index_type
from featprop.errors import FileError, already_exists, first_five, quote_error
from featprop.features import TablePreprocessor
from featprop.files import replacing_file, replacing_folder, restore_interrupted
from featprop.graph import UNKNOWN, Graph
from featprop.ids import as_array, from_jsonable, name_from_text, name_to_text, to_jsonable
from featprop.progress import tracked

DESCRIPTION = "graph.json"
FORMAT = "featprop graph"
VERSION = 1
SOURCE = "source.json"
"""Where a data set is from, next to its graph in the cache."""
STAMP = "checked.json"
TABLE, IDS = "table.arrow", "ids.arrow"
PARTS = ("indptr", "indices", "data")
ARRAYS = ("features", "labels", "candidates")
MATRICES = tuple(f"{name}.{part}" for name in ("adjacency", "features") for part in PARTS)
OWN_FILES = frozenset({DESCRIPTION, SOURCE, STAMP, TABLE, IDS, *(f"{name}.npy" for name in ARRAYS + MATRICES)})
LITTER = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""Files that file managers leave in folders, in lower case."""
HEADER_BYTES = 128
CHECK_VALUES = 1 << 22
"""Numbers checked together: the arrays may be larger than memory."""
CLOCK_TICK_NS = 2_000_000_000
"""Two changes of a file within this time may have the same time stamp on the coarsest file system."""


def is_native(folder: Path) -> bool:
    """Return whether a folder is a graph in featprop's own format."""
    return (folder / DESCRIPTION).is_file()


def write_native(
    graph: Graph, folder: Path, *, force: bool = False, source: Mapping[str, str] | None = None, into: bool = False
) -> None:
    """Write a graph.

    Parameters
    ----------
    graph
        The graph.
    folder
        The folder to write.
    force
        Replace a graph that is there already.
    source
        Where a data set is from.
    into
        Write the files into the folder itself, one that `writing_native` made.
    """
    arrays = _csr_arrays("adjacency", graph.adjacency)
    arrays |= _csr_arrays("features", graph.features) if sp.issparse(graph.features) else {"features": graph.features}
    optional = {"labels": graph.labels, "candidates": graph.candidates}
    arrays |= {name: array for name, array in optional.items() if array is not None}
    with nullcontext(folder) if into else writing_native(folder, force=force) as temporary:
        for name, array in tracked(arrays.items(), f"writing {folder.name}", len(arrays)):
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        kind = write_ids(temporary, graph.ids)
        if graph.table is not None:
            with writing_table(temporary / TABLE, graph.table.schema) as write:
                for batch in graph.table.to_batches():
                    write(batch)
        if source is not None:
            (temporary / SOURCE).write_text(json.dumps(dict(source)) + "\n", encoding="utf-8")
        write_description(
            temporary,
            nodes=graph.n_nodes,
            columns=graph.n_features,
            ids=kind,
            classes=graph.classes,
            feature_names=graph.feature_names,
            preprocessor=graph.preprocessor,
            repairs=graph.repairs,
            weight_scale=graph.weight_scale,
            id_name=graph.id_name,
        )


@contextmanager
def writing_native(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder to write a graph to, which becomes `folder` when the block ends without error."""
    check_may_replace(folder, force=force)
    with replacing_folder(folder) as temporary:
        yield temporary
        check_may_replace(folder, force=force)
        before = time.time_ns() - 2 * CLOCK_TICK_NS
        for name in _file_states(temporary):
            os.utime(temporary / name, ns=(before, before))
        _stamp(temporary, _file_states(temporary))


def check_may_replace(folder: Path, *, force: bool) -> None:
    """Refuse to write a graph over anything but nothing, an empty folder or, if forced, another graph."""
    restore_interrupted(folder)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file.", hint="Choose another folder.", path=folder)
    strange = foreign_entries(folder, OWN_FILES if is_native(folder) else ()) if folder.exists() else []
    if strange:
        raise FileError(
            f"{folder} holds other files: {first_five(strange)}.", hint="Choose another folder.", path=folder
        )
    if is_native(folder) and not force:
        raise already_exists(folder)


def foreign_entries(folder: Path, own: Iterable[str]) -> list[str]:
    """Return the names in a folder that are neither `own`, nor being written, nor left by file managers."""
    names = {entry.name for entry in folder.iterdir()} - set(own)
    return sorted(
        name for name in names if name.lower() not in LITTER and not name.startswith("._") and not name.endswith(".tmp")
    )


def write_description(
    folder: Path,
    *,
    nodes: int,
    columns: int,
    ids: str = "range",
    classes: Iterable[Hashable] = (),
    feature_names: Iterable[str] | None = None,
    preprocessor: TablePreprocessor | None = None,
    repairs: Iterable[str] = (),
    weight_scale: float | None = 1.0,
    id_name: str = "id",
) -> None:
    """Write ``graph.json``, the last file of a folder whose arrays are there already."""
    description = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": nodes,
        "features": columns,
        "ids": ids,
        "classes": [to_jsonable(name) for name in classes],
        "feature_names": None if feature_names is None else list(feature_names),
        "preprocessor": None if preprocessor is None else preprocessor.to_json(),
        "repairs": list(repairs),
        "weight_scale": weight_scale,
        "id_name": id_name,
    }
    text = json.dumps(description, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def open_native(folder: Path) -> Graph:
    """Open a graph in featprop's own format, and check it unless that was done before."""
    try:
        restore_interrupted(folder)
        return _opened(folder)
    except FileError:
        raise
    except Exception as error:  # damaged files raise nearly anything
        raise FileError(
            f"{folder} is not a complete graph in featprop's format {VERSION}: {quote_error(error)}.",
            hint="Write it again with `featprop convert`.",
            path=folder,
        ) from error


class ArrayWriter:
    """Writes a ``.npy`` file row by row; the header, with their number, is written when the block ends.

    Parameters
    ----------
    path
        The file.
    dtype
        Type of the numbers.
    columns
        Length of a row, None for an array of one dimension.
    """

    def __init__(self, path: Path, dtype: DTypeLike, columns: int | None = None) -> None:
        self.dtype, self.columns, self.rows = np.dtype(dtype), columns, 0
        self.file = path.open("wb")
        self.file.write(bytes(HEADER_BYTES))

    def append(self, rows: NDArray[Any]) -> None:
        """Write further rows."""
        self.rows += len(rows)
        np.ascontiguousarray(rows, dtype=self.dtype).tofile(self.file)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(self, *_: object) -> None:
        shape = (self.rows,) if self.columns is None else (self.rows, self.columns)
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        with self.file:
            self.file.seek(0)
            np.lib.format.write_array_header_1_0(self.file, header)
            if self.file.tell() != HEADER_BYTES:
                raise ValueError(f"a header of {self.file.tell()} bytes for the shape {shape}")


def write_adjacency(
    folder: Path,
    batches: Iterable[tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None]],
    nodes: int,
    max_entries: int,
    mean: MeanWeight | None = None,
) -> int:
    """Write ``adjacency.*.npy`` and return the number of entries.

    Parameters
    ----------
    folder
        The folder to write to.
    batches
        Rows, columns and weights of entries in order; None for weights of 1.
    nodes
        Number of nodes.
    max_entries
        Upper bound of the number of entries.
    mean
        Gets all weights.
    """
    kind = index_type(nodes, max_entries)
    degrees = np.zeros(nodes, dtype=kind)
    with (
        ArrayWriter(folder / "adjacency.indices.npy", kind) as indices,
        ArrayWriter(folder / "adjacency.data.npy", np.float32) as data,
    ):
        for rows, columns, weights in batches:
            if not len(rows):
                continue
            counts = np.bincount(rows - rows[0])
            degrees[rows[0] : rows[0] + len(counts)] += counts.astype(kind)
            indices.append(columns)
            values = np.ones(len(columns), dtype=np.float32) if weights is None else weights
            data.append(values)
            if mean is not None:
                mean.add(values)
    indptr = np.zeros(nodes + 1, dtype=kind)
    np.cumsum(degrees, out=indptr[1:])
    np.save(folder / "adjacency.indptr.npy", indptr)
    return data.rows


def divide_weights(folder: Path, mean: MeanWeight) -> None:
    """Divide the weights of a matrix that was just written by their mean, without mapping them into memory."""
    with (folder / "adjacency.data.npy").open("r+b") as file:
        file.seek(HEADER_BYTES)
        while len(values := np.frombuffer(file.read(4 * CHECK_VALUES), np.float32)):
            file.seek(-values.nbytes, os.SEEK_CUR)
            file.write(mean.divided(values).data)


@contextmanager
def writing_table(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that writes batches of the table, dictionaries decoded because each batch may have another."""
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types]
    decoded = pa.schema([field.with_type(kind) for field, kind in zip(schema, plain, strict=True)])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, decoded) as writer:
        yield lambda batch: writer.write_batch(batch.cast(decoded))


def write_ids(folder: Path, ids: pa.Array | NDArray[Any]) -> str:
    """Write ids and return their kind: integers from 0, other integers, text, or names of any type as JSON."""
    kind, column = _encode_ids(ids)
    if kind != "range":
        with writing_table(folder / IDS, pa.schema({"ids": column.type})) as write:
            write(pa.record_batch([column], ["ids"]))
    return kind


def _encode_ids(ids: pa.Array | NDArray[Any]) -> tuple[str, pa.Array]:
    if isinstance(ids, pa.Array) and not pa.types.is_integer(ids.type):
        return "text", ids.cast(pa.large_string())
    numbers = np.asarray(ids)
    if numbers.dtype.kind in "iu" and numbers.max() <= np.iinfo(np.int64).max:
        is_range = np.array_equal(numbers, np.arange(len(numbers)))
        return "range" if is_range else "integers", pa.array(numbers.astype(np.int64))
    names = numbers.tolist()
    if all(isinstance(name, str) for name in names):
        return "text", pa.array(names, pa.large_string())
    return "names", pa.array([name_to_text(name) for name in names], pa.large_string())


def _opened(folder: Path) -> Graph:
    states = _file_states(folder)
    graph = _mapped(folder, json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")))
    if not _is_stamped(folder, states):
        check_arrays(graph)
        if graph.table is not None:
            graph.table.validate(full=True)
        if max(changed for _, changed, *_ in states.values()) < time.time_ns() - CLOCK_TICK_NS:
            _stamp(folder, states)
    return graph


def _mapped(folder: Path, description: dict[str, Any]) -> Graph:
    """Map the arrays that the description announces: their types and lengths are checked, their numbers not yet."""
    if description["format"] != FORMAT or description["version"] != VERSION:
        raise ValueError(f"{description['format']!r}, version {description['version']!r}")
    nodes, columns = (_count(description, name) for name in ("nodes", "features"))
    is_there = {name: (folder / f"{name}.npy").exists() for name in ("features.data", "labels", "candidates")}
    classes = tuple(from_jsonable(name) for name in description["classes"])
    names, preprocessor = description["feature_names"], description.get("preprocessor")
    if len(set(classes)) != len(classes) or (names is not None and len(names) != columns):
        raise ValueError(f"{len(names or ())} names of {columns} features, or repeated classes")
    scale = description["weight_scale"]
    if scale is not None and not 0 < float(scale) < np.inf:
        raise ValueError(f"weights divided by {scale!r}")
    return Graph(
        _csr(folder, "adjacency", (nodes, nodes)),
        _csr(folder, "features", (nodes, columns))
        if is_there["features.data"]
        else _array(folder, "features", "f4", (nodes, columns)),
        _read_ids(folder, description["ids"], nodes),
        _array(folder, "labels", "i8", (nodes,)) if is_there["labels"] else None,
        classes,
        None if names is None else tuple(str(name) for name in names),
        _read_table(folder / TABLE, nodes) if (folder / TABLE).exists() else None,
        None if preprocessor is None else TablePreprocessor.from_json(preprocessor),
        tuple(str(repair) for repair in description["repairs"]),
        None if scale is None else float(scale),
        _array(folder, "candidates", "?", (nodes,)) if is_there["candidates"] else None,
        str(description.get("id_name", "id")),
    )


def check_arrays(graph: Graph) -> None:
    """Raise a `ValueError` about the first array that breaks the format: compiled code trusts the indices."""
    _check_csr("adjacency", graph.adjacency)
    if any((block <= 0).any() for block in _blocks(graph.adjacency.data)):
        raise ValueError("adjacency.data.npy with a weight that is not above 0")
    if sp.issparse(graph.features):
        _check_csr("features", graph.features)
    else:
        _check_finite("features", graph.features)
    for block in _blocks(graph.labels) if graph.labels is not None else ():
        if block.min() < UNKNOWN or block.max() >= len(graph.classes):
            raise ValueError(f"labels.npy from {block.min()} to {block.max()} with {len(graph.classes)} classes")
    if graph.ids.dtype == object:
        is_distinct = len(set(graph.ids.tolist())) == len(graph.ids)
    else:
        ordered = np.sort(graph.ids)
        is_distinct = not (ordered[1:] == ordered[:-1]).any()
    if not is_distinct:
        raise ValueError("ids that are repeated")


def _check_csr(name: str, matrix: sp.csr_array) -> None:
    """Check that rows begin one after the other, and that the columns of each are in range, rising and distinct."""
    indptr, indices = matrix.indptr, matrix.indices
    if any((block[1:] < block[:-1]).any() for block in _blocks(indptr, overlap=1)):
        raise ValueError(f"{name}.indptr.npy that falls")
    start = 0
    for block in _blocks(indices, overlap=1):
        if block.min() < 0 or block.max() >= matrix.shape[1]:
            raise ValueError(f"{name}.indices.npy from {block.min()} to {block.max()} with {matrix.shape[1]} columns")
        rises = block[1:] > block[:-1]
        first, last = np.searchsorted(indptr, np.array([start + 1, start + len(block)], indptr.dtype))
        rises[indptr[first:last] - (start + 1)] = True
        if not rises.all():
            raise ValueError(f"{name}.indices.npy with rows that are not sorted")
        start += CHECK_VALUES
    _check_finite(name, matrix.data, ".data")


def _check_finite(name: str, values: NDArray[Any], part: str = "") -> None:
    if not all(np.isfinite(block).all() for block in _blocks(values)):
        raise ValueError(f"{name}{part}.npy with numbers that are not finite")


def _blocks(array: NDArray[Any], overlap: int = 0) -> Iterator[NDArray[Any]]:
    rows = max(1, CHECK_VALUES // (array.shape[1] if array.ndim > 1 else 1))
    for start in range(0, len(array), rows):
        yield array[start : start + rows + overlap]


def _file_states(folder: Path) -> dict[str, list[int]]:
    """Return the size, times and inode of each file that is checked; a copy has another inode and is checked again."""
    found = {path.name: path.stat() for path in [*folder.glob("*.npy"), *folder.glob("*.arrow"), folder / DESCRIPTION]}
    return {
        name: [state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino]
        for name, state in sorted(found.items())
    }


def _is_stamped(folder: Path, states: dict[str, list[int]]) -> bool:
    try:
        found = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return bool(found == {"version": VERSION, "files": states})


def _stamp(folder: Path, states: dict[str, list[int]]) -> None:
    """Note that files in these states were checked; where that cannot be written they are checked again next time."""
    with suppress(FileError), replacing_file(folder / STAMP) as temporary:
        temporary.write_text(json.dumps({"version": VERSION, "files": states}) + "\n", encoding="utf-8")


def _read_table(path: Path, rows: int) -> pa.Table:
    with pa.memory_map(str(path)) as file:
        table = pa.ipc.open_file(file).read_all()
    if table.num_rows != rows:
        raise ValueError(f"{path.name} of {table.num_rows:,} rows, not {rows:,}")
    return table


def _count(description: dict[str, Any], name: str) -> int:
    count = description[name]
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"{count!r} {name}")
    return count


def _csr_arrays(name: str, matrix: sp.csr_array) -> dict[str, NDArray[Any]]:
    """Return the arrays of a CSR matrix in canonical format."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return {f"{name}.{part}": getattr(matrix, part) for part in PARTS}


def _array(folder: Path, name: str, dtypes: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Map one array of one of the given types; None stands for any length."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Reading `.npy`")  # of a header as Python 2 wrote it
            array: NDArray[Any] = np.lib.format.open_memmap(folder / f"{name}.npy", mode="r")
    except Exception as error:  # NumPy has Python parse the header, and a damaged one raises nearly anything
        raise ValueError(f"{name}.npy, {quote_error(error)}") from error
    fits = len(array.shape) == len(shape) and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits or array.dtype not in map(np.dtype, dtypes.split()) or not array.flags.c_contiguous:
        wanted = "any" if shape == (None,) else shape
        raise ValueError(f"{name}.npy of shape {array.shape} and type {array.dtype}, not {wanted} and {dtypes}")
    return array


def _csr(folder: Path, name: str, shape: tuple[int, int]) -> sp.csr_array:
    indptr = _array(folder, f"{name}.indptr", "i4 i8", (shape[0] + 1,))
    entries = int(indptr[-1])
    if indptr[0] != 0 or entries < 0:
        raise ValueError(f"{name}.indptr.npy from {indptr[0]} to {entries}")
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.indptr = np.asarray(indptr)
    matrix.indices = np.asarray(_array(folder, f"{name}.indices", indptr.dtype.str, (entries,)))
    matrix.data = np.asarray(_array(folder, f"{name}.data", "f4", (entries,)))
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _read_ids(folder: Path, kind: str, nodes: int) -> NDArray[Any]:
    if kind == "range":
        return np.arange(nodes)
    types = {"integers": pa.int64(), "text": pa.large_string(), "names": pa.large_string()}
    column = _read_table(folder / IDS, nodes).column("ids").combine_chunks()
    column.validate(full=True)
    if column.type != types[kind] or column.null_count:
        raise ValueError(f"{IDS} of type {column.type} with {column.null_count:,} missing")
    ids: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return as_array([name_from_text(text) for text in ids.tolist()]) if kind == "names" else ids
