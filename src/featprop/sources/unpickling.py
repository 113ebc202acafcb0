"""Read pickled arrays and sparse matrices without running anything the file names.

A pickle names functions for the reader to call. Here each of the few names that arrays, CSR matrices and adjacency
dictionaries need stands for a class of this file that only stores its arguments; any other name is refused. NumPy's and
SciPy's own classes are not among them: a crafted state makes them read memory that is not theirs. The arrays are built
afterwards, from checked sizes.

Python's own implementation of the unpickler is used rather than the C one, whose memo a crafted file can make as large
as it likes. A small file can describe endless values, a list that holds another twice, which holds another twice: what
is built may not be much larger than the file.
"""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import FileError, quote_error
from featprop.matrix import checked_csr

MAX_DEPTH = 20
"""Levels of lists in lists; the files of data sets need four."""

MAX_EXPANSION = 4
"""Bytes that may be built per byte of the file: texts and shapes are there once and used often."""

LIST_COST, DICTIONARY_COST, ARRAY_COST = 1, 3, 31
"""What these count in addition to each value: they take more memory than a number."""

MAX_ARGUMENTS = 3
MAX_AXES = 64

MAX_DTYPE_CHARS = 20


_ALLOWED = "(.012FGIJKLMNSTUVXBC]lhjgqrpt)}N\x80\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x93\x94\x95c"
"""Operations of pickles that put constants, lists, tuples and names on the stack, by their code."""


class PickleForbiddenError(Exception):
    """A pickle names something that it may not use."""


class Kept:
    """Stands for a name of a pickle: stores its arguments and does nothing with them."""

    def __init__(self, *arguments: Any) -> None:
        if len(arguments) > MAX_ARGUMENTS:
            raise ValueError(f"a call with {len(arguments):,} arguments")
        self.arguments = arguments
        self.state: Any = None
        self.items: dict[Hashable, Any] = {}


