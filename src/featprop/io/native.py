"""Featprop's own graph format: a folder of ``.npy`` files and ``graph.json``, opened without reading it.

::

    graph.json              what is here: counts, classes, names of features, how columns became features
    adjacency.indptr.npy    the CSR matrix of the edges, each in both directions
    adjacency.indices.npy
    adjacency.data.npy
    features.npy            or features.indptr.npy, features.indices.npy and features.data.npy if sparse
    labels.npy              index into classes, -1 where unknown; absent if no label is known
    ids.npy                 integer ids; ids.text.npy and ids.ends.npy for any other; absent for 0..n-1
    table.arrow             the table of the nodes as it came; absent if there was none
    checked.json            the state of these files when they were checked (`featprop.io.stamps`)

The arrays are mapped read-only into memory and loaded page by page as they are used. A folder that changed since it was
written or checked is checked once when it is opened; after that the time does not depend on the size of the graph.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, first_five, overwriting, quote_error
from featprop.graph import Graph
from featprop.ids import as_array, from_jsonable, name_from_text, name_to_text, to_jsonable
from featprop.io.atomic import read_whole, replacing_folder
from featprop.io.foreign import foreign_entries
from featprop.io.formats import Format, register_format
from featprop.io.native_checks import check_arrays
from featprop.io.stamps import STAMP, file_states, is_stamped, stamp, stamp_written
from featprop.progress import tracked
from featprop.tables import Preparation, TableOptions
from featprop.tables.by_column import ByColumn

__all__ = [
    "SOURCE",
    "Native",
    "check_may_replace",
    "is_native",
    "open_native",
    "write_description",
    "write_ids",
    "write_native",
    "write_table",
    "writing_native",
]

DESCRIPTION = "graph.json"
FORMAT = "featprop graph"
VERSION = 1

SOURCE = "source.json"
"""Where a data set is from, beside the graph in the cache."""

PARTS = ("indptr", "indices", "data")
ARRAYS = ("features", "labels", "ids", "ids.text", "ids.ends")
MATRICES = tuple(f"{name}.{part}" for name in ("adjacency", "features") for part in PARTS)
TABLE = "table.arrow"
OWN = frozenset({DESCRIPTION, SOURCE, STAMP, TABLE, *(f"{name}.npy" for name in ARRAYS + MATRICES)})
"""Every file that may be in such a folder."""


@register_format("native")
class Native(Format):
    """Featprop's own format."""

    description = "a folder that featprop convert wrote"

    def fits(self, place: Path) -> bool:
        """Say whether there is a ``graph.json``."""
        return is_native(place)

    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:  # noqa: ARG002
        """Open the folder."""
        return open_native(place)


def is_native(folder: Path) -> bool:
    """Say whether a folder holds a graph in featprop's own format, put back first if a killed run moved it aside."""
    return read_whole(folder, (folder / DESCRIPTION).is_file)


def write_native(graph: Graph, folder: Path, *, force: bool = False, source: Mapping[str, str] | None = None) -> None:
    """Write a graph; the folder appears whole or not at all.

    Parameters
    ----------
    force
        Replace a graph of this format that is there already. Anything else there is never replaced.
    source
        Where it is from, to be kept beside it.
    """
    arrays = _parts("adjacency", graph.adjacency)
    arrays |= _parts("features", graph.features) if sp.issparse(graph.features) else {"features": graph.features}
    if graph.labels is not None:
        arrays["labels"] = graph.labels
    kind, ids = _ids_to_write(graph.ids)
    arrays |= ids
    with writing_native(folder, force=force) as temporary:
        for name, array in tracked(arrays.items(), f"writing {folder.name}", len(arrays)):
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        if graph.table is not None:
            write_table(temporary, graph.table)
        if source is not None:
            (temporary / SOURCE).write_text(json.dumps(dict(source)) + "\n", encoding="utf-8")
        write_description(
            temporary,
            nodes=graph.n_nodes,
            columns=graph.n_features,
            ids=kind,
            classes=graph.classes,
            feature_names=graph.feature_names,
            preparation=graph.preparation,
            repairs=graph.repairs,
            weight_scale=graph.weight_scale,
        )


