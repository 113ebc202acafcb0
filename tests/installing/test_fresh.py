"""The wheel alone, in an environment of its own, far from the checkout: ``make dist`` runs this, with the network.

Without extras, every command of the README works or names the extra it needs; with an extra, what needs it works.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tomllib
import venv
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.fresh
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ["", *sorted(set(PROJECT["optional-dependencies"]) - {"all"})]
TOLD = re.compile(r"pip install 'featprop\[([a-z]+)\]'\s*$")
PRELUDE = """
import csv
import featprop as fp
with open("truth.csv") as file:
    ask_a_person = {row["id"]: row["label"] for row in csv.DictReader(file)}.__getitem__
graph = fp.read_graph("my-graph/")
"""


class Desk:
    """Somebody with a folder and an environment that has featprop and one of its extras."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self.python = folder, python
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FEATPROP"))}
        self.environment = {**kept, "FEATPROP_CACHE": str(folder / "cache")}

    def run(self, *words: str) -> str:
        """Run Python; return the extra that is missing, nothing if it went well. The labelling page is left at once."""
        with (
            (self.folder / "said").open("w", encoding="utf-8") as errors,
            subprocess.Popen(
                [self.python, *words],
                cwd=self.folder,
                env=self.environment,
                text=True,
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("http://"):
                    process.send_signal(signal.SIGINT)
        said = (self.folder / "said").read_text(encoding="utf-8")
        told = TOLD.search(said)
        assert process.returncode == 0 or told, (words, said)
        return told[1] if told and process.returncode else ""


@pytest.fixture(params=EXTRAS, ids=lambda extra: extra or "none")
def extra(request: pytest.FixtureRequest) -> str:
    """The only extra that is installed, if any."""
    return str(request.param)


@pytest.fixture
def fresh(extra: str, wheel: Path, desk: Path, tmp_path: Path) -> Desk:
    """A new environment with the wheel and one extra, and tables to work on."""
    folder = tmp_path / "work"
    shutil.copytree(desk, folder)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "torch.txt").write_text("".join(f"{pin}\n" for pin in pins if pin.startswith("torch==")))
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    command = [python, "-m", "pip", "install", "--quiet", "--constraint", tmp_path / "torch.txt", wanted]
    subprocess.run(command, check=True, cwd=folder)
    return Desk(folder, python)


def test_the_readme_and_what_the_extra_is_for(extra: str, fresh: Desk, doors: dict[str, str]) -> None:
    place = f"import featprop, sys; assert featprop.__file__.startswith({str(fresh.python.parents[1])!r})"
    assert fresh.run("-W", "error", "-c", place) == ""
    refused = [name for name, code in doors.items() if fresh.run("-c", code)]
    assert extra not in refused
    assert extra or sorted(refused) == EXTRAS[1:], "without extras each of them is asked for"
    done = 0
    for language, block in re.findall(r"```(bash|sh|python)\n(.*?)```", README, flags=re.DOTALL):
        if language == "python":
            needs_pyg = "torch_geometric" in block
            if not needs_pyg or extra == "pyg":
                assert fresh.run("-c", PRELUDE + block) == ""
                done += 1
            continue
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["featprop"]:
                missing = fresh.run("-m", *words, *(["--no-browser", "--port", "0"] if "label" in words else []))
                assert missing != extra or not missing, line
                assert not missing or language == "sh", f"{line} needs no extra"
                fill(fresh.folder)
                done += 1
    assert done >= 8


def fill(folder: Path) -> None:
    """Do what the person does: fill the sheets."""
    truth = pd.read_csv(folder / "truth.csv").set_index("id")["label"]
    for name in ("picks.csv", "more.csv"):
        if (folder / name).exists():
            sheet = pd.read_csv(folder / name, dtype={"label": str})
            sheet["label"] = sheet["id"].map(truth)
            sheet.to_csv(folder / name, index=False)
