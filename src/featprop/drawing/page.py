"""The look that the pages share."""

from __future__ import annotations

from importlib.resources import files

from featprop.drawing.palette import css_variables

__all__ = ["page_style"]


def page_style() -> str:
    """Return the style rules of a page: colours for light and dark, text, tables, figures."""
    return f"{css_variables()}\n{files('featprop.drawing').joinpath('page.css').read_text(encoding='utf-8')}"
