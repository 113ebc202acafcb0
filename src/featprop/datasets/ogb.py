"""Node data of the Open Graph Benchmark (Hu et al. 2020): compressed CSV files without a header, in one zip.

The members of the zip are read where they are; nothing is unpacked, so the archive cannot write anywhere.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from featprop.adjacency import RawGraph
from featprop.errors import FileError, quote_error
from featprop.progress import tracked

__all__ = ["parts_of_ogb_files", "parts_of_ogb_zip"]

PARTS = ("edge.csv.gz", "node-feat.csv.gz", "node-label.csv.gz")


def parts_of_ogb_zip(files: Mapping[str, Path]) -> RawGraph:
    """Read the official archive, such as ``arxiv.zip``."""
    (path,) = files.values()
    try:
        with zipfile.ZipFile(path) as archive:
            members = {PurePosixPath(name).name: name for name in archive.namelist() if "/raw/" in f"/{name}"}
            missing = [part for part in PARTS if part not in members]
            if missing:
                raise FileError(f"{path}", f"must hold raw/{missing[0]}", "none", "get the official archive again")
            arrays = []
            for part in tracked(PARTS, f"reading {path.name}", len(PARTS)):
                with archive.open(members[part]) as file:
                    arrays.append(_numbers(file, f"{part} in {path}"))
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError) as error:
        raise FileError(
            f"{path}", "must be a zip file", f"this: {quote_error(error)}", "get the archive again"
        ) from error
    return _parts(arrays)


def parts_of_ogb_files(files: Mapping[str, Path]) -> RawGraph:
    """Read the folder ``raw`` that the ogb package leaves when it has unpacked the archive."""
    arrays = []
    for part in tracked(PARTS, f"reading {files[PARTS[0]].parent}", len(PARTS)):
        with files[part].open("rb") as file:
            arrays.append(_numbers(file, f"{files[part]}"))
    return _parts(arrays)


def _parts(arrays: list[NDArray[Any]]) -> RawGraph:
    edges, features, labels = arrays
    if edges.shape[1] != 2 or labels.shape[1] != 1:
        found = f"{edges.shape[1]} and {labels.shape[1]}"
        what = "edge.csv.gz and node-label.csv.gz"
        raise FileError(what, "must have two columns and one", found, "use a data set with one class a node")
    return RawGraph(edges[:, 0], edges[:, 1], features, labels=labels[:, 0])


def _numbers(file: IO[bytes], what: str) -> NDArray[Any]:
    """Read a compressed CSV file batch by batch: int64 if its columns are integers, float32 otherwise."""
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
        found = f"this: {quote_error(error)}"
        raise FileError(what, "must be a compressed CSV file of numbers", found, "get it again") from error
