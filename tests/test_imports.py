"""Imports point to the same or a lower layer."""

import ast
from pathlib import Path

import pytest

import featprop

LAYERS = [
    [
        "cache",
        "errors",
        "progress",
        "matrix",
        "html",
        "interrupts",
        "memory",
        "options",
        "names",
        "spelling",
        "registry",
    ],
    ["adjacency", "graph", "plain", "features", "sources", "compute", "io", "datasets"],
    ["propagation", "clustering"],
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


def test_every_public_name_is_there_and_documented() -> None:
    for name in featprop.__all__:
        assert getattr(featprop, name).__doc__, name
    assert featprop.__all__ == sorted(featprop.__all__, key=lambda name: (not name.isupper(), name))
    assert set(featprop.__all__) == set(featprop._HOME)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'selct'"):
        _ = featprop.selct
