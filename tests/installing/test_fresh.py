"""The wheel alone in a fresh environment, outside the checkout: ``make dist`` runs this, with the network.

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
EXTRA = re.compile(r"pip install 'featprop\[([a-z]+)\]'\s*$")
WARNED = re.compile(r"/featprop/\S+\.py:\d+: \w*Warning: ")
PRELUDE = """
import csv
import featprop as fp
with open("truth.csv") as file:
    ask_a_person = {row["id"]: row["label"] for row in csv.DictReader(file)}.__getitem__
graph = fp.read_graph("my-graph/")
"""


class Environment:
    """A working folder, and a Python environment with featprop and at most one of its extras."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self.python = folder, python
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FEATPROP"))}
        self.variables = {**kept, "FEATPROP_CACHE": str(folder / "cache")}

    def run(self, *words: str) -> str:
        """Run Python and return the missing extra, or nothing after success; a labelling page is stopped at once."""
        with (
            (self.folder / "errors.txt").open("w", encoding="utf-8") as errors,
            subprocess.Popen(
                [self.python, *words],
                cwd=self.folder,
                env=self.variables,
                text=True,
                stdout=subprocess.PIPE,
                stderr=errors,
            ) as process,
        ):
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("http://"):
                    process.send_signal(signal.SIGINT)
        message = (self.folder / "errors.txt").read_text(encoding="utf-8")
        missing = EXTRA.search(message)
        assert process.returncode == 0 or missing, (words, message)
        assert not WARNED.search(message), (words, message)
        return missing[1] if missing and process.returncode else ""


@pytest.fixture(params=EXTRAS, ids=lambda extra: extra or "none")
def extra(request: pytest.FixtureRequest) -> str:
    """Return the only extra that is installed, if any."""
    return str(request.param)


@pytest.fixture
def fresh(extra: str, wheel: Path, accounts_folder: Path, tmp_path: Path) -> Environment:
    """Install the wheel and one extra into a new environment, next to tables to work on."""
    folder = tmp_path / "work"
    shutil.copytree(accounts_folder, folder)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pins = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    (tmp_path / "torch.txt").write_text("".join(f"{pin}\n" for pin in pins if pin.startswith("torch==")))
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    command = [python, "-m", "pip", "install", "--quiet", "--constraint", tmp_path / "torch.txt", wanted]
    subprocess.run(command, check=True, cwd=folder)
    return Environment(folder, python)


def test_readme_and_extra(extra: str, fresh: Environment, uses: dict[str, str]) -> None:
    location = f"import featprop, sys; assert featprop.__file__.startswith({str(fresh.python.parents[1])!r})"
    assert fresh.run("-W", "error", "-c", location) == ""
    refused = [name for name, code in uses.items() if fresh.run("-c", code)]
    assert extra not in refused
    assert extra or sorted(refused) == EXTRAS[1:], "without extras, each is requested"
    ran = 0
    for language, block in re.findall(r"```(bash|sh|python)\n(.*?)```", README, flags=re.DOTALL):
        if language == "python":
            (fresh.folder / "model.safetensors").unlink(missing_ok=True)  # the commands have written one too
            needs_pyg = "torch_geometric" in block
            if not needs_pyg or extra == "pyg":
                assert fresh.run("-c", PRELUDE + block) == ""
                ran += 1
            continue
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["featprop"]:
                missing = fresh.run("-m", *words, *(["--no-browser", "--port", "0"] if "label" in words else []))
                assert missing != extra or not missing, line
                assert not missing or language == "sh", f"{line} needs no extra"
                fill(fresh.folder)
                ran += 1
    assert ran >= 8


def fill(folder: Path) -> None:
    """Fill the sheets with the true labels."""
    truth = pd.read_csv(folder / "truth.csv").set_index("id")["label"]
    for name in ("picks.csv", "more.csv"):
        if (folder / name).exists():
            sheet = pd.read_csv(folder / name, dtype={"label": str})
            sheet["label"] = sheet["id"].map(truth)
            sheet.to_csv(folder / name, index=False)
