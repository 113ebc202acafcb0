"""Render Jinja2 templates.

Templates are files of this package. Values in ``*.html.j2`` are escaped for HTML, values in ``*.tex.j2`` for LaTeX.
LaTeX templates use ``<< >>`` and ``<% %>`` instead of braces.
"""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from featprop import __version__
from featprop.web.common.palette import css_variables

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


def render_template(template: str, **values: object) -> str:
    """Render a template; a missing value is an error."""
    html, latex = _environments()
    return (latex if template.endswith(".tex.j2") else html).get_template(template).render(values)


@cache
def _environments() -> tuple[Environment, Environment]:
    html = Environment(
        loader=PackageLoader("featprop", ""),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    html.globals |= {"colours": css_variables(), "version": __version__}
    latex = html.overlay(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        finalize=_escape_latex,
    )
    return html, latex


def _escape_latex(value: object) -> str:
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], str(value))
