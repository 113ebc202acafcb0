"""Test random mutants of the numerical core, continuing after the last run, and report the survivors.

    python -m mutants [--count 400] [--seed 0] [--module compute/kernels.py …] [--jobs 2]

Outcomes are kept in ``mutants/found``; a mutant is tested again if its file or its tests change. Exit code 1 means that
less than 85 % are killed, or that a survivor has no reason in ``survivors.toml``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants.changes import Mutant, find_mutants

ROOT = Path(__file__).parents[1]
SOURCES, FOUND = ROOT / "src" / "featprop", Path(__file__).with_name("found")
MIN_KILLED = 0.85
MAX_SECONDS = 600
"""Time of the tests of a mutant; one that takes longer is killed."""
CORE = (
    "clustering/alternating.py", "clustering/kcenter.py", "clustering/swaps.py", "compute/distances.py",
    "compute/kernels.py", "evaluate/cross_validation.py", "experiments/protocol.py", "models/calibration.py",
    "models/least_squares.py", "models/ridge.py", "propagation/coverage.py", "compute/message_passing.py",
    "propagation/propagation.py", "compute/reduction.py",
)  # fmt: skip


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=400, help="number of mutants in the random sample (400)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    parser.add_argument("--module", action="append", choices=CORE, help="only mutants of this file; repeatable")
    parser.add_argument("--jobs", type=int, default=2, help="number of mutants tested at a time (2)")
    parser.add_argument("--out", type=Path, default=FOUND, help="folder for outcomes (mutants/found)")
    asked = parser.parse_args()
    chosen = sample([each for name in asked.module or CORE for each in mutants_of(name)], asked.count, asked.seed)
    asked.out.mkdir(parents=True, exist_ok=True)
    outcomes = asked.out / "outcomes.jsonl"
    known = dict(map(json.loads, outcomes.read_text(encoding="utf-8").splitlines())) if outcomes.exists() else {}
    missing = [mutant for mutant in chosen if _stamp(mutant) not in known]
    print(f"Seed {asked.seed}: {len(chosen):,} mutants, {len(missing):,} of them to test", flush=True)
    with ThreadPoolExecutor(asked.jobs) as threads:
        for mutant, outcome in zip(missing, threads.map(_test, missing), strict=True):
            known[_stamp(mutant)] = outcome
            with outcomes.open("a", encoding="utf-8") as file:
                file.write(json.dumps([_stamp(mutant), outcome]) + "\n")
            print(f"{outcome:<10}{mutant.key}", flush=True)
    return _report(chosen, known)


def mutants_of(module: str) -> list[Mutant]:
    """Return the mutants of a file of the core."""
    return find_mutants(module, (SOURCES / module).read_text(encoding="utf-8"))


def tests_of(module: str) -> list[Path]:
    """Return the test file of the same name, or all tests of the package."""
    folder = ROOT / "tests" / Path(module).parent
    own = folder / f"test_{Path(module).name}"
    return [own] if own.exists() else sorted(folder.glob("test_*.py"))


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return a random sample that hardly changes when other mutants come and go."""
    return sorted(mutants, key=lambda mutant: _digest(f"{seed}:{mutant.key}"))[:count]


def read_reasons() -> list[dict[str, str]]:
    """Read the reviewed survivors."""
    content = Path(__file__).with_name("survivors.toml").read_text(encoding="utf-8")
    return list(tomllib.loads(content)["survivor"])


def fits(reason: dict[str, str], mutant: Mutant) -> bool:
    """Return whether a reviewed reason is about a mutant; one without a change is about every change of its line."""
    is_line = (reason["module"], reason["line"]) == (mutant.module, mutant.line)
    return is_line and reason.get("change", mutant.change) == mutant.change


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _stamp(mutant: Mutant) -> str:
    tests = "".join(path.read_text(encoding="utf-8") for path in tests_of(mutant.module))
    return f"{mutant.key} {_digest(mutant.source + tests)}"


def _test(mutant: Mutant) -> str:
    """Run the tests with a changed copy of ``src``; Numba compiles the functions of a changed file again."""
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *map(str, tests_of(mutant.module))]
    with tempfile.TemporaryDirectory(prefix="featprop-mutants-") as folder:
        tree = shutil.copytree(ROOT / "src", Path(folder) / "src")
        (tree / "featprop" / mutant.module).write_text(mutant.source, encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "CI": "1", "OMP_NUM_THREADS": "1"}
        try:
            run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=MAX_SECONDS)
        except subprocess.TimeoutExpired:
            return "killed"
    return "killed" if run.returncode else "survived"


def _report(chosen: list[Mutant], known: dict[str, str]) -> int:
    """Print the counts and the survivors without a reason."""
    reasons, counts = read_reasons(), Counter[str]()
    for mutant in chosen:
        outcome = known[_stamp(mutant)]
        if outcome == "survived" and any(fits(reason, mutant) for reason in reasons):
            outcome = "explained"
        elif outcome == "survived":
            print(f"No reason: {mutant.key}")
        counts[outcome] += 1
    share = counts["killed"] / len(chosen)
    print(
        f"{share:.1%} of {len(chosen):,} mutants killed; {counts['explained']:,} survivors are explained in "
        f"survivors.toml, {counts['survived']:,} are not"
    )
    return int(share < MIN_KILLED or counts["survived"] > 0)


if __name__ == "__main__":
    sys.exit(main())
