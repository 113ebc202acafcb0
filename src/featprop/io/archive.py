"""The arrays of an ``.npz`` file. Object arrays are pickles, and are read by `featprop.io.unpickling` only."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featprop.errors import FileError, quote_error
from featprop.io.unpickling import unpickled
from featprop.matrix import checked_csr

__all__ = ["AGAIN", "NpzArchive", "opened_npz"]

AGAIN = "write it again in that layout"
"""What to do about a file of another layout."""

DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
)
"""What Python, NumPy and SciPy raise about a file that is damaged or of another layout."""


@contextmanager
def opened_npz(path: Path, layout: str) -> Iterator[NpzArchive]:
    """Open an ``.npz``; whatever the block finds wrong with it becomes one clear error.

    Parameters
    ----------
    layout
        What the file must be, for the message: ``"a sparse-graph .npz with …"``.
    """
    if not zipfile.is_zipfile(path):
        raise FileError(f"{path}", f"must be {layout}", "a file that is no .npz", AGAIN)
    try:
        with zipfile.ZipFile(path) as archive:
            yield NpzArchive(path, archive)
    except FileError:
        raise
    except DAMAGE as error:
        raise FileError(f"{path}", f"must be {layout}", f"this: {quote_error(error)}", AGAIN) from error


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the array that NumPy cannot read: it has Python parse headers, and a damaged one raises nearly anything."""
    try:
        yield
    except FileError:
        raise
    except Exception as error:
        raise ValueError(f"{name}.npy, {quote_error(error)}") from error


class NpzArchive:
    """An open ``.npz``.

    Parameters
    ----------
    path
        The file, for messages.
    archive
        The file, open.
    """

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path, self.archive = path, archive
        self.names = {name.removesuffix(".npy") for name in archive.namelist()}

    def array(self, name: str) -> Any:
        """Return one array; of an object array, what its pickle holds."""
        if name not in self.names:
            raise KeyError(name)
        with self.archive.open(f"{name}.npy") as file, _naming(name):
            if np.lib.format.read_magic(file) == (1, 0):
                _, _, dtype = np.lib.format.read_array_header_1_0(file)
            else:
                _, _, dtype = np.lib.format.read_array_header_2_0(file)
            if dtype.hasobject:
                value = unpickled(file.read(), f"{name} in {self.path}")
                return value.item() if isinstance(value, np.ndarray) and value.shape == () else value
        with self.archive.open(f"{name}.npy") as file, _naming(name), np.errstate(all="ignore"):
            return np.lib.format.read_array(file, allow_pickle=False)

    def optional(self, name: str) -> Any:
        """Return one array, or None if it is not there."""
        return self.array(name) if name in self.names else None

    def matrix(self, name: str) -> sp.csr_array:
        """Return a matrix that was saved as one pickled object."""
        matrix = self.array(name)
        if not sp.issparse(matrix):
            raise ValueError(f"{name} is no CSR matrix")
        return matrix

    def csr(self, name: str) -> sp.csr_array:
        """Return a matrix that was saved as its data, indices, indptr and shape."""
        data, indices, indptr, shape = (self.array(f"{name}_{part}") for part in ("data", "indices", "indptr", "shape"))
        return checked_csr(data, indices, indptr, tuple(shape.tolist()))
