"""What pip gets: the wheel of this checkout, and what comes with it by the requirements it states."""

import functools
import importlib.util
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

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel made of it: what ``make dist`` has just built, else built the same way."""
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
def owners() -> dict[str, set[str]]:
    """The distributions installed here that have a module of each name."""
    return {module: set(map(canonicalize_name, names)) for module, names in packages_distributions().items()}


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    """The wheel."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def ours(wheel: Path) -> Distribution:
    """What the wheel says of itself."""
    (described,) = [each for each in zipfile.Path(wheel).iterdir() if each.name.endswith(".dist-info")]
    return PathDistribution(described)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def brought(ours: Distribution) -> Callable[..., dict[str, Distribution]]:
    """Every distribution that pip installs beside featprop for some of its extras, as they are installed here."""

    @functools.cache
    def walk(*extras: str) -> dict[str, Distribution]:
        found: dict[str, Distribution] = {}
        seen = set()
        waiting = [("featprop", frozenset(extras))]
        while waiting:
            asked = waiting.pop()
            if asked not in seen:
                seen.add(asked)
                name, wanted = asked
                found[name] = ours if name == "featprop" else distribution(name)
                waiting += [
                    (canonicalize_name(need.name), frozenset(need.extras)) for need in needs(found[name], wanted)
                ]
        return {name: each for name, each in found.items() if name != "featprop"}

    return walk


def needs(whom: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """The requirements of a distribution that hold on this machine."""
    stated = [Requirement(text) for text in whom.requires or ()]
    return [
        each
        for each in stated
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def command(line: str) -> str:
    """Code that does what a command line does."""
    return f"from featprop.cli import app; app({line.split()!r})"


@pytest.fixture(scope="session")
def doors() -> dict[str, str]:
    """What cannot be done without an extra, for each of them, in the folder of `desk`."""
    read = "import featprop as fp; graph = fp.read_graph('my-graph'); "
    return {
        "cluster": command("select my-graph --budget 5 --compute workers=2 --out cluster.csv"),
        "demo": command("demo --out demo --seeds 1"),
        "sql": command("train my-graph --labels given.xlsx --out excel.safetensors"),
        "label": command("label my-graph --labels door.labels --classes fraud,ok --no-browser --port 0"),
        "networkx": f"{read}assert len(graph.to_networkx()) == 1000",
        "pandas": f"{read}assert len(fp.select(graph, 3, strategy='random').to_frame()) == 3",
        "pyg": f"{read}assert fp.FeatPropSplit(budget=3, strategy='random')(graph.to_pyg()).train_mask.sum() == 3",
        "report": command("report my-graph --labels given.csv --out door.html"),
        "train": command("train my-graph --labels given.csv --model gcn --out gcn.safetensors"),
    }


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph of 1,000 accounts and labels of 40, as a sheet and as a workbook; the truth beside them."""
    folder = tmp_path_factory.mktemp("desk")
    spec = importlib.util.spec_from_file_location("accounts", ROOT / "examples" / "accounts.py")
    assert spec is not None
    assert spec.loader is not None
    accounts = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(accounts)
    nodes, edges, truth = accounts.made_tables()
    (folder / "my-graph").mkdir()
    nodes.to_csv(folder / "my-graph" / "nodes.csv", index=False)
    edges.to_csv(folder / "my-graph" / "edges.csv", index=False)
    sheet = nodes[["id"]][::25].assign(label=nodes["id"].map(truth))
    sheet.to_csv(folder / "given.csv", index=False)
    nodes[["id"]].assign(label=nodes["id"].map(truth)).to_csv(folder / "truth.csv", index=False)
    sheet.to_excel(folder / "given.xlsx", index=False)
    return folder
