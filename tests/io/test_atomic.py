"""Outputs appear whole or not at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from featprop.errors import FileError
from featprop.io.atomic import replacing_file, replacing_folder

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
