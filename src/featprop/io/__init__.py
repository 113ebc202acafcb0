"""Files in and out: graphs, labelling sheets, predictions. Every file here is imported."""

from importlib import import_module
from pkgutil import iter_modules

from featprop.io.formats import Format, register_format
from featprop.io.reading import read_graph

__all__ = ["Format", "read_graph", "register_format"]

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
