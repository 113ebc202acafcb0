"""Run the command line, as ``featprop`` or ``python -m featprop``."""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_pressed = False


def main() -> None:
    """Run the command line; Ctrl-C also stops its imports."""
    run(_command)


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
        sys.exit(130)


def _interrupt(*_: Any) -> None:
    global _pressed
    _pressed = True
    raise KeyboardInterrupt


def _command() -> None:
    from featprop.cli.application import load

    load(*sys.argv[1:2])(prog_name="featprop")


if __name__ == "__main__":
    main()
