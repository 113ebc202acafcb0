"""The options of a strategy or a model: the arguments of its constructor, with their types, defaults and rules.

A rule is written where the option is: ``layers: Annotated[int, AtLeast(0)] = 2``, or
``measure: Literal["entropy", "margin"] = "entropy"``. `check_options` holds the values of an object against them, and
`parse_options` reads what a person typed.
"""

from __future__ import annotations

import inspect
import math
import numbers
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from featprop.errors import ParameterError, unknown_choice

__all__ = [
    "Above",
    "AtLeast",
    "Between",
    "Option",
    "changed_options",
    "check_options",
    "options_of",
    "owner",
    "parse_options",
    "settings_of",
]


@dataclass(frozen=True)
class AtLeast:
    """A number that must not be below `low`."""

    low: float

    def __str__(self) -> str:
        return f"at least {_written(self.low)}"

    def holds(self, value: float) -> bool:
        """Say whether the value obeys."""
        return bool(value >= self.low)


@dataclass(frozen=True)
class Above(AtLeast):
    """A number that must be above `low`."""

    def __str__(self) -> str:
        return f"above {_written(self.low)}"

    def holds(self, value: float) -> bool:
        """Say whether the value obeys."""
        return bool(value > self.low)


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, both included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"from {_written(self.low)} to {_written(self.high)}"

    def holds(self, value: float) -> bool:
        """Say whether the value obeys."""
        return bool(self.low <= value <= self.high)


@dataclass(frozen=True)
class Option:
    """An option of a strategy or a model.

    Attributes
    ----------
    name
        Of the argument.
    kind
        The type of its value, beside None.
    default
        What it is unless set.
    choices
        The values it may have, if they are a few.
    rule
        What a number must obey, if anything.
    """

    name: str
    kind: type
    default: Any
    choices: tuple[Any, ...] = ()
    rule: AtLeast | Between | None = None

    @property
    def demand(self) -> str:
        """What the value must be, in words."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        words = {int: "a whole number", float: "a number", bool: "true or false"}.get(self.kind, "text")
        return f"{words} {self.rule}" if self.rule else words

    def parse(self, text: str, owner: str) -> Any:
        """Return the value a person wrote."""
        if self.default is None and text.lower() == "none":
            return None
        if self.kind is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        try:
            value = text if self.kind in (str, bool) else self.kind(text)
        except ValueError:
            value = text
        self.check(value, owner)
        return value

    def plain(self, value: Any) -> Any:
        """Return the value as Python's own number, of the kind of this option: 1 is 1.0 where a number is wanted."""
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        return self.kind(value) if is_number and self.kind in (int, float) else value

    def check(self, value: Any, owner: str) -> None:
        """Raise an error unless the value is one this option may have."""
        if value is None and self.default is None:
            return
        what = f"{self.name} of {owner}"
        if self.choices:
            if value not in self.choices:
                raise unknown_choice(what, value, self.choices)
            return
        wanted = {int: numbers.Integral, float: numbers.Real}.get(self.kind, self.kind)
        fits = isinstance(value, wanted) and (self.kind is bool or not isinstance(value, bool))
        if not fits or (self.kind is float and not math.isfinite(value)) or (self.rule and not self.rule.holds(value)):
            raise ParameterError(what, f"must be {self.demand}", repr(value), f"the default is {self.default}")


def owner(kind: type[Any]) -> str:
    """Return how messages call a class with options: ``"strategy age"``."""
    return f"{getattr(kind, 'kind', '')} {getattr(kind, 'name', '') or kind.__name__}".strip()


def options_of(kind: type[Any]) -> dict[str, Option]:
    """Return the options of a class by name, in the order of its constructor."""
    hints = get_type_hints(kind if is_dataclass(kind) else kind.__init__, include_extras=True)
    parameters = inspect.signature(kind).parameters.values()
    return {
        parameter.name: _option(parameter.name, hints.get(parameter.name, str), parameter.default)
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def settings_of(thing: Any) -> dict[str, Any]:
    """Return the options that make such a thing again, as plain Python values."""
    values = {option: getattr(thing, name) for name, option in options_of(type(thing)).items()}
    return {option.name: option.plain(value) for option, value in values.items()}


def changed_options(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options that are not the default of their class, sorted by name."""
    known = options_of(kind)
    return {name: options[name] for name in sorted(options) if options[name] != known[name].default}


def check_options(thing: Any) -> None:
    """Raise an error if an option has a value it must not have."""
    for option in options_of(type(thing)).values():
        if hasattr(thing, option.name):
            option.check(getattr(thing, option.name), owner(type(thing)))


def parse_options(kind: type[Any], settings: Sequence[str]) -> dict[str, Any]:
    """Read settings such as ``layers=3``; an unknown name gets the list of the options there are."""
    options = options_of(kind)
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, given, text = setting.partition("=")
        name, text = name.strip(), text.strip()
        if not given:
            raise ParameterError("set", "must be written as name=value", repr(setting), "write --set layers=3")
        if not options:
            rule = f"must be left out, as {owner(kind)} has no options"
            raise ParameterError("set", rule, repr(setting), "choose another or drop it")
        if name not in options:
            raise unknown_choice(f"Option of {owner(kind)}", name, options)
        if name in chosen:
            raise ParameterError(f"{name} of {owner(kind)}", "must be set once", "it twice", "drop one")
        chosen[name] = options[name].parse(text, owner(kind))
    return chosen


def _written(bound: float) -> str:
    """Return a bound as a person would write it; a whole number has all its digits."""
    return str(bound) if isinstance(bound, int) else f"{bound:g}"


def _option(name: str, hint: Any, default: Any) -> Option:
    rule = None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        rule = next((note for note in notes if isinstance(note, AtLeast | Between)), None)
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is Literal:
        return Option(name, str, default, get_args(hint))
    return Option(name, hint if isinstance(hint, type) else str, default, (), rule)
