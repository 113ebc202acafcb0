"""A case: one command line, and what it may read, write and change."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

__all__ = ["TARGETS", "Case", "Make", "target", "targets"]


@dataclass
class Case:
    """A command to run in a folder that holds its inputs.

    Attributes
    ----------
    words
        The words after ``featprop``.
    outputs
        The names in the folder that may appear where the answer is one.
    changes
        The names in the folder whose content the command may change: a label log, a folder of rounds.
    codes
        The exit codes of an answer; 2 is that of a sentence, unless there is a `talk`.
    environment
        Variables for the command.
    check
        What must hold of an answer; returns what does not.
    talk
        What to do while the command runs, given its process, the folder and the file of its standard output: a server
        is spoken to and ended by it.
    """

    words: list[str]
    outputs: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    codes: tuple[int, ...] = (0,)
    environment: dict[str, str] = field(default_factory=dict)
    check: Callable[[Path], list[str]] | None = None
    talk: Callable[[int, Path, Path], list[str]] | None = None


Make = Callable[[random.Random, Path, Path], Case]
"""Makes a case of a source of chance, the folder of valid inputs and the folder of the case."""

TARGETS: dict[str, tuple[Make, int]] = {}
"""What makes the cases of each target, and how many of a hundred or so are its."""


def target(name: str, share: int) -> Callable[[Make], Make]:
    """Register what makes the cases of a target."""

    def registered(make: Make) -> Make:
        TARGETS[name] = make, share
        return make

    return registered


def targets() -> dict[str, tuple[Make, int]]:
    """Return all targets by name."""
    from fuzz import targets as folder

    for found in iter_modules(folder.__path__):
        import_module(f"{folder.__name__}.{found.name}")
    return dict(sorted(TARGETS.items()))
