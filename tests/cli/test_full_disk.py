"""A disk on which files cannot grow: one message, exit code 2, no partial output and nothing lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import featprop
from featprop.datasets import digits
from featprop.sources.native import write_native

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and file systems are made the POSIX way")

COMMANDS = [
    ["select", "{graph}", "--strategy", "random", "--budget", "1200", "--out", "{out}/picks.csv"],
    ["train", "{graph}", "--out", "{out}/model.safetensors"],
    ["predict", "{graph}", "--model", "{model}", "--out", "{out}/predictions.csv"],
    ["convert", "{graph}", "{out}/converted"],
]

LIMITED = """
import json, resource, sys
from typer.testing import CliRunner
from featprop.cli import app
limit, commands = json.loads(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
results = [CliRunner().invoke(app, command) for command in commands]
print(json.dumps([[result.exit_code, result.stderr] for result in results]))
"""
"""Run commands with a limit on the size of files; Python ignores the signal, so writing fails."""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A graph and a model of it."""
    folder = tmp_path_factory.mktemp("ready")
    graph = digits()
    write_native(graph, folder / "graph")
    featprop.models.save_model(
        featprop.GraphRidge().fit(graph, range(50), graph.class_names()[:50]), folder / "model.safetensors"
    )
    return {"graph": folder / "graph", "model": folder / "model.safetensors"}


def listing(folder: Path) -> dict[str, bytes | None]:
    paths = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in paths}


def test_every_command_says_which_file_could_not_grow_and_leaves_the_folder_unchanged(
    ready: dict[str, Path], tmp_path: Path
) -> None:
    out, before = tmp_path, listing(tmp_path)
    commands = [[word.format(out=out, **ready) for word in command] for command in COMMANDS]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    call = [sys.executable, "-c", LIMITED, json.dumps([100, commands])]
    done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    for command, (code, told) in zip(COMMANDS, json.loads(done.stdout), strict=True):
        assert code == 2, (command, told)
        last = told.splitlines()[-1]
        assert last.startswith("Error: "), command
        assert f"{out}/" in last, command
        assert "File too large" in last or "convert" in command, command
    assert listing(out) == before


def test_a_round_that_cannot_be_recorded_leaves_no_sheet(ready: dict[str, Path], tmp_path: Path) -> None:
    log, sheet = tmp_path / "a.labels", tmp_path / "picks.csv"
    words = ["select", str(ready["graph"]), "--budget", "3", "--log", str(log), "--out", str(sheet)]
    call = [sys.executable, "-c", LIMITED, json.dumps([8192, [words]])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(call, capture_output=True, text=True, env=environment, check=False)
    ((code, told),) = json.loads(done.stdout)
    assert code == 2, told
    assert "a.labels" in told.splitlines()[-1]
    assert not sheet.exists()
