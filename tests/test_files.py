"""Outputs appear whole or not at all; labels are never lost to an overwrite."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from featprop.errors import FileError, ParameterError
from featprop.files import check_output, replacing_file, writing_output
from tests.helpers import raises

FILLED = "id,label\na,ok\nb,\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    with replacing_file(path) as temporary:
        temporary.write_text("1")
        assert not path.exists()
    assert path.read_text() == "1"
    assert names(path.parent) == ["a.txt"]


def test_an_error_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("before")

    def interrupt() -> None:
        with replacing_file(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert (tmp_path / "a.txt").read_text() == "before"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_full_or_protected_disk_is_a_file_error(tmp_path: Path, number: int) -> None:
    with raises(FileError, path=tmp_path / "a.txt"), replacing_file(tmp_path / "a.txt"):
        raise OSError(number, os.strerror(number))
    assert names(tmp_path) == []


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("1")
    (tmp_path / "real.txt").chmod(0o640)
    (tmp_path / "link.txt").symlink_to("real.txt")
    with replacing_file(tmp_path / "link.txt") as temporary:
        temporary.write_text("2")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "2"
    assert (tmp_path / "real.txt").stat().st_mode & 0o777 == 0o640


KILLED = """
import os, signal, sys
from pathlib import Path
from featprop.files import replacing_file
with replacing_file(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_leaves_the_old_file_and_its_rest_is_removed_later(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    line = [sys.executable, "-c", KILLED, str(path)]
    assert subprocess.run(line, check=False).returncode == -signal.SIGKILL
    assert path.read_text() == "before"
    assert len(names(tmp_path)) == 2
    for name, age in ((".a.txt.00000000-1-x.tmp", 0), (".a.txt.00000000-1-y.tmp", 2 * 24 * 3600)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - age))
    with replacing_file(path) as temporary:
        temporary.write_text("after")
    assert names(tmp_path) == [".a.txt.00000000-1-x.tmp", "a.txt"], "another machine may still be writing"


def test_an_output_that_is_still_being_written_is_never_stale(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replacing_file(path) as slow:
        slow.write_text("slow")
        os.utime(slow, (0, 0))
        with replacing_file(path) as quick:
            quick.write_text("quick")
    assert path.read_text() == "slow"


def test_threads_that_write_one_file_leave_one_of_their_versions(tmp_path: Path) -> None:
    def write(text: str) -> None:
        for _ in range(20):
            with replacing_file(tmp_path / "a.txt") as temporary:
                temporary.write_text(text * 1000)

    threads = [threading.Thread(target=write, args=(text,)) for text in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    content = (tmp_path / "a.txt").read_text()
    assert content in [text * 1000 for text in "abcd"]
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("content", [FILLED, "\ufeffid;Label\na;\nb;x\n", "notes\nmine\n", 'id,label\n"a,"b"c\nb,x\n'])
def test_labels_are_backed_up_before_they_are_overwritten(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.csv"
    for number, typed in enumerate((content, content, f"{content}more,x\n"), start=1):
        path.write_text(typed)
        with writing_output(path, force=True) as temporary:
            temporary.write_text("id,label\n")
        assert (tmp_path / ("a.csv.bak" if number < 3 else "a.csv.bak.2")).read_text() == typed
        assert "a.csv.bak" in caplog.records[-1].getMessage()
    assert names(tmp_path) == ["a.csv", "a.csv.bak", "a.csv.bak.2"]


@pytest.mark.parametrize("name", ["a.csv", "a.html", "a.safetensors", "b.parquet"])
def test_a_file_without_labels_is_overwritten_without_a_backup(tmp_path: Path, name: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"id": ["a"], "label": pa.array([None], pa.string())}), path)
    else:
        path.write_text("id,label\na,\n")
    with writing_output(path, force=True) as temporary:
        temporary.write_text("new")
    assert names(tmp_path) == [name]


def test_folders_other_suffixes_and_existing_files_are_refused(tmp_path: Path) -> None:
    with raises(FileError, path=tmp_path):
        check_output(tmp_path, force=True)
    with raises(ParameterError, parameter="out", choices=(".csv", ".parquet")):
        check_output(tmp_path / "a.txt", force=True, suffixes=(".csv", ".parquet"))
    check_output(tmp_path / "A.CSV", force=False, suffixes=(".csv",))
    (tmp_path / "A.CSV").touch()
    with raises(FileError, path=tmp_path / "A.CSV"):
        check_output(tmp_path / "A.CSV", force=False)
