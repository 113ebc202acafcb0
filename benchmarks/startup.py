"""Start-up time of the command line, compared with importing NumPy and SciPy."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

REPEATS = 7


def seconds(*command: str) -> float:
    """Return the fastest of several runs."""
    best = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    featprop = str(Path(sys.executable).with_name("featprop"))
    base = seconds(sys.executable, "-c", "import numpy, scipy.sparse")
    print(f"python -c 'import numpy, scipy.sparse': {base:.2f} s")
    for arguments in (["--version"], ["--help"], ["select", "--help"]):
        own = seconds(featprop, *arguments)
        print(f"featprop {' '.join(arguments)}: {own:.2f} s, ratio {own / base:.2f} (target: at most 3)")


if __name__ == "__main__":
    main()
