"""Run compiled kernels over rows on several threads.

featprop has its own thread pool because OpenMP threads, which Numba uses, spin between kernels and take the cores from
the next matrix product (measured: four times slower). A kernel computes each row from that row alone, so the result
does not depend on how threads share the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np

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


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="featprop")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
