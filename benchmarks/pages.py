"""Stored results of benchmarks, their tables, and the pages that show them.

    python benchmarks/pages.py REPORT PAGE    # takes tables and figures from `featprop experiments report`

A page has a table between ``<!-- table NAME -->`` and ``<!-- /table NAME -->``, and shows figures of the folder
``figures`` next to it.
"""

import argparse
import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np


def of(lines, **wanted):
    return [line for line in lines if all(line[key] == value for key, value in wanted.items())]


def mean(lines, what="macro_f1"):
    return 100 * float(np.mean([line[what] for line in lines]))


def percent(values):
    return f"{100 * np.mean(values):.0f}" if len(values) else "-"


def table(titles, rows):
    line = "| --- |" + " ---: |" * (len(titles) - 1)
    return "\n".join([f"| {' | '.join(titles)} |", line, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def read_lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def append_lines(path, lines):
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def show(mark, text, page=None):
    """Print a table, and replace the text between its marks in a page."""
    print(f"\n{mark}\n{text}")
    if page:
        replace(mark, text, page)


def replace(mark, text, page):
    marks = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, rest = page.read_text(encoding="utf-8").split(marks[0])
    page.write_text(f"{before}{marks[0]}\n{text}\n{marks[1]}{rest.split(marks[1])[1]}", encoding="utf-8")


def update(page, report):
    """Update the tables and figures of a page from a report of experiments."""
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"<!-- table (\S+) -->", text):
        replace(f"table {name}", (report / "tables" / f"{name}.md").read_text(encoding="utf-8").rstrip(), page)
    for figure in re.findall(r"\]\((figures/\S+\.svg)\)", text):
        shutil.copy(report / figure, page.parent / figure)


def command(description):
    """Return a parser with the options of every benchmark of stored results."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="measure before making the tables")
    parser.add_argument("--into", type=Path, help="page whose tables to update")
    return parser


def run_parts(description, path, graphs, parts, measure, tables):
    """Replace the results of some graphs and parts if asked to, and show the tables."""
    parser = command(description)
    parser.add_argument("--graphs", nargs="+", default=graphs)
    parser.add_argument("--parts", nargs="+", default=list(parts), choices=list(parts))
    given = parser.parse_args()
    lines = read_lines(path)
    if given.run:
        lines = [line for line in lines if line["graph"] not in given.graphs or line["part"] not in given.parts]
        for name in given.graphs:
            for part in given.parts:
                lines += measure(name, part)
                lines.sort(key=lambda line: (graphs.index(line["graph"]), list(parts).index(line["part"])))
                path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    for name, make in tables.items():
        show(f"{path.stem} {name}", make(lines), given.into)


if __name__ == "__main__":
    update(Path(sys.argv[2]), Path(sys.argv[1]))
