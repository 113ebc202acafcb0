"""``python -m mutants --count 400 --seed 0``: test mutants of the numerical core and report the survivors."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run in a process without threads, so that it can be forked."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    from mutants.campaign import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
