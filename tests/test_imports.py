"""Imports point to the same or a lower layer."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import featprop

LAYERS = [
    ["errors", "files", "progress", "matrix", "html", "options", "resources", "ids"],
    ["adjacency", "graph", "features", "sources", "datasets"],
    ["compute", "propagation", "clustering"],
    ["strategies", "models"],
    ["labels", "evaluate", "active", "transforms"],
    ["web", "experiments", "cli", "__main__"],
]
LAYER = {name: layer for layer, names in enumerate(LAYERS) for name in names}
ROOT = Path(featprop.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def packages_imported(path: Path) -> set[str]:
    """Every package named by an import anywhere in the file, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("featprop.")} & LAYER.keys()
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_do_not_point_upwards(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for imported in packages_imported(path):
        assert LAYER[imported] <= LAYER[package], f"{package} must not import {imported}"


@pytest.mark.parametrize("package", ["active", "clustering", "compute", "labels", "propagation", "strategies"])
def test_pytorch_is_for_models_only(package: str) -> None:
    for path in (ROOT / package).glob("*.py"):
        assert not re.search(r"^\s*(import|from) torch", path.read_text(encoding="utf-8"), re.MULTILINE), path


def test_public_names_are_documented() -> None:
    for name in featprop.__all__:
        assert getattr(featprop, name).__doc__, name
    assert set(featprop.__all__) <= set(dir(featprop))
    assert len(featprop.__all__) <= 18


def test_unknown_name_is_an_attribute_error() -> None:
    for module in (featprop, featprop.strategies, featprop.models):
        with pytest.raises(AttributeError) as caught:
            _ = module.selct
        assert caught.value.name == "selct"


def test_one_strategy_loads_no_other() -> None:
    code = "import sys, featprop as fp; fp.strategies.get_strategy('random'); print(list(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in ast.literal_eval(done.stdout) if name.startswith("featprop")}
    assert "featprop.strategies.age" not in loaded
    assert len(loaded) <= 60
