"""HTML that notebooks show for an object: small tables and bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from featprop.errors import shorten

MAX_BARS, MAX_LABEL_CHARS = 12, 22
"""Bars that are drawn, the others are counted; and characters of a label."""


def card(title: str, facts: Iterable[tuple[str, object]], *below: str) -> str:
    """Return a title, a table of named facts, and the HTML to show below them."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(str(fact))}</td></tr>'
        for name, fact in facts
    )
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table>{''.join(below)}</div>"


def bars(title: str, values: Sequence[tuple[str, float]]) -> str:
    """Return a table with a bar for each of the first dozen labelled values; empty if there are none."""
    if not values:
        return ""
    top = max(value for _, value in values[:MAX_BARS]) or 1
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(shorten(label, MAX_LABEL_CHARS))}</th>'
        f'<td><meter max="{top}" value="{value}"></meter></td><td>{value:,.6g}</td></tr>'
        for label, value in values[:MAX_BARS]
    )
    more = f"<p>and {len(values) - MAX_BARS:,} more</p>" if len(values) > MAX_BARS else ""
    return f"<table><caption>{escape(title)}</caption>{rows}</table>{more}"
