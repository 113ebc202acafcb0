"""What to run: settings, from options or from a TOML file, and the trials and cells they consist of.

.. code-block:: toml

    title = "Macro-F1 of a GCN"
    datasets = ["cora", "citeseer", "pubmed"]
    strategies = ["random", "featprop", "anrmab[rounds=5]"]
    models = ["gcn"]
    seeds = 5

Options follow the name of a strategy or model, which may run with several: ``["featprop", "featprop[layers=1]"]``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from featprop.datasets import find, is_known
from featprop.errors import FileError, ParameterError, quote_error, unknown_choice
from featprop.experiments.paper import BUDGETS
from featprop.models import MODELS
from featprop.options import Registry, changed_options, parse_options, settings_of
from featprop.strategies import STRATEGIES, get_strategy, strategy_class

INITIAL_POOL_SIZE = 5
"""Number of random nodes that a strategy that needs a model starts from."""
PROTOCOLS = {
    "paper": "scores all nodes, including the labelled ones, as in the paper",
    "unlabelled": "scores only the nodes without a label",
}
"""The nodes on which predictions are scored."""
SEEDS_PER_TRIAL = 5
"""Seeds trained as one batch: a fixed number, so adding seeds later does not change the earlier ones."""
SPEC = re.compile(r"([^\[\]]+)(?:\[(.*)\])?")


@dataclass(frozen=True)
class Spec:
    """A strategy or model by name, with the options that differ from their defaults."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def parse(cls, registry: Registry[Any], text: str) -> Spec:
        """Read and check ``name`` or ``name[option=value,…]``."""
        found = SPEC.fullmatch(text.strip())
        if found is None:
            message = f"{text!r} is not a {registry.kind}."
            raise ParameterError(message, hint="Write name or name[option=value].", parameter=registry.kind, value=text)
        kind = registry.find(found[1])
        chosen = {} if found[2] is None else parse_options(kind, found[2].split(","))
        made = registry.make(found[1], **chosen)
        return cls(found[1], changed_options(kind, {name: settings_of(made)[name] for name in chosen}))

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}[{inside}]" if inside else self.name


@dataclass(frozen=True)
class Settings:
    """What to run; checked on creation."""

    datasets: Sequence[str]  # names of data sets, or paths of graphs with labels
    strategies: Sequence[str]  # names, or name[option=value,…]
    title: str = ""
    models: Sequence[str] = ("gcn",)  # names, or name[setting=value,…]
    budgets: Sequence[int] = BUDGETS  # numbers of labelled nodes, ascending
    seeds: int = 5  # number of seeds; they are 0, 1, 2, …

    def __post_init__(self) -> None:
        for name in ("datasets", "strategies", "models"):
            names = getattr(self, name)
            is_list = isinstance(names, list | tuple) and all(isinstance(each, str) for each in names)
            _check(name, names, is_list and len(set(names)) == len(names), "a list of different names")
        _check("datasets", self.datasets, bool(self.datasets), "a list of at least one name")
        _check("seeds", self.seeds, type(self.seeds) is int and self.seeds >= 1, "a whole number of at least 1")
        is_list = isinstance(self.budgets, list | tuple) and all(type(number) is int for number in self.budgets)
        is_ascending = is_list and bool(self.budgets) and list(self.budgets) == sorted({*self.budgets})
        is_valid = is_ascending and self.budgets[0] > INITIAL_POOL_SIZE
        _check("budgets", self.budgets, is_valid, f"whole numbers above {INITIAL_POOL_SIZE} in ascending order")
        self.strategy_specs()
        self.model_specs()

    def strategy_specs(self) -> list[Spec]:
        """Return the strategies with their options; one that is listed twice occurs once."""
        return list({str(spec): spec for spec in (Spec.parse(STRATEGIES, text) for text in self.strategies)}.values())

    def model_specs(self) -> list[Spec]:
        """Return the models with their settings; an experiment chooses the seed and the device itself."""
        specs = list({str(spec): spec for spec in (Spec.parse(MODELS, text) for text in self.models)}.values())
        for spec in specs:
            for name in {"random_state", "device"} & set(spec.options):
                message = f"An experiment sets `{name}` of the model {spec.name} itself."
                raise ParameterError(message, parameter=name, value=spec.options[name])
        return specs


