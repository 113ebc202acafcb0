"""The cache folder of featprop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

MIN_SECONDS = 0.5
"""A result that took less time to compute is not kept."""
MAX_RESULTS = 20
"""Results that are kept of each kind; the oldest go."""


def cache_folder() -> Path:
    """Return ``FEATPROP_CACHE``, or featprop's folder in the cache folder of the platform."""
    import platformdirs

    chosen = os.environ.get("FEATPROP_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("featprop", appauthor=False)


def cached_array(kind: str, key: str, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return the array of that key from the cache, or `make` it and keep it if that took long.

    Parameters
    ----------
    kind
        Name of the folder in the cache.
    key
        Digest of everything the array is computed from.
    make
        Computes the array.
    """
    import numpy as np

    path = cache_folder() / kind / f"{key}.npy"
    with suppress(OSError, ValueError, EOFError):
        found: NDArray[Any] = np.load(path, allow_pickle=False)
        return found
    start = time.monotonic()
    array = make()
    if time.monotonic() - start >= MIN_SECONDS:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f"{key}.{os.getpid()}.tmp")
            with temporary.open("wb") as file:
                np.save(file, array, allow_pickle=False)
            temporary.replace(path)
            kept = sorted(path.parent.glob("*.npy"), key=lambda each: each.stat().st_mtime)
            for old in kept[:-MAX_RESULTS]:
                old.unlink(missing_ok=True)
    return array
