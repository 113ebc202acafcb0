"""Run the whole test suite with other versions than the pinned ones: ``make versions``, or some of them by name.

``oldest`` are the lower bounds of pyproject.toml (``oldest.txt``), ``newest`` is whatever pip finds today but for
PyTorch, which stays as pinned; a number such as ``3.12`` is another Python, with the versions of requirements.txt. All
Pythons from 3.11 on that are found on this machine are tried if none is named.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = re.compile(
    r"(coverage|editables|furo|hatchling|httpx|hypothesis|kmedoids|mypy|myst-parser|playwright|pytest.*|ruff|sphinx)==",
    re.I,
)
"""The pins of what tests need and users do not."""


def pythons() -> dict[str, str]:
    """Return the Pythons of this machine that the package is for, by version: on the path, and those of pyenv."""
    places = os.environ.get("PATH", "").split(os.pathsep)
    found = [shutil.which(f"python3.{minor}", path=place) for place in places for minor in range(11, 20)]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += [str(path) for path in sorted(versions.glob("3.*/bin/python"))]
    working: dict[str, str] = {}
    ask = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, found):
        said = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        major, _, minor = said.stdout.strip().partition(".")
        if said.returncode == 0 and (int(major), int(minor)) >= (3, 11):
            working.setdefault(said.stdout.strip(), path)
    return working


def requirements(which: str) -> list[str]:
    """Return what pip is to install for one of the choices."""
    pins = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if "==" in line]
    if which not in ("oldest", "newest"):
        return pins
    kept = [pin for pin in pins if pin.startswith("torch==") or TOOLS.match(pin)]
    limits = ["--constraint", str(ROOT / "constraints" / "oldest.txt")] if which == "oldest" else []
    return [*kept, *limits, f"{ROOT}[all]"]


def tried(which: str, python: str, arguments: list[str]) -> str:
    """Run the suite with one choice, and say how it went."""
    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder) / "bin" / "python"
        pip = [inside, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        try:
            subprocess.run([python, "-m", "venv", folder], check=True)
            subprocess.run([*pip, "--only-binary=:all:", *requirements(which)], check=True)
            subprocess.run([*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT], check=True)
        except subprocess.CalledProcessError:
            return "cannot be installed"
        paths = f"{inside.parent}{os.pathsep}{os.environ['PATH']}"
        suite = [inside, "-m", "pytest", "-n", "auto", "--dist", "loadfile", *arguments]
        done = subprocess.run(suite, cwd=ROOT, env={**os.environ, "PATH": paths}, check=False)
        return "failed" if done.returncode else "passed"


def main() -> int:
    """Try what is named."""
    choices = {"oldest": sys.executable, "newest": sys.executable, **pythons()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="*", default=list(choices), help=f"any of {', '.join(choices)}")
    parser.add_argument("--tests", nargs="*", default=[], help="these tests only")
    given = parser.parse_args()
    unknown = [which for which in given.which if which not in choices]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)} here, only {', '.join(choices)}")
    ends = {which: tried(which, choices[which], given.tests) for which in given.which}
    for which, end in ends.items():
        print(f"{which}: {end}")
    return 0 if set(ends.values()) == {"passed"} else 1


if __name__ == "__main__":
    sys.exit(main())
