"""``make versions`` says of each choice how it went, and of nothing that it did not try."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

PLACE = Path(__file__).parents[2] / "constraints" / "try_versions.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script on a machine that has two Pythons."""
    spec = importlib.util.spec_from_file_location("try_versions", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "pythons", lambda: {"3.12": "python3.12", "3.13": "python3.13"})
    return module


@pytest.fixture
def say(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """What the script says to some words; the oldest versions cannot be installed, the tests fail with Python 3.13."""
    pythons: list[str] = []

    def run(command: list[object], check: bool, **_: object) -> subprocess.CompletedProcess[bytes]:
        words = " ".join(map(str, command))
        if "-m venv" in words:
            pythons.append(words.split()[0])
        fails = "oldest.txt" in words or ("-m pytest" in words and pythons[-1] == "python3.13")
        if fails and check:
            raise subprocess.CalledProcessError(1, words)
        return subprocess.CompletedProcess(words, int(fails))

    def said(*words: str) -> list[str]:
        monkeypatch.setattr(script.subprocess, "run", run)
        monkeypatch.setattr(sys, "argv", ["try_versions.py", *words])
        code = script.main()
        return [*capsys.readouterr().out.splitlines(), f"exit code {code}"]

    return said


def test_what_cannot_be_installed_is_told_and_the_others_are_tried(say: Callable[..., list[str]]) -> None:
    told = ["oldest: cannot be installed", "newest: passed", "3.12: passed", "3.13: failed", "exit code 1"]
    assert say() == told
    assert say("newest", "3.12") == ["newest: passed", "3.12: passed", "exit code 0"]


@pytest.mark.parametrize("name", ["3.14", "oldset"])
def test_what_is_not_here_is_not_tried(
    name: str, say: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        say("newest", name)
    assert f"there is no {name} here, only oldest, newest, 3.12, 3.13" in capsys.readouterr().err
