"""Graphs from files, databases and objects: every table comes through one DuckDB connection."""

from featprop.sources.description import GraphDescription
from featprop.sources.reading import read_graph

__all__ = ["GraphDescription", "read_graph"]
