"""Pickled arrays and sparse matrices, read without running anything the file says.

A pickle names functions for the reader to call. Here each of the few names that arrays, CSR matrices and adjacency
dictionaries need stands for a class of this file that only keeps what it is given; any other name is refused. NumPy's
and SciPy's own classes are not among them: a crafted state makes them read memory that is not theirs. The arrays are
built afterwards, from checked sizes.
"""

from __future__ import annotations

import io
import math
import pickle
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, reason

__all__ = ["unpickled"]

DEPTH = 20
"""How deep lists may hold lists: the files of data sets need four levels."""


def unpickled(content: bytes, what: str) -> Any:
    """Return the numbers, texts, lists, dictionaries, arrays and CSR matrices of a pickle.

    Parameters
    ----------
    content
        The pickle. Those of Python 2 are read as Latin-1.
    what
        The file it is from, for the message when it holds anything else.
    """
    try:
        return _built(_Unpickler(io.BytesIO(content), encoding="latin1").load(), DEPTH)
    except _ForbiddenError as error:
        cure = "do not use the file, it may be meant to do harm; get it from its official source"
        rule = "must hold nothing but numbers, texts, arrays and CSR matrices"
        raise FileError(what, rule, f"a call of {error}", cure) from error
    except Exception as error:  # a damaged pickle can raise anything
        found = f"this: {reason(error)}"
        raise FileError(what, "must be a whole pickle of arrays", found, "get the file again") from error


class _ForbiddenError(Exception):
    """A pickle names something outside the list."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _STAND_INS:
            raise _ForbiddenError(f"{module}.{name}")
        return _STAND_INS[module, name]

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _ForbiddenError(f"persistent object {pid!r}")


class _StandIn:
    """What a name of a pickle stands for. Being a class with a ``__setstate__``, none can be changed by a pickle."""

    def __setstate__(self, state: Any) -> None:
        raise _ForbiddenError(f"{type(self).__name__.strip('_')}.__setstate__")


class _Dtype(_StandIn):
    """``numpy.dtype``: its code, such as f4, and its byte order, the only part of its state that is looked at."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code, self.order = str(code), "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = {"<": "<", ">": ">"}.get(str(state[1]), "=")

    def built(self) -> np.dtype[Any]:
        dtype = np.dtype(self.code)
        if dtype.kind not in "biufSU" or dtype.names or dtype.itemsize == 0:
            raise ValueError(f"arrays of {self.code} are not numbers or texts")
        return dtype.newbyteorder(self.order)  # type: ignore[arg-type]


class _Array(_StandIn):
    """``numpy.ndarray``: what its state says, looked at only when the array is built."""

    def __init__(self, *_: Any) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def built(self, depth: int) -> NDArray[Any]:
        shape, dtype, by_column, content = self.state[-4:]
        shape = tuple(int(length) for length in shape)
        if dtype.code.startswith("O"):
            if not isinstance(content, list):
                raise ValueError("an array of objects that are no list")
            items = np.empty(len(content), dtype=object)
            items[:] = [_built(item, depth) for item in content]
            return items.reshape(shape, order="F" if by_column else "C")
        raw = content.encode("latin1") if isinstance(content, str) else bytes(content)
        number = dtype.built()
        if min(shape, default=0) < 0 or len(raw) != number.itemsize * math.prod(shape):
            raise ValueError(f"an array of shape {shape} in {len(raw):,} bytes")
        array = np.frombuffer(raw, number).reshape(shape, order="F" if by_column else "C")
        return array.astype(number.newbyteorder("="))


class _Csr(_StandIn):
    """``scipy.sparse.csr_matrix``: its parts, checked when the matrix is built."""

    def __init__(self, *_: Any) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state

    def built(self, depth: int) -> sp.csr_array:
        data, indices, indptr = (self.state[part].built(depth) for part in ("data", "indices", "indptr"))
        shape = tuple(int(length) for length in (self.state.get("_shape") or self.state["shape"]))
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu" or data.dtype.kind not in "biuf":
            raise ValueError("a CSR matrix whose indices are no integers")
        matrix = sp.csr_array((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
        return matrix


class _Dictionary(_StandIn, dict[Any, Any]):
    """``collections.defaultdict``: what it does with missing keys is not kept."""

    def __init__(self, *_: Any) -> None:
        super().__init__()


class _Bytes(_StandIn):
    """``_codecs.encode``, or ``bytes`` if there are none: how Python 3 writes bytes for Python 2 to read."""

    def __new__(cls, text: str = "", encoding: str = "latin1") -> bytes:  # type: ignore[misc]
        if encoding != "latin1":
            raise _ForbiddenError(f"_codecs.encode with {encoding!r}")
        return text.encode("latin1")


class _Nothing(_StandIn):
    """A name that pickles mention only as an argument, such as the factory of a defaultdict."""

    def __init__(self) -> None:
        raise _ForbiddenError("a type that may only be mentioned")


_STAND_INS: dict[tuple[str, str], type[_StandIn]] = {
    ("_codecs", "encode"): _Bytes,
    ("__builtin__", "bytes"): _Bytes,
    ("__builtin__", "list"): _Nothing,
    ("builtins", "list"): _Nothing,
    ("collections", "defaultdict"): _Dictionary,
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_array"): _Csr,
}


def _built(value: Any, depth: int) -> Any:
    if depth == 0:
        raise ValueError(f"lists in lists more than {DEPTH} levels deep")
    if isinstance(value, _Array | _Csr):
        return value.built(depth - 1)
    if isinstance(value, dict):
        return {key: _built(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_built(item, depth - 1) for item in value)
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    raise ValueError(f"an object of type {type(value).__name__.strip('_')}")
