"""Kernels over rows, on several threads, with results that do not depend on their number.

featprop has its own thread pool because OpenMP threads, which Numba uses, spin between kernels and take the cores from
the next matrix product (measured: four times slower). A compiled kernel computes each row from that row alone, so it
does not matter how threads share the rows. The rounding of a matrix product depends on its shape and on the number of
threads that compute it: `run_pieces` gives each product one thread, and its caller fixes the shapes.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import scipy.sparse as sp
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from featprop.matrix import Floats

MIN_SHARED_ENTRIES = 2**21
"""Matrix entries below which one thread is faster."""
PARTS_PER_THREAD = 4
"""Rows differ in work and threads in speed, so each thread gets several parts."""


def run_by_rows(kernel: Callable[..., None], n_rows: int, n_entries: int, *arguments: Any) -> None:
    """Call ``kernel(start, stop, *arguments)`` for parts of 0..n_rows; the kernel must release the GIL."""
    arguments = tuple(np.asarray(each) if isinstance(each, np.memmap) else each for each in arguments)
    threads = int(numba.get_num_threads())
    if threads == 1 or n_entries < MIN_SHARED_ENTRIES:
        kernel(0, n_rows, *arguments)
        return
    parts = min(n_rows, PARTS_PER_THREAD * threads)
    bounds = [n_rows * part // parts for part in range(parts + 1)]
    running = [_pool(threads).submit(kernel, *bound, *arguments) for bound in pairwise(bounds)]
    for part in running:
        part.result()


def run_pieces(task: Callable[[slice], None], pieces: Sequence[slice]) -> None:
    """Call ``task(piece)`` for each piece of rows, several at once, with matrix products on one thread each."""
    threads = int(numba.get_num_threads())
    with one_thread_per_product():
        if threads == 1 or len(pieces) == 1:
            for piece in pieces:
                task(piece)
        else:
            for _ in _pool(threads).map(task, pieces):
                pass


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool in whose threads kernels run on that thread alone."""
    return ThreadPoolExecutor(threads, "featprop", initializer=numba.set_num_threads, initargs=(1,))


_blas_threads = cache(ThreadpoolController)
_product_lock = threading.Lock()
_product_limits: list[Any] = []


@contextmanager
def one_thread_per_product() -> Iterator[None]:
    """Compute matrix products of this process on one thread; the first to enter sets the limit, the last lifts it."""
    with _product_lock:
        _product_limits.append(None if _product_limits else _blas_threads().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _product_lock:
            if len(_product_limits) > 1:
                _product_limits.pop()
            else:
                _product_limits.pop().restore_original_limits()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


def multiply_sparse(matrix: sp.csr_array, dense: NDArray[Any]) -> NDArray[Any]:
    """Return the product in the type of `dense`, the same for any number of threads."""
    dense = np.ascontiguousarray(dense)
    product = np.zeros((matrix.shape[0], dense.shape[1]), dtype=dense.dtype)
    work = matrix.nnz * dense.shape[1]
    run_by_rows(_multiply, len(product), work, matrix.data, matrix.indices, matrix.indptr, dense, product)
    return product


def normalize_rows(rows: Floats, min_length: float = 0.0, scale: Floats | None = None) -> Floats:
    """Scale rows to unit length in place; rows no longer than `min_length` (times their `scale`) become zero."""
    limits = np.full(len(rows), min_length) if scale is None else min_length * scale.astype(np.float64)
    run_by_rows(_normalize, len(rows), rows.size, rows, limits)
    return rows


@intrinsic
def prefetch(typing_context, matrix, row, column):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Load the cache line of an entry in the background, inside a kernel.

    Waiting for rows that are scattered over memory takes most of the time of a kernel that reads them. One hop on
    1,000,000 nodes, 10,000,000 edges and 64 columns takes 0.4 × the time when rows are requested in advance.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        entry = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            context, builder, kind, array, arguments[1:], wraparound=False
        )
        address, number = ir.PointerType(), ir.IntType(32)
        takes = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        llvm = cgutils.get_or_insert_function(builder.module, takes, "llvm.prefetch.p0")  # type: ignore[no-untyped-call]
        to_read, into_all_caches, data = number(0), number(3), number(1)
        builder.call(llvm, [builder.bitcast(entry, address), to_read, into_all_caches, data])
        return context.get_dummy_value()

    return types.void(matrix, types.intp, types.intp), generate


@njit(nogil=True, cache=True)
def _multiply(start, stop, data, indices, indptr, dense, product):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        for entry in range(indptr[i], indptr[i + 1]):
            value, j = data[entry], indices[entry]
            for c in range(dense.shape[1]):
                product[i, c] += value * dense[j, c]


@njit(nogil=True, cache=True)
def _normalize(start, stop, rows, limits):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        total = 0.0
        for c in range(rows.shape[1]):
            total += np.float64(rows[i, c]) * np.float64(rows[i, c])
        length = np.sqrt(total)
        factor = np.float32(1 / length) if length > limits[i] else np.float32(0)
        for c in range(rows.shape[1]):
            rows[i, c] *= factor
