"""Links out of ``docs/`` work in a checkout; on the site they lead to a page of it, or name the file."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md", "SECURITY.md": "security.md"}


def inside(link: re.Match[str]) -> str:
    """Return what stands on the site in place of a link to a file of the repository."""
    text, path = link.groups()
    if path in PAGES:
        return f"[{text}](/{PAGES[path]})"
    return f"`{path}`" if text == path else f"{text} (`{path}`)"


def rewrite(_: Sphinx, page: str, source: list[str]) -> None:
    """Rewrite the links of a page."""
    up = r"\.\./" * (page.count("/") + 1)
    source[0] = re.sub(rf"\[([^\]]+)\]\({up}([^)#.][^)#]*)\)", inside, source[0])


def setup(sphinx: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    sphinx.connect("source-read", rewrite)
    return {"parallel_read_safe": True}
