"""Memory sizes as text; scratch folders are removed however a run ends."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from featprop.errors import FileError, ParameterError
from featprop.resources import MIN_MEMORY, bytes_text, half_of_free, parse_bytes, scratch_folder
from tests.helpers import raises

HOLD = """
import sys, time
from pathlib import Path
from featprop.resources import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    print("ready", flush=True)
    time.sleep(60)
"""


def holding(parent: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(parent)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def test_folder_is_removed_when_the_block_ends(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "new") as folder:
        (folder / "rows.bin").write_bytes(b"1")
        assert folder.parent == tmp_path / "new"
    assert not list((tmp_path / "new").iterdir())
    with pytest.raises(KeyError), scratch_folder(tmp_path):
        raise KeyError
    assert [entry.name for entry in tmp_path.iterdir()] == ["new"]


def test_next_run_removes_abandoned_folders_only(tmp_path: Path) -> None:
    killed, at_work = holding(tmp_path), holding(tmp_path)
    killed.kill()
    killed.communicate(timeout=300)
    (tmp_path / "mine").mkdir()
    assert len(list(tmp_path.iterdir())) == 3
    with scratch_folder(tmp_path) as folder:
        assert len(list(tmp_path.iterdir())) == 3, "that of the killed run is gone, a new one is there"
        assert folder.is_dir()
    at_work.kill()
    at_work.communicate(timeout=300)
    with scratch_folder(tmp_path):
        pass
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine"]


def test_file_instead_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with raises(FileError, parameter="scratch", path=tmp_path / "file"), scratch_folder(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "mine"


MANY = """
import sys
from pathlib import Path
from featprop.resources import scratch_folder
for number in range(30):
    with scratch_folder(Path(sys.argv[1])) as folder:
        (folder / "rows.bin").write_bytes(b"1")
        assert (folder / "rows.bin").read_bytes() == b"1"
"""


def test_simultaneous_runs_keep_their_folders(tmp_path: Path) -> None:
    all_of_them = [
        subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(3)
    ]
    for process in all_of_them:
        _, told = process.communicate(timeout=300)
        assert process.returncode == 0, told.decode()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *[("123456", 123456), ("500MB", 500_000_000), (" 4 gb ", 4 * 10**9), ("4G", 4 * 10**9), ("1.5 kB", 1500)],
        *[("2GiB", 2 * 1024**3), ("2Gi", 2 * 1024**3), (".5KiB", 512), ("1TB", 10**12), ("12B", 12)],
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4 GB GB", "-4GB", "4PB", "four", "4,5GB", "1e9", "0", "0.1B", "nan", "∞"])
def test_invalid_sizes(text: str) -> None:
    with raises(ParameterError, parameter="max_memory", value=text):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2 * 10**9, "2.0 GB"), (5 * 10**15, "5,000.0 TB")],
)
def test_sizes_as_text(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_the_default_limit_is_half_of_what_is_free_and_at_least_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, limit in ((7 * 10**9, 3_500_000_000), (10**9, MIN_MEMORY)):
        monkeypatch.setattr("psutil.virtual_memory", lambda free=free: SimpleNamespace(available=free))
        assert half_of_free() == limit
