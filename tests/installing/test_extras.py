"""Code that needs an extra says how to install it, whichever of its packages is missing."""

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
PACKAGES = {
    extra: [canonicalize_name(re.split(r"[>\[]", line)[0]) for line in lines]
    for extra, lines in PROJECT["optional-dependencies"].items()
    if extra != "all"
}
PACKAGES["sql"] = ["duckdb-extension-excel"]  # each extension is for a database or a format
CASES = [(extra, package) for extra, packages in PACKAGES.items() for package in ("all of them", *packages)]


@pytest.fixture
def message_without(
    accounts_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[list[str], str], str]:
    """Return the function that runs code without some modules and returns the error message."""
    monkeypatch.chdir(accounts_folder)

    def run(missing: list[str], code: str) -> str:
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

    return run


@pytest.mark.parametrize(("extra", "package"), CASES)
def test_message_without_an_extra(
    extra: str,
    package: str,
    uses: dict[str, str],
    required: Callable[..., dict[str, Distribution]],
    owners: dict[str, set[str]],
    message_without: Callable[[list[str], str], str],
) -> None:
    missing = (set(required(extra)) if package in ("all of them", "featprop") else {package}) - set(required())
    if not missing:
        assert package in required(), "featprop itself requires it"
        return
    modules = [module for module, names in owners.items() if missing & names]
    message = message_without(modules, uses[extra])
    assert message.strip().endswith(f"pip install 'featprop[{extra}]'")
