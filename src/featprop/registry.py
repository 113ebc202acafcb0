"""Names of things that others may add: strategies, models, formats of graphs.

A class registers itself with a decorator beside its definition. Another package names its class in an entry point, and
featprop finds it wherever both are installed; it is imported when its name is asked for, and not before:

.. code-block:: toml

    [project.entry-points."featprop.strategies"]
    nearest-hub = "my_package.hubs:NearestHub"
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from featprop.errors import ParameterError, quote_error, unknown_choice
from featprop.options import check_options, options_of, owner

__all__ = ["Registry"]

log = logging.getLogger(__name__)

Base = TypeVar("Base")
Class = TypeVar("Class", bound=type[Any])


class Registry(Generic[Base]):
    """The classes of one kind by name.

    Parameters
    ----------
    kind
        What they are, for messages: ``"strategy"``.
    base
        The class all of them derive from. Its attribute `name` is set to the name of each.
    group
        The entry points through which other packages add theirs.
    """

    def __init__(self, kind: str, base: Any, group: str) -> None:
        self.kind, self.base, self.group = kind, base, group
        self.classes: dict[str, type[Base]] = {}

    def register(self, name: str) -> Callable[[Class], Class]:
        """Make a class available under `name`: in Python, on the command line and in saved files.

        A class that is defined again, as by a cell of a notebook that runs again, takes the place of its earlier self.
        """

        def decorate(found: Class) -> Class:
            if not (isinstance(found, type) and issubclass(found, self.base)):
                raise TypeError(f"{self.kind} {name!r} must be a subclass of {self.base.__name__}, not {found!r}")
            earlier = self.classes.get(name)
            if earlier is not None and _address(earlier) != _address(found):
                raise ValueError(f"{self.kind} {name!r} is registered already, by {earlier.__qualname__}")
            found.name = name
            self.classes[name] = found
            return found

        return decorate

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self.classes, *self._plug_ins()})

    def find(self, name: str) -> type[Base]:
        """Return the class of that name, from another package if it is not one of featprop's."""
        if name not in self.classes:
            plug_ins = self._plug_ins()
            if name not in plug_ins:
                raise unknown_choice(self.kind, name, self.names())
            self._load(plug_ins[name])
        return self.classes[name]

    def make(self, name: str, **options: Any) -> Base:
        """Return one of that name with its default options but for those given, which are checked."""
        found = self.find(name)
        known = options_of(found)
        for option in options:
            if option not in known:
                raise unknown_choice(f"Option of {owner(found)}", option, known)
        made = found(**options)
        check_options(made)
        return made

    def name_of(self, thing: Base) -> str:
        """Return the name that exactly the class of this thing is registered under; that of a parent is not its own."""
        name = type(thing).__dict__.get("name", "")
        if name not in self.classes or _address(self.classes[name]) != _address(type(thing)):
            rule = "must be registered under a name of its own to be saved"
            raise ParameterError(self.kind, rule, type(thing).__name__, f"register it with a name for the {self.kind}")
        return str(name)

    def _plug_ins(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in entry_points(group=self.group):
            earlier = self.classes.get(entry.name)
            if earlier is not None and _address(earlier) != entry.value:
                origin = _origin(entry)
                log.warning("%s %s of %s is left out: featprop has one of that name", self.kind, entry.name, origin)
            found.setdefault(entry.name, entry)
        return found

    def _load(self, entry: EntryPoint) -> None:
        """Import a class of another package; whatever goes wrong there is told with the name of the package."""
        what, cure = f"{self.kind.capitalize()} {entry.name} of {_origin(entry)}", "update or uninstall that package"
        try:
            found = entry.load()
        except Exception as error:
            told = f"{type(error).__name__}: {quote_error(error)}"
            raise ParameterError(what, f"must load from {entry.value}", told, cure) from error
        if not (isinstance(found, type) and issubclass(found, self.base)):
            rule = f"must be a subclass of featprop.{self.base.__name__}"
            raise ParameterError(what, rule, repr(found), cure)
        if entry.name not in self.classes:
            self.register(entry.name)(found)


def _address(kind: type[Any]) -> str:
    """Return where a class is defined, as entry points write it."""
    return f"{kind.__module__}:{kind.__qualname__}"


def _origin(entry: EntryPoint) -> str:
    return f"the package {entry.dist.name}" if entry.dist is not None else f"the module {entry.module}"
