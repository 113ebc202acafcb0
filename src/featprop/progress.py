"""Progress of long loops. The library marks them with `tracked`; the command line displays them with `listening`.

Without a listener the library is silent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Called with the name of the stage, the number of finished steps and the total."""

INTERVAL_S = 0.1
"""Least seconds between two reports of one stage."""

_listener: ContextVar[Listener | None] = ContextVar("featprop_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of everything inside the block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(stage: str, done: int, total: int) -> None:
    """Pass progress of another process on to the listener."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)


def tracked(items: Iterable[Item], stage: str, total: int) -> Iterable[Item]:
    """Return `items`; a listener hears how many of `total` are finished, at most ten times a second."""
    listener = _listener.get()
    return items if listener is None else _tell(listener, items, stage, total)


def _tell(listener: Listener, items: Iterable[Item], stage: str, total: int) -> Iterator[Item]:
    listener(stage, 0, total)
    reported = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        if time.monotonic() - reported >= INTERVAL_S:
            listener(stage, done, total)
            reported = time.monotonic()