class _Unpickler(pickle._Unpickler):
    """Python's unpickler without the operations that arrays do not need; keys are text or numbers of 64 bits."""

    stack: list[Any]
    pop_mark: Callable[[], list[Any]]

    def find_class(self, module: str, name: str) -> type[Kept]:
        """Return what stands for a name."""
        if (module, name) not in _STAND_INS:
            raise PickleForbiddenError(f"{module}.{name}")
        return _STAND_INS[module, name]

    def load_setitems(self) -> None:
        """Set the items since the last mark."""
        self._set(self.pop_mark())

    def load_setitem(self) -> None:
        """Set one item."""
        value, key = self.stack.pop(), self.stack.pop()
        self._set([key, value])

    def load_dict(self) -> None:
        """Make a dictionary of the items since the last mark."""
        items = self.pop_mark()
        self.stack.append({})
        self._set(items)

    def _set(self, items: list[Any]) -> None:
        holder = self.stack[-1].items if isinstance(self.stack[-1], Kept) else self.stack[-1]
        if type(holder) is not dict or len(items) % 2:
            raise ValueError("keys of something that is no dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            is_number = isinstance(key, float) or (isinstance(key, int) and abs(key) < 1 << 63)
            if not (key is None or is_number or isinstance(key, str | bytes)):
                raise ValueError("a key that is no text and no number")
            holder[key] = value

    def load_reduce(self) -> None:
        """Call what stands for a name."""
        arguments, called = self.stack.pop(), self.stack.pop()
        if not isinstance(called, type) or type(arguments) is not tuple:
            raise ValueError("a call of something that is no name")
        self.stack.append(called(*arguments))

    def load_build(self) -> None:
        """Set the state of what stands for an object."""
        state = self.stack.pop()
        if not isinstance(self.stack[-1], Kept):
            raise ValueError("a state of something that has none")
        self.stack[-1].state = state

    def load_appends(self) -> None:
        """Append the items since the last mark."""
        items = self.pop_mark()
        if type(self.stack[-1]) is not list:
            raise ValueError("items of something that is no list")
        self.stack[-1].extend(items)

    def load_append(self) -> None:
        """Append one item."""
        item = self.stack.pop()
        if type(self.stack[-1]) is not list:
            raise ValueError("an item of something that is no list")
        self.stack[-1].append(item)

    def refuse(self) -> None:
        """Refuse an operation that arrays do not need."""
        raise PickleForbiddenError("an operation")

    dispatch: ClassVar[dict[int, Any]] = {
        **dict.fromkeys(pickle._Unpickler.dispatch, refuse),
        **{code: pickle._Unpickler.dispatch[code] for code in map(ord, _ALLOWED)},
        ord("s"): load_setitem,
        ord("u"): load_setitems,
        ord("d"): load_dict,
        ord("R"): load_reduce,
        0x81: load_reduce,  # NEWOBJ: the class and its arguments, as a call has them
        ord("b"): load_build,
        ord("e"): load_appends,
        ord("a"): load_append,
    }


def unpickled(content: bytes, what: str) -> Any:
    """Return the numbers, texts, lists, dictionaries, arrays and CSR matrices of a pickle.

    Parameters
    ----------
    content
        The pickle. Those of Python 2 are read as Latin-1.
    what
        The file it is from, for messages.
    """
    try:
        kept = _Unpickler(io.BytesIO(content), fix_imports=False, encoding="latin1").load()
        return _Builder(MAX_EXPANSION * len(content)).built(kept, MAX_DEPTH)
    except PickleForbiddenError as error:
        raise FileError(
            f"{what} asks to use {error}, which data does not need.",
            hint="Do not use this file, it may be malicious; get it from its official source.",
            path=what,
        ) from error
    except Exception as error:  # a damaged pickle can raise anything
        raise FileError(
            f"{what} is not a pickle of arrays: {quote_error(error)}.", hint="Get the file again.", path=what
        ) from error


class _Dtype(Kept):
    """``numpy.dtype``: its code, such as f4, and its byte order, the only part of its state that is looked at."""

    @property
    def code(self) -> str:
        """How NumPy names the type."""
        code = self.arguments[0]
        if not isinstance(code, str | bytes) or len(code) > MAX_DTYPE_CHARS:
            raise ValueError("a type without a name")
        return code.decode("latin1") if isinstance(code, bytes) else code

    def dtype(self) -> np.dtype[Any]:
        """Return the type, in the order of bytes that its state says."""
        dtype = np.dtype(self.code)
        if dtype.kind not in "biufSU" or dtype.names or dtype.itemsize == 0:
            raise ValueError(f"arrays of {self.code} are not numbers or texts")
        order = self.state[1] if isinstance(self.state, tuple) else "="
        return dtype.newbyteorder("<" if order in ("<", b"<") else ">" if order in (">", b">") else "=")


class _Array(Kept):
    """``numpy.ndarray``: what its state says, looked at only when the array is built."""


class _Csr(Kept):
    """``scipy.sparse.csr_matrix``: its parts, checked when the matrix is built."""


class _Dictionary(Kept):
    """``collections.defaultdict``: what it does with missing keys is not kept."""


class _Bytes(Kept):
    """``_codecs.encode``, or ``bytes`` if there are none: how Python 3 writes bytes for Python 2 to read."""

    def __init__(self, text: Any = "", encoding: Any = "latin1") -> None:
        super().__init__()
        if not isinstance(text, str) or not isinstance(encoding, str):
            raise ValueError("bytes that are no text")
        if encoding != "latin1":
            raise PickleForbiddenError(f"a call of _codecs.encode with {encoding[:20]!r}")
        self.text = text


class _Mentioned(Kept):
    """A name that pickles mention only as an argument, such as the factory of a defaultdict."""

    def __init__(self, *_: Any) -> None:
        raise PickleForbiddenError("a call of a type that may only be mentioned")


_STAND_INS: dict[tuple[str, str], type[Kept]] = {
    ("_codecs", "encode"): _Bytes,
    ("__builtin__", "bytes"): _Bytes,
    ("__builtin__", "list"): _Mentioned,
    ("builtins", "list"): _Mentioned,
    ("collections", "defaultdict"): _Dictionary,
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Array,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_array"): _Csr,
}


class _Builder:
    """Makes values of what a pickle left.

    Parameters
    ----------
    room
        How many values and bytes may be made.
    """

    def __init__(self, room: int) -> None:
        self.room = room

    def built(self, value: Any, depth: int) -> Any:
        """Return a value, all that is in it built."""
        if depth == 0:
            raise ValueError(f"lists in lists more than {MAX_DEPTH} levels deep")
        self._take(1)
        if isinstance(value, _Dictionary):
            value = value.items
        if isinstance(value, dict):
            self._take(DICTIONARY_COST)
            return {key: self.built(item, depth - 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            self._take(LIST_COST if isinstance(value, list) else 0)
            return type(value)([self.built(item, depth - 1) for item in value])
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return value
        if isinstance(value, _Bytes):
            return self._bytes(value)
        if isinstance(value, _Array):
            return self._array(value, depth - 1)
        if isinstance(value, _Csr):
            return self._csr(value, depth - 1)
        raise ValueError(f"an object of type {type(value).__name__.strip('_')}")

    def _take(self, room: int) -> None:
        self.room -= room
        if self.room < 0:
            raise ValueError("far more values than the file has bytes")

    def _bytes(self, value: Any) -> bytes:
        text = value.text if isinstance(value, _Bytes) else value
        self._take(len(text))
        return text.encode("latin1") if isinstance(text, str) else bytes(text)

    def _array(self, value: _Array, depth: int) -> NDArray[Any]:
        self._take(ARRAY_COST)
        lengths, dtype, by_column, content = value.state[-4:]
        shape, order = _shape(lengths), "F" if by_column else "C"
        if not isinstance(dtype, _Dtype):
            raise ValueError("an array without a type")
        if dtype.code.startswith("O"):
            if not isinstance(content, list):
                raise ValueError("an array of objects that are no list")
            items = np.empty(len(content), dtype=object)
            items[:] = [self.built(item, depth) for item in content]
            return items.reshape(shape, order=order)  # type: ignore[call-overload, no-any-return]
        if not isinstance(content, str | bytes | _Bytes):
            raise ValueError("an array of something that is no bytes")
        raw, number = self._bytes(content), dtype.dtype()
        if len(raw) != number.itemsize * math.prod(shape):
            raise ValueError(f"an array of shape {shape} in {len(raw):,} bytes")
        array = np.frombuffer(raw, number).reshape(shape, order=order)  # type: ignore[call-overload]
        return array.astype(number.newbyteorder("="))  # type: ignore[no-any-return]

    def _csr(self, value: _Csr, depth: int) -> sp.csr_array:
        data, indices, indptr = (self._array(value.state[part], depth) for part in ("data", "indices", "indptr"))
        shape = _shape(value.state.get("_shape") or value.state["shape"])
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
            raise ValueError("a CSR matrix whose indices are no integers")
        return checked_csr(data, indices, indptr, shape)


def _shape(lengths: Any) -> tuple[int, ...]:
    """Return the lengths of the axes of an array: few, and each a number whose products take no time."""
    if not isinstance(lengths, tuple) or len(lengths) > MAX_AXES:
        raise ValueError(f"a shape that is no tuple of up to {MAX_AXES} lengths")
    if not all(isinstance(length, int) and 0 <= length < 2**63 for length in lengths):
        raise ValueError("a shape with a length that no array has")
    return lengths
