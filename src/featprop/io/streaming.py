"""A ``.npy`` file written piece by piece, for arrays that are longer than memory or whose length is not yet known."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["ArrayStream"]

HEADER_BYTES = 128
"""What NumPy's header takes for one or two dimensions of any length."""


class ArrayStream:
    """Append rows; the header, which holds their number, is written when the block ends.

    Parameters
    ----------
    path
        The ``.npy`` file to write.
    dtype
        The type of the numbers.
    columns
        The length of a row, None for an array of one dimension.
    """

    def __init__(self, path: Path, dtype: DTypeLike, columns: int | None = None) -> None:
        self.dtype = np.dtype(dtype)
        self.columns = columns
        self.rows = 0
        self.file = path.open("wb")
        self.file.write(bytes(HEADER_BYTES))

    def append(self, rows: NDArray[Any]) -> None:
        """Write further rows."""
        self.rows += len(rows)
        np.ascontiguousarray(rows, dtype=self.dtype).tofile(self.file)

    def __enter__(self) -> ArrayStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shape = (self.rows,) if self.columns is None else (self.rows, self.columns)
        header = {"descr": np.lib.format.dtype_to_descr(self.dtype), "fortran_order": False, "shape": shape}
        with self.file:
            self.file.seek(0)
            np.lib.format.write_array_header_1_0(self.file, header)
            if self.file.tell() != HEADER_BYTES:
                raise ValueError(f"a header of {self.file.tell()} bytes for the shape {shape}")
