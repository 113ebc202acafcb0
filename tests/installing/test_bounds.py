"""The versions that ``make versions`` tries are those that the package claims."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
UNTRIED = {"torch"}
"""The reason is in ``constraints/oldest.txt``."""


def requirements(path: Path) -> dict[str, Requirement]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(each.name): each for each in map(Requirement, lines)}


def stated_requirements() -> list[Requirement]:
    """What the package and its extras ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [each for lines in lists for each in map(Requirement, lines) if each.name != "featprop"]


def test_the_oldest_versions_are_the_lower_bounds() -> None:
    stated = stated_requirements()
    bounds = {}
    for each in stated:
        (bound,) = each.specifier
        assert bound.operator == ">=", f"{each} has a lower bound and no other"
        name = canonicalize_name(each.name)
        assert bounds.setdefault(name, Version(bound.version)) == Version(bound.version), "one bound a package"
    oldest = {name: each.specifier for name, each in requirements(ROOT / "constraints" / "oldest.txt").items()}
    assert oldest.keys() == bounds.keys() - UNTRIED
    assert all(Version(str(pin).removeprefix("==")) == bounds[name] for name, pin in oldest.items())


def test_the_pins_are_within_the_bounds() -> None:
    pins = requirements(ROOT / "requirements.txt")
    for need in stated_requirements():
        (pin,) = pins[canonicalize_name(need.name)].specifier
        assert need.specifier.contains(pin.version), need
