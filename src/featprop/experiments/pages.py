"""Tables inside a Markdown page, between marks that name them.

<!-- table macro-f1-gcn-paper -->
…
<!-- end -->
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from featprop.errors import FileError, unknown_choice
from featprop.experiments.tables import Table
from featprop.io.atomic import replacing_file

__all__ = ["refresh", "refreshed"]

MARKED = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)


def refresh(path: Path, tables: Iterable[Table]) -> None:
    """Bring the marked tables of a page up to date."""
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}", "must be a Markdown page", error, "check the path") from error
    with replacing_file(path) as temporary:
        temporary.write_text(refreshed(page, tables), encoding="utf-8")


def refreshed(page: str, tables: Iterable[Table]) -> str:
    """Return the page with the text between its marks made anew."""
    by_name = {table.name: table for table in tables}

    def made(found: re.Match[str]) -> str:
        name = found[2]
        if name not in by_name:
            raise unknown_choice("A table marked in the page", name, by_name)
        return f"{found[1]}{by_name[name].markdown()}{found[3]}"

    return MARKED.sub(made, page)
