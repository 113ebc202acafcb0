"""What a folder holds that is not ours to replace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from featprop.io.atomic import WORKSPACE

__all__ = ["foreign_entries"]

LITTER = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
"""Files that file managers leave in every folder they show, in small letters."""


def foreign_entries(folder: Path, own: Iterable[str]) -> list[str]:
    """Return the names in a folder, sorted, but for `own`, what is being written and what file managers leave."""
    names = {entry.name for entry in folder.iterdir()} - set(own)
    return sorted(name for name in names if name.lower() not in LITTER and not name.startswith(("._", WORKSPACE)))
