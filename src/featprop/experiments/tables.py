"""A table, and how it reads in Markdown, CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from html import escape
from io import StringIO

__all__ = ["Entry", "Table"]

LATEX = {
    **{sign: rf"\{sign}" for sign in "&%#_${}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "−": "$-$",
    "²": "$^2$",
    "–": "--",
}


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
    """

    name: str
    title: str
    note: str
    groups: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    figures: tuple[tuple[object, ...], ...] = ()

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
        heads = " & ".join(
            rf"\multicolumn{{{span}}}{{c}}{{{_latex(title)}}}" if title else " & " * (span - 1)
            for title, span in self.groups
        )
        body = [
            " & ".join(rf"\textbf{{{_latex(cell.text)}}}" if cell.bold else _latex(cell.text) for cell in row) + r" \\"
            for row in self.rows
        ]
        return "\n".join(
            [
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{_latex(f'{self.title}. {self.note}')}}}",
                rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
                r"\toprule",
                rf"{heads} \\",
                " & ".join(map(_latex, self.columns)) + r" \\",
                r"\midrule",
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def html(self) -> str:
        """Return the table as an element of a page."""
        groups = "".join(f'<th colspan="{span}" scope="colgroup">{escape(title)}</th>' for title, span in self.groups)
        rows = []
        starts = {sum(span for _, span in self.groups[:place]) for place in range(1, len(self.groups))}
        heads = "".join(
            f'<th scope="col"{_opening(place in starts)}>{escape(head)}</th>' for place, head in enumerate(self.columns)
        )
        for name, *cells in self.rows:
            texts = [f"<b>{escape(cell.text)}</b>" if cell.bold else escape(cell.text) for cell in cells]
            tags = [f"<td{_opening(place in starts)}>{text}</td>" for place, text in enumerate(texts, start=1)]
            rows.append(f'<tr><th scope="row">{escape(name.text)}</th>{"".join(tags)}</tr>')
        return (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title)}"><table>'
            f"<thead><tr>{groups}</tr><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )


def _opening(first: bool) -> str:
    """Return the class of a cell that opens a group of columns."""
    return ' class="opening"' if first else ""


def _latex(text: str) -> str:
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], text)
