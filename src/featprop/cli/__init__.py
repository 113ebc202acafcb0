"""The command line: a thin shell. Options in, one call into the library, print. One file per command."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featprop.cli.application import app as app

__all__ = ["app", "load"]


def load(command: str = "") -> Any:
    """Return the application after importing the file of one command, or all files if none has that name."""
    names = [found.name for found in iter_modules(__path__)]
    for name in [command] if command in names else names:
        import_module(f"{__name__}.{name}")
    return import_module(f"{__name__}.application").app


def __getattr__(name: str) -> Any:
    if name == "app":
        return load()
    raise AttributeError(f"module 'featprop.cli' has no attribute {name!r}", name=name)
