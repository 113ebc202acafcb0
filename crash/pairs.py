"""Two processes at one folder at once: each does its work or says in one sentence that the other is there."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash.children import Child, finished
from crash.killing import Undisturbed
from crash.looks import names_in

__all__ = ["Pairs", "two_at_once", "two_people"]

LOG = "people.labels"
PEOPLE = ("ada", "bob")
ANSWERS = 30

Task = tuple[Callable[..., None], Any]


@dataclass
class Pairs:
    """What was seen: how many pairs there were, how many works of them were done, refused, and what was wrong."""

    pairs: int = 0
    done: int = 0
    refused: int = 0
    notes: list[str] = field(default_factory=list)


def two_at_once(run: Undisturbed, times: int) -> Pairs:
    """Do the work in two processes that begin at the same moment, so many times.

    Where both did it, what each did must be there: all is as after one of them after the other. Where one was refused,
    all is as after the other one alone.
    """
    found, twice = Pairs(), _twice(run)
    for number in range(times):
        state = run.fresh()
        codes = _at_once([run.work.task(run.inputs, state)] * 2, state, found)
        if 0 in codes:
            expected = run.after if codes.count(0) == 1 else twice
            seen = dict(run.work.look(run.inputs, state))
            names = sorted(name for name in {*expected, *seen} if seen.get(name) != expected.get(name))
            if names:
                how = "as one alone leaves it" if codes.count(0) == 1 else "as one after the other leaves it"
                found.notes.append(f"pair {number}: {names} not {how}")
        if run.work.doubled(state):
            found.notes.append(f"pair {number}: something is there twice")
        left = names_in(state) - run.names
        if left:
            found.notes.append(f"pair {number}: left {sorted(left)}")
    return found


def two_people(place: Path, times: int) -> Pairs:
    """Let two processes take answers of one person each into one label log, so many times: all are there, once each."""
    from featprop.labels import LabelLog

    found = Pairs()
    for number in range(times):
        state = place / f"people-{number}"
        state.mkdir(parents=True)
        _at_once([(answer_as, (state / LOG, who)) for who in PEOPLE], state, found)
        with LabelLog(state / LOG) as log:
            said = sorted((act.annotator, act.node, act.label) for act in log.events())
        if said != sorted((who, node, f"{who} {node}") for who in PEOPLE for node in range(ANSWERS)):
            found.notes.append(f"pair {number}: not each answer once, but {said}")
    return found


def answer_as(given: tuple[Path, str]) -> None:
    """Take answers of a person as a server does, each under its key."""
    from featprop.labels import LabelLog

    path, who = given
    with LabelLog(path) as log:
        for node in range(ANSWERS):
            log.answer(node, f"{who} {node}", annotator=who, key=f"{who} {node}")


def _twice(run: Undisturbed) -> dict[str, Any]:
    """Return what is there after one of two, and then the other, which may be refused."""
    state = run.fresh()
    for _ in range(2):
        finished(run.work.task(run.inputs, state), state)
    return dict(run.work.look(run.inputs, state))


def _at_once(tasks: list[Task], state: Path, found: Pairs) -> list[int]:
    """Do tasks in processes of their own that begin at the same moment; return their exit codes."""
    gate = state.with_name("gate")
    both = [Child((at_the_gate, (gate, task)), state) for task in tasks]
    for child in both:
        child.wait_until_begun()
    gate.touch()
    codes = [child.end() for child in both]
    gate.unlink()
    for code, child in zip(codes, both, strict=True):
        last = (child.told.strip().splitlines() or [""])[-1]
        if (code == 2 and last.startswith("Error: ")) or (code == 1 and last.startswith("featprop.errors.")):
            found.refused += 1
        elif code:
            found.notes.append(f"pair {found.pairs}: ended with {code}: {child.told[-500:]}")
    if 0 not in codes:
        found.notes.append(f"pair {found.pairs}: neither was done: {both[0].told[-200:]}")
    found.pairs += 1
    found.done += codes.count(0)
    return codes


def at_the_gate(given: tuple[Path, Task]) -> None:
    """Wait for the other process, then do the work."""
    gate, (function, argument) = given
    while not gate.exists():
        time.sleep(0.0005)
    function(argument)
