"""What goes by one name and differs in content, told apart.

A strategy may have run with several sets of options, a model with several settings, and a name may stand for several
graphs. Each is a row, a table or a panel of its own, under a key such as ``featprop[layers=1]``. The plain name is the
key of the one that adds nothing to its name, and of an only one whatever it adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from featprop.experiments.paper import BUDGETS
from featprop.experiments.results import Result

__all__ = ["Details", "Variant", "graphs_apart", "strategies_apart", "told", "told_apart"]

Details = tuple[str, ...]
"""What a thing adds to its name, such as ``("layers = 1",)``."""


@dataclass(frozen=True)
class Variant:
    """One of the things that go by a name.

    Attributes
    ----------
    name
        As the lines have it.
    details
        What it adds to its name.
    key
        What it is looked up by, distinct from that of every other.
    title
        As a table shows it.
    """

    name: str
    details: Details
    key: str
    title: str

    @property
    def file(self) -> str:
        """The key as a part of the name of a file."""
        return quote(self.key, safe="[]=,")

    @property
    def untold(self) -> str:
        """The details that the title does not tell, empty if there are none."""
        return ", ".join(self.details) if self.key == self.name else ""


def told_apart(
    found: Iterable[tuple[str, Details]], title_of: Callable[[str], str], first: Sequence[str]
) -> dict[tuple[str, Details], Variant]:
    """Return a variant for each name with each of its details.

    Parameters
    ----------
    found
        The names that occur, each with what it adds.
    title_of
        Gives the title of a name.
    first
        The names that come first, in this order; the others follow by the alphabet.
    """
    places = {name: place for place, name in enumerate(first)}
    pairs = sorted(set(found), key=lambda pair: (places.get(pair[0], len(places)), pair))
    names = [name for name, _ in pairs]
    variants = {}
    for name, details in pairs:
        key, title = name, title_of(name)
        if details and names.count(name) > 1:
            key = f"{name}[{','.join(detail.replace(' = ', '=') for detail in details)}]"
            opened = f"{title[:-1]}, " if title.endswith(")") else f"{title} ("
            title = f"{opened}{', '.join(details)})"
        variants[name, details] = Variant(name, details, key, title)
    return variants


def told(content: Mapping[str, Any]) -> Details:
    """Return options or settings as details."""
    return tuple(f"{name} = {value}" for name, value in sorted(content.items()))


def graphs_apart(lines: Sequence[Result]) -> list[Details]:
    """Return for each line what tells its graph from others of the name: the first characters of the fingerprint.

    A line of before there were fingerprints is taken to be of the only graph there is.
    """
    known = [name for name, graph in {(line.dataset, line.graph) for line in lines} if graph]
    return [(line.graph[:6],) if line.graph and known.count(line.dataset) > 1 else () for line in lines]


def strategies_apart(lines: Sequence[Result]) -> list[list[Details]]:
    """Return for each line the options of its strategy, and the budgets it goes through where that tells it apart.

    A strategy that looks at a model reaches one budget by way of others. Two ways on one graph are two variants; a
    line before they part belongs to both. The way of the paper, as far as it goes, needs no telling.
    """
    ways: dict[tuple[Any, ...], set[tuple[int, ...]]] = {}
    for line in lines:
        ways.setdefault(_place(line), set()).add(tuple(line.schedule))
    whole = {
        place: [way for way in found if all(other == way or other[: len(way)] != way for other in found)]
        for place, found in ways.items()
    }
    parted = {place[:2] for place, found in whole.items() if len(found) > 1}
    apart: list[list[Details]] = []
    for line in lines:
        place, options = _place(line), told(line.options)
        taken = [way for way in whole[place] if way[: len(line.schedule)] == tuple(line.schedule)]
        others = [way if place[:2] in parted and way != BUDGETS[: len(way)] else () for way in taken]
        apart.append([(*options, f"budgets = {'-'.join(map(str, way))}") if way else options for way in others])
    return apart


def _place(line: Result) -> tuple[Any, ...]:
    """Return what two lines have in common that may differ in budget, seed and schedule; first the strategy."""
    return line.strategy, told(line.options), line.dataset, line.graph, line.model, told(line.settings)
