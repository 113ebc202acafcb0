"""One process at a time has a label log: a server has what people said in memory, and sees nothing that others add."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featprop.errors import FileError
from featprop.io.locks import held_lock

__all__ = ["alone_with"]


@contextmanager
def alone_with(path: Path, cure: str) -> Iterator[Path]:
    """Keep other servers and imports from a label log for the length of the block; yields where it really is.

    Parameters
    ----------
    path
        The log; a link and what it leads to are one.
    cure
        What somebody can do where another process has it.
    """
    place = path.resolve()
    if not place.parent.is_dir():
        rule, cure = "must be a label log that can be read and written", "make the folder, or choose another place"
        raise FileError(f"{path}", rule, "no such folder", cure)
    with held_lock(place.with_name(f"{place.name}.lock"), f"{path}", "must be at one server at a time", cure):
        yield place
