"""Make Ctrl-C stop a command reliably.

Python raises ``KeyboardInterrupt`` wherever it happens to be, and some code swallows it: a callback from compiled code,
an import triggered by compiled code, a library that catches everything. So it is raised again until the command ends,
except while an earlier one is propagating, so that cleanup code can remove temporary files and restore folders.
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

__all__ = ["INTERRUPTED", "answered", "is_asked", "run", "unheard"]

INTERRUPTED = 130
"""Exit code of a command stopped with Ctrl-C."""
REPEAT_S = 0.25
"""Seconds until the interrupt is raised again."""

_asked = False


def run(command: Callable[[], object]) -> None:
    """Run a command and exit with its code, or with 130 and a message after Ctrl-C.

    A process that was started with Ctrl-C ignored, for example by ``nohup``, keeps ignoring it.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        command()
        return
    atexit.register(_leave)
    sys.unraisablehook, sys.excepthook = _unless_asked(sys.unraisablehook), _unless_asked(sys.excepthook)
    signal.signal(signal.SIGINT, _ask)
    code: Any = None
    try:
        command()
    except SystemExit as end:
        code = end.code
    except BaseException:  # an interrupted import or file can fail in any way
        if not _asked:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _repeat(0)
    if _asked and code != INTERRUPTED:
        print("Stopped.", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)


def is_asked() -> bool:
    """Return whether Ctrl-C was pressed and not handled yet."""
    return _asked


def answered() -> None:
    """Mark Ctrl-C as handled, so that the command ends normally."""
    global _asked
    if _asked:
        _asked = False
        _repeat(0)


@contextmanager
def unheard() -> Iterator[None]:
    """Shield processes started inside the block from Ctrl-C, which a terminal sends to all of them.

    Multiprocessing's resource tracker is started first, because starting it resets the signal mask.
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
    """Exit at once if Ctrl-C was pressed, as the last exit handler.

    Otherwise Python would tear down half-imported modules, which can crash compiled code, and an interrupt raised
    inside `exec` would end the process by signal instead of with the exit code.
    """
    if _asked:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED)


def _ask(*_: Any) -> None:
    global _asked
    _asked = True
    _repeat(REPEAT_S)
    _raise()


def _repeat(seconds: float) -> None:
    """Raise the interrupt at this interval, or stop for 0; without a timer (Windows) it is raised once."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _raise(*_: Any) -> None:
    if _asked and not _is_propagating():
        raise KeyboardInterrupt


def _is_propagating() -> bool:
    """Return whether the code runs while an interrupt propagates."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _unless_asked(hook: Callable[..., object]) -> Callable[..., None]:
    """Wrap a hook for uncaught errors so that it is silent after Ctrl-C."""

    def silenced(*error: Any) -> None:
        if not _asked:
            hook(*error)

    return silenced
