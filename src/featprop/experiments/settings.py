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

    [settings.gcn]               # settings of a model
    hidden = 32

A strategy or a model takes part several times with options of its own: ``["featprop", "featprop[layers=1]"]``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from featprop.errors import FileError, ParameterError, quote_error, unknown_choice
from featprop.experiments.entrants import Entrant
from featprop.experiments.paper import BUDGETS
from featprop.models import MODELS, model_class
from featprop.options import options_of
from featprop.strategies import STRATEGIES

__all__ = ["INITIAL_POOL", "Settings", "read_settings"]

SAID = {"datasets": "dataset", "models": "model"}
"""The options of ``featprop experiments run`` that name one at a time."""
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
        Names of strategies, or ``name[option=value,…]``.
    title
        What the results are for.
    models
        Names of models, or ``name[setting=value,…]``.
    budgets
        Numbers of labelled nodes, ascending.
    seeds
        How many; they are 0, 1, 2, …
    epochs
        Of every training, where a model has epochs.
    stand_ins
        The data set to take in place of one that cannot be had.
    only
        The data sets of a strategy that is not run on all.
    options, settings
        Options of strategies and settings of models that differ from the default.
    """

    datasets: Sequence[str]
    strategies: Sequence[str]
    title: str = ""
    models: Sequence[str] = ("gcn",)
    budgets: Sequence[int] = BUDGETS
    seeds: int = 5
    epochs: int | None = None
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_types(self)
        for name in self.only:
            STRATEGIES.find(name)
        for name, values in self.options.items():
            STRATEGIES.make(name, **values)
        for name, values in self.settings.items():
            MODELS.make(name, **values)
        self.entrants()
        self.trained()
        places = {*self.datasets, *self.stand_ins.values()}
        for name, where in self.only.items():
            for place in where:
                if place not in places:
                    raise unknown_choice(f"Data set of {name} in only", place, places)
        whole = [*self.budgets, self.seeds, *([] if self.epochs is None else [self.epochs])]
        if not all(isinstance(value, int) and not isinstance(value, bool) for value in whole):
            raise ParameterError("budgets, seeds and epochs", "must be whole numbers", whole, "pass such")
        for what in ("datasets", "models", "budgets"):
            values = getattr(self, what)
            if not values or len(set(values)) < len(values):
                cure = f"name at least one with --{SAID.get(what, what)}, none twice"
                raise ParameterError(what, "must be named, each once", ", ".join(map(str, values)) or "none", cure)
        ascending = list(self.budgets) == sorted(self.budgets)
        if not ascending or min(self.budgets) <= INITIAL_POOL:
            rule = f"must be ascending numbers above {INITIAL_POOL}, the size of the initial pool"
            raise ParameterError("budgets", rule, list(self.budgets), "the paper's are 10,20,40,80,160")
        for what, number in {"seeds": self.seeds, "epochs": self.epochs}.items():
            if number is not None and number < 1:
                raise ParameterError(what, "must be at least 1", number, "pass another number")

    def entrants(self) -> list[Entrant]:
        """Return the strategies with their options."""
        return [Entrant.of(STRATEGIES, written, self.options) for written in self.strategies]

    def trained(self) -> list[Entrant]:
        """Return the models with their settings; seed and device are not for an experiment to set."""
        chosen = {name: dict(values) for name, values in self.settings.items()}
        for name in {*MODELS.built_in, *MODELS.classes} if self.epochs is not None else ():
            if "epochs" in options_of(model_class(name)):
                chosen[name] = {"epochs": self.epochs, **chosen.get(name, {})}
        entrants = [Entrant.of(MODELS, written, chosen) for written in self.models]
        for entrant in entrants:
            for name in {"random_state", "device"} & set(entrant.options):
                rule, cure = "must be left to the experiments", "drop it: each run has its own seed, on the CPU"
                raise ParameterError(f"{name} of model {entrant.name}", rule, entrant.options[name], cure)
        return entrants


def _check_types(settings: Settings) -> None:
    """Refuse values that are not what they should be all the way down, as a TOML file may hold anything."""
    lists = {"datasets": settings.datasets, "strategies": settings.strategies, "models": settings.models}
    texts = [*lists.items(), *((f"only.{name}", where) for name, where in settings.only.items())]
    texts.append(("stand-ins", list(settings.stand_ins.values())))
    for what, values in texts:
        if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
            raise ParameterError(what, "must be names in quotation marks, in a list", repr(values), "mend it")
    tables = {f"options.{name}": values for name, values in settings.options.items()}
    tables |= {f"settings.{name}": values for name, values in settings.settings.items()}
    for what, table in tables.items():
        if not isinstance(table, Mapping):
            raise ParameterError(what, "must be a table of names and values", repr(table), "mend it")


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileError(f"{path}", "must be a settings file", "no such file", "check the path") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileError(f"{path}", "must be TOML", quote_error(error), "mend it") from error
    kinds = {
        "title": str,
        "seeds": int,
        "epochs": int,
        "stand_ins": dict,
        "only": dict,
        "options": dict,
        "settings": dict,
    }
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
