"""Colours of the page and the reports, for light and dark mode.

Figures are drawn in the light colours; `use_css_variables` replaces them by CSS variables, so a figure follows the
reader's colour scheme. Classes use Paul Tol's *muted* scheme, made for colour-blind readers, lightened for dark mode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Colour(NamedTuple):
    """A colour and its CSS variable."""

    name: str
    light: str
    dark: str


INK = Colour("ink", "#1b1f24", "#e9ebee")
QUIET = Colour("quiet", "#57606a", "#a3abb5")
LINE = Colour("line", "#d9dde2", "#363c44")
PAPER = Colour("paper", "#ffffff", "#1a1d21")
OURS = Colour("ours", "#007558", "#4fcfa6")
FEATPROP = Colour("featprop", "#0a5fa8", "#6cb6ff")
RANDOM = Colour("random", "#b3500c", "#f0a35e")
DIGITS = (
    Colour("digit-0", "#332288", "#8f83f0"),
    Colour("digit-1", "#77bbdd", "#88ccee"),
    Colour("digit-2", "#44aa99", "#44aa99"),
    Colour("digit-3", "#117733", "#35a35a"),
    Colour("digit-4", "#999933", "#b5b53c"),
    Colour("digit-5", "#d4b94e", "#eedd88"),
    Colour("digit-6", "#cc6677", "#e07f90"),
    Colour("digit-7", "#882255", "#c24a86"),
    Colour("digit-8", "#aa4499", "#d070c0"),
    Colour("digit-9", "#7d848c", "#c3c9d0"),
)
SERIES = DIGITS
"""Colours of the lines of a figure."""
ALL = (INK, QUIET, LINE, PAPER, OURS, FEATPROP, RANDOM, *DIGITS)


def css_variables(colours: Iterable[Colour] = ALL) -> str:
    """Return CSS rules that define each colour as ``--name``."""
    chosen = list(colours)
    light = " ".join(f"--{colour.name}: {colour.light};" for colour in chosen)
    dark = " ".join(f"--{colour.name}: {colour.dark};" for colour in chosen)
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def ramp(name: str, first: Colour, last: Colour, steps: int) -> list[Colour]:
    """Return `steps` colours from `first` to `last`, named ``name-0``, ``name-1`` and so on."""
    shares = [step / (steps - 1) for step in range(steps)]
    return [
        Colour(f"{name}-{step}", _mix(first.light, last.light, share), _mix(first.dark, last.dark, share))
        for step, share in enumerate(shares)
    ]


def _mix(one: str, other: str, share: float) -> str:
    parts = [(int(one[place : place + 2], 16), int(other[place : place + 2], 16)) for place in (1, 3, 5)]
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in parts)


def use_css_variables(svg: str) -> str:
    """Replace the light colours of a drawing by CSS variables."""
    for colour in ALL:
        svg = svg.replace(colour.light, f"var(--{colour.name})")
    return svg
