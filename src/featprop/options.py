"""Classes that users choose by name, strategies and models, and the options of these classes.

featprop's own classes are listed by address and imported on first use. Other packages register a class with a
decorator, or name it in an entry point; featprop then finds it wherever both packages are installed:

.. code-block:: toml

    [project.entry-points."featprop.strategies"]
    nearest-hub = "my_package.hubs:NearestHub"

The bound of an option stands in its annotation: ``layers: Annotated[int, AtLeast(0)] = 2``, or
``measure: Literal["entropy", "margin"] = "entropy"``. `check_options` checks the options of an object, and
`parse_options` reads options that a person typed.
"""

from __future__ import annotations

import inspect
import math
import numbers
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from featprop.errors import ParameterError, quote_error, unknown_choice

Base = TypeVar("Base")
Class = TypeVar("Class", bound=type[Any])


@dataclass(frozen=True)
class Between:
    """A number from `low` to `high`, both included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"from {self.low} to {self.high}"

    def holds(self, value: float) -> bool:
        """Return whether the value is within the bounds."""
        return bool(self.low <= value <= self.high)


@dataclass(frozen=True)
class AtLeast(Between):
    """A number that is `low` or more."""

    high: float = math.inf

    def __str__(self) -> str:
        return f"of at least {self.low}"


@dataclass(frozen=True)
class Above(AtLeast):
    """A number above `low`."""

    def __str__(self) -> str:
        return f"above {self.low}"

    def holds(self, value: float) -> bool:
        """Return whether the value is above the bound."""
        return bool(value > self.low)


@dataclass(frozen=True)
class Option:
    """An option of a strategy or a model.

    Attributes
    ----------
    name
        Name of the argument.
    kind
        Type of its value, apart from None.
    default
        Value if it is not set.
    choices
        The accepted values, if there are few.
    bounds
        Bounds of a number, if it has any.
    """

    name: str
    kind: type
    default: Any
    choices: tuple[Any, ...] = ()
    bounds: Between | None = None

    @property
    def accepts(self) -> str:
        """Description of the accepted values: ``"a whole number from 0 to 1000"``."""
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        words = {int: "a whole number", float: "a number", bool: "true or false"}.get(self.kind, "text")
        return f"{words} {self.bounds}" if self.bounds else words

    def parse(self, text: str, kind: type[Any]) -> Any:
        """Return the value of a text, checked; `kind` is the class that has the option."""
        if self.default is None and text.lower() == "none":
            return None
        if self.kind is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        try:
            value = text if self.kind in (str, bool) else self.kind(text)
        except ValueError:
            value = text
        self.check(value, kind)
        return value

    def check(self, value: Any, kind: type[Any]) -> None:
        """Raise a `ParameterError` unless the option accepts the value; `kind` is the class that has the option."""
        if value is None and self.default is None:
            return
        if self.choices:
            fits = value in self.choices
        else:
            wanted = {int: numbers.Integral, float: numbers.Real}.get(self.kind, self.kind)
            fits = isinstance(value, wanted) and isinstance(value, bool) == (self.kind is bool)
            fits = fits and (self.kind is not float or math.isfinite(value))
            fits = fits and (self.bounds is None or self.bounds.holds(value))
        if not fits:
            raise ParameterError(
                f"`{self.name}` of the {describe_class(kind)} must be {self.accepts}, not {value!r}.",
                hint=f"The default is {self.default}.",
                parameter=self.name,
                value=value,
                choices=self.choices,
            )


def describe_class(kind: type[Any]) -> str:
    """Return how messages refer to a class with options: ``"strategy age"``."""
    return f"{getattr(kind, 'kind', 'class')} {getattr(kind, 'name', '') or kind.__name__}"


def unknown_option(kind: type[Any], name: str) -> ParameterError:
    """Return the error for an option that a class does not have."""
    known = list(options_of(kind))
    hint = unknown_choice(name, name, known).hint if known else "It has no options."
    message = f"The {describe_class(kind)} has no option {name!r}."
    return ParameterError(message, hint=hint, parameter=name, choices=known)


def options_of(kind: type[Any]) -> dict[str, Option]:
    """Return the options of a class by name, in the order of its constructor."""
    hints = get_type_hints(kind if is_dataclass(kind) else kind.__init__, include_extras=True)
    parameters = inspect.signature(kind).parameters.values()
    return {
        parameter.name: _option(parameter.name, hints.get(parameter.name, str), parameter.default)
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def settings_of(instance: Any) -> dict[str, Any]:
    """Return the options of an object as plain Python values; its class can be called with them."""
    found = {}
    for name, option in options_of(type(instance)).items():
        value = getattr(instance, name)
        is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
        found[name] = option.kind(value) if is_number and option.kind in (int, float) else value
    return found


def changed_options(kind: type[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that differ from the defaults of their class, sorted by name."""
    known = options_of(kind)
    return {name: options[name] for name in sorted(options) if options[name] != known[name].default}


