"""What to run: data sets, strategies, budgets, seeds and models, from options or from a TOML file.

.. code-block:: toml

    title = "Macro-F1 of a GCN"
    datasets = ["cora", "citeseer", "pubmed", "corafull"]
    strategies = ["random", "featprop", "coreset-mip"]
    models = ["gcn"]
    seeds = 5

    [stand-ins]                  # used instead of a data set that is not available
    corafull = "coauthor-cs"

    [only]                       # the data sets of a strategy that does not run on all of them
    coreset-mip = ["cora", "citeseer"]

    [options.coreset-mip]        # options of a strategy
    time_limit = 60

    [settings.gcn]               # settings of a model
    hidden = 32

The same strategy or model may run with several sets of options: ``["featprop", "featprop[layers=1]"]``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from featprop.errors import FileError, ParameterError, quote_error, unknown_choice
from featprop.experiments.paper import BUDGETS
from featprop.models import MODELS, model_class
from featprop.options import changed_options, options_of, parse_options, settings_of
from featprop.registry import Registry
from featprop.strategies import STRATEGIES

INITIAL_POOL_SIZE = 5
"""Number of random nodes that a strategy that needs a model starts from."""
SPEC = re.compile(r"([^\[\]]+)(?:\[(.*)\])?")


@dataclass(frozen=True)
class Spec:
    """A strategy or model by name, with the options that differ from their defaults."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def parse(cls, registry: Registry[Any], text: str, options: Mapping[str, Mapping[str, Any]] = {}) -> Spec:
        """Read and check ``name`` or ``name[option=value,…]``; `options`, by name, are defaults."""
        found = SPEC.fullmatch(text.strip())
        if found is None:
            message = f"{text!r} is not a {registry.kind}."
            raise ParameterError(message, hint="Write name or name[option=value].", parameter=registry.kind, value=text)
        kind = registry.find(found[1])
        chosen = dict(options.get(found[1], {}))
        chosen |= {} if found[2] is None else parse_options(kind, found[2].split(","))
        made = registry.make(found[1], **chosen)
        return cls(found[1], changed_options(kind, {name: settings_of(made)[name] for name in chosen}))

    @property
    def key(self) -> str:
        """The options as text, equal for equal options."""
        return json.dumps(self.options, sort_keys=True)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}[{inside}]" if inside else self.name


@dataclass(frozen=True)
class Settings:
    """What to run; checked on creation.

    Attributes
    ----------
    datasets
        Names of data sets, or paths of graphs with labels.
    strategies, models
        Names, or ``name[option=value,…]``.
    title
        What the results are for.
    budgets
        Numbers of labelled nodes, ascending.
    seeds
        Number of seeds; they are 0, 1, 2, …
    epochs
        Training epochs of every model that has them.
    stand_ins
        Data set to use instead of one that is not available.
    only
        Data sets of a strategy that does not run on all of them.
    options, settings
        Options of strategies and settings of models that differ from the defaults.
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
        for name in ("stand_ins", "only", "options", "settings"):
            _check_mapping(name, getattr(self, name))
        for name in ("datasets", "strategies", "models"):
            _check_names(name, getattr(self, name))
        _check_names("stand_ins", list(self.stand_ins.values()))
        places = {*self.datasets, *self.stand_ins.values()}
        for name, where in self.only.items():
            STRATEGIES.find(name)
            _check_names(f"only.{name}", where)
            for place in set(where) - places:
                raise unknown_choice(f"only.{name}", place, places)
        for parameter, registry in (("options", STRATEGIES), ("settings", MODELS)):
            for name, values in getattr(self, parameter).items():
                _check_mapping(f"{parameter}.{name}", values)
                registry.make(name, **values)
        for name in ("datasets", "models"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                message = f"`{name}` must name at least one, and each only once."
                raise ParameterError(message, parameter=name, value=list(values))
        for name in ("seeds", "epochs"):
            number = getattr(self, name)
            if number is not None and (not _is_whole(number) or number < 1):
                message = f"`{name}` must be a whole number of at least 1, not {number!r}."
                raise ParameterError(message, parameter=name, value=number)
        budgets = [number for number in self.budgets if _is_whole(number)]
        if not budgets or list(self.budgets) != sorted(set(budgets)) or budgets[0] <= INITIAL_POOL_SIZE:
            message = f"`budgets` must be whole numbers above {INITIAL_POOL_SIZE} in ascending order."
            raise ParameterError(message, parameter="budgets", value=list(self.budgets))
        self.strategy_specs()
        self.model_specs()

    def strategy_specs(self) -> list[Spec]:
        """Return the strategies with their options."""
        return [Spec.parse(STRATEGIES, text, self.options) for text in self.strategies]

    def model_specs(self) -> list[Spec]:
        """Return the models with their settings; an experiment chooses the seed and the device itself."""
        chosen = {name: dict(values) for name, values in self.settings.items()}
        for name in {*MODELS.built_in, *MODELS.classes} if self.epochs is not None else ():
            if "epochs" in options_of(model_class(name)):
                chosen[name] = {"epochs": self.epochs, **chosen.get(name, {})}
        specs = [Spec.parse(MODELS, text, chosen) for text in self.models]
        for spec in specs:
            for name in {"random_state", "device"} & set(spec.options):
                message = f"An experiment sets `{name}` of the model {spec.name} itself."
                raise ParameterError(message, parameter=name, value=spec.options[name])
        return specs


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_names(parameter: str, values: Any) -> None:
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        message = f"`{parameter}` must be a list of names, not {values!r}."
        raise ParameterError(message, parameter=parameter, value=values)


def _check_mapping(parameter: str, values: Any) -> None:
    if not isinstance(values, Mapping):
        message = f"`{parameter}` must be a table of names and values, not {values!r}."
        raise ParameterError(message, parameter=parameter, value=values)


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise FileError(f"{path} does not exist.", path=path) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise FileError(f"{path} is not a valid TOML file: {quote_error(error)}.", path=path) from error
    known = {entry.name.replace("_", "-"): entry.name for entry in fields(Settings)}
    for key in set(content) - set(known):
        hint = unknown_choice("key", key, known).hint
        raise FileError(f"{path} has an unknown key: {key}.", hint=hint, path=path, value=key, choices=known)
    for key in {"datasets", "strategies"} - set(content):
        raise FileError(f"{path} does not name any {key}.", hint=f"Add {key} = [...].", path=path)
    for key in {"budgets"} & set(content):
        if not isinstance(content[key], list):
            raise FileError(f"`{key}` in {path} must be a list.", path=path)
    return Settings(**{known[key]: value for key, value in content.items()})
