"""Make Ctrl-C end a command reliably and let it clean up.

Python raises ``KeyboardInterrupt`` wherever the program is, and some places swallow it: a callback of compiled code, an
import that compiled code started, a library that catches every exception. So the exception is raised again until the
command ends, except while one is already propagating: ``finally`` blocks that remove scratch files run to their end.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INTERRUPTED_EXIT_CODE = 130
"""Exit code of a command stopped with Ctrl-C."""
REPEAT_AFTER_S = 0.25
"""Seconds until the exception is raised again."""

_requested = False


def run(command: Callable[[], object]) -> None:
    """Run a command and exit with its code, or with a message and code 130 if Ctrl-C was pressed.

    If the process was started with Ctrl-C ignored, for example with ``nohup``, it stays ignored.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        command()
        return
    atexit.register(_leave)
    sys.unraisablehook, sys.excepthook = _unless_interrupted(sys.unraisablehook), _unless_interrupted(sys.excepthook)
    signal.signal(signal.SIGINT, _interrupt)
    code: Any = None
    try:
        command()
    except SystemExit as end:
        code = end.code
    except BaseException:  # an interrupted import or write may raise anything
        if not _requested:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _repeat(0)
    if _requested and code != INTERRUPTED_EXIT_CODE:
        print("Stopped.", file=sys.stderr)
        code = INTERRUPTED_EXIT_CODE
    sys.exit(code)


def is_interrupted() -> bool:
    """Return whether Ctrl-C was pressed and the command has not ended yet."""
    return _requested


def clear_interrupt() -> None:
    """Mark Ctrl-C as handled, so that the command ends normally."""
    global _requested
    if _requested:
        _requested = False
        _repeat(0)


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


def _leave() -> None:
    """End the process if Ctrl-C was pressed; runs as the last exit handler.

    A normal exit would tear down half-imported modules, which can crash compiled code, and an interrupt inside `exec`
    would end the process by the signal instead of the exit code.
    """
    if _requested:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED_EXIT_CODE)


def _interrupt(*_: Any) -> None:
    global _requested
    _requested = True
    _repeat(REPEAT_AFTER_S)
    _raise()


def _repeat(seconds: float) -> None:
    """Raise the exception every `seconds`, 0 to stop; platforms without `setitimer` raise it once."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _raise(*_: Any) -> None:
    if _requested and not _is_propagating():
        raise KeyboardInterrupt


def _is_propagating() -> bool:
    """Return whether the running code handles a `KeyboardInterrupt`, such as a ``finally`` block."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _unless_interrupted(hook: Callable[..., object]) -> Callable[..., None]:
    """Return an exception hook that is silent once Ctrl-C was pressed."""

    def report(*error: Any) -> None:
        if not _requested:
            hook(*error)

    return report