@contextmanager
def writing_native(
    folder: Path, *, force: bool = False, durable: bool = False, check: Callable[[Path], None] | None = None
) -> Iterator[Path]:
    """Yield a temporary folder to write a graph to, which becomes `folder` when the block ends without error.

    Parameters
    ----------
    force
        Replace a graph that is there already, or that another run has put there meanwhile.
    durable
        Wait until the files are on the disk: not needed for a graph that can be made again.
    check
        Looks at what was there, and raises if it must stay (`replacing_folder`), in place of `check_may_replace`.
    """
    if check is None:
        check_may_replace(folder, force=force)

        def check(old: Path) -> None:
            check_may_replace(folder, force=force, now=old)

    with replacing_folder(folder, durable=durable, check=check) as temporary:
        yield temporary
        stamp_written(temporary)


def write_description(
    folder: Path,
    *,
    nodes: int,
    columns: int,
    ids: str = "range",
    classes: Iterable[Hashable] = (),
    feature_names: Iterable[str] | None = None,
    preparation: Preparation | None = None,
    repairs: Iterable[str] = (),
    weight_scale: float | None = 1.0,
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
        "preparation": None if preparation is None else preparation.to_jsonable(),
        "repairs": list(repairs),
        "weight_scale": weight_scale,
    }
    text = json.dumps(description, ensure_ascii=False, indent=1)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def open_native(folder: Path) -> Graph:
    """Open a folder that `write_native` or the generator of graphs wrote, and check it unless that is done."""
    try:
        return read_whole(folder, partial(_opened, folder))
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        pa.ArrowException,
    ) as error:
        rule = f"must be a whole graph in format {VERSION} of featprop"
        raise FileError(
            f"{folder}", rule, f"this: {quote_error(error)}", "write it again with featprop convert"
        ) from error


def _opened(folder: Path) -> Graph:
    states = file_states(folder)
    graph = _mapped(folder, json.loads((folder / DESCRIPTION).read_text(encoding="utf-8")))
    if not is_stamped(folder, states):
        check_arrays(graph)
        if graph.table is not None:
            graph.table.validate(full=True)
        stamp(folder, states)
    return graph


def check_may_replace(folder: Path, *, force: bool, now: Path | None = None) -> None:
    """Refuse to write a graph over anything but nothing, an empty folder or, if forced, another graph.

    What is at `folder` may have been moved: it is at `now`.
    """
    now = folder if now is None else now
    is_graph = is_native(now)
    if now.exists() and not now.is_dir():
        raise FileError(f"{folder}", "must be a new folder", "a file", "choose another place")
    strange = foreign_entries(now, OWN if is_graph else ()) if now.exists() else []
    if strange:
        found = f"a folder with other files: {first_five(strange)}"
        raise FileError(f"{folder}", "must be a new folder", found, "choose another place")
    if is_graph and not force:
        raise overwriting(folder, "a graph in featprop's format")


def _mapped(folder: Path, description: dict[str, Any]) -> Graph:
    """Map the arrays that the description announces: of the right types and lengths, their numbers not yet checked."""
    if description["format"] != FORMAT or description["version"] != VERSION:
        raise ValueError(f"{description['format']!r}, version {description['version']!r}")
    nodes, columns = (_count(description, name) for name in ("nodes", "features"))
    is_sparse, is_labelled = ((folder / name).exists() for name in ("features.data.npy", "labels.npy"))
    classes = tuple(from_jsonable(name) for name in description["classes"])
    names, preparation = description["feature_names"], description["preparation"]
    if len(set(classes)) != len(classes) or (names is not None and len(names) != columns):
        raise ValueError(f"{len(names or ())} names of {columns} features, or repeated classes")
    return Graph(
        _csr(folder, "adjacency", (nodes, nodes)),
        _csr(folder, "features", (nodes, columns)) if is_sparse else _array(folder, "features", "f4", (nodes, columns)),
        _read_ids(folder, description["ids"], nodes),
        _array(folder, "labels", "i8", (nodes,)) if is_labelled else None,
        classes,
        None if names is None else tuple(str(name) for name in names),
        _read_table(folder / TABLE, nodes) if (folder / TABLE).exists() else None,
        None if preparation is None else Preparation.from_jsonable(preparation),
        tuple(str(repair) for repair in description["repairs"]),
        _scale(description["weight_scale"]),
    )


