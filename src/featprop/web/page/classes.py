"""The classes of a session, in the order of their keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import NDArray

from featprop.errors import LabelError, ParameterError
from featprop.graph import UNKNOWN
from featprop.ids import is_missing, is_visible, name_to_text, normalize_label
from featprop.labels.log import ClassEntry
from featprop.sources.naming import name_of

MAX_CLASSES = 1000
DIGITS = tuple("1234567890")
"""Keys of the first ten classes."""
LOOK_ALIKES = str.maketrans("аеіјкорсухһԁԛԝαεικορτυνχ", "aeijkopcyxhdqwaeikoptuvx")
"""Cyrillic and Greek letters that look like Latin ones."""


class Classes(list[Hashable]):
    """Class names in order, with their keys and descriptions; 1 and "1" are different."""

    def __init__(self, entries: Iterable[ClassEntry] = ()) -> None:
        self.entries = list(entries)
        super().__init__(each.name for each in self.entries)
        self.codes = {name_to_text(each.name): code for code, each in enumerate(self.entries)}
        """Code of each class, by its name as JSON."""

    def resolve(self, label: Hashable) -> Hashable:
        """Return the class that equals a label or, if there is only one, the class with the same text."""
        if name_to_text(label) in self.codes:
            return label
        alike = [name for name in self if str(name) == str(label)]
        if len(alike) == 1:
            return alike[0]
        raise LabelError(
            f"There is no class {label!r}.",
            hint="Add the class first.",
            parameter="label",
            value=label,
            choices=map(str, self[:10]),
        )

    def without(self, name: Hashable) -> Classes:
        """Return the other classes."""
        return Classes(each for each in self.entries if name_to_text(each.name) != name_to_text(name))

    def codes_of(self, names: Iterable[Hashable]) -> NDArray[np.intp]:
        """Return the codes of classes by name; -1 for a name that is none (any longer)."""
        return np.array([self.codes.get(name_to_text(name), UNKNOWN) for name in names], dtype=np.intp)

    def find(self, name: str) -> Hashable | None:
        """Return the class that a new name spells in another way; None if the name is new.

        A name that only looks like a class is refused, because people cannot tell the two apart.
        """
        text = clean_name(name)
        for known in self:
            if normalize_label(known) == normalize_label(text):
                return known
        for known in self:
            if appearance(known) == appearance(text):
                message = f"The name {text!r} looks like the class {known!r}."
                raise ParameterError(message, hint="Choose another name.", parameter="name", value=name)
        if len(self) >= MAX_CLASSES:
            raise ParameterError(f"There can be at most {MAX_CLASSES:,} classes.", parameter="classes", value=name)
        return None

    def shortcuts(self) -> list[str]:
        """Return the key of each class: its own, or the next free digit. Classes that are digits are their own keys."""
        if all(str(name) in DIGITS for name in self):
            return [each.key or str(each.name) for each in self.entries]
        free = (digit for digit in DIGITS if digit not in {each.key for each in self.entries})
        return [each.key or next(free, "") for each in self.entries]


def clean_name(name: str) -> str:
    """Return a class name without superfluous spaces; a name that cannot be seen is an error."""
    text = " ".join(name.split())
    if is_missing(text) or not is_visible(text) or not text.isprintable():
        raise ParameterError("A class needs a name of visible characters.", parameter="name", value=name)
    return text


def typed_name(name: str) -> Hashable:
    """Return a class name as the log stores it: a number if it looks like one."""
    return name_of(clean_name(name))


def appearance(name: Hashable) -> str:
    """Return what names that look the same have in common."""
    return normalize_label(name).translate(LOOK_ALIKES)
