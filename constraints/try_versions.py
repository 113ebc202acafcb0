"""Run the test suite with other versions than the pinned ones: ``make versions``, or some of them by name.

``oldest`` installs the lower bounds of pyproject.toml (``oldest.txt``), ``newest`` whatever pip finds today except for
PyTorch, which stays pinned; a number such as ``3.12`` is another Python with the versions of requirements.txt. Without
names, all of them run, with every Python from 3.11 on that is installed.
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
    r"(coverage|editables|furo|hatchling|httpx|hypothesis|kmedoids|mypy|myst-parser|openpyxl|playwright|pytest.*|ruff|sphinx)==",
    re.I,
)
"""Pins of packages that only tests need."""
DOCS = ("furo==", "myst-parser==", "Sphinx==")
"""Pins of packages that only the site needs: they require newer packages than the lower bounds."""


def pythons() -> dict[str, str]:
    """Return the supported Pythons on the path and in pyenv, by version."""
    places = os.environ.get("PATH", "").split(os.pathsep)
    found = [shutil.which(f"python3.{minor}", path=place) for place in places for minor in range(11, 20)]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found += [str(path) for path in sorted(versions.glob("3.*/bin/python"))]
    working: dict[str, str] = {}
    ask = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    for path in filter(None, found):
        answer = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        version = answer.stdout.strip()
        if answer.returncode == 0 and int(version.partition(".")[2]) >= 11:
            working.setdefault(version, path)
    return working


def requirements(which: str) -> list[str]:
    """Return the arguments of pip for one of the choices."""
    pins = [line for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() if "==" in line]
    if which not in ("oldest", "newest"):
        return pins
    kept = [pin for pin in pins if pin.startswith("torch==") or TOOLS.match(pin)]
    if which == "oldest":
        kept = [pin for pin in kept if not pin.startswith(DOCS)]
    limits = ["--constraint", str(ROOT / "constraints" / "oldest.txt")] if which == "oldest" else []
    return [*kept, *limits, f"{ROOT}[all]"]


def run_suite(which: str, python: str, arguments: list[str]) -> str:
    """Run the suite with one choice and return how it ended."""
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
        suite = [inside, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *arguments]
        done = subprocess.run(suite, cwd=ROOT, env={**os.environ, "PATH": paths}, check=False)
        return "failed" if done.returncode else "passed"


def main() -> int:
    """Run the suite with each choice."""
    choices = {"oldest": sys.executable, "newest": sys.executable, **pythons()}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="*", default=list(choices), help=f"any of {', '.join(choices)}")
    parser.add_argument("--tests", nargs="*", default=[], help="only these tests")
    asked = parser.parse_args()
    unknown = [which for which in asked.which if which not in choices]
    if unknown:
        parser.error(f"not found: {', '.join(unknown)}; choose from {', '.join(choices)}")
    ends = {which: run_suite(which, choices[which], asked.tests) for which in asked.which}
    for which, end in ends.items():
        print(f"{which}: {end}")
    return 0 if set(ends.values()) == {"passed"} else 1


if __name__ == "__main__":
    sys.exit(main())
