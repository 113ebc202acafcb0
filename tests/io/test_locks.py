"""A folder for one process at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from featprop.errors import FileError
from featprop.io.locks import held_lock

HOLD = """
import sys, time
from pathlib import Path
from featprop.io.locks import held_lock
with held_lock(Path(sys.argv[1]), "results"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_a_lock_lasts_as_long_as_its_process(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(FileError) as caught, held_lock(path, "results"):
            pass
        other.kill()
    assert str(caught.value) == (
        "results must be written by one run at a time; found another run at work there: "
        "wait for it, or choose another --out."
    )
    for _ in range(2):
        with held_lock(path, "results"):
            pass
