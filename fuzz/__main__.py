"""``python -m fuzz --cases 10000 --seconds 3600 --seed 0``: run a campaign, and say what it found."""

from __future__ import annotations

import os


def main() -> None:
    """Run a campaign in a process without threads, which cannot be forked otherwise."""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = "1"
    from fuzz.campaign import main

    main()


main()
