"""Two processes at one folder at once: each does its work or says in one sentence that the other is there."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash.children import Child
from crash.killing import Undisturbed
from crash.looks import names_in

__all__ = ["Pairs", "two_at_once"]


@dataclass
class Pairs:
    """What was seen: how many pairs there were, how many works of them were done, refused, and what was wrong."""

    pairs: int = 0
    done: int = 0
    refused: int = 0
    notes: list[str] = field(default_factory=list)


def two_at_once(run: Undisturbed, times: int) -> Pairs:
    """Do the work in two processes that begin at the same moment, so many times."""
    found = Pairs()
    for number in range(times):
        state = run.fresh()
        gate = run.place / "gate"
        work = run.work.task(run.inputs, state)
        both = [Child((at_the_gate, (gate, work)), state) for _ in range(2)]
        for child in both:
            child.wait_until_begun()
        gate.touch()
        codes = [child.end() for child in both]
        gate.unlink()
        found.pairs += 1
        found.done += codes.count(0)
        for code, child in zip(codes, both, strict=True):
            told = child.told
            last = (told.strip().splitlines() or [""])[-1]
            if (code == 2 and last.startswith("Error: ")) or (code == 1 and last.startswith("featprop.errors.")):
                found.refused += 1
            elif code:
                found.notes.append(f"pair {number}: ended with {code}: {told[-500:]}")
        if 0 not in codes:
            found.notes.append(f"pair {number}: neither was done: {both[0].told[-200:]}")
        elif codes.count(0) == 1 or run.work.repeatable:
            seen = dict(run.work.look(run.inputs, state))
            if seen != run.after:
                names = [name for name in {*run.after, *seen} if seen.get(name) != run.after.get(name)]
                found.notes.append(f"pair {number}: {names} not as one alone leaves it")
        if run.work.doubled(state):
            found.notes.append(f"pair {number}: something is there twice")
        left = names_in(state) - run.names
        if left:
            found.notes.append(f"pair {number}: left {sorted(left)}")
    return found


def at_the_gate(given: tuple[Path, tuple[Callable[..., None], Any]]) -> None:
    """Wait for the other process, then do the work."""
    gate, (function, argument) = given
    while not gate.exists():
        time.sleep(0.0005)
    function(argument)
