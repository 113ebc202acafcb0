"""A block: one column of a table, or several that are parts of one thing, and the features it becomes."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.errors import first_five
from featprop.matrix import Features
from featprop.tables.encoders import ENCODERS, Encoder, GroupEncoder
from featprop.tables.units import unit_in, unit_in_words

__all__ = ["Block"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Block:
    """Columns that become features together.

    Attributes
    ----------
    names
        The columns: one, or those that are parts of one thing.
    encoder
        What makes numbers of them.
    scale
        What these are multiplied by.
    unit
        What numbers are in, empty for plain ones; None if that is not known, or there are no numbers.
    """

    names: tuple[str, ...]
    encoder: Encoder
    scale: float
    unit: str | None = None

    @property
    def title(self) -> str:
        """What to call it."""
        return self.names[0] if len(self.names) == 1 else f"{self.names[0]} … {self.names[-1]}"

    def tell_unread(self, columns: Sequence[pa.Array | None]) -> None:
        """Say which values cannot be read."""
        unread = self.encoder.unread(columns)
        if unread:
            log.warning("Column %s: %s: %s", self.title, self.encoder.unread_are, first_five(unread))

    def tell_units(self, columns: Sequence[pa.Array | None]) -> None:
        """Say which numbers are in another unit than those that were learnt from, or seem to be written otherwise."""
        others: dict[str, list[str]] = {}
        for name, values in zip(self.names, columns, strict=True):
            unit = None if self.unit is None or values is None else unit_in(values)
            if unit is not None and unit != self.unit:
                others.setdefault(unit, []).append(name)
        for unit, names in others.items():
            here, learnt = unit_in_words(unit), unit_in_words(str(self.unit))
            told = f"Column {names[0]} is {here} and was learnt {learnt}: write it in the unit it was learnt in"
            if len(names) > 1:
                told = f"Columns {here} that were learnt {learnt}: {first_five(names)}: write them as they were learnt"
            log.warning("%s", told)
        if told_otherwise := self.encoder.otherwise(columns):
            log.warning("Column %s %s", self.title, told_otherwise)

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return the features of a table; a damaged model makes infinite ones, which whoever takes them refuses."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.scaled(self.encoder.apply(columns, rows))

    def scaled(self, matrix: Features) -> Features:
        """Return features of the encoder as they count."""
        if self.scale == 1:
            return matrix
        found = (matrix * np.float32(self.scale)).astype(np.float32)
        return (
            found if sp.issparse(found) else np.add(found, 0, out=found)
        )  # so that -0 is 0, as where zeros are left out

    def to_jsonable(self) -> dict[str, Any]:
        """Return it as `json` writes it."""
        return {
            "columns": list(self.names),
            "kind": self.encoder.kind,
            "scale": self.scale,
            "settings": self.encoder.settings(),
        } | ({} if self.unit is None else {"unit": self.unit})

    @classmethod
    def from_jsonable(cls, said: dict[str, Any]) -> Self:
        """Return the block that `to_jsonable` wrote so; what is wrong is a ValueError, TypeError or KeyError."""
        names, settings = tuple(said["columns"]), dict(said["settings"])
        if not names or any(not isinstance(name, str) for name in names):
            raise ValueError("a block of no columns")
        if said["kind"] == GroupEncoder.kind:
            settings["names"] = names
        elif len(names) > 1:
            raise ValueError(f"{len(names)} columns that are one {said['kind']}")
        scale = float(said["scale"])
        if not (scale > 0 and np.isfinite(scale)):
            raise ValueError(f"a scale of {scale}")
        unit = said.get("unit")
        if not isinstance(unit, str | None):
            raise TypeError("a unit that is no text")
        return cls(names, ENCODERS[said["kind"]].restored(settings), scale, unit)
