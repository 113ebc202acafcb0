"""Why a mutant may survive: `survivors.toml`, looked at by a person.

An entry names the file, the line and the change as the run prints them; without a change it holds for every change of
that line. `tests/mutants/` fails when the line or the change is no longer there.
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
    """Why some changes of a line are noticed by no test."""

    module: str
    line: str
    reason: str
    change: str | None = None

    def fits(self, mutant: Mutant) -> bool:
        """Say whether it is the reason of a mutant."""
        return (mutant.module, mutant.line) == (self.module, self.line) and self.change in (None, mutant.told)


def read_reasons(path: Path = WRITTEN) -> list[Reason]:
    """Return what is written down."""
    with path.open("rb") as file:
        return [Reason(**each) for each in tomllib.load(file).get("survivor", [])]
