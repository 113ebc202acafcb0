"""Imports point one way: each stage may use the earlier ones only."""

import ast
from pathlib import Path

import pytest

import featprop

ORDER = [
    ["cache", "errors", "progress", "matrix", "html", "interrupts"],
    ["memory"],
    ["options", "names", "spelling"],
    ["registry"],
    ["tables"],
    ["interop"],
    ["adjacency"],
    ["blocks"],
    ["graph"],
    ["io"],
    ["datasets"],
    ["distances"],
    ["propagation"],
    ["clustering"],
    ["strategies"],
    ["models"],
    ["labelling"],
    ["estimates"],
    ["selection"],
    ["transforms"],
    ["drawing"],
    ["page"],
    ["reporting"],
    ["experiments"],
    ["cli"],
    ["__main__"],
]
RANK = {stage: rank for rank, stages in enumerate(ORDER) for stage in stages}
ROOT = Path(featprop.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def stages_imported(path: Path) -> set[str]:
    """Every stage named by an import anywhere in the file, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("featprop.")} & RANK.keys()
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_from_its_own_and_earlier_stages(path: Path) -> None:
    stage = path.relative_to(ROOT).parts[0].removesuffix(".py")
    own = RANK[stage]
    for imported in stages_imported(path):
        assert imported == stage or RANK[imported] < own, f"{stage} must not import {imported}"


def test_every_public_name_is_there_and_documented() -> None:
    for name in featprop.__all__:
        assert getattr(featprop, name).__doc__, name
    assert featprop.__all__ == sorted(featprop.__all__, key=lambda name: (not name.isupper(), name))
    assert set(featprop.__all__) == set(featprop._HOME)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'selct'"):
        _ = featprop.selct
