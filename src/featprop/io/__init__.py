"""Read and write files: graphs, labelling sheets, predictions."""

from featprop.io.formats import Format, register_format
from featprop.io.reading import read_graph

__all__ = ["Format", "read_graph", "register_format"]
