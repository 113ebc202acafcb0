"""The wheel contains the package and nothing else; the sdist contains all that building and testing need."""

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
MAX_SDIST_BYTES = 10_000_000


def test_wheel_contains_the_package_and_nothing_else(wheel: Path) -> None:
    info = f"featprop-{__version__}.dist-info"
    files = [path for path in SOURCES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.suffix for path in files} == {".py", ".typed", ".j2", ".css", ".csv", ".js", ".svg", ".txt"}
    expected = {f"featprop/{path.relative_to(SOURCES).as_posix()}" for path in files}
    assert "featprop/py.typed" in expected
    expected |= {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == expected


def test_sdist_contains_all_files_of_the_repository_and_is_small(dist_folder: Path) -> None:
    (sdist,) = dist_folder.glob("*.tar.gz")
    assert sdist.stat().st_size < MAX_SDIST_BYTES
    with tarfile.open(sdist) as archive:
        names = {str(PurePosixPath(*PurePosixPath(name).parts[1:])) for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "Makefile", "requirements.txt", "constraints/oldest.txt"} < names
    assert {name.split("/")[0] for name in names if "/" in name} == {
        ".ci", ".github", "benchmarks", "constraints", "crash", "docs", "examples", "experiments", "fuzz", "mutants",
        "src", "tests",
    }  # fmt: skip
    if not (ROOT / ".git").exists():
        pytest.skip("no git repository that lists the files")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {name for name in listed.splitlines() if (ROOT / name).exists()} <= names


def test_metadata(built: Distribution) -> None:
    metadata = built.metadata
    assert metadata["Version"] == __version__
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("MIT", ">=3.11")
    assert "Typing :: Typed" in metadata.get_all("Classifier", [])
    assert [point.value for point in built.entry_points] == ["featprop.__main__:main"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(metadata.get_all("Provides-Extra", [])) == set(extras)
    assert extras["all"] == [f"featprop[{','.join(sorted(set(extras) - {'all'}))}]"]
