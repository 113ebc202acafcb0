"""HTML that notebooks show for an object: a small table and SVG bars in the colours of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from featprop.errors import shorten

MAX_BARS = 12
"""Bars that are drawn; the others are counted."""
MAX_LABEL_CHARS = 22
LINE, LEFT, WIDTH = 18, 150, 420
"""Height of a bar with its margin, left end of the bars, and width of the picture."""


def card(title: str, facts: Iterable[tuple[str, object]], *below: str) -> str:
    """Return a title, a table of named facts, and the HTML to show below them."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(str(fact))}</td></tr>'
        for name, fact in facts
    )
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table>{''.join(below)}</div>"


def grid(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with column titles."""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bars(title: str, values: Sequence[tuple[str, float]]) -> str:
    """Return a bar chart of the first dozen labelled values; empty if there are none."""
    shown = values[:MAX_BARS]
    if not shown:
        return ""
    top = max(value for _, value in shown) or 1
    room = WIDTH - LEFT - 70
    drawn = []
    for row, (label, value) in enumerate(shown, start=1):
        y = row * LINE
        drawn.append(
            f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end">{escape(shorten(label, MAX_LABEL_CHARS))}</text>'
            f'<rect x="{LEFT}" y="{y + 3}" width="{max(1, room * value / top):.0f}" height="{LINE - 6}" opacity="0.5"/>'
            f'<text x="{LEFT + 6 + room * value / top:.0f}" y="{y + 13}">{value:,.6g}</text>'
        )
    height = (len(shown) + 1) * LINE
    if len(values) > MAX_BARS:
        drawn.append(f'<text x="{LEFT}" y="{height + 13}">and {len(values) - MAX_BARS:,} more</text>')
        height += LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        f'font-size="11" font-family="sans-serif" fill="currentColor" role="img" aria-label="{escape(title)}">'
        f'<text x="0" y="13" font-weight="bold">{escape(title)}</text>{"".join(drawn)}</svg>'
    )
