"""Tables inside a Markdown page, between marks that name them, and the figures it shows.

<!-- table macro-f1-gcn-paper -->
…
<!-- end -->

![…](figures/macro-f1-gcn-paper.svg)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from featprop.errors import FileError, unknown_choice
from featprop.experiments.figures import Drawing
from featprop.experiments.typeset import Table
from featprop.files import replacing_file

__all__ = ["refresh", "refreshed", "shown"]

MARKED = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
SHOWN = re.compile(r"!\[[^\]]*\]\((figures/([^)/]+)\.svg)\)")


def refresh(path: Path, tables: Iterable[Table], drawings: Iterable[Drawing]) -> None:
    """Bring the marked tables of a page up to date, and the figures it shows, in the folder beside it."""
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}", "must be a Markdown page", error, "check the path") from error
    new = {path: refreshed(page, tables)}
    new |= {path.parent / place: drawing.file for place, drawing in shown(page, drawings).items()}
    for place, text in new.items():
        with replacing_file(place) as temporary:
            temporary.write_text(text, encoding="utf-8")


def shown(page: str, drawings: Iterable[Drawing]) -> dict[str, Drawing]:
    """Return the figures a page shows, by their places beside it."""
    by_name = {drawing.name: drawing for drawing in drawings}
    found = {}
    for place, name in SHOWN.findall(page):
        if name not in by_name:
            raise unknown_choice("A figure shown in the page", name, by_name)
        found[place] = by_name[name]
    return found


def refreshed(page: str, tables: Iterable[Table]) -> str:
    """Return the page with the text between its marks made anew."""
    by_name = {table.name: table for table in tables}

    def made(found: re.Match[str]) -> str:
        name = found[2]
        if name not in by_name:
            raise unknown_choice("A table marked in the page", name, by_name)
        return f"{found[1]}{by_name[name].markdown()}{found[3]}"

    return MARKED.sub(made, page)
