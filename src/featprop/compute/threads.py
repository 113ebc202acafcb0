"""Kernels over the rows of a block, on several threads when the block is large.

Threads of our own rather than Numba's: OpenMP's wait busily between two kernels and take the cores from the matrix
product that comes next (measured: four times slower). A kernel writes each row from that row alone, so the result
does not depend on how the rows are shared out.
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

__all__ = ["by_rows"]

WORTH_SHARING = 2**21
"""Entries below which one thread is faster."""
PARTS = 4
"""Parts for each thread: rows are not all as much work, and neither is a thread always at work."""


def by_rows(kernel: Callable[..., None], n_rows: int, n_entries: int, *arguments: Any) -> None:
    """Call ``kernel(start, stop, *arguments)`` for parts of 0..n_rows; the kernel must release the GIL."""
    arguments = tuple(np.asarray(each) if isinstance(each, np.memmap) else each for each in arguments)
    threads = int(numba.get_num_threads())
    if threads == 1 or n_entries < WORTH_SHARING:
        kernel(0, n_rows, *arguments)
        return
    parts = min(n_rows, PARTS * threads)
    cuts = [n_rows * part // parts for part in range(parts + 1)]
    running = [_pool(threads).submit(kernel, *cut, *arguments) for cut in pairwise(cuts)]
    for part in running:
        part.result()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="featprop")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
