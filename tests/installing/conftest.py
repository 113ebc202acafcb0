"""The wheel of this checkout, the packages that it requires, and a folder to try it in."""

import functools
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from importlib.metadata import Distribution, PathDistribution, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers import load_script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def dist_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build sdist and wheel as ``make dist`` does, or return the folder in which it has just built them."""
    if "FEATPROP_DIST" in os.environ:
        return ROOT / os.environ["FEATPROP_DIST"]
    folder = tmp_path_factory.mktemp("dist")
    hatchling = [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", folder]
    subprocess.run(hatchling, cwd=ROOT, check=True, capture_output=True)
    (sdist,) = folder.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, sdist]
    subprocess.run(pip, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def wheel(dist_folder: Path) -> Path:
    """Return the path of the wheel."""
    (found,) = dist_folder.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def built(wheel: Path) -> Distribution:
    """Return the metadata of the wheel."""
    (folder,) = [each for each in zipfile.Path(wheel).iterdir() if each.name.endswith(".dist-info")]
    return PathDistribution(folder)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def owners() -> dict[str, set[str]]:
    """Return the installed distributions that provide each module."""
    return {module: set(map(canonicalize_name, names)) for module, names in packages_distributions().items()}


@pytest.fixture(scope="session")
def required(built: Distribution) -> Callable[..., dict[str, Distribution]]:
    """Return a function that lists all distributions that pip installs with featprop and some of its extras."""

    @functools.cache
    def walk(*extras: str) -> dict[str, Distribution]:
        found: dict[str, Distribution] = {}
        seen = set()
        waiting = [("featprop", frozenset(extras))]
        while waiting:
            name, wanted = current = waiting.pop()
            if current not in seen:
                seen.add(current)
                found[name] = built if name == "featprop" else distribution(name)
                needs = requirements_of(found[name], wanted)
                waiting += [(canonicalize_name(need.name), frozenset(need.extras)) for need in needs]
        return {name: each for name, each in found.items() if name != "featprop"}

    return walk


def requirements_of(package: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """Return the requirements of a distribution that apply on this machine."""
    return [
        need
        for need in map(Requirement, package.requires or ())
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def command(line: str) -> str:
    """Return code that runs a command line."""
    return f"from featprop.cli import app; app({line.split()!r})"


@pytest.fixture(scope="session")
def uses() -> dict[str, str]:
    """Return code that needs each extra, to run in `accounts_folder`."""
    read = "import featprop as fp; graph = fp.read_graph('my-graph'); "
    return {
        "cluster": command("select my-graph --budget 5 --compute workers=2 --out cluster.csv"),
        "demo": command("demo --out demo --seeds 1"),
        "sql": command("train my-graph --labels given.xlsx --out excel.safetensors"),
        "label": command("label my-graph --labels new.labels --classes fraud,ok --no-browser --port 0"),
        "networkx": f"{read}assert len(graph.to_networkx()) == 1000",
        "pandas": f"{read}assert len(fp.select(graph, 3, strategy='random').to_frame()) == 3",
        "pyg": f"{read}assert fp.FeatPropSplit(budget=3, strategy='random')(graph.to_pyg()).train_mask.sum() == 3",
        "report": command("report my-graph --labels given.csv --out given.html"),
        "train": command("train my-graph --labels given.csv --model gcn --out gcn.safetensors"),
    }


@pytest.fixture(scope="session")
def accounts_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a graph of 1,000 accounts, 40 labels as a sheet and as a workbook, and all true labels."""
    folder = tmp_path_factory.mktemp("accounts")
    nodes, edges, truth = load_script(ROOT / "examples" / "accounts.py").made_tables()
    (folder / "my-graph").mkdir()
    nodes.to_csv(folder / "my-graph" / "nodes.csv", index=False)
    edges.to_csv(folder / "my-graph" / "edges.csv", index=False)
    labels = nodes[["id"]].assign(label=nodes["id"].map(truth))
    labels.to_csv(folder / "truth.csv", index=False)
    labels[::25].to_csv(folder / "given.csv", index=False)
    labels[::25].to_excel(folder / "given.xlsx", index=False)
    return folder
