"""The cache folder of featprop."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return ``FEATPROP_CACHE``, or featprop's folder in the cache folder of the platform."""
    import platformdirs

    chosen = os.environ.get("FEATPROP_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("featprop", appauthor=False)
