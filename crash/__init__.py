"""Kill campaign: ``python -m crash``, or ``make crash``."""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"  # a process with threads cannot be forked
