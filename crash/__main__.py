"""Kill campaigns: what is lost, doubled, different or left when featprop is killed, out of room, or not alone.

    python -m crash [--kills 100] [--only convert …] [--seed 0] [--pairs 20]

- *Every change*: each work runs once for each change it makes to the disk (a file opened for writing, a rename, a
  folder made, an fsync, a statement of SQLite …), and is killed (SIGKILL) just before it.
- *Moments by lot*: conversions, learners, rounds, downloads, experiments and label servers are killed at moments spread
  evenly over the time they take, so many times each.
- *Out of room*, *read-only*: each work on a disk with room for no page, one page, two …, until there is enough; and
  where nothing can be written.
- *Two at once*: each work in two processes at one folder; what each of them did must be there.

After each kill a reader finds everything as before or as after; the work is done again, and must leave what an
undisturbed run leaves, name for name. The exit code is 1 if anything is wrong, a kill that was none too.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from crash.downloads import serving
from crash.experiments import kill_experiments
from crash.graphs import write_tables
from crash.inputs import Inputs
from crash.killing import Tally, Undisturbed, at_every_change, at_random
from crash.label_servers import kill_servers
from crash.pairs import Pairs, two_at_once, two_people
from crash.room import can_mount, out_of_room, read_only
from crash.works import WORKS

__all__ = ["main"]

BY_LOT = (
    "convert",
    "convert --force",
    "learner save",
    "learner again",
    "select --log",
    "download",
)
"""Works that are killed at moments by lot, beside experiments and label servers."""
SHOWN = 5
"""How many notes of what is wrong are printed for a target."""
SLOWLY = 0.4
"""Seconds a download takes."""


def main() -> int:
    """Run the campaigns that are wanted and print what was seen."""
    parser = argparse.ArgumentParser(prog="python -m crash", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--kills", type=int, default=100, help="kills at moments by lot, of each target (100)")
    parser.add_argument("--pairs", type=int, default=20, help="pairs of processes at each folder (20)")
    parser.add_argument("--only", nargs="*", default=[], help="targets whose name begins so; all if not given")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (0)")
    given = parser.parse_args()
    _check(parser, given.only)
    problems = 0
    with tempfile.TemporaryDirectory(prefix="featprop-crash-") as name, serving(SLOWLY) as address:
        folder = Path(name)
        inputs = Inputs.made(folder / "inputs", address)
        runs = [
            Undisturbed.of(work, inputs, folder / work.name.replace(" ", "-"), times=3)
            for work in WORKS
            if _is_wanted(work.name, given.only)
        ]
        problems += _kill(runs, given.kills, given.seed)
        for target, campaign in OTHERS.items():
            if _is_wanted(target, given.only):
                (folder / target).mkdir()
                problems += campaign(folder / target, given.kills, given.seed)
        problems += _starve(runs)
        problems += _pair(runs, given.pairs)
    print("Nothing is wrong." if not problems else f"{problems} targets with something wrong.")
    return 1 if problems else 0


def _check(parser: argparse.ArgumentParser, only: list[str]) -> None:
    """Refuse a name that is of no target: a campaign over nothing would find nothing wrong."""
    names = [*(work.name for work in WORKS), *OTHERS]
    for each in only:
        if not any(_is_wanted(name, [each]) for name in names):
            parser.error(f"no target begins with {each!r}; there are {', '.join(names)}")


def _is_wanted(name: str, only: list[str]) -> bool:
    return not only or any(name.startswith(each) for each in only)


def _kill(runs: list[Undisturbed], kills: int, seed: int) -> int:
    print(
        "| killed | kills | before its writes | during | after | lost | doubled | different | left over | missed | s |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    problems = sum(_told(f"{run.work.name}, every change", lambda run=run: at_every_change(run)) for run in runs)
    lots = [run for run in runs if run.work.name in BY_LOT]
    return problems + sum(
        _told(f"{run.work.name}, by lot", lambda run=run: at_random(run, kills, seed)) for run in lots
    )


def _experiments(folder: Path, kills: int, seed: int) -> int:
    graph = write_tables(folder / "graph")
    return _told("experiments run, by lot", lambda: kill_experiments(graph, folder, kills, seed))


def _servers(folder: Path, kills: int, seed: int) -> int:
    graph = write_tables(folder / "graph", nodes=4000)
    answers = 0

    def campaign() -> Tally:
        nonlocal answers
        tally, answers = kill_servers(graph, folder, kills, seed)
        return tally

    problems = _told("label servers, by lot", campaign)
    print(f"\n{answers:,} answers were acknowledged by label servers.\n")
    return problems


OTHERS = {"experiments": _experiments, "label servers": _servers}
"""Targets that are no `Work`."""


def _told(name: str, campaign: Callable[[], Tally]) -> int:
    """Print the line of a target, and what is wrong with it; return whether anything is."""
    began = time.monotonic()
    tally = campaign()
    spread = f"{tally.kills} | {tally.before} | {tally.during} | {tally.after}"
    wrong = f"{tally.lost} | {tally.doubled} | {tally.different} | {tally.left} | {tally.missed}"
    print(f"| {name} | {spread} | {wrong} | {time.monotonic() - began:.0f} |", flush=True)
    _print_notes(tally.notes)
    return 0 if tally.is_clean else 1


def _starve(runs: list[Undisturbed]) -> int:
    if not can_mount():
        print("\nNo file system can be mounted here: full and read-only disks are left to tests/cli/test_full_disk.py.")
        return 0
    print("\n| no room, or read-only | tried | refused in a sentence | wrong |\n| --- | ---: | ---: | ---: |")
    problems = 0
    for run in runs:
        for name, campaign in (("full disk", out_of_room), ("read-only", read_only)):
            found = campaign(run)
            print(f"| {run.work.name}, {name} | {found.tried} | {found.refused} | {len(found.notes)} |", flush=True)
            _print_notes(found.notes)
            problems += bool(found.notes)
    return problems


def _pair(runs: list[Undisturbed], times: int) -> int:
    print("\n| two at once | pairs | works done | refused in a sentence | wrong |\n| --- | ---: | ---: | ---: | ---: |")
    problems = 0
    for run in runs:
        problems += _paired(run.work.name, two_at_once(run, times))
        if run.work.name == "label log":
            problems += _paired("label log, two people", two_people(run.place, times))
    return problems


def _paired(name: str, found: Pairs) -> int:
    """Print the line of pairs, and what is wrong with them; return whether anything is."""
    print(f"| {name} | {found.pairs} | {found.done} | {found.refused} | {len(found.notes)} |", flush=True)
    _print_notes(found.notes)
    return int(bool(found.notes))


def _print_notes(notes: list[str]) -> None:
    for note in notes[:SHOWN]:
        print(f"    {' '.join(note.split())}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