def write_table(folder: Path, table: ByColumn) -> None:
    """Write the table of the nodes; words that are numbered are written out, since each piece may number others."""
    kinds = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in table.schema.types]
    schema = pa.schema([field.with_type(kind) for field, kind in zip(table.schema, kinds, strict=True)])
    with pa.OSFile(str(folder / TABLE), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch.cast(schema))


def _read_table(path: Path, rows: int) -> pa.Table:
    """Map the table of the nodes into memory."""
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


def _scale(value: Any) -> float | None:
    if value is None:
        return None
    scale = float(value)
    if not (scale > 0 and np.isfinite(scale)):
        raise ValueError(f"weights divided by {value!r}")
    return scale


def _parts(name: str, matrix: sp.csr_array) -> dict[str, NDArray[Any]]:
    """Return the arrays of a CSR matrix, its entries in order as readers of the format may expect."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return {f"{name}.{part}": getattr(matrix, part) for part in PARTS}


def _array(folder: Path, name: str, dtypes: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Map one array, of one of the given types; None stands for any length."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():  # a size that is too large is said to be so below
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


def _ids_to_write(ids: NDArray[Any]) -> tuple[str, dict[str, NDArray[Any]]]:
    """Return the kind of the ids and their arrays: integers, text as it is, or each as JSON that keeps its type."""
    if ids.dtype.kind in "iu" and ids.max() <= np.iinfo(np.int64).max:
        if np.array_equal(ids, np.arange(len(ids))):
            return "range", {}
        return "integers", {"ids": ids.astype(np.int64)}
    names = ids.tolist()
    kind = "text" if all(isinstance(name, str) for name in names) else "names"
    encoded = [(name if kind == "text" else name_to_text(name)).encode() for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return kind, {"ids.text": np.frombuffer(b"".join(encoded), np.uint8), "ids.ends": ends}


def write_ids(folder: Path, ids: pa.Array) -> str:
    """Write ids, 64-bit integers or text, and return their kind."""
    if pa.types.is_integer(ids.type):
        kind, arrays = _ids_to_write(np.asarray(ids.to_numpy()))
    else:
        kind, wide = "text", ids.cast(pa.large_string())
        _, offsets, text = wide.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
        data = np.empty(0, np.uint8) if text is None else np.frombuffer(text, np.uint8)[ends[0] : ends[-1]]
        arrays = {"ids.text": data, "ids.ends": ends[1:] - ends[0]}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    return kind


def _read_ids(folder: Path, kind: str, nodes: int) -> NDArray[Any]:
    if kind == "range":
        return np.arange(nodes)
    if kind == "integers":
        return _array(folder, "ids", "i8", (nodes,))
    if kind not in ("text", "names"):
        raise ValueError(f"ids that are {kind!r}")
    text = _array(folder, "ids.text", "u1", (None,)).tobytes()
    ends = np.concatenate([[0], _array(folder, "ids.ends", "i8", (nodes,))])
    if ends[-1] != len(text) or (ends[1:] < ends[:-1]).any():
        raise ValueError(f"ids.ends.npy that does not divide {len(text):,} bytes")
    names = [text[start:end].decode() for start, end in pairwise(ends.tolist())]
    return as_array(names if kind == "text" else [name_from_text(name) for name in names])
