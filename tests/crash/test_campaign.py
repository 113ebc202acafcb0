"""The kill campaigns in short: a few kills of some targets, and that they see what is wrong; `make crash` does all."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crash.__main__ import main
from crash.downloads import serving
from crash.graphs import write_tables
from crash.inputs import Inputs
from crash.killing import Tally, Undisturbed, at_random
from crash.label_servers import kill_servers
from crash.pairs import two_at_once, two_people
from crash.room import can_mount, out_of_room, read_only
from crash.works import WORKS, Work

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked and disks mounted the Linux way")

WORK = {work.name: work for work in WORKS}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inputs]:
    with serving(seconds=0.1) as address:
        yield Inputs.made(tmp_path_factory.mktemp("crash") / "inputs", address)


@pytest.mark.parametrize("name", ["convert --force", "convert --append", "learner again", "select --log", "download"])
def test_nothing_is_lost_doubled_different_or_left(name: str, inputs: Inputs, tmp_path: Path) -> None:
    run = Undisturbed.of(WORK[name], inputs, tmp_path / "run")
    tally = at_random(run, kills=1, seed=0)
    for change in (run.changes // 2, run.changes - 5):  # towards the end names are taken
        run.kill_before(change, tally)
    assert tally.notes == []
    assert tally.kills == tally.before + tally.during + tally.after
    assert tally.during > 0


@pytest.mark.parametrize("name", ["results", "label log"])
def test_each_line_and_each_act_is_there_or_not(name: str, inputs: Inputs, tmp_path: Path) -> None:
    run, tally = Undisturbed.of(WORK[name], inputs, tmp_path / "run"), Tally()
    for change in range(2, run.changes, 7):
        run.kill_before(change, tally)
    assert tally.notes == []
    assert tally.during == tally.kills > 2


def test_servers_lose_and_double_nothing(tmp_path: Path) -> None:
    tally, acknowledged = kill_servers(write_tables(tmp_path / "graph", nodes=600), tmp_path, kills=2, longest=2.0)
    assert acknowledged > 0
    assert tally.notes == []


@pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")
@pytest.mark.parametrize("name", ["results"])
def test_a_disk_without_room_and_one_that_is_read_only(name: str, inputs: Inputs, tmp_path: Path) -> None:
    run = Undisturbed.of(WORK[name], inputs, tmp_path / "run")
    full, locked = out_of_room(run), read_only(run)
    assert full.notes + locked.notes == []
    assert full.tried > full.refused > 0
    assert (locked.tried, locked.refused) == (1, 1)


@pytest.mark.parametrize("name", ["convert --force", "convert --append", "learner again", "results", "address"])
def test_two_at_once(name: str, inputs: Inputs, tmp_path: Path) -> None:
    found = two_at_once(Undisturbed.of(WORK[name], inputs, tmp_path / "run"), times=2)
    assert found.notes == []
    assert found.done + found.refused == 4


def test_answers_of_two_processes_are_all_there(tmp_path: Path) -> None:
    found = two_people(tmp_path, times=1)
    assert (found.pairs, found.done, found.notes) == (1, 2, [])


def hasty(folder: Path) -> None:
    """Count up in a file as nobody should: what another process counts meanwhile is lost."""
    count = int((folder / "count.txt").read_text())
    time.sleep(0.5)
    (folder / "count.txt").write_text(str(count + 1))


def test_what_one_of_two_did_and_is_lost_is_seen(inputs: Inputs, tmp_path: Path) -> None:
    def prepare(_: Inputs, folder: Path) -> None:
        (folder / "count.txt").write_text("0")

    def look(_: Inputs, folder: Path) -> dict[str, Any]:
        return {"count": (folder / "count.txt").read_text()}

    work = Work("hasty", prepare, lambda _, folder: (hasty, folder), look, repeatable=False)
    found = two_at_once(Undisturbed.of(work, inputs, tmp_path / "run"), times=1)
    assert found.notes == ["pair 0: ['count'] not as one after the other leaves it"]


def test_a_name_of_no_target_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["crash", "--only", "convert", "typo"])
    with pytest.raises(SystemExit) as refused:
        main()
    assert refused.value.code == 2
    assert "no target begins with 'typo'; there are convert, " in capsys.readouterr().err


def careless(folder: Path) -> None:
    """Write as nobody should: in place, and what is there is gone first."""
    (folder / "half").write_bytes(b"")
    (folder / "kept.txt").write_text("")
    (folder / "kept.txt").write_text("after")
    (folder / "half").unlink()
    if (folder / "log.txt").exists():
        (folder / "log.txt").write_text("twice")
    else:
        (folder / "log.txt").write_text("once")


def test_a_work_that_writes_in_place_is_seen(inputs: Inputs, tmp_path: Path) -> None:
    def prepare(_: Inputs, folder: Path) -> None:
        (folder / "kept.txt").write_text("before")

    def look(_: Inputs, folder: Path) -> dict[str, Any]:
        return {path.name: path.read_text() for path in folder.glob("*.txt")}

    def doubled(folder: Path) -> int:
        return int((folder / "log.txt").read_text() == "twice")

    work = Work("careless", prepare, lambda _, folder: (careless, folder), look, doubled)
    run, tally = Undisturbed.of(work, inputs, tmp_path / "run"), Tally()
    for change in range(1, run.changes + 1):
        run.kill_before(change, tally)
    assert run.changes == 5
    assert tally.lost == 1, "the file was empty before the third change"
    assert (tally.doubled, tally.different, tally.left, tally.missed) == (0, 0, 0, 0)
    run.kill_before(run.changes + 1, tally)
    assert (tally.kills, tally.missed) == (5, 1), "there is no sixth change to be killed before"
    child_left = run.fresh()
    (child_left / "strange").touch()
    (child_left / "log.txt").write_text("once")
    run.judge(child_left, tally, "by hand")
    assert (tally.left, tally.doubled, tally.different) == (1, 1, 1)
