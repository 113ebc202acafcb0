"""Names that have changed: the old one works for one version and says the new one."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["renamed", "warn_of_old_name"]


def warn_of_old_name(old: str, new: str) -> None:
    """Warn the caller of whoever calls this that a name has changed."""
    warnings.warn(f"{old} is now {new}; the old name goes with version 0.3", DeprecationWarning, stacklevel=3)


def renamed(module: str, names: dict[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose old `names` lead to new ones of the same module."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_of_old_name(f"{module}.{name}", f"{module}.{names[name]}")
        return getattr(importlib.import_module(module), names[name])

    return find
