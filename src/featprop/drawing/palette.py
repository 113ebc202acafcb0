"""The colours of the reports, by light and by dark.

Figures are drawn in the light colours; `themed` turns them into CSS variables, so a figure follows the reader's
colour scheme. The ten digits wear Paul Tol's *muted* scheme, made for colour-blind readers, lightened for the dark.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "DIGITS",
    "FEATPROP",
    "INK",
    "LINE",
    "OURS",
    "PAPER",
    "QUIET",
    "RANDOM",
    "SERIES",
    "Colour",
    "css_variables",
    "themed",
]


class Colour(NamedTuple):
    """A colour with a name for CSS."""

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
"""The lines of a figure with many."""
ALL = (INK, QUIET, LINE, PAPER, OURS, FEATPROP, RANDOM, *DIGITS)


def css_variables() -> str:
    """Return the style rules that define every colour as ``--name``."""
    light = " ".join(f"--{colour.name}: {colour.light};" for colour in ALL)
    dark = " ".join(f"--{colour.name}: {colour.dark};" for colour in ALL)
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def themed(svg: str) -> str:
    """Replace the light colours of a drawing by the variables."""
    for colour in ALL:
        svg = svg.replace(colour.light, f"var(--{colour.name})")
    return svg
