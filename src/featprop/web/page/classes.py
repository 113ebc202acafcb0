"""The classes there may be: their order, which is that of the keys, and which one a label means."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import overload

from featprop.errors import LabelError, ParameterError
from featprop.names import name_to_text
from featprop.plain import is_missing
from featprop.sources.naming import name_of
from featprop.spelling import form_of

__all__ = ["Classes"]

MOST = 1000
"""How many there may be."""


class Classes(Sequence[Hashable]):
    """Classes in their order; 1 and "1" are two. Not thread-safe by itself.

    Parameters
    ----------
    names
        The classes; one that is named again stays where it was.
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._code_of: dict[str, int] = {}
        self._names: list[Hashable] = []
        for name in names:
            self._append(name)

    def code(self, name: Hashable) -> int:
        """Return the place of a class."""
        return self._code_of[name_to_text(name)]

    def meant(self, label: Hashable) -> Hashable:
        """Return the class that a label means: the very one or, if that is one only, the one that is written so."""
        place = self._code_of.get(name_to_text(label))
        if place is not None:
            return self._names[place]
        alike = [name for name in self._names if str(name) == str(label)]
        if len(alike) == 1:
            return alike[0]
        choices = ", ".join(map(str, self._names[:10])) or "none yet"
        raise LabelError("label", f"must be one of the classes ({choices})", repr(label), "add the class first")

    def add(self, name: str) -> tuple[Hashable, bool]:
        """Add a class and return it as it is kept, a number if it is written as one, and whether it is new.

        One that is only written otherwise than another (`featprop.spelling`) is that one.
        """
        text = " ".join(name.split())
        if is_missing(text):
            raise ParameterError("class", "must have a name", repr(name), "type one")
        alike = [known for known in self._names if form_of(known) == form_of(text)]
        if alike:
            return alike[0], False
        if len(self._names) >= MOST:
            raise ParameterError("classes", f"must be at most {MOST:,}", len(self._names) + 1, "use fewer")
        self._append(name_of(text))
        return self._names[-1], True

    def _append(self, name: Hashable) -> None:
        if self._code_of.setdefault(name_to_text(name), len(self._names)) == len(self._names):
            self._names.append(name)

    @overload
    def __getitem__(self, place: int) -> Hashable: ...
    @overload
    def __getitem__(self, place: slice) -> list[Hashable]: ...
    def __getitem__(self, place: int | slice) -> Hashable | list[Hashable]:
        return self._names[place]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(list(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Classes({self._names})"