def check_options(instance: Any) -> None:
    """Raise a `ParameterError` if an option of an object has a value it does not accept."""
    for option in options_of(type(instance)).values():
        if hasattr(instance, option.name):
            option.check(getattr(instance, option.name), type(instance))


def parse_options(kind: type[Any], settings: Sequence[str]) -> dict[str, Any]:
    """Return the options that settings such as ``"layers=3"`` stand for."""
    options = options_of(kind)
    chosen: dict[str, Any] = {}
    for setting in settings:
        name, given, text = setting.partition("=")
        name, text = name.strip(), text.strip()
        if not given:
            message = f"`set` needs a name and a value, not {setting!r}."
            raise ParameterError(message, hint="Write layers=3, for example.", parameter="set", value=setting)
        if name not in options:
            raise unknown_option(kind, name)
        if name in chosen:
            raise ParameterError(f"The option {name!r} of the {describe_class(kind)} is set twice.", parameter=name)
        chosen[name] = options[name].parse(text, kind)
    return chosen


def _option(name: str, hint: Any, default: Any) -> Option:
    bounds = None
    if get_origin(hint) is Annotated:
        hint, *notes = get_args(hint)
        bounds = next((note for note in notes if isinstance(note, Between)), None)
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if get_origin(hint) is Literal:
        return Option(name, str, default, get_args(hint))
    return Option(name, hint if isinstance(hint, type) else str, default, (), bounds)


class Registry(Generic[Base]):
    """The classes of one kind by name.

    Parameters
    ----------
    kind
        What the classes are, for messages: ``"strategy"``.
    base
        Base class of all of them. Registering a class sets its attribute `name`.
    group
        Entry-point group in which other packages list their classes. They cannot take the name of a built-in class.
    built_in
        Addresses of featprop's own classes by name, such as ``"featprop.strategies.age:AGE"``.

    Attributes
    ----------
    classes
        The classes imported so far, by name.
    """

    def __init__(self, kind: str, base: Any, group: str, built_in: Mapping[str, str] | None = None) -> None:
        self.kind, self.base, self.group = kind, base, group
        self.built_in = {name: EntryPoint(name, address, group) for name, address in (built_in or {}).items()}
        self.classes: dict[str, type[Base]] = {}

    def register(self, name: str) -> Callable[[Class], Class]:
        """Make a class available under `name`: in Python, on the command line and in saved files.

        A class that is defined again, for example by rerunning a notebook cell, replaces its earlier definition.
        """

        def decorate(found: Class) -> Class:
            if not (isinstance(found, type) and issubclass(found, self.base)):
                raise TypeError(f"{self.kind} {name!r} must be a subclass of {self.base.__name__}, not {found!r}")
            earlier = self._address(name)
            if earlier is not None and earlier != _address_of(found):
                raise ValueError(f"{self.kind} {name!r} is registered already, by {earlier}")
            found.name = name
            self.classes[name] = found
            return found

        return decorate

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self.built_in, *self.classes, *entry_points(group=self.group).names})

    def find(self, name: str) -> type[Base]:
        """Return the class registered under `name`, importing it if needed."""
        if name not in self.classes:
            self._load(name)
        return self.classes[name]

    def make(self, name: str, **options: Any) -> Base:
        """Return an instance of the class registered under `name`, after checking `options`."""
        found = self.find(name)
        known = options_of(found)
        for option in options:
            if option not in known:
                raise unknown_option(found, option)
        made = found(**options)
        check_options(made)
        return made

    def name_of(self, instance: Base) -> str:
        """Return the name under which exactly the class of `instance` is registered, not one of its parents."""
        name = type(instance).__dict__.get("name", "")
        if self._address(name) != _address_of(type(instance)):
            raise ParameterError(
                f"The {self.kind} {type(instance).__name__} cannot be saved because its class has no registered name.",
                hint=f"Decorate the class with register_{self.kind}(name).",
                parameter=self.kind,
                value=type(instance).__name__,
            )
        return str(name)

    def _address(self, name: str) -> str | None:
        """Return where the class of that name is defined; None if there is none, or if it is in another package."""
        if name in self.classes:
            return _address_of(self.classes[name])
        return self.built_in[name].value if name in self.built_in else None

    def _load(self, name: str) -> None:
        """Import a class; an error in one of another package names the package."""
        entry = self.built_in.get(name)
        if entry is not None:
            self.classes[name] = entry.load()
            return
        entry = next(iter(entry_points(group=self.group, name=name)), None)
        if entry is None:
            raise unknown_choice(self.kind, name, self.names())
        try:
            found = entry.load()
            if name not in self.classes:
                self.register(name)(found)
        except Exception as error:
            package = entry.dist.name if entry.dist is not None else entry.module
            raise ParameterError(
                f"Cannot import the {self.kind} {name} of the package {package} ({entry.value}): "
                f"{type(error).__name__}: {quote_error(error)}.",
                hint="Update or uninstall that package.",
                parameter=self.kind,
                value=name,
            ) from error


def _address_of(kind: type[Any]) -> str:
    """Return where a class is defined, in the notation of entry points."""
    return f"{kind.__module__}:{kind.__qualname__}"
