"""The classes of a session, in the order of their keys."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import overload

from featprop.errors import LabelError, ParameterError
from featprop.ids import is_missing, name_to_text, normalize_label
from featprop.sources.naming import name_of

MAX_CLASSES = 1000


class Classes(Sequence[Hashable]):
    """Classes in order; 1 and "1" are different. Not thread-safe.

    Parameters
    ----------
    names
        Names of the classes; repeated names are ignored.
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._code_of: dict[str, int] = {}
        self._names: list[Hashable] = []
        for name in names:
            self._append(name)

    def code(self, name: Hashable) -> int:
        """Return the code of a class."""
        return self._code_of[name_to_text(name)]

    def meant(self, label: Hashable) -> Hashable:
        """Return the class that equals a label or, if there is only one, the class with the same text."""
        place = self._code_of.get(name_to_text(label))
        if place is not None:
            return self._names[place]
        alike = [name for name in self._names if str(name) == str(label)]
        if len(alike) == 1:
            return alike[0]
        raise LabelError(
            f"There is no class {label!r}.",
            hint="Add the class first.",
            parameter="label",
            value=label,
            choices=map(str, self._names[:10]),
        )

    def add(self, name: str) -> tuple[Hashable, bool]:
        """Add a class; return it as stored (a number if it looks like one) and whether it is new.

        A name that differs only in spelling (`featprop.ids`) is the existing class.
        """
        text = " ".join(name.split())
        if is_missing(text):
            raise ParameterError("A class needs a name.", parameter="name", value=name)
        alike = [known for known in self._names if normalize_label(known) == normalize_label(text)]
        if alike:
            return alike[0], False
        if len(self._names) >= MAX_CLASSES:
            raise ParameterError(f"There can be at most {MAX_CLASSES:,} classes.", parameter="classes", value=name)
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