def _check(parameter: str, value: Any, is_valid: bool, wanted: str) -> None:
    if not is_valid:
        raise ParameterError(f"`{parameter}` must be {wanted}, not {value!r}.", parameter=parameter, value=value)


def read_settings(path: Path) -> Settings:
    """Read settings from a TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileError(f"Cannot read settings from {path}: {quote_error(error)}.", path=path) from error
    known = [entry.name for entry in fields(Settings)]
    for key in set(content) - set(known):
        hint = unknown_choice("key", key, known).hint
        raise FileError(f"{path} has an unknown key: {key}.", hint=hint, path=path, value=key, choices=known)
    for key in {"datasets", "strategies"} - set(content):
        raise FileError(f"{path} does not name any {key}.", hint=f"Add {key} = [...].", path=path)
    return Settings(**content)


class Cell(NamedTuple):
    """Identity of a result."""

    graph: str  # fingerprint of the graph with its labels
    strategy: Spec
    model: Spec
    schedule: tuple[int, ...]
    budget: int
    seed: int
    protocol: str


@dataclass(frozen=True)
class Trial:
    """One strategy on one data set, over all budgets, for a few seeds.

    A strategy that looks at a model has a trial for each model; any other strategy selects once for all models.
    """

    dataset: str
    graph: str  # fingerprint of the graph of the data set
    strategy: Spec
    models: tuple[Spec, ...]
    budgets: tuple[int, ...]  # ascending
    seeds: tuple[int, ...]  # trained as one batch

    @property
    def looks_at_model(self) -> bool:
        """Whether the strategy looks at a model, so that its pool grows from budget to budget."""
        return strategy_class(self.strategy.name).looks_at_model()

    def schedule(self, budget: int) -> tuple[int, ...]:
        """Return the numbers of labels at which the strategy is asked up to a budget; empty without a model."""
        if not self.looks_at_model:
            return ()
        strategy = get_strategy(self.strategy.name, **self.strategy.options)
        reached = [each for each in self.budgets if each <= budget]
        return tuple(size for before, after in pairwise([0, *reached]) for size in strategy.steps(before, after))

    def cells(self) -> Iterator[Cell]:
        """Yield the cells of all budgets."""
        for budget, seed, model, protocol in product(self.budgets, self.seeds, self.models, PROTOCOLS):
            yield Cell(self.graph, self.strategy, model, self.schedule(budget), budget, seed, protocol)

    def __str__(self) -> str:
        models = " and ".join(map(str, self.models))
        return f"{self.dataset}, {self.strategy}, {models}, seeds {self.seeds[0]} to {self.seeds[-1]}"


def plan_trials(settings: Settings, graphs: Mapping[str, str]) -> list[Trial]:
    """Return the trials of the settings; `graphs` has the fingerprints of the available data sets by name."""
    seeds, models = range(settings.seeds), tuple(settings.model_specs())
    batches = [tuple(seeds[start : start + SEEDS_PER_TRIAL]) for start in seeds[::SEEDS_PER_TRIAL]]
    trials = []
    for (dataset, graph), strategy in product(graphs.items(), settings.strategy_specs()):
        several = [(model,) for model in models] if strategy_class(strategy.name).looks_at_model() else [models]
        trials += [
            Trial(dataset, graph, strategy, specs, tuple(settings.budgets), batch)
            for specs, batch in product(several, batches)
        ]
    return trials


def canonical_name(name: str) -> str:
    """Return the catalogue's spelling of a data set; paths of graphs stay as they are."""
    return find(name).name if not Path(name).exists() and is_known(name) else name
