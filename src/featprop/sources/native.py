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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, already_exists, first_five, quote_error
from featprop.features import TablePreprocessor
from featprop.files import replacing_file, replacing_folder, restore_interrupted
from featprop.graph import UNKNOWN, Graph
from featprop.ids import as_array, from_jsonable, name_from_text, name_to_text, to_jsonable
from featprop.matrix import Features, checked_csr, csr_of
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


def is_native(folder: Path) -> bool:
    """Return whether a folder is a graph in featprop's own format."""
    return (folder / DESCRIPTION).is_file()


def write_native(graph: Graph, folder: Path, *, force: bool = False, source: Mapping[str, str] | None = None) -> None:
    """Write a graph to a folder; `force` replaces a graph there, `source` says where a data set is from."""
    with writing_native(folder, force=force) as temporary:
        if source is not None:
            (temporary / SOURCE).write_text(json.dumps(dict(source)) + "\n", encoding="utf-8")
        write_parts(temporary, **{each.name: getattr(graph, each.name) for each in fields(graph) if each.init})


def write_parts(
    folder: Path,
    *,
    adjacency: sp.csr_array,
    features: Features,
    ids: pa.Array | NDArray[Any],
    labels: NDArray[np.int64] | None,
    table: pa.Table | None,
    candidates: NDArray[np.bool_] | None,
    **description: Any,
) -> None:
    """Write the attributes of a graph to a folder, but the arrays that `ArrayWriter` has put there already."""
    arrays = _csr_arrays("adjacency", adjacency)
    arrays |= _csr_arrays("features", features) if sp.issparse(features) else {"features": features}
    arrays |= {} if labels is None else {"labels": labels}
    arrays |= {} if candidates is None else {"candidates": candidates}
    missing = {name: array for name, array in arrays.items() if not (folder / f"{name}.npy").exists()}
    for name, array in tracked(missing.items(), "writing the graph", len(missing)):
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    kind = _write_ids(folder, ids)
    if table is not None:
        with writing_table(folder / TABLE, table.schema) as write:
            for batch in table.to_batches():
                write(batch)
    write_description(folder, nodes=adjacency.shape[0], columns=features.shape[1], ids=kind, **description)


@contextmanager
def writing_native(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Yield a temporary folder to write a graph to, which becomes `folder` when the block ends without error."""
    check_may_replace(folder, force=force)
    with replacing_folder(folder) as temporary:
        yield temporary
        check_may_replace(folder, force=force)
        _stamp(temporary, _file_states(temporary))


def check_may_replace(folder: Path, *, force: bool) -> None:
    """Refuse to write a graph over anything but nothing, an empty folder or, if forced, another graph."""
    restore_interrupted(folder)
    if folder.exists() and not folder.is_dir():
        raise FileError(f"{folder} is a file.", hint="Choose another folder.", path=folder)
    own = OWN_FILES if is_native(folder) else ()
    names = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
    foreign = [name for name in names if name not in own and not name.endswith(".tmp")]
    if foreign:
        message = f"{folder} holds other files: {first_five(foreign)}."
        raise FileError(message, hint="Choose another folder.", path=folder)
    if is_native(folder) and not force:
        raise already_exists(folder)


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
        states = _file_states(folder)
        graph = _mapped(folder, json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")))
        if not _is_stamped(folder, states):
            check_arrays(graph)
            if graph.table is not None:
                graph.table.validate(full=True)
            _stamp(folder, states)
        return graph
    except FileError:
        raise
    except Exception as error:  # damaged files raise nearly anything
        raise FileError(
            f"{folder} is not a complete graph in featprop's format {VERSION}: {quote_error(error)}.",
            hint="Write it again with `featprop convert`.",
            path=folder,
        ) from error


@contextmanager
def writing_table(path: Path, schema: pa.Schema) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that writes batches of the table, dictionaries decoded because each batch may have another."""
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types]
    decoded = pa.schema([field.with_type(kind) for field, kind in zip(schema, plain, strict=True)])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, decoded) as writer:
        yield lambda batch: writer.write_batch(batch.cast(decoded))


