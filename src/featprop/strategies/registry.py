"""The names of the strategies: those of featprop, and those other packages bring.

Another package registers a strategy through an entry point, and featprop finds it wherever both are installed:

.. code-block:: toml

    [project.entry-points."featprop.strategies"]
    nearest-hub = "my_package.hubs:NearestHub"

It is imported when its name is asked for, and not before.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from featprop.errors import ParameterError, reason, unknown_choice
from featprop.strategies.base import Strategy
from featprop.strategies.options import check_options, options_of

__all__ = ["available", "get_strategy", "register", "strategy_class"]

log = logging.getLogger(__name__)

GROUP = "featprop.strategies"

_registry: dict[str, type[Strategy]] = {}
StrategyClass = TypeVar("StrategyClass", bound=type[Strategy])


def register(name: str) -> Callable[[StrategyClass], StrategyClass]:
    """Make a strategy available under `name`, on the command line too."""

    def decorate(strategy: StrategyClass) -> StrategyClass:
        if name in _registry:
            raise ValueError(f"strategy {name!r} is registered already, by {_registry[name].__qualname__}")
        strategy.name = name
        _registry[name] = strategy
        return strategy

    return decorate


def available() -> list[str]:
    """Return the names of all strategies, sorted."""
    return sorted({*_registry, *_plug_ins()})


def strategy_class(name: str) -> type[Strategy]:
    """Return the strategy of that name, from another package if it is not one of featprop's."""
    if name not in _registry:
        plug_ins = _plug_ins()
        if name not in plug_ins:
            raise unknown_choice("strategy", name, available())
        _load(plug_ins[name])
    return _registry[name]


def get_strategy(name: str, **options: Any) -> Strategy:
    """Return the strategy of that name with its default options but for those given."""
    kind = strategy_class(name)
    known = options_of(kind)
    for option in options:
        if option not in known:
            raise unknown_choice(f"Option of strategy {name}", option, known)
    strategy = kind(**options)
    check_options(strategy)
    return strategy


def _plug_ins() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        earlier = _registry.get(entry.name)
        if earlier is not None and f"{earlier.__module__}:{earlier.__qualname__}" != entry.value:
            log.warning("strategy %s of %s is left out: featprop has one of that name", entry.name, _origin(entry))
        found.setdefault(entry.name, entry)
    return found


def _load(entry: EntryPoint) -> None:
    """Import a strategy of another package; whatever goes wrong there is told with the name of the package."""
    what, cure = f"Strategy {entry.name} of {_origin(entry)}", "update or uninstall that package"
    try:
        strategy = entry.load()
    except Exception as error:
        found = f"{type(error).__name__}: {reason(error)}"
        raise ParameterError(what, f"must load from {entry.value}", found, cure) from error
    if not (isinstance(strategy, type) and issubclass(strategy, Strategy)):
        raise ParameterError(what, "must be a subclass of featprop.Strategy", repr(strategy), cure)
    if entry.name not in _registry:
        register(entry.name)(strategy)


def _origin(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist is not None else f"the module {entry.module}"
