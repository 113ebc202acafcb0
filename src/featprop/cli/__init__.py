"""The command line: a thin shell. Options in, one call into the library, print. One file per command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featprop.cli.application import app as app

__all__ = ["app"]


def __getattr__(name: str) -> Any:
    if name == "app":
        from featprop.cli.application import load

        return load()
    raise AttributeError(f"module 'featprop.cli' has no attribute {name!r}", name=name)
