"""The command line: a thin shell. Options in, one call into the library, print. Every file here is imported."""

from importlib import import_module
from pkgutil import iter_modules

from featprop.cli.app import app

__all__ = ["app"]

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