def _write_ids(folder: Path, ids: pa.Array | NDArray[Any]) -> str:
    """Write ids and return their kind: integers from 0, other integers, text, or names of any type as JSON."""
    if isinstance(ids, pa.Array) and not pa.types.is_integer(ids.type):
        kind, column = "text", ids.cast(pa.large_string())
    else:
        values = np.asarray(ids)
        if values.dtype.kind in "iu" and values.max() <= np.iinfo(np.int64).max:
            kind, column = "integers", pa.array(values.astype(np.int64))
        elif all(isinstance(name, str) for name in values.tolist()):
            kind, column = "text", pa.array(values.tolist(), pa.large_string())
        else:
            kind, column = "names", pa.array([name_to_text(name) for name in values.tolist()], pa.large_string())
        if kind == "integers" and np.array_equal(values, np.arange(len(values))):
            return "range"
    with writing_table(folder / IDS, pa.schema({"ids": column.type})) as write:
        write(pa.record_batch([column], ["ids"]))
    return kind


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
    """Raise an error about the first array that breaks the format: compiled code trusts the indices.

    The arrays may be larger than memory, so nothing is computed for each of their numbers.
    """
    _check_csr("adjacency", graph.adjacency)
    if graph.adjacency.nnz and graph.adjacency.data.min() <= 0:
        raise ValueError("adjacency.data.npy with a weight that is not above 0")
    if sp.issparse(graph.features):
        _check_csr("features", graph.features)
    else:
        _check_finite("features", graph.features)
    labels = graph.labels
    if labels is not None and (labels.min() < UNKNOWN or labels.max() >= len(graph.classes)):
        raise ValueError(f"labels.npy from {labels.min()} to {labels.max()} with {len(graph.classes)} classes")
    if graph.ids.dtype == object:
        is_distinct = len(set(graph.ids.tolist())) == len(graph.ids)
    else:
        ordered = np.sort(graph.ids)
        is_distinct = not (ordered[1:] == ordered[:-1]).any()
    if not is_distinct:
        raise ValueError("ids that are repeated")


def _check_csr(name: str, matrix: sp.csr_array) -> None:
    """Check that the columns of each row are in range, rising and distinct, and that the numbers are finite."""
    if not checked_csr(matrix.data, matrix.indices, matrix.indptr, matrix.shape).has_canonical_format:
        raise ValueError(f"{name}.indices.npy with rows that are not sorted")
    _check_finite(f"{name}.data", matrix.data)


def _check_finite(name: str, values: NDArray[Any]) -> None:
    if values.size and not np.isfinite([values.min(), values.max()]).all():
        raise ValueError(f"{name}.npy with numbers that are not finite")


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


def _array(folder: Path, name: str, dtypes: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Map one array of one of the given types."""
    try:
        with np.errstate(all="ignore"):
            array: NDArray[Any] = np.lib.format.open_memmap(folder / f"{name}.npy", mode="r")
    except Exception as error:  # NumPy has Python parse the header, and a damaged one raises nearly anything
        raise ValueError(f"{name}.npy, {quote_error(error)}") from error
    if array.shape != shape or array.dtype not in map(np.dtype, dtypes.split()) or not array.flags.c_contiguous:
        raise ValueError(f"{name}.npy of shape {array.shape} and type {array.dtype}, not {shape} and {dtypes}")
    return array


def _csr(folder: Path, name: str, shape: tuple[int, int]) -> sp.csr_array:
    indptr = _array(folder, f"{name}.indptr", "i4 i8", (shape[0] + 1,))
    entries = int(indptr[-1])
    if indptr[0] != 0 or entries < 0:
        raise ValueError(f"{name}.indptr.npy from {indptr[0]} to {entries}")
    indices = _array(folder, f"{name}.indices", indptr.dtype.str, (entries,))
    data = _array(folder, f"{name}.data", "f4", (entries,))
    return csr_of(np.asarray(indptr), np.asarray(indices), np.asarray(data), shape[1])


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
