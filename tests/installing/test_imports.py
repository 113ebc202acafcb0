"""What the package imports is what it asks for."""

import ast
import sys
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SOURCES = Path(__file__).parents[2] / "src" / "featprop"
BROUGHT = {
    "dask": "distributed",
    "markupsafe": "jinja2",
    "pydantic": "fastapi",
    "starlette": "fastapi",
}
"""Packages that are parts of others which are asked for: each of those says which version of its part it works with."""


def imported(path: Path) -> set[str]:
    """Return the packages of others that a file imports, wherever in it."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules.add(node.module or "")
    return {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"featprop"}


IMPORTED = sorted({module for path in SOURCES.rglob("*.py") for module in imported(path)})


@pytest.fixture(scope="session")
def stated(ours: Distribution) -> set[str]:
    """What the wheel and its extras ask for."""
    return {canonicalize_name(Requirement(line).name) for line in ours.requires or ()}


@pytest.mark.parametrize("module", IMPORTED)
def test_what_is_imported_is_asked_for(
    module: str, stated: set[str], owners: dict[str, set[str]], brought: Callable[..., dict[str, Distribution]]
) -> None:
    whole = BROUGHT.get(module)
    if whole is None:
        assert owners[module] & stated, f"{module} is imported, and neither the package nor an extra asks for it"
        return
    assert not owners[module] & stated, f"{module} is asked for by itself"
    needs = {canonicalize_name(Requirement(line).name) for line in brought("all")[whole].requires or ()}
    assert whole in stated
    assert owners[module] & needs, f"{whole} does not bring {module}"


def test_the_table_holds_nothing_that_is_not_imported() -> None:
    assert BROUGHT.keys() <= set(IMPORTED)
