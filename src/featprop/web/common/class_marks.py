"""Abbreviations and colours of classes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from featprop.web.common.formatting import clean_text
from featprop.web.common.palette import DIGITS, Colour, css_variables


def abbreviate_classes(classes: Sequence[str]) -> list[str]:
    """Return a unique abbreviation for each class. Adding classes does not change those of the earlier ones."""
    taken: set[str] = set()
    found = []
    for number, name in enumerate(classes, start=1):
        clean = "".join(clean_text(name).split()) or "?"
        initials = "".join(word[0] for word in clean_text(name).replace("_", " ").replace("-", " ").split())[:2]
        short = [clean] if len(clean) <= 2 else []
        choices = [*short, clean[0], clean[:2], initials, *(clean[0] + other for other in clean[2:]), str(number)]
        mark = next((each for each in choices if each and each.casefold() not in taken), f"{number}.")
        taken.add(mark.casefold())
        found.append(mark)
    return found


def class_css(code: int | None) -> str:
    """Return the CSS class of a class: one of ten colours, dashed from the eleventh class on."""
    if code is None:
        return "class-none"
    return f"class-{code % len(DIGITS)}{' class-repeated' if code >= len(DIGITS) else ''}"


def drawing_stylesheet() -> str:
    """Return the style sheet of charts, neighbourhood drawings and legends."""
    rules = [
        files("featprop.web.common").joinpath(name).read_text("utf-8") for name in ("neighbourhood.css", "chart.css")
    ]
    light = [_shade(place, colour, colour.light) for place, colour in enumerate(DIGITS)]
    dark = [_shade(place, colour, colour.dark) for place, colour in enumerate(DIGITS)]
    return "\n".join([css_variables(), *light, "@media (prefers-color-scheme: dark) {", *dark, "}", *rules])


def _shade(place: int, colour: Colour, hexadecimal: str) -> str:
    on = "#000000" if _contrast(hexadecimal, "#000000") >= _contrast(hexadecimal, "#ffffff") else "#ffffff"
    return f".class-{place} {{ --shade: var(--{colour.name}); --on-shade: {on}; }}"


def _contrast(one: str, other: str) -> float:
    """Return the WCAG contrast ratio of two colours."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(hexadecimal: str) -> float:
    parts = [int(hexadecimal[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
