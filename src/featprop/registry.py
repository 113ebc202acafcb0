"""Classes that users choose by name: strategies, models, graph formats.

featprop's own classes are listed by address and imported on first use. Other packages register a class with a
decorator, or name it in an entry point; featprop then finds it wherever both packages are installed:

.. code-block:: toml

    [project.entry-points."featprop.strategies"]
    nearest-hub = "my_package.hubs:NearestHub"
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from featprop.errors import ParameterError, quote_error, unknown_choice
from featprop.options import check_options, options_of, unknown_option

__all__ = ["Registry"]

log = logging.getLogger(__name__)

Base = TypeVar("Base")
Class = TypeVar("Class", bound=type[Any])


class Registry(Generic[Base]):
    """The classes of one kind by name.

    Parameters
    ----------
    kind
        What the classes are, for messages: ``"strategy"``.
    base
        Base class of all of them. Registering a class sets its attribute `name`.
    group
        Entry-point group in which other packages list their classes.
    built_in
        Addresses of featprop's own classes by name, such as ``"featprop.strategies.age:AGE"``.

    Attributes
    ----------
    classes
        The classes imported so far, by name.
    """

    def __init__(self, kind: str, base: Any, group: str, built_in: Mapping[str, str] | None = None) -> None:
        self.kind, self.base, self.group = kind, base, group
        self.built_in = dict(built_in or {})
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
        return sorted({*self.built_in, *self.classes, *self._plug_ins()})

    def find(self, name: str) -> type[Base]:
        """Return the class registered under `name`, importing it if needed."""
        if name in self.classes:
            return self.classes[name]
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            self.classes[name] = getattr(import_module(module), attribute)
            return self.classes[name]
        plug_ins = self._plug_ins()
        if name not in plug_ins:
            raise unknown_choice(self.kind, name, self.names())
        self._load(plug_ins[name])
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
        return _address_of(self.classes[name]) if name in self.classes else self.built_in.get(name)

    def _plug_ins(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            earlier = self._address(entry.name)
            if earlier is not None and earlier != entry.value:
                log.warning(
                    "Ignoring the %s %s from %s: the name is taken by %s.",
                    self.kind,
                    entry.name,
                    _origin(entry),
                    earlier,
                )
            found.setdefault(entry.name, entry)
        return found

    def _load(self, entry: EntryPoint) -> None:
        """Import a class of another package; an error there names the package."""
        where = f"the {self.kind} {entry.name} from {_origin(entry)}"
        details: dict[str, Any] = {
            "hint": "Update or uninstall that package.",
            "parameter": self.kind,
            "value": entry.name,
        }
        try:
            found = entry.load()
        except Exception as error:
            reason = f"{type(error).__name__}: {quote_error(error)}"
            raise ParameterError(f"Cannot import {where} ({entry.value}): {reason}.", **details) from error
        if not (isinstance(found, type) and issubclass(found, self.base)):
            raise ParameterError(f"Cannot use {where}: {found!r} is not a {self.base.__name__}.", **details)
        if entry.name not in self.classes:
            self.register(entry.name)(found)


def _address_of(kind: type[Any]) -> str:
    """Return where a class is defined, in the notation of entry points."""
    return f"{kind.__module__}:{kind.__qualname__}"


def _origin(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist is not None else f"the module {entry.module}"
