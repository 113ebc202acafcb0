"""Accidents: a label log that is deleted, replaced, locked or on a full disk loses no annotation it acknowledged."""

import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from featprop.errors import FileError, LabelError
from featprop.labels import LabelLog
from tests.helpers import raises

WRITER = """
import sys
from featprop.labels import LabelLog
from featprop.errors import FileError
with LabelLog(sys.argv[1], exclusive=True) as log:
    for number, _ in enumerate(sys.stdin):
        try:
            log.answer(number, "ok", key=f"k{number}")
            print("saved", flush=True)
        except FileError as error:
            print("refused", error.path, flush=True)
"""


def start(path: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-c", WRITER, str(path)]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str], times: int = 1) -> list[str]:
    assert process.stdin is not None
    assert process.stdout is not None
    said = []
    for _ in range(times):
        process.stdin.write("\n")
        process.stdin.flush()
        said.append(process.stdout.readline().split()[0])
    return said


@pytest.mark.parametrize("accident", ["delete all", "replace", "move away"])
def test_a_deleted_or_replaced_log(tmp_path: Path, accident: str) -> None:
    path = tmp_path / "a.labels"
    with LabelLog(tmp_path / "other.labels") as other:
        other.answer("x", "theirs")
    process = start(path)
    try:
        assert answer(process, 420) == ["saved"] * 420
        if accident == "replace":
            (tmp_path / "other.labels").rename(path)
        elif accident == "move away":
            path.rename(tmp_path / "b.labels")
        else:
            for name in ["", "-wal", "-shm"]:
                path.with_name(f"a.labels{name}").unlink()
        assert answer(process, 20) == ["refused"] * 20
    finally:
        process.communicate()
    with LabelLog(tmp_path / "a.labels.rescued") as rescued:
        assert rescued.labels() == dict.fromkeys(range(420), "ok")
    if accident == "replace":
        with LabelLog(path) as theirs:
            assert theirs.labels() == {"x": "theirs"}, "the old journal is not applied to the new file"
    left = {found.name for found in tmp_path.iterdir()} - {"other.labels", "b.labels", "b.labels-wal", "b.labels-shm"}
    assert left == {"a.labels.rescued", *(["a.labels"] if accident == "replace" else [])}


def test_a_second_accident_keeps_the_first_rescue(tmp_path: Path) -> None:
    for number in (1, 2):
        with LabelLog(tmp_path / "a.labels") as log:
            log.answer(number, "ok")
            (tmp_path / "a.labels").unlink()
            with raises(FileError, path=tmp_path / "a.labels"):
                log.answer("m", "ok")
            assert log.labels() == {number: "ok"}, "what was saved can still be read"
    for number, name in ((1, "a.labels.rescued"), (2, "a.labels.rescued.2")):
        with LabelLog(tmp_path / name, read_only=True) as rescued:
            assert rescued.labels() == {number: "ok"}


def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    process = start(tmp_path / "a.labels")
    assert answer(process, 40) == ["saved"] * 40
    process.send_signal(signal.SIGKILL)
    process.communicate()
    with LabelLog(tmp_path / "a.labels", exclusive=True) as log:
        assert log.labels() == dict.fromkeys(range(40), "ok"), "and the lock ended with the process"


def test_one_process_opens_a_log_exclusively(tmp_path: Path) -> None:
    path = tmp_path / "a.labels"
    process = start(path)
    try:
        assert answer(process) == ["saved"]
        with raises(FileError, path=path):
            LabelLog(path, exclusive=True)
        with LabelLog(path, read_only=True) as reader:
            assert reader.labels() == {0: "ok"}, "others can read meanwhile"
        assert answer(process) == ["saved"], "and the refused attempt took nothing away"
        assert {found.name for found in tmp_path.iterdir()} <= {"a.labels", "a.labels-wal", "a.labels-shm"}
    finally:
        process.communicate()
    with LabelLog(path, exclusive=True) as log:
        assert len(log.labels()) == 2


def test_a_locked_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.labels.store.LOCK_TIMEOUT_S", 0.1)
    path = tmp_path / "a.labels"
    with LabelLog(path) as log:
        log.answer("n", "ok")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with raises(FileError, path=path):
                log.answer("m", "ok")
        log.answer("m", "ok")
        assert log.labels() == {"n": "ok", "m": "ok"}


def test_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "a.labels"
    with LabelLog(path) as log:
        log.answer("n", "ok")
        ((pages,),) = log.query("PRAGMA page_count")
        log.query(f"PRAGMA max_page_count = {pages}")
        with raises(FileError, path=path):
            log.tell({f"{number} {'x' * 400}": "ok" for number in range(100)})
        log.query("PRAGMA max_page_count = 1000000")
        assert log.labels() == {"n": "ok"}, "all or none"
        log.answer("m", "ok")
        assert len(log.labels()) == 2


PROCESS = """
import sys
from featprop.labels import LabelLog
with LabelLog(sys.argv[1]) as log:
    for number in range(20):
        for _ in range(2):
            log.answer(f"{sys.argv[2]}-{number}", "ok", key=f"{sys.argv[2]}-{number}")
"""


def test_threads_and_processes_write_to_one_log(tmp_path: Path) -> None:
    """Every annotation is sent twice: none is lost, none doubled, and a refusal affects no one else."""
    path = tmp_path / "a.labels"
    refused = []
    with LabelLog(path) as log:
        log.answer("first", "ok", key="taken")

        def write(name: int) -> None:
            for number in range(20):
                for _ in range(2):
                    log.answer(f"t{name}-{number}", "ok", key=f"t{name}-{number}")
                try:
                    log.answer("second", "ok", key="taken")
                except LabelError:
                    refused.append(name)

        line = [sys.executable, "-c", PROCESS, str(path)]
        processes = [subprocess.Popen([*line, f"p{number}"]) for number in range(2)]
        threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [process.wait() for process in processes] == [0] * 2
        assert len(log.labels()) == len(log.events()) == 8 * 20 + 1
        assert len(refused) == 6 * 20
