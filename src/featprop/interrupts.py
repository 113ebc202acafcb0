"""Ctrl-C ends a command wherever it is, and what it had begun is taken back.

Python raises ``KeyboardInterrupt`` where it happens to be, and some places drop it: a callback of compiled code, an
import that compiled code asked for, a library that catches everything. The command would go on as if nothing had been
asked. So it is raised again until the command ends. It is not while one is on its way up: what removes scratch files
and puts folders back then runs to its end.
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
"""The exit code of a command stopped from the keyboard."""
AGAIN = 0.25
"""Seconds until it is raised again."""

_asked = False


def run(command: Callable[[], object]) -> None:
    """Run a command and end the process with its exit code: 130, and a line about that, if Ctrl-C was pressed.

    Where the process was started with Ctrl-C ignored, as behind ``nohup``, it stays so.
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
    except BaseException:  # whatever an import or a file cut short has come to
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
    """Say whether Ctrl-C was pressed and the command has not ended yet."""
    return _asked


def answered() -> None:
    """Say that what Ctrl-C was pressed for is done, and that the command ends as it would without it."""
    global _asked
    if _asked:
        _asked = False
        _repeat(0)


@contextmanager
def unheard() -> Iterator[None]:
    """Start processes inside the block that do not hear Ctrl-C, which goes to every process of a terminal.

    Multiprocessing's tracker of resources is started before: its start would end the deafness.
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
    """End the process here if Ctrl-C was pressed, as the last thing that is done at its exit.

    Python would take apart modules whose import was cut short, which some of compiled code do not survive, and where it
    was raised inside an `exec` the process would end by the signal and not with the code.
    """
    if _asked:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(INTERRUPTED)


def _ask(*_: Any) -> None:
    global _asked
    _asked = True
    _repeat(AGAIN)
    _raise()


def _repeat(seconds: float) -> None:
    """Raise it every so many seconds, or no more for 0; where there is no such clock it is raised once."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, seconds, seconds)


def _raise(*_: Any) -> None:
    if _asked and not _is_on_its_way():
        raise KeyboardInterrupt


def _is_on_its_way() -> bool:
    """Say whether what runs now is the end of a block that is left because of Ctrl-C."""
    error = sys.exception()
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _unless_asked(tell: Callable[..., object]) -> Callable[..., None]:
    """Return what tells of errors that nobody can catch, and is silent about what Ctrl-C has come to."""

    def told(*error: Any) -> None:
        if not _asked:
            tell(*error)

    return told
