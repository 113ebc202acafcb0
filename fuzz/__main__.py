"""``python -m fuzz --examples 600 --seed 0``: run the examples of every target and print a table.

    python -m fuzz [--examples 600] [--seed 0] [--target csv …]

The same seed and number of examples give the same cases. What Hypothesis finds, it reduces to a small example: its
inputs and output are kept in ``fuzz/findings/TARGET``. Exit code 1 means that something was found.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from fuzz.case import Case, run_case
from fuzz.seeds import make_seeds
from fuzz.targets import TARGETS

FINDINGS = Path(__file__).parent / "findings"
MEMORY_BYTES = 4 << 30
KINDS = ("examples", "answers", "refusals", "findings")


def main() -> int:
    """Run the targets; return 1 if something was found."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--examples", type=int, default=600, help="number of examples of each target (600)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all targets (0)")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only this target; repeatable")
    parser.add_argument("--findings", type=Path, default=FINDINGS, help="folder for what is found (fuzz/findings)")
    asked = parser.parse_args()
    totals: Counter[str] = Counter()
    print(f"Seed {asked.seed}, {asked.examples:,} examples of each target", flush=True)
    print(f"{'target':<14}{''.join(f'{kind:>10}' for kind in KINDS)}{'seconds':>10}", flush=True)
    with tempfile.TemporaryDirectory(prefix="featprop-fuzz-") as folder:
        seeds = Path(folder) / "seeds"
        make_seeds(seeds)
        _limit_memory()
        for name in asked.target or TARGETS:
            began = time.monotonic()
            counts = run_target(TARGETS[name](seeds), seeds, asked.findings / name, asked.examples, asked.seed)
            _print_row(name, counts, time.monotonic() - began)
            totals.update(counts)
            totals["seconds"] += round(time.monotonic() - began)
    _print_row("all", totals, totals["seconds"])
    return int(totals["findings"] > 0)


def run_target(cases: SearchStrategy[Case], seeds: Path, findings: Path, examples: int, number: int) -> Counter[str]:
    """Run the examples of one target; return how many ended in an answer, a refusal or a finding."""
    counts: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def examine(case: Case) -> None:
        with tempfile.TemporaryDirectory(prefix="featprop-fuzz-") as folder:
            try:
                is_answer = run_case(case, seeds, Path(folder))
            except Exception:
                counts["findings"] = 1
                shutil.rmtree(findings, ignore_errors=True)
                shutil.copytree(folder, findings)
                raise
            if not counts["findings"]:
                counts["answers" if is_answer else "refusals"] += 1

    try:
        examine()
    except Exception:
        print(f"Found: {findings}\n{traceback.format_exc(limit=-6)}", flush=True)
    counts["examples"] = counts.total()
    return counts


def _limit_memory() -> None:
    """Let a case fail that needs far more memory than its inputs."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_BYTES, held + MEMORY_BYTES))


def _print_row(name: str, counts: Counter[str], seconds: float) -> None:
    print(f"{name:<14}{''.join(f'{counts[kind]:>10,}' for kind in KINDS)}{seconds:>10.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
