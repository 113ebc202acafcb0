"""A run of experiments killed at moments by lot, again and again, until it is done: the lines are those of one run.

Its processes import PyTorch, so a run takes seconds; a run that was killed is resumed, and killed once more. Seeds are
trained as one batch, and that of a resumed run may have fewer of them: probabilities agree in six digits then, and so
does the calibration error, while nodes, scores and all else are the same.
"""

import json
import math
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from crash.killing import Tally
from crash.looks import names_in

__all__ = ["kill_experiments"]

STRATEGIES = ("random", "uncertainty", "featprop-diffused", "anrmab")
ROUNDED = "calibration_error"
OF_TIME = ("seconds_select", "seconds_train", "peak_memory")


def kill_experiments(graph: Path, folder: Path, kills: int, seed: int = 0) -> Tally:
    """Kill so many runs, at moments spread evenly over the time that one run takes.

    Every second time they are spread over the time from its first line on.
    """
    chance, tally = random.Random(seed), Tally()
    began, process = time.monotonic(), _begun(graph, folder / "undisturbed")
    _wait_for_line(folder / "undisturbed", 1, process)
    first = time.monotonic()
    assert process.wait() == 0
    whole, writing = time.monotonic() - began, time.monotonic() - first
    wanted, names = _lines(folder / "undisturbed"), names_in(folder / "undisturbed")
    total, number = len(wanted), 0
    while tally.kills < kills:
        out = folder / f"{number}"
        before = _lines(out)
        process, moment = _begun(graph, out), chance.uniform(0, whole)
        if tally.kills % 2:
            _wait_for_line(out, len(before) + 1, process)
            moment = chance.uniform(0, writing)
        try:
            code = process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            tally.kills += 1
            now = _lines(out)
            tally.before += len(now) == len(before)
            tally.during += len(before) < len(now) < total
            tally.after += len(before) < len(now) == total
            _compare(before, now, wanted, tally, f"{out.name} after {moment:.1f} s")
            if tally.kills < kills:
                continue
            code = _begun(graph, out).wait()
        if code:
            tally.note("different", f"{out.name}: a run ended with {code}")
        if len(_lines(out)) != total:
            tally.note("different", f"{out.name}: {len(_lines(out))} lines of {total}")
        _compare({}, _lines(out), wanted, tally, f"{out.name}, done")
        left = names_in(out) - names
        if left:
            tally.note("left", f"{out.name}: {sorted(left)}", len(left))
        number += 1
    return tally


def _begun(graph: Path, out: Path) -> subprocess.Popen[bytes]:
    strategies = [part for name in STRATEGIES for part in ("--strategy", name)]
    words = [sys.executable, "-m", "featprop", "experiments", "run", "--dataset", str(graph), *strategies]
    words += ["--model", "ridge", "--model", "gcn", "--budgets", "6,12,24", "--seeds", "3", "--jobs", "2"]
    return subprocess.Popen([*words, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _wait_for_line(out: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    while len(_lines(out)) < count and process.poll() is None:
        time.sleep(0.02)


def _lines(out: Path) -> dict[str, Any]:
    """Return the whole lines of a folder by what they are of, without what depends on time."""
    found: dict[str, Any] = {}
    for path in out.glob("*.jsonl"):
        for text in path.read_text(encoding="utf-8").split("\n")[:-1]:
            line = json.loads(text)
            for name in OF_TIME:
                del line[name]
            key = f"{[line[name] for name in ('strategy', 'model', 'budget', 'seed', 'protocol')]}"
            found[key if key not in found else f"{key} twice"] = line
    return found


def _compare(before: dict[str, Any], now: dict[str, Any], wanted: dict[str, Any], tally: Tally, when: str) -> None:
    lost = [key for key in before if now.get(key) != before[key]]
    doubled = [key for key in now if key.endswith(" twice")]
    strange = [key for key in now if key not in doubled and not _is_same(now[key], wanted.get(key, {}))]
    for kind, keys in (("lost", lost), ("doubled", doubled), ("different", strange)):
        if keys:
            tally.note(kind, f"{when}: {keys[:3]}", len(keys))


def _is_same(line: dict[str, Any], other: dict[str, Any]) -> bool:
    pair = [each.get(ROUNDED, 0.0) for each in (line, other)]
    return math.isclose(*pair, abs_tol=1e-6) and {**line, ROUNDED: None} == {**other, ROUNDED: None}
