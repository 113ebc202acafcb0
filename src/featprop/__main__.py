"""Run the command line, as ``featprop`` or ``python -m featprop``."""

from __future__ import annotations

import sys

try:
    from featprop import interrupts
except KeyboardInterrupt:  # pressed before the handler is installed
    print("Stopped.", file=sys.stderr)
    sys.exit(130)

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C also stops its imports."""
    interrupts.run(_command)


def _command() -> None:
    from featprop.cli import load

    load(*sys.argv[1:2])(prog_name="featprop")


if __name__ == "__main__":
    main()
