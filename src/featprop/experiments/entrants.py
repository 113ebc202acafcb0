"""Who takes part: a strategy or a model by name, with those options that are not the default ones.

Written ``featprop``, or with options ``featprop[layers=1]``: so the same strategy takes part twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from featprop.errors import ParameterError
from featprop.options import changed_options, parse_options, settings_of
from featprop.registry import Registry

__all__ = ["Entrant"]

WRITTEN = re.compile(r"([^\[\]]+)(?:\[(.*)\])?")


@dataclass(frozen=True)
class Entrant:
    """A name, and the options that differ from the default."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, registry: Registry[Any], written: str, options: Mapping[str, Mapping[str, Any]] = {}) -> Entrant:
        """Read ``name`` or ``name[option=value,…]`` and check it; `options`, by name, count where not written."""
        found = WRITTEN.fullmatch(written.strip())
        if found is None:
            raise ParameterError(registry.kind, "must be a name, or name[option=value]", repr(written), "mend it")
        kind = registry.find(found[1])
        chosen = dict(options.get(found[1], {}))
        chosen |= {} if found[2] is None else parse_options(kind, found[2].split(","))
        made = registry.make(found[1], **chosen)
        return cls(found[1], changed_options(kind, {name: settings_of(made)[name] for name in chosen}))

    @property
    def key(self) -> str:
        """The options as text, equal for equal ones."""
        return json.dumps(self.options, sort_keys=True)

    def __str__(self) -> str:
        inside = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}[{inside}]" if inside else self.name
