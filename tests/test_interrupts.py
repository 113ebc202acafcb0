"""Ctrl-C in separate processes: it always ends the command, and the command cleans up."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import featprop

RUN = """
import os, signal, sys
from featprop.__main__ import run

def press():
    signal.raise_signal(signal.SIGINT)

def removing_its_files():
    open("scratch", "w").close()
    try:
        press()
    finally:
        os.remove("scratch")

def turned_into_another_error():
    try:
        press()
    except BaseException:
        raise ImportError("numpy._core.multiarray failed to import")

def handled():
    try:
        press()
    except KeyboardInterrupt:
        pass

def a_fault():
    raise ValueError("a fault")

def a_code():
    sys.exit(3)

if __name__ == "__main__":
    run(globals()[sys.argv[1]])
"""

COMMAND = """
import signal, sys

moment, sys.argv[1:] = sys.argv[1], sys.argv[2:]

class Pressing:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Pressing())
from featprop.__main__ import main
main()
"""
"""The command line, with Ctrl-C pressed when a module is about to be imported."""


@pytest.fixture
def as_command(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the arguments that run a function of `RUN`, started like ``python -m featprop``."""
    folder = tmp_path_factory.mktemp("module")
    (folder / "pressed.py").write_text(RUN)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")])))
    return ["-m", "pressed"]


def ran(folder: Path, *command: str) -> tuple[int, str]:
    """Run Python and return its exit code and standard error."""
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("what", ["removing_its_files", "turned_into_another_error"])
def test_the_command_stops(what: str, as_command: list[str], tmp_path: Path) -> None:
    assert ran(tmp_path, *as_command, what) == (130, "Stopped.\n")
    assert not list(tmp_path.iterdir())


def test_other_exits_are_unchanged(as_command: list[str], tmp_path: Path) -> None:
    assert ran(tmp_path, *as_command, "handled") == (0, "")
    assert ran(tmp_path, *as_command, "a_code") == (3, "")
    code, told = ran(tmp_path, *as_command, "a_fault")
    assert code == 1
    assert told.startswith("Traceback")
    assert told.endswith("ValueError: a fault\n")


def test_an_ignored_signal_stays_ignored(as_command: list[str], tmp_path: Path) -> None:
    ignoring = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    )
    assert ran(tmp_path, "-c", ignoring, *as_command, "removing_its_files") == (0, "")


@pytest.mark.parametrize(
    ("moment", "command"),
    [
        ("pyarrow.lib", "inspect"),
        ("numba.core.typing", "select"),
        ("uvicorn", "label"),
    ],
)
def test_commands_end_during_imports(moment: str, command: str, graph_folder: Path, tmp_path: Path) -> None:
    options = {"select": ["--budget", "4"], "label": ["--no-browser", "--port", "0"]}.get(command, [])
    code, told = ran(tmp_path, "-c", COMMAND, moment, command, graph_folder.name, *options)
    assert code == 130, told
    assert told.splitlines()[-1] == "Stopped."
    assert "Traceback" not in told
    assert "Exception ignored" not in told
    assert [path.name for path in tmp_path.iterdir()] == [graph_folder.name]


def test_nothing_is_imported_before_the_handler(tmp_path: Path) -> None:
    new = "import sys; sys.path.insert(0, sys.argv[1]); before = {*sys.modules}; import featprop; "
    new += "sys.exit(str({*sys.modules} - before - {'__future__'}))"
    assert ran(tmp_path, "-S", "-c", new, str(Path(featprop.__file__).parents[1])) == (1, "{'featprop'}\n")


def in_a_terminal(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command as a terminal does, so that Ctrl-C also reaches its child processes."""
    return subprocess.Popen(
        [sys.executable, "-m", "featprop", *words],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_the_training_process_ignores_it(graph_folder: Path, tmp_path: Path) -> None:
    process = in_a_terminal(tmp_path, "label", graph_folder.name, "--no-browser", "--port", "0")
    assert process.stderr is not None
    for line in process.stderr:
        if "first nodes" in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode in (0, 130), "stopped while starting or while serving"
    assert told.splitlines()[-1].startswith("Export them") or told.splitlines()[-1] == "Stopped."
    assert "Traceback" not in told


def test_cluster_processes_ignore_it(graph_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    process = in_a_terminal(tmp_path, "select", graph_folder.name, "--budget", "9", "--compute", "workers=2")
    started = psutil.Process(process.pid)
    until = time.monotonic() + 300
    while process.poll() is None and len(started.children()) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode == 130, told
    assert told.splitlines()[-1] == "Stopped."
    assert "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == [graph_folder.name]
