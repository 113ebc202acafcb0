"""Waiting that is not used up while the campaign itself does not run: it may be paused, on a machine with other work."""

from __future__ import annotations

import time
from collections.abc import Iterator

__all__ = ["looks"]

AWAKE = 0.1
"""Seconds between two looks: what is longer was a pause of the campaign's own."""


def looks(patience: float, pause: float) -> Iterator[float]:
    """Yield the seconds waited so far, and sleep for `pause` after each look, until `patience` of them are over."""
    waited, looked = 0.0, time.monotonic()
    while waited <= patience:
        yield waited
        time.sleep(pause)
        now = time.monotonic()
        waited, looked = waited + min(now - looked, AWAKE), now
