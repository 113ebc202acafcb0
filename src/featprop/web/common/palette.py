"""Colours of the page and the reports, for light and dark mode.

Figures are drawn in the light colours; `use_css_variables` replaces them by CSS variables, so a figure follows the
reader's colour scheme. A class has a colour and an abbreviation, so nothing depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import NamedTuple

from featprop.web.common.formatting import clean_text


class Colour(NamedTuple):
    """A colour for light and dark mode, its CSS variable, and the colour of text on it in light mode."""

    name: str
    light: str
    dark: str
    text: str = "#ffffff"


INK = Colour("ink", "#1b1f24", "#e9ebee")
QUIET = Colour("quiet", "#57606a", "#a3abb5")
LINE = Colour("line", "#d9dde2", "#363c44")
PAPER = Colour("paper", "#ffffff", "#1a1d21")
OURS = Colour("ours", "#007558", "#4fcfa6")
FEATPROP = Colour("featprop", "#0a5fa8", "#6cb6ff")
RANDOM = Colour("random", "#b3500c", "#f0a35e")
DIGITS = (
    Colour("digit-0", "#332288", "#9a8ff5"),
    Colour("digit-1", "#c65a00", "#f2994a", "#000000"),
    Colour("digit-2", "#0f7f78", "#3fc1b5"),
    Colour("digit-3", "#b52e8c", "#ea78c6"),
    Colour("digit-4", "#75760f", "#c3c453"),
    Colour("digit-5", "#1f7fc4", "#62b5f0", "#000000"),
    Colour("digit-6", "#c43c50", "#f58494"),
    Colour("digit-7", "#74462a", "#cf9a78"),
    Colour("digit-8", "#2f8738", "#6fcb77"),
    Colour("digit-9", "#68707a", "#b9c0c8"),
)
"""Colours of the classes. Contrast: at least 3 to the paper, 4.5 to the text on them, which is black in dark mode."""
SERIES = DIGITS
"""Colours of the lines of a figure."""
ALL = (INK, QUIET, LINE, PAPER, OURS, FEATPROP, RANDOM, *DIGITS)


def css_variables(colours: Iterable[Colour] = ALL) -> str:
    """Return CSS rules that define each colour as ``--name``."""
    chosen = list(colours)
    light = " ".join(f"--{colour.name}: {colour.light};" for colour in chosen)
    dark = " ".join(f"--{colour.name}: {colour.dark};" for colour in chosen)
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}"


def use_css_variables(svg: str) -> str:
    """Replace the light colours of a drawing by CSS variables."""
    for colour in ALL:
        svg = svg.replace(colour.light, f"var(--{colour.name})")
    return svg


def abbreviate_classes(classes: Sequence[str]) -> list[str]:
    """Return a unique abbreviation for each class. Adding classes does not change those of the earlier ones."""
    taken: set[str] = set()
    found = []
    for number, name in enumerate(classes, start=1):
        clean = "".join(clean_text(name).split()) or "?"
        choices = [clean, str(number)] if len(clean) <= 2 else [clean[0], clean[:2], str(number)]
        mark = next((each for each in choices if each.casefold() not in taken), f"{number}.")
        taken.add(mark.casefold())
        found.append(mark)
    return found


def class_css(code: int | None) -> str:
    """Return the CSS class of a class: one of ten colours, dashed from the eleventh class on."""
    if code is None:
        return "class-none"
    return f"class-{code % len(DIGITS)}{' class-repeated' if code >= len(DIGITS) else ''}"


def class_stylesheet() -> str:
    """Return the style sheet of classes, charts and drawings of neighbours."""
    rules = [
        files("featprop.web.common").joinpath(name).read_text("utf-8") for name in ("neighbourhood.css", "chart.css")
    ]
    light = [_class_rule(place, colour, colour.text) for place, colour in enumerate(DIGITS)]
    dark = [_class_rule(place, colour, "#000000") for place, colour in enumerate(DIGITS)]
    return "\n".join([css_variables(), *light, "@media (prefers-color-scheme: dark) {", *dark, "}", *rules])


def _class_rule(place: int, colour: Colour, text: str) -> str:
    return f".class-{place} {{ --shade: var(--{colour.name}); --on-shade: {text}; }}"
