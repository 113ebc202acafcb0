"""``python -m mutants --count 400 --seed 0``: try changed copies of the numerical core, and say which go unnoticed."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run in a process without threads, which cannot be forked otherwise."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    from mutants.campaign import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
