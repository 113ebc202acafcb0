"""Outputs appear whole or not at all."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from featprop.datasets import resolve
from featprop.errors import FileError
from featprop.graph import Graph
from featprop.io.atomic import read_whole, replacing_file, replacing_folder, restore_interrupted, sweep
from featprop.sources import read_graph
from featprop.sources.native import foreign_entries, open_native, write_native

Contents = Callable[[], dict[str, bytes | None]]


class InterruptionError(Exception):
    """What may happen while a file is written."""


def test_a_file_is_there_only_when_it_is_whole(tmp_path: Path, contents: Contents) -> None:
    with replacing_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("half")
        assert not (tmp_path / "out.csv").exists()
        temporary.write_text("whole")
    assert contents() == {"out.csv": b"whole"}


def test_a_file_takes_the_place_of_the_old_one(tmp_path: Path, contents: Contents) -> None:
    (tmp_path / "out.csv").write_text("old")
    with replacing_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("new")
        assert (tmp_path / "out.csv").read_text() == "old"
    assert contents() == {"out.csv": b"new"}


@pytest.mark.parametrize("before", [{}, {"out.csv": b"old"}])
def test_a_file_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, contents: Contents, before: dict[str, bytes]
) -> None:
    for name, text in before.items():
        (tmp_path / name).write_bytes(text)

    def fail() -> None:
        with replacing_file(tmp_path / "out.csv") as temporary:
            temporary.write_text("half")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        fail()
    assert contents() == before


def test_a_folder_is_there_only_when_it_is_whole(tmp_path: Path, contents: Contents) -> None:
    with replacing_folder(tmp_path / "model") as temporary:
        (temporary / "a").write_text("1")
        assert not (tmp_path / "model").exists()
    assert contents() == {"model": None, "model/a": b"1"}


def test_a_folder_takes_the_place_of_the_old_one(tmp_path: Path, contents: Contents) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("1")
    with replacing_folder(tmp_path / "model") as temporary:
        (temporary / "new").write_text("2")
        assert (tmp_path / "model" / "old").exists()
    assert contents() == {"model": None, "model/new": b"2"}


def test_a_folder_that_fails_leaves_everything_as_it_was(tmp_path: Path, contents: Contents) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("1")

    def fail() -> None:
        with replacing_folder(tmp_path / "model") as temporary:
            (temporary / "new").write_text("2")
            raise InterruptionError

    with pytest.raises(InterruptionError):
        fail()
    assert contents() == {"model": None, "model/old": b"1"}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_folder_that_must_stay_goes_back(tmp_path: Path, contents: Contents, is_there: bool) -> None:
    seen = []

    def check(old: Path) -> None:
        seen.append([path.name for path in old.glob("*")])
        raise InterruptionError

    if is_there:
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a.txt").write_text("old")
    with pytest.raises(InterruptionError), replacing_folder(tmp_path / "out", check=check) as temporary:
        (temporary / "b.txt").write_text("new")
    assert seen == [["a.txt"] if is_there else []]
    assert contents() == ({"out": None, "out/a.txt": b"old"} if is_there else {})


def test_missing_parents_are_made(tmp_path: Path) -> None:
    with replacing_file(tmp_path / "a" / "b" / "out.csv") as temporary:
        temporary.write_text("x")
    assert (tmp_path / "a" / "b" / "out.csv").read_text() == "x"


def test_a_place_below_a_file_is_refused(tmp_path: Path, contents: Contents) -> None:
    (tmp_path / "file").write_text("x")
    path = tmp_path / "file" / "out.csv"
    with pytest.raises(FileError) as caught, replacing_file(path):
        pass
    assert str(caught.value) == (
        f"{path} must be in a writable folder; found File exists: choose a place you may write to."
    )
    assert contents() == {"file": b"x"}


def test_what_a_link_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "old.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere" / "old.csv")
    (tmp_path / "dangling.csv").symlink_to(Path("elsewhere") / "new.csv")
    for name, target in [("link.csv", "old.csv"), ("dangling.csv", "new.csv")]:
        with replacing_file(tmp_path / name) as temporary:
            temporary.write_text(name)
        assert (tmp_path / name).is_symlink()
        assert not (tmp_path / "elsewhere" / target).is_symlink()
        assert (tmp_path / "elsewhere" / target).read_text() == name
    (tmp_path / "model").symlink_to(tmp_path / "elsewhere" / "model")
    with replacing_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("1")
    assert (tmp_path / "model").is_symlink()
    assert (tmp_path / "elsewhere" / "model" / "a").read_text() == "1"


def _python(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


KILLED = """
import os, pathlib, signal, sys
from featprop.io.atomic import replacing_folder

