"""Without an extra, what needs it says so in one sentence, whichever of its packages is missing."""

import re
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

import featprop.models
from featprop.errors import MissingExtraError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STATED = {
    extra: [canonicalize_name(re.split(r"[>\[]", line)[0]) for line in lines]
    for extra, lines in PROJECT["optional-dependencies"].items()
    if extra != "all"
}
STATED["sql"] = ["duckdb-extension-excel"]  # each extension is for a database or a format
CASES = [(extra, package) for extra, packages in STATED.items() for package in ("all of them", *packages)]
AT_AN_ADDRESS = "from featprop.cli import app; app(['inspect', 's3://bucket/graph'])"
"""What cannot be done without fsspec; workers of this machine do without."""
Brought = Callable[..., dict[str, Distribution]]


@pytest.fixture
def told_without(
    desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[str], str], str]:
    """What code is told in a Python where modules are missing for whoever imports them or looks for them."""
    monkeypatch.chdir(desk)

    def told(missing: list[str], code: str) -> str:
        for module in missing:
            for loaded in [name for name in sys.modules if name.startswith(f"{module}.")]:
                monkeypatch.delitem(sys.modules, loaded)
            monkeypatch.setitem(sys.modules, module, None)
        for parent, name in (featprop, "transforms"), (featprop.models, "networks"):  # they import PyTorch at once
            monkeypatch.delitem(sys.modules, f"{parent.__name__}.{name}", raising=False)
            monkeypatch.delattr(parent, name, raising=False)
        try:
            exec(code, {})
        except MissingExtraError as error:
            return str(error)
        except SystemExit as stopped:
            return capsys.readouterr().err if stopped.code == 2 else f"exit code {stopped.code}"
        return "nothing"

    return told


@pytest.mark.parametrize(("extra", "package"), CASES)
def test_what_is_said_without_it(
    extra: str,
    package: str,
    doors: dict[str, str],
    brought: Brought,
    owners: dict[str, set[str]],
    told_without: Callable[[list[str], str], str],
) -> None:
    missing = (set(brought(extra)) if package in ("all of them", "featprop") else {package}) - set(brought())
    if not missing:
        assert package in brought(), "featprop needs it in any case"
        return
    modules = [module for module, names in owners.items() if missing & names]
    told = told_without(modules, doors[extra] if package != "fsspec" else AT_AN_ADDRESS)
    assert told.strip().endswith(f"pip install 'featprop[{extra}]'")


@pytest.mark.parametrize("package", ["jinja2", "matplotlib", "pandas"])
def test_report_of_experiments_names_missing_packages(
    package: str, told_without: Callable[[list[str], str], str]
) -> None:
    told = told_without([package], "from featprop.cli import app; app(['experiments', 'report', 'results'])")
    assert package in told
    assert "pip install 'featprop[demo]'" in told
