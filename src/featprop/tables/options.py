"""How a user's two tables are to be read: what the columns are called, which become features, and what edges weigh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from featprop.errors import ParameterError, unknown_choice

__all__ = ["KINDS", "REPEATED", "WEIGHTS", "TableOptions"]

KINDS = ("number", "flag", "category", "date", "text", "vector", "out")
"""What a column can be said to be."""
WEIGHTS = ("mean", "raw", "none")
REPEATED = ("max", "sum", "count")


@dataclass(frozen=True)
class TableOptions:
    """What a user says of the tables of a graph.

    Attributes
    ----------
    id, label
        The columns of the nodes that name them and their class; found by usual names if not given.
    source, target
        The columns of the edges that name their ends; found by usual names if not given.
    weight
        The column of the edges that holds their weights; the one called weight if not given.
    features
        Names or patterns (``w_*``) of the columns that become features; all that can if not given.
    columns
        What some columns are, by name: one of `KINDS`, where a look at the values would say something else.
    raw
        Take the numeric columns as they are and no others.
    weights
        ``"mean"`` divides the weights of the edges by their mean, so that their unit does not matter; ``"raw"`` takes
        them as they are; ``"none"`` ignores them.
    repeated
        What an edge weighs that is there several times: the largest of its weights (``"max"``), their sum, or how many
        there are (``"count"``).
    """

    id: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    raw: bool = False
    weights: str = "mean"
    repeated: str = "max"

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise unknown_choice("weights", self.weights, WEIGHTS)
        if self.repeated not in REPEATED:
            raise unknown_choice("repeated", self.repeated, REPEATED)
        for name, kind in self.columns.items():
            if kind not in KINDS:
                raise ParameterError(
                    f"Unknown kind of column {name!r} in `columns`: {kind!r}.",
                    hint=unknown_choice("columns", kind, KINDS).hint,
                    parameter="columns",
                    value=kind,
                    choices=sorted(KINDS),
                    column=name,
                )
        if self.raw and self.columns:
            raise ParameterError("raw", "must be left out where kinds of columns are said", "both", "choose one")
        if self.features is not None:
            named: Any = self.features
            object.__setattr__(self, "features", (named,) if isinstance(named, str) else tuple(named))

    @property
    def asked_for(self) -> set[str]:
        """What `features` names, and what is between the commas."""
        return {part.strip() for name in self.features or () for part in (name, *name.split(","))}

    def or_else(self, other: TableOptions) -> TableOptions:
        """Return these options, and those of the other where nothing is said here."""
        default = TableOptions()
        said = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return replace(other, **said)

    def to_arguments(self, *, learnt: bool = False) -> list[str]:
        """Return the words of a command line that say this; those left at their defaults are not said.

        Parameters
        ----------
        learnt
            Leave out what a model knows already.
        """
        usual, words = TableOptions(), list[str]()
        if not learnt:
            words += [word for name in self.features or () for word in ("--features", name)]
            words += [word for name, kind in self.columns.items() for word in ("--column", f"{name}={kind}")]
            words += ["--raw"] if self.raw else []
        for name in ("id", "label", "source", "target", "weight", "weights", "repeated"):
            value = getattr(self, name)
            words += [] if value in (None, getattr(usual, name)) else [f"--{name}", value]
        return words

    def to_jsonable(self) -> dict[str, Any]:
        """Return what is said, as `json` writes it."""
        default = asdict(TableOptions())
        return {name: value for name, value in asdict(self).items() if value != default[name]}

    @classmethod
    def from_jsonable(cls, said: dict[str, Any]) -> Self:
        """Return the options that `to_jsonable` wrote so."""
        options = cls(**said)
        names = (options.id, options.label, options.source, options.target, options.weight, *(options.features or ()))
        if not isinstance(options.raw, bool) or any(not isinstance(name, str | None) for name in names):
            raise ValueError("table options of another type")
        return options