rename, left = pathlib.Path.replace, int(sys.argv[2])
def replace(path, target):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(path, target)
pathlib.Path.replace = replace

with replacing_folder(pathlib.Path(sys.argv[1])) as folder:
    (folder / "new").write_text("2")
os.kill(os.getpid(), signal.SIGKILL)
"""
"""Replaces a folder and is killed after so many renames."""


@pytest.mark.parametrize("renames", [0, 1])
def test_a_folder_whose_replacement_was_killed_comes_back(tmp_path: Path, contents: Contents, renames: int) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("1")
    assert _python(KILLED, tmp_path / "model", renames).returncode == -signal.SIGKILL
    assert (tmp_path / "model").exists() == (renames == 0)
    restore_interrupted(tmp_path / "model")
    assert (tmp_path / "model" / "old").read_text() == "1"
    with replacing_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("3")
    assert contents() == {"model": None, "model/a": b"3"}, "what the killed run left is swept away"


def test_the_next_replacement_finds_the_folder_too(tmp_path: Path, contents: Contents) -> None:
    """If it fails in its turn, the folder of before the first one is there."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("1")
    _python(KILLED, tmp_path / "model", 1)
    with pytest.raises(InterruptionError), replacing_folder(tmp_path / "model"):
        raise InterruptionError
    assert contents() == {"model": None, "model/old": b"1"}


def test_readers_find_a_graph_whose_replacement_was_killed(tmp_path: Path, line: Graph) -> None:
    place = tmp_path / "graph"
    for read in (read_graph, open_native, resolve):
        write_native(line, place, force=True)
        _python(KILLED, place, 1)
        assert not place.exists()
        assert read(place).n_nodes == 5
    _python(KILLED, place, 1)
    with pytest.raises(FileError, match="must not be overwritten"):
        write_native(line, place)


def test_a_folder_made_in_between_does_not_cost_the_old_one(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "old").write_text("1")
    _python(KILLED, tmp_path / "model", 1)
    (tmp_path / "model").mkdir()
    sweep(tmp_path)
    (tmp_path / "model").rmdir()
    restore_interrupted(tmp_path / "model")
    assert (tmp_path / "model" / "old").read_text() == "1"


def test_the_workspace_of_a_run_at_work_is_left_alone(tmp_path: Path, contents: Contents) -> None:
    with replacing_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("1")
        before = contents()
        assert _python("import sys, pathlib; from featprop.io.atomic import sweep; sweep(pathlib.Path(sys.argv[1]))",
                       tmp_path).returncode == 0  # fmt: skip
        assert contents() == before
    assert (tmp_path / "model" / "a").read_text() == "1"


