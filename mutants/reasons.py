"""Reviewed survivors, from `survivors.toml`.

An entry names the file, the line and the change as the campaign prints them; without a change it holds for every change
of that line. `tests/mutants/` fails when the line or the change no longer exists.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutants.changes import Mutant

__all__ = ["Reason", "read_reasons"]

WRITTEN = Path(__file__).parent / "survivors.toml"


@dataclass(frozen=True)
class Reason:
    """Reason why tests need not detect changes of a line."""

    module: str
    line: str
    reason: str
    change: str | None = None

    def fits(self, mutant: Mutant) -> bool:
        """Return whether this is the reason of a mutant."""
        return (mutant.module, mutant.line) == (self.module, self.line) and self.change in (None, mutant.told)


def read_reasons(path: Path = WRITTEN) -> list[Reason]:
    """Read the reviewed survivors."""
    with path.open("rb") as file:
        return [Reason(**each) for each in tomllib.load(file).get("survivor", [])]
