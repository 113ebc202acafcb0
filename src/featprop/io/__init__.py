"""Files in and out: graphs, labelling sheets, predictions."""

from featprop.io.reading import read_graph

__all__ = ["read_graph"]
