"""What package an object is from, without importing that package: it may not be installed."""

from __future__ import annotations

from typing import Any

__all__ = ["is_a", "package_of"]


def is_a(thing: Any, package: str, name: str) -> bool:
    """Say whether the object is of a class of that name in that package, or of one derived from it."""
    return any(kind.__name__ == name and kind.__module__.split(".")[0] == package for kind in type(thing).__mro__)


def package_of(thing: Any) -> str:
    """Return the name of the package that the class of the object is from."""
    return type(thing).__module__.split(".")[0]
