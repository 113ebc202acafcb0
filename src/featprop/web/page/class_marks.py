"""How a class looks on the page: a colour, a letter or two, and the style sheet that makes it so in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from featprop.web.drawing.palette import DIGITS, Colour, css_variables
from featprop.web.page.legible import legible

__all__ = ["abbreviations", "class_style", "style"]


def abbreviations(classes: Sequence[str]) -> list[str]:
    """Return a letter or two for each class, all different; those of the first classes stay when more are added."""
    taken: set[str] = set()
    found = []
    for number, name in enumerate(classes, start=1):
        clean = "".join(legible(name).split()) or "?"
        initials = "".join(word[0] for word in legible(name).replace("_", " ").replace("-", " ").split())[:2]
        short = [clean] if len(clean) <= 2 else []
        choices = [*short, clean[0], clean[:2], initials, *(clean[0] + other for other in clean[2:]), str(number)]
        mark = next((each for each in choices if each and each.casefold() not in taken), f"{number}.")
        taken.add(mark.casefold())
        found.append(mark)
    return found


def class_style(code: int | None) -> str:
    """Return the CSS class of a class: one of ten colours, with a dashed outline from the eleventh on."""
    if code is None:
        return "hood-none"
    return f"hood-c{code % len(DIGITS)}{' hood-again' if code >= len(DIGITS) else ''}"


def style() -> str:
    """Return the style sheet of drawings and legends: the colours of the palette by light and dark, and the rules."""
    rules = files("featprop.web.page").joinpath("hood.css").read_text(encoding="utf-8")
    light = [_shade(place, colour, colour.light) for place, colour in enumerate(DIGITS)]
    dark = [_shade(place, colour, colour.dark) for place, colour in enumerate(DIGITS)]
    return "\n".join([css_variables(), *light, "@media (prefers-color-scheme: dark) {", *dark, "}", rules])


def _shade(place: int, colour: Colour, hexadecimal: str) -> str:
    on = "#000000" if _contrast(hexadecimal, "#000000") >= _contrast(hexadecimal, "#ffffff") else "#ffffff"
    return f".hood-c{place} {{ --shade: var(--{colour.name}); --on-shade: {on}; }}"


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(hexadecimal: str) -> float:
    parts = [int(hexadecimal[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
