"""A work killed before each of its changes to the disk, or at moments by lot; then looked at, and done again."""

import random
import shutil
import signal
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crash.children import Child, finished
from crash.inputs import Inputs
from crash.looks import names_in
from crash.works import Work

__all__ = ["Tally", "Undisturbed", "at_every_change", "at_random"]

LATELY = 5
"""How many of the last times say how long a work takes."""


@dataclass
class Tally:
    """What was seen of a work.

    Attributes
    ----------
    kills, before, during, after
        How many times it was killed, and of these before its first change to the disk, between the first and the
        last, and after the last.
    lost, doubled, different, left
        What a reader found neither as before nor as after, or not at all any more; what was there twice; what was not
        as after an undisturbed run once the work was done again; names that only the killed run had left then.
    missed
        How many times it ended before it could be killed, which is wrong where a change was named.
    notes
        What exactly, for the first few.
    """

    kills: int = 0
    before: int = 0
    during: int = 0
    after: int = 0
    lost: int = 0
    doubled: int = 0
    different: int = 0
    left: int = 0
    missed: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.doubled or self.different or self.left or self.missed)

    def note(self, kind: str, what: str, count: int = 1) -> None:
        """Count something that is wrong."""
        setattr(self, kind, getattr(self, kind) + count)
        self.notes.append(f"{kind}: {what}")


@dataclass(frozen=True)
class Undisturbed:
    """A work done without disturbance: the states before and after, the number of changes and the seconds it took.

    The seconds of each time it was done again are added: a machine may have other things to do.
    """

    work: Work
    inputs: Inputs
    place: Path
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    names: set[str]
    changes: int
    taken: list[tuple[float, float]]

    @classmethod
    def of(cls, work: Work, inputs: Inputs, place: Path, times: int = 1) -> "Undisturbed":
        """Do the work so many times, each from its start."""
        (place / "start").mkdir(parents=True)
        work.prepare(inputs, place / "start")
        before = dict(work.look(inputs, _copied(place / "start", place / "looked")))
        taken = []
        for _ in range(times):
            state = _copied(place / "start", place / "state")
            code, child = finished(work.task(inputs, state), state)
            taken.append((child.seconds, child.seconds_writing))
            assert code == 0, (work.name, child.told)
        names = names_in(state)
        after = dict(work.look(inputs, _copied(state, place / "looked")))
        assert before != after, work.name
        return cls(work, inputs, place, before, after, names, child.counter.count, taken)

    def seconds(self, *, writing: bool = False) -> float:
        """Return how long it takes at present, from its beginning or from its first change on."""
        return statistics.median(each[writing] for each in self.taken[-LATELY:])

    def fresh(self) -> Path:
        """Return a folder in the state before the work."""
        return _copied(self.place / "start", self.place / "state")

    def kill_before(self, change: int, tally: Tally) -> None:
        """Kill the work before one of its changes."""
        state = self.fresh()
        child = Child(self.work.task(self.inputs, state), state, last=change)
        code, when = child.end(), f"change {change} of {self.changes}"
        if code != -signal.SIGKILL:
            tally.note("missed", f"{when}: ended with {code} before it: {child.told[-300:]}")
            return
        _count(tally, child, self.changes)
        self.judge(state, tally, when)

    def judge(self, state: Path, tally: Tally, when: str) -> None:
        """Look at a folder whose work was killed, do the work again, and look once more."""
        found = self._found(_copied(state, self.place / "looked"), tally, when)
        if found is None:
            return
        for name in sorted({*self.before, *self.after, *found}):
            if found.get(name) not in (self.before.get(name), self.after.get(name)):
                tally.note("lost", f"{when}: {name} is neither as before nor as after")
        if found == self.after and not self.work.repeatable:
            return
        code, child = finished(self.work.task(self.inputs, state), state)
        if code:
            tally.note("different", f"{when}: the next run ended with {code}: {child.told[-300:]}")
            return
        self.taken.append((child.seconds, child.seconds_writing))
        left = names_in(state) - self.names
        if left:
            tally.note("left", f"{when}: {sorted(left)}", len(left))
        again = self._found(state, tally, when)
        if again is not None and again != self.after:
            names = sorted(name for name in {*self.after, *again} if again.get(name) != self.after.get(name))
            tally.note("different", f"{when}: {names} after the next run")
        doubled = self.work.doubled(state)
        if doubled:
            tally.note("doubled", when, doubled)

    def _found(self, folder: Path, tally: Tally, when: str) -> dict[str, Any] | None:
        try:
            return dict(self.work.look(self.inputs, folder))
        except Exception as error:
            tally.note("lost", f"{when}: {type(error).__name__}: {error}")
            return None


def at_every_change(run: Undisturbed) -> Tally:
    """Kill the work before each change it makes, one run for each."""
    tally = Tally()
    for change in range(1, run.changes + 1):
        run.kill_before(change, tally)
    return tally


def at_random(run: Undisturbed, kills: int, seed: int) -> Tally:
    """Kill the work so many times, at moments that are spread evenly over the time it takes.

    Every second time they are spread over the time from its first change on, which may be a small part. One that had
    ended by then was not killed, and does not count.
    """
    tally, chance = Tally(), random.Random(f"{seed} {run.work.name}")
    while tally.kills < kills:
        writing = bool(tally.kills % 2)
        state, moment = run.fresh(), chance.uniform(0, run.seconds(writing=writing))
        child = Child(run.work.task(run.inputs, state), state)
        child.wait_until_begun()
        if writing:
            child.wait_until_first_change()
        child.process.join(moment)
        if not child.kill():
            run.taken.append((child.seconds, child.seconds_writing))
            continue
        _count(tally, child, run.changes)
        run.judge(state, tally, f"after {moment:.3f} s of {'writing' if writing else 'work'}")
    return tally


def _count(tally: Tally, child: Child, changes: int) -> None:
    done = child.counter.count
    tally.kills += 1
    tally.before += done == 0
    tally.during += 0 < done < changes
    tally.after += done >= changes


def _copied(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target
