"""``make versions`` tries the versions that the package claims."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
UNTRIED = {"torch"}
"""The reason is in ``constraints/oldest.txt``."""


def read_pins(path: Path) -> dict[str, Version]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    pins = [(Requirement(line).name, str(Requirement(line).specifier)) for line in lines]
    return {canonicalize_name(name): Version(pin.removeprefix("==")) for name, pin in pins}


def project_requirements() -> list[Requirement]:
    """Return what the package and its extras require."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return [need for lines in lists for need in map(Requirement, lines) if need.name != "featprop"]


def test_oldest_versions_are_the_lower_bounds() -> None:
    bounds: dict[str, Version] = {}
    for need in project_requirements():
        (bound,) = need.specifier
        assert bound.operator == ">=", f"{need} has a lower bound and no other"
        name = canonicalize_name(need.name)
        assert bounds.setdefault(name, Version(bound.version)) == Version(bound.version), "one bound per package"
    assert read_pins(ROOT / "constraints" / "oldest.txt") == {
        name: bound for name, bound in bounds.items() if name not in UNTRIED
    }


def test_pins_are_within_the_bounds() -> None:
    pins = read_pins(ROOT / "requirements.txt")
    for need in project_requirements():
        assert need.specifier.contains(pins[canonicalize_name(need.name)]), need
