"""The wheel holds the package and nothing else; the sdist holds what it takes to build and test it."""

import subprocess
import tarfile
import tomllib
import zipfile
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

import pytest

from featprop import __version__

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "featprop"
LARGEST = 10_000_000
"""Bytes of an sdist: code, pages and the lines that tables are made of, no graphs."""


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    described = f"featprop-{__version__}.dist-info"
    files = [path for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    expected = {f"featprop/{path.relative_to(SOURCES).as_posix()}" for path in files}
    assert {
        f"featprop/{name}" for name in ("py.typed", "web/page/static/page.js", "web/report/report.html.j2")
    } < expected
    metadata = {f"{described}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt")}
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == expected | metadata | {f"{described}/licenses/LICENSE"}


def test_nothing_but_code_and_what_pages_are_made_of_is_in_the_package() -> None:
    kinds = {path.suffix for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert kinds == {".py", ".typed", ".j2", ".css", ".js", ".svg", ".txt"}


def test_the_sdist_holds_what_building_and_testing_need_and_is_small(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    assert sdist.stat().st_size < LARGEST
    with tarfile.open(sdist) as archive:
        names = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "Makefile", "requirements.txt", "constraints/oldest.txt"} < names
    tops = {name.split("/")[0] for name in names if "/" in name}
    assert tops == {
        ".ci", ".github", "benchmarks", "constraints", "crash", "docs", "examples", "experiments", "fuzz", "mutants",
        "src", "tests",
    }  # fmt: skip
    if not (ROOT / ".git").exists():
        pytest.skip("no git here to say which files there are")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    there = {name for name in listed.splitlines() if (ROOT / name).exists()}
    assert there <= names, "every file of the repository"


def test_what_the_wheel_says_of_itself(ours: Distribution) -> None:
    said = ours.metadata
    assert said["Version"] == __version__
    assert (said["License-Expression"], said["Requires-Python"]) == ("MIT", ">=3.11")
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert [point.value for point in ours.entry_points] == ["featprop.__main__:main"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(said.get_all("Provides-Extra", [])) == set(project["optional-dependencies"])
    parts = set(project["optional-dependencies"]) - {"all"}
    assert project["optional-dependencies"]["all"] == [f"featprop[{','.join(sorted(parts))}]"]
