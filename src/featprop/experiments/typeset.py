"""A table, and how it reads in Markdown, CSV, LaTeX, HTML and on a terminal."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO

from markupsafe import Markup

from featprop.web.common.templates import render_template

__all__ = ["Entry", "Table"]


@dataclass(frozen=True)
class Entry:
    """One cell of a table."""

    text: str
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells under two lines of heads.

    Attributes
    ----------
    name
        Of its files.
    title
        What it shows.
    note
        The protocol and how the numbers came about.
    groups
        The heads above groups of columns: a title and how many columns it spans.
    columns
        The head of each column; the first is that of the row names.
    rows
        The cells.
    figures
        The same in full precision, a row of numbers for each cell with one, for the CSV file; the first is the head.
    section
        The protocol whose part of a report it stands in; empty for the part on theory, time and data.
    """

    name: str
    title: str
    note: str
    groups: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    figures: tuple[tuple[object, ...], ...] = ()
    section: str = ""

    def markdown(self) -> str:
        """Return the table as GitHub shows it, under its title and its note."""
        heads = list(self.columns)
        place = 0
        for title, span in self.groups:
            heads[place] = f"{title}: {heads[place]}" if title and heads[place] != title else heads[place]
            place += span
        lines = [f"**{self.title}**", "", self.note, ""]
        lines.append(f"| {' | '.join(heads)} |")
        lines.append(f"| --- |{' ---: |' * (len(heads) - 1)}")
        for row in self.rows:
            cells = [f"**{cell.text}**" if cell.bold else cell.text for cell in row]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return the numbers, unrounded."""
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.figures)
        return text.getvalue()

    def latex(self) -> str:
        """Return a table that needs the package booktabs only."""
        return render_template("experiments/table.tex.j2", table=self)

    def html(self) -> Markup:
        """Return the table as an element of a page."""
        openings = {sum(span for _, span in self.groups[:place]) for place in range(1, len(self.groups))}
        return Markup(render_template("experiments/table.html.j2", table=self, openings=openings))

    def text(self) -> str:
        """Return the table as a terminal shows it, without its title and its note."""
        lines = [list(self.columns), *([cell.text for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        heads, place = "", 0
        for title, span in self.groups:
            heads += f"{title:<{sum(widths[place : place + span]) + 3 * span}}"
            place += span
        body = ["   ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join(line.rstrip() for line in [heads, *body])
