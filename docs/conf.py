"""Settings of the documentation site, which ``make docs`` builds. The site loads nothing from other servers."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.autodoc.mock import MockFinder

import featprop
from featprop.web.common.palette import ALL, OURS

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# PyTorch Geometric takes longer to import than the site takes to build.
sys.meta_path.insert(0, MockFinder(["torch_geometric"]))

project = "featprop"
version = release = featprop.__version__
copyright = "The featprop developers, MIT licence"  # noqa: A001

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "command_line",
    "inline_figures",
    "repository_links",
]
myst_heading_anchors = 4
default_role = "py:obj"
highlight_language = "text"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_attr_annotations = False
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"

html_theme = "furo"
html_title = "featprop"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {colour.name: colour.light for colour in ALL}
    | {"color-brand-primary": OURS.light, "color-brand-content": OURS.light},
    "dark_css_variables": {colour.name: colour.dark for colour in ALL}
    | {"color-brand-primary": OURS.dark, "color-brand-content": OURS.dark},
}


ARRAY = re.compile(r"ndarray\[tuple\[[^\]]*\], [\w.~]*dtype\[[^\]]*\]\]")
ARRAY_LIKE = re.compile(
    r"[\w.~]*_Buffer \| [^|]*_SupportsArray[^|]*\| [^|]*\| (?:\w+ \| )+[\w.~]*_NestedSequence\[[\w| ]+\]"
)
ANNOTATED = re.compile(r"Annotated\[([^\[\],]+(?:\[[^\]]*\])?), [^\]]*\]")


def short_signature(_: Sphinx, kind: str, __: str, thing: Any, ___: Any, given: str | None, back: str | None) -> Any:
    """Shorten types of arrays, drop ranges of options, and hide constructors of results, which users never call."""
    if kind == "class" and dataclasses.is_dataclass(thing):
        needed = [each for each in dataclasses.fields(thing) if each.default is each.default_factory]
        if needed:
            return "", None
    for pattern, short in (ARRAY, "ndarray"), (ARRAY_LIKE, "ArrayLike"), (ANNOTATED, r"\1"):
        given, back = (text and pattern.sub(short, text) for text in (given, back))
    return given, back


def setup(sphinx: Sphinx) -> None:
    """Register the hook."""
    sphinx.connect("autodoc-process-signature", short_signature)
