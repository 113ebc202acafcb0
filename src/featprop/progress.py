"""Progress of long work, told to whoever listens. Nobody listens by default, so the library is silent.

The library marks its long loops with `tracked`; a shell (the command line) listens with `listening`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["Listener", "listening", "tracked"]

Item = TypeVar("Item")
Listener = Callable[[str, int, int], None]
"""Called with the name of the stage, the steps done and the steps in all."""

_listener: ContextVar[Listener | None] = ContextVar("featprop_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of everything that runs inside the block to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tracked(items: Iterable[Item], stage: str, total: int) -> Iterator[Item]:
    """Yield `items`, telling the listener how many of the `total` are done."""
    listener = _listener.get()
    if listener is None:
        yield from items
        return
    listener(stage, 0, total)
    for done, item in enumerate(items, start=1):
        yield item
        listener(stage, done, total)
