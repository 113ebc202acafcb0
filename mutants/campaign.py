"""Run a sample of all mutants, continuing after the last run, and print a table.

    python -m mutants [--count 400] [--seed 0] [--module compute/kernels.py …] [--seconds 7200] [--jobs 2] [--restart]

Results are kept in `mutants/found/`. A killed mutant is run again if its file changes; a survivor, after all others, if
its tests change. `--restart` runs all again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from mutants.changes import Mutant, all_mutants, sampled
from mutants.core import CORE, TESTS, source_of
from mutants.reasons import read_reasons
from mutants.trying import Running, Trees, load_libraries, measured

__all__ = ["main"]

FOUND = Path(__file__).parent / "found"
WANTED = 0.85
"""Share of mutants that tests must kill."""
KINDS = ("killed", "timed out", "survived")

Outcome = dict[str, Any]


def main() -> int:
    """Run the campaign; return 1 if too many survive, one is not reviewed, or some are left."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=400, help="number of mutants in the random sample (400)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample (0)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=14_400,
        help="time limit in seconds; the exit code is 1 if mutants are left (14400)",
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel processes (2)")
    parser.add_argument("--module", action="append", choices=CORE, help="only mutants of this file; repeatable")
    parser.add_argument("--out", type=Path, default=FOUND, help="folder for results (mutants/found)")
    parser.add_argument("--restart", action="store_true", help="discard earlier results")
    asked = parser.parse_args()
    chosen = [each for each in sampled(all_mutants(), asked.count, asked.seed) if each.module in (asked.module or CORE)]
    asked.out.mkdir(exist_ok=True)
    outcomes = asked.out / "outcomes.jsonl"
    if asked.restart:
        outcomes.unlink(missing_ok=True)
    latest = _latest(outcomes)
    known = _known(chosen, latest)
    missing = [mutant for mutant in chosen if mutant.key not in known]
    missing.sort(key=lambda mutant: mutant.key in latest)
    print(f"{len(chosen):,} mutants, {len(missing):,} of them to try", flush=True)
    if missing:
        with tempfile.TemporaryDirectory(prefix="featprop-mutants-") as scratch:
            known |= _run(missing, outcomes, Path(scratch), asked.jobs, time.monotonic() + asked.seconds)
    return _report(chosen, known, asked.out / "survivors.md")


def _latest(path: Path) -> dict[str, Outcome]:
    """Return the results of earlier runs."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {outcome["key"]: outcome for outcome in map(json.loads, lines)}


def _known(chosen: list[Mutant], latest: dict[str, Outcome]) -> dict[str, Outcome]:
    """Return the results that are still valid."""
    stamps = {module: _stamps(module) for module in {mutant.module for mutant in chosen}}
    known = {}
    for mutant in chosen:
        outcome = latest.get(mutant.key)
        file, tests = stamps[mutant.module]
        if outcome and outcome["file"] == file and (outcome["outcome"] == "killed" or outcome["tests"] == tests):
            known[mutant.key] = outcome
    return known


def _stamps(module: str) -> tuple[str, str]:
    """Return digests of a file and of its tests."""
    texts = [TESTS / each for each in CORE[module]]
    tests = "".join(path.read_text(encoding="utf-8") for path in texts if path.exists())
    return tuple(hashlib.blake2b(text.encode(), digest_size=8).hexdigest() for text in (source_of(module), tests))  # type: ignore[return-value]


def _run(mutants: list[Mutant], outcomes: Path, scratch: Path, jobs: int, until: float) -> dict[str, Outcome]:
    """Run mutants file by file, several at a time, and record each result."""
    load_libraries()
    trees = Trees(scratch, jobs)
    found: dict[str, Outcome] = {}
    waiting, running, free = list(mutants), [], list(range(jobs))
    seconds: dict[tuple[str, ...], dict[str, float]] = {}
    number = 0
    while waiting or running:
        if waiting and free and time.monotonic() < until:
            mutant, number = waiting.pop(0), number + 1
            tests = CORE[mutant.module]
            if tests not in seconds:
                seconds[tests] = measured(trees, mutant.module, tests, scratch / f"unchanged-{number}")
            folder = scratch / f"mutant-{number}"
            running.append((folder, Running(trees, free.pop(), mutant, mutant.module, tests, seconds[tests], folder)))
            continue
        if not running:
            break
        for folder, each in list(running):
            outcome = each.outcome()
            if outcome is not None:
                assert each.mutant is not None
                found[each.mutant.key] = _record(outcomes, each.mutant, outcome)
                running.remove((folder, each))
                free.append(each.place)
                shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)
    return found


def _record(outcomes: Path, mutant: Mutant, outcome: Outcome) -> Outcome:
    file, tests = _stamps(mutant.module)
    whole = {"key": mutant.key, **outcome, "file": file, "tests": tests}
    with outcomes.open("a", encoding="utf-8") as written:
        written.write(json.dumps(whole, ensure_ascii=False) + "\n")
    print(f"{outcome['outcome']:<10}{outcome['seconds']:>6.1f} s  {mutant.key}", flush=True)
    return whole


def _report(chosen: list[Mutant], known: dict[str, Outcome], survivors: Path) -> int:
    """Print the table and write the list of survivors."""
    reasons = read_reasons()
    counts: Counter[tuple[str, str]] = Counter()
    unexplained, lines = 0, []
    for mutant in chosen:
        kind = known[mutant.key]["outcome"] if mutant.key in known else "untried"
        for name in (mutant.module, "all"):
            counts[name, kind] += 1
        if kind == "survived":
            reason = next((each.reason for each in reasons if each.fits(mutant)), None)
            unexplained += reason is None
            for name in (mutant.module, "all"):
                counts[name, "explained"] += reason is not None
            lines.append(f"- `{mutant.module}:{mutant.number}` `{mutant.line}`: `{mutant.told}`: {reason or '?'}")
    survivors.write_text("\n".join(lines) + "\n", encoding="utf-8")
    header = ("mutants", *KINDS, "explained", "noticed", "of others")
    print(f"\n{'file':<28}{''.join(f'{each:>11}' for each in header)}")
    for name in [*(module for module in CORE if any((module, kind) in counts for kind in KINDS)), "all"]:
        row = [counts[name, kind] for kind in KINDS]
        share, others = _shares(*row, counts[name, "explained"])
        cells = [sum(row), *row, counts[name, "explained"], f"{share:.0%}", f"{others:.0%}"]
        print(f"{name:<28}{''.join(f'{each:>11}' for each in cells)}")
    share, _ = _shares(*(counts["all", kind] for kind in KINDS), 0)
    if counts["all", "untried"]:
        print(f"{counts['all', 'untried']:,} are not tried yet: run again")
    print(f"{share:.1%} noticed; {unexplained:,} survivors without a reason, all of them in {survivors}")
    return int(share < WANTED or unexplained > 0 or counts["all", "untried"] > 0)


def _shares(killed: int, late: int, survived: int, explained: int) -> tuple[float, float]:
    """Return the share of killed mutants, of all and of those without a reviewed reason."""
    total, could = killed + late + survived, killed + late + survived - explained
    return (killed + late) / max(total, 1), (killed + late) / max(could, 1)
