"""A campaign: cases of every target, some at a time, counted, and the inputs of what they found kept."""

from __future__ import annotations

import argparse
import gc
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from fuzz.case import Case, targets
from fuzz.clock import repeatable
from fuzz.running import Outcome, command, run_case
from fuzz.seeds import make_seeds

__all__ = ["Number", "main", "make_case", "run"]

FINDINGS = Path(__file__).parent / "findings"


class Number(NamedTuple):
    """What a case is made from."""

    seed: int
    target: str
    number: int

    def __str__(self) -> str:
        return f"{self.seed}:{self.target}:{self.number}"


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="how many cases (default: 10000)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=3600,
        help="when to stop at the latest; cases not done by then are exit code 1, as findings are (default: 3600)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the whole campaign (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="cases at a time (default: 2)")
    parser.add_argument("--target", action="append", help="only this target; repeatable")
    parser.add_argument("--case", help="run one case again, SEED:TARGET:NUMBER, and keep its folder")
    asked = parser.parse_args()
    pa.set_cpu_count(1)
    with tempfile.TemporaryDirectory(prefix="featprop-fuzz-") as scratch:
        seeds = Path(scratch) / "seeds"
        seeds.mkdir()
        make_seeds(seeds)
        targets()
        command()
        gc.freeze()
        if asked.case:
            seed, name, number = asked.case.split(":")
            sys.exit(_again(Number(int(seed), name, int(number)), seeds, Path(scratch)))
        plan = _plan(asked.cases, asked.seed, asked.target)
        sys.exit(run(plan, seeds, Path(scratch), asked.jobs, asked.seconds))


def _plan(cases: int, seed: int, wanted: list[str] | None) -> list[Number]:
    """Return the cases, those of all targets mixed, each target's in order and as many as its share is."""
    known = targets()
    shares = {name: share for name, (_, share) in known.items() if not wanted or name in wanted}
    if wanted and set(wanted) - set(known):
        sys.exit(f"the targets are {', '.join(known)}")
    total = sum(shares.values())
    each = [
        ((number + 0.5) / share, Number(seed, name, number))
        for name, share in shares.items()
        for number in range(cases * share // total + 1)
    ]
    return [case for _, case in sorted(each)][:cases]


def run(plan: list[Number], seeds: Path, scratch: Path, jobs: int, seconds: float) -> int:
    """Do the cases in processes that stay, each of which forks itself for a case: forking is much of what one costs.

    Returns 1 if something was found, or if the time was over before all cases were done.
    """
    start, counts, slowest, done = time.monotonic(), Counter[tuple[str, str]](), dict[str, float](), 0
    FINDINGS.mkdir(exist_ok=True)
    waiting, running = iter(plan), set[Future[tuple[Number, Outcome]]]()
    with ProcessPoolExecutor(jobs, get_context("fork")) as processes:
        while True:
            is_late = time.monotonic() - start > seconds
            while not is_late and len(running) < 2 * jobs and (case := next(waiting, None)):
                running.add(processes.submit(_work, case, seeds, scratch))
            if not running:
                break
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for case, outcome in (each.result() for each in ended):
                counts[case.target, "cases"] += 1
                kind = "findings" if outcome.problems else "answers" if outcome.is_answer else "sentences"
                counts[case.target, kind] += 1
                slowest[case.target] = max(slowest.get(case.target, 0), outcome.seconds)
                done += 1
                if done % 500 == 0:
                    print(f"{done:,} of {len(plan):,} cases in {time.monotonic() - start:.0f} s", flush=True)
    _print_table(counts, slowest, time.monotonic() - start)
    found = sum(count for (_, kind), count in counts.items() if kind == "findings")
    if done < len(plan):
        print(
            f"Stopped after {seconds:.0f} s: {done:,} of {len(plan):,} cases. Allow more --seconds, or fewer --cases."
        )
    return int(found > 0 or done < len(plan))


def _work(case: Number, seeds: Path, scratch: Path, *, keeps: bool = False) -> tuple[Number, Outcome]:
    """Make a case and run it, and keep its folder if it has a problem, or `keeps`."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        outcome = _made_and_run(case, seeds, folder)
    except Exception:
        outcome = Outcome(problems=[f"the campaign itself failed: {traceback.format_exc(-5)}"])
    if outcome.problems or keeps:
        (folder / "outcome.json").write_text(json.dumps(asdict(outcome)), encoding="utf-8", errors="replace")
        _keep(case, folder, outcome)
    shutil.rmtree(folder, ignore_errors=True)
    return case, outcome


def _made_and_run(case: Number, seeds: Path, folder: Path) -> Outcome:
    (folder / "in").mkdir()
    made = make_case(case, seeds, folder / "in")
    (folder / "command.txt").write_text(json.dumps(made.words), encoding="utf-8", errors="replace")
    shutil.copytree(folder / "in", folder / "given")
    return run_case(made, folder)


def make_case(case: Number, seeds: Path, folder: Path) -> Case:
    """Fill a folder with the inputs of a case, the same every time."""
    make, _ = targets()[case.target]
    with repeatable():
        return make(random.Random(str(case)), seeds, folder)


def _keep(case: Number, folder: Path, outcome: Outcome) -> None:
    place = _place(case)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place)
    print(f"{case}: {'; '.join(outcome.problems)[:500]}\n    {place}", flush=True)


def _place(case: Number) -> Path:
    return FINDINGS / str(case).replace(":", "-").replace(" ", "-")


def _again(case: Number, seeds: Path, scratch: Path) -> int:
    FINDINGS.mkdir(exist_ok=True)
    _, outcome = _work(case, seeds, scratch, keeps=True)
    print("featprop", " ".join(json.loads((_place(case) / "command.txt").read_text(encoding="utf-8"))))
    print(outcome.told)
    return min(len(outcome.problems), 1)


def _print_table(counts: Counter[tuple[str, str]], slowest: dict[str, float], seconds: float) -> None:
    kinds = ("cases", "answers", "sentences", "findings")
    names = sorted({name for name, _ in counts})
    print(f"{'target':<14}{''.join(f'{kind:>11}' for kind in kinds)}{'slowest':>11}")
    for name in names:
        print(f"{name:<14}{''.join(f'{counts[name, kind]:>11,}' for kind in kinds)}{slowest[name]:>9.1f} s")
    totals = [sum(counts[name, kind] for name in names) for kind in kinds]
    print(f"{'all':<14}{''.join(f'{total:>11,}' for total in totals)}{seconds:>9.0f} s")