def test_a_reader_waits_for_the_second_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread reads while the folder is aside; it neither takes it back nor says there is none."""
    (tmp_path / "model").mkdir()
    found: list[bool] = []
    reader = threading.Thread(
        target=lambda: (restore_interrupted(tmp_path / "model"), found.append((tmp_path / "model" / "new").exists()))
    )
    rename = Path.replace

    def replace(path: Path, target: Path) -> Path:
        if path.parent.name == "new":
            reader.start()
            time.sleep(0.05)
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with replacing_folder(tmp_path / "model") as folder:
        (folder / "new").write_text("2")
    reader.join()
    assert found == [True]


@pytest.mark.parametrize(("hours", "is_left"), [(1, True), (25, False)])
def test_the_workspace_of_another_computer_is_swept_after_a_day(tmp_path: Path, hours: int, is_left: bool) -> None:
    workspace = tmp_path / ".featprop-00000000-1-abc"
    workspace.mkdir()
    os.utime(workspace, (time.time() - hours * 3600,) * 2)
    (tmp_path / ".featprop-notes").mkdir()
    sweep(tmp_path)
    assert workspace.exists() == is_left
    assert (tmp_path / ".featprop-notes").exists(), "it is no workspace"


def test_content_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    rename = Path.replace
    monkeypatch.setattr(os, "fsync", lambda number: done.append(Path(f"/proc/self/fd/{number}").readlink().name))
    monkeypatch.setattr(Path, "replace", lambda path, to: (done.append(f"rename {path.name}"), rename(path, to)))
    with replacing_file(tmp_path / "out.csv") as temporary:
        temporary.write_text("x")
    assert done == ["out.csv", "rename out.csv", tmp_path.name]
    done.clear()
    with replacing_folder(tmp_path / "model") as folder:
        (folder / "a").write_text("1")
    assert done == ["a", "model", "rename model", tmp_path.name]
    done.clear()
    with replacing_folder(tmp_path / "graph", durable=False):
        pass
    assert done == ["rename graph", tmp_path.name]


@pytest.mark.parametrize(
    ("number", "rule", "cure"),
    [
        (errno.ENOSPC, "must have room on its disk", "free some space there or choose another place"),
        (errno.EDQUOT, "must have room on its disk", "free some space there or choose another place"),
        (errno.EROFS, "must be in a writable folder", "choose a place you may write to"),
        (errno.EACCES, "must be in a writable folder", "choose a place you may write to"),
    ],
)
@pytest.mark.parametrize("replacing", [replacing_file, replacing_folder])
def test_errors_of_the_system(
    tmp_path: Path, contents: Contents, replacing: Callable[[Path], Any], number: int, rule: str, cure: str
) -> None:
    path = tmp_path / "a" / "b" / "out"
    with pytest.raises(FileError) as caught, replacing(path):
        raise OSError(number, os.strerror(number))
    assert str(caught.value) == f"{path} {rule}; found {os.strerror(number)}: {cure}."
    assert contents() == {}, "folders made on the way are gone too"


def test_numpy_says_no_number_when_the_disk_is_full(tmp_path: Path) -> None:
    found = "must have room on its disk; found this: 10 requested and 3 written: free some"
    with pytest.raises(FileError, match=found), replacing_file(tmp_path / "out"):
        raise OSError("10 requested and 3 written")


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini", "._model.json"])
def test_what_is_foreign_in_a_folder(tmp_path: Path, name: str) -> None:
    for entry in (name, "model.json", "notes.txt", "a"):
        (tmp_path / entry).touch()
    assert foreign_entries(tmp_path, ["model.json", "weights"]) == ["a", "notes.txt"]
    assert foreign_entries(tmp_path, ["model.json", "a", "notes.txt"]) == []


REPLACED = """
import pathlib, sys
from featprop.io.atomic import replacing_folder

place, mark = pathlib.Path(sys.argv[1]), sys.argv[2]
for _ in range(int(sys.argv[3])):
    with replacing_folder(place, durable=False) as folder:
        for name in ("one", "two", "three"):
            (folder / name).write_text(mark)
"""
"""Replaces a folder of three files that say the same, again and again."""


def test_several_replace_a_folder_at_once_and_a_reader_sees_one_of_them(tmp_path: Path) -> None:
    place = tmp_path / "model"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    writers = [
        subprocess.Popen([sys.executable, "-c", REPLACED, place, mark, "150"], env=environment, stderr=subprocess.PIPE)
        for mark in "ab"
    ]
    seen: set[tuple[str, ...]] = set()
    while any(writer.poll() is None for writer in writers):
        with suppress(FileNotFoundError):  # before the first one is there
            names = ("one", "two", "three")
            seen.add(read_whole(place, lambda names=names: tuple((place / name).read_text() for name in names)))
    for writer in writers:
        _, told = writer.communicate()
        assert writer.returncode == 0, told.decode()
    assert seen <= {("a", "a", "a"), ("b", "b", "b")}
    assert seen
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_replaced_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    place = tmp_path / "model"
    for mark in "ab":
        (tmp_path / mark).mkdir()
        for name in ("one", "two"):
            (tmp_path / mark / name).write_text(mark)
    (tmp_path / "a").rename(place)

    def read() -> str:
        first = (place / "one").read_text()
        if (tmp_path / "b").exists():
            place.rename(tmp_path / "gone")
            (tmp_path / "b").rename(place)
        return first + (place / "two").read_text()

    assert read_whole(place, read) == "bb"


def test_a_place_that_another_run_took_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run puts its folder there between the two renames: ours comes after it, and nothing is left aside."""
    place, rename = tmp_path / "model", Path.replace
    place.mkdir()
    (place / "old").write_text("1")

    def replace(path: Path, target: Path) -> Path:
        if path.parent.name == "new" and not (tmp_path / "was there").exists():
            (tmp_path / "was there").mkdir()
            place.mkdir()
            (place / "theirs").write_text("2")
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with replacing_folder(place) as folder:
        (folder / "ours").write_text("3")
    assert [path.name for path in place.iterdir()] == ["ours"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "was there"]
