"""The package requires every package that it imports."""

import ast
import sys
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SOURCES = Path(__file__).parents[2] / "src" / "featprop"
PARTS = {
    "dask": "distributed",
    "llvmlite": "numba",
    "markupsafe": "jinja2",
    "pydantic": "fastapi",
}
"""Packages that a required package requires in the version that fits."""


def imported_packages(path: Path) -> set[str]:
    """Return the third-party packages that a file imports anywhere."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules.add(node.module or "")
    return {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"featprop"}


IMPORTED = sorted({module for path in SOURCES.rglob("*.py") for module in imported_packages(path)})


def names_required(package: Distribution) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in package.requires or ()}


@pytest.mark.parametrize("module", IMPORTED)
def test_imported_packages_are_required(
    module: str,
    built: Distribution,
    owners: dict[str, set[str]],
    required: Callable[..., dict[str, Distribution]],
) -> None:
    whole = PARTS.get(module)
    if whole is None:
        assert owners[module] & names_required(built), f"{module} is imported but not required"
        return
    assert not owners[module] & names_required(built), f"{module} is required itself"
    assert whole in names_required(built)
    assert owners[module] & names_required(required("all")[whole]), f"{whole} does not require {module}"


def test_every_exception_is_imported() -> None:
    assert PARTS.keys() <= set(IMPORTED)
