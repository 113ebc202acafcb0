"""Ctrl-C ends a command with exit code 130, after its ``finally`` blocks have removed what it left."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXIT_CODE = 130

_pressed = False


def run(command: Callable[[], object]) -> None:
    """Run a command; once Ctrl-C was pressed, any error it ends with means that it was stopped.

    An interrupted import of compiled code, for example, raises an `ImportError`. If the process was started with Ctrl-C
    ignored, as ``nohup`` does, it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        command()
    except SystemExit:
        raise
    except BaseException:
        if not _pressed:
            raise
        print("Stopped.", file=sys.stderr)
        sys.exit(EXIT_CODE)


def _interrupt(*_: Any) -> None:
    global _pressed
    _pressed = True
    raise KeyboardInterrupt


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Start processes inside the block that ignore Ctrl-C, which a terminal sends to every process.

    Starts multiprocessing's resource tracker first, because starting it resets the signal mask.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
