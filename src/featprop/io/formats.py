"""The forms a graph has on disk: those of featprop, and those other packages bring (`featprop.registry`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from featprop.graph import Graph
from featprop.registry import Registry
from featprop.tables import Preparation, TableOptions

__all__ = ["FORMATS", "Format", "known_formats", "register_format"]


class Format(ABC):
    """One form a graph has on disk.

    Attributes
    ----------
    name
        Set by `register_format`.
    description
        What it is, in a few words after "must be": ``"an .npz file"``.
    has_columns
        Whether its features are columns with names, some of which can be chosen.
    """

    name: ClassVar[str] = ""
    description: ClassVar[str] = ""
    has_columns: ClassVar[bool] = False

    @abstractmethod
    def fits(self, place: Path) -> bool:
        """Say by a quick look whether this is the format of a file or folder; there may be nothing at `place`."""

    @abstractmethod
    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:
        """Read the graph.

        Parameters
        ----------
        options
            What the user says of its tables; nothing without `has_columns`.
        preparation
            How its columns become features, where a model learnt that before; a graph without columns has no use for
            it.
        """


FORMATS: Registry[Format] = Registry(
    "format",
    Format,
    "featprop.formats",
    {
        "native": "featprop.io.native:Native",
        "npz": "featprop.io.npz:Npz",
        "tables": "featprop.io.folder:Tables",
        "workbook": "featprop.io.folder:Workbook",
    },
)

register_format = FORMATS.register


def known_formats() -> str:
    """Say what a graph on disk may be, for messages."""
    known = {*FORMATS.built_in, *FORMATS.classes}
    described = [FORMATS.find(name).description if name in known else f"the format {name}" for name in FORMATS.names()]
    return f"{', '.join(described[:-1])} or {described[-1]}"
