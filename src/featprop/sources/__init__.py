"""Graphs from files, databases and objects: every table comes through one DuckDB connection."""

from featprop.sources.description import GraphDescription
from featprop.sources.reading import GraphLike, as_graph, read_graph

__all__ = ["GraphDescription", "GraphLike", "as_graph", "read_graph"]
