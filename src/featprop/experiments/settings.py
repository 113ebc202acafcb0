"""What to run: data sets, strategies, budgets, seeds and models, from options or from a TOML file.

.. code-block:: toml

    title = "Macro-F1 of a GCN"
    datasets = ["cora", "citeseer", "pubmed", "corafull"]
    strategies = ["random", "featprop", "coreset-mip"]
    models = ["gcn"]
    seeds = 5

    [stand-ins]                  # in place of a data set that cannot be had
    corafull = "coauthor-cs"

    [only]                       # a strategy on some of the data sets
    coreset-mip = ["cora", "citeseer"]

    [options.coreset-mip]        # options of a strategy
    time_limit = 60
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from featprop.errors import FileError, ParameterError, reason, unknown_choice
from featprop.experiments.paper import BUDGETS
from featprop.strategies import available, get_strategy

__all__ = ["MODELS", "Settings", "read_settings"]

MODELS = ("gcn", "sgc")
INITIAL_POOL = 5
"""Nodes drawn at random that a strategy with a model starts from."""


@dataclass(frozen=True)
class Settings:
    """What to run; checked when it is made.

    Attributes
    ----------
    datasets
        Names of data sets or paths of graphs with labels.
    strategies
        Names of strategies.
    title
        What the results are for.
    models
        ``"gcn"``, ``"sgc"`` or both.
    budgets
        Numbers of labelled nodes, ascending.
    seeds
        How many; they are 0, 1, 2, …
    epochs
        Of every training.
    stand_ins
        The data set to take in place of one that cannot be had.
    only
        The data sets of a strategy that is not run on all.
    options
        Options of strategies that differ from the default.
    """

    datasets: Sequence[str]
    strategies: Sequence[str]
    title: str = ""
    models: Sequence[str] = ("gcn",)
    budgets: Sequence[int] = BUDGETS
    seeds: int = 5
    epochs: int = 200
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = available()
        for name in [*self.strategies, *self.only, *self.options]:
            if name not in known:
                raise unknown_choice("strategy", name, known)
        for name, values in self.options.items():
            get_strategy(name, **values)
        places = {*self.datasets, *self.stand_ins.values()}
        for name, where in self.only.items():
            for place in where:
                if place not in places:
                    raise unknown_choice(f"Data set of {name} in only", place, places)
        for name in self.models:
            if name not in MODELS:
                raise unknown_choice("model", name, MODELS)
        for what in ("datasets", "models", "budgets"):
            values = getattr(self, what)
            if not values or len(set(values)) < len(values):
                raise ParameterError(what, "must be named, each once", list(values), "name at least one, none twice")
        whole = [*self.budgets, self.seeds, self.epochs]
        if not all(isinstance(value, int) and not isinstance(value, bool) for value in whole):
            raise ParameterError("budgets, seeds and epochs", "must be whole numbers", whole, "pass such")
        ascending = list(self.budgets) == sorted(self.budgets)
        if not ascending or min(self.budgets) <= INITIAL_POOL:
            rule = f"must be ascending numbers above {INITIAL_POOL}, the size of the initial pool"
            raise ParameterError("budgets", rule, list(self.budgets), "the paper's are 10,20,40,80,160")
        for what in ("seeds", "epochs"):
            if getattr(self, what) < 1:
                raise ParameterError(what, "must be at least 1", getattr(self, what), "pass another number")


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileError(f"{path}", "must be a settings file", "no such file", "check the path") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileError(f"{path}", "must be TOML", reason(error), "mend it") from error
    kinds = {"title": str, "seeds": int, "epochs": int, "stand_ins": dict, "only": dict, "options": dict}
    values: dict[str, Any] = {}
    for key, value in content.items():
        name = key.replace("-", "_")
        if name not in {entry.name for entry in fields(Settings)}:
            raise unknown_choice(f"Key of {path}", key, [entry.name.replace("_", "-") for entry in fields(Settings)])
        kind = kinds.get(name, list)
        if not isinstance(value, kind):
            raise FileError(f"{key} in {path}", f"must be a {kind.__name__}", repr(value), "see the other files")
        values[name] = value
    for needed in ("datasets", "strategies"):
        if needed not in values:
            raise FileError(f"{path}", f"must name {needed}", "none", f"add {needed} = [...]")
    return Settings(**values)
