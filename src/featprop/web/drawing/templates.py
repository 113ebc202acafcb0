"""Pages and tables from templates: the one place that loads Jinja2.

A template is a file of the package, named by its path. What is put into ``*.html.j2`` is escaped for HTML, what is put
into ``*.tex.j2`` for LaTeX; there ``<< >>`` and ``<% %>`` stand in place of the braces, which LaTeX has enough of.
"""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from featprop import __version__
from featprop.web.drawing.palette import css_variables

__all__ = ["rendered"]

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


def rendered(template: str, **values: object) -> str:
    """Return a template with the values in their places; a value that is missing is an error.

    Parameters
    ----------
    template
        Its path in the package, such as ``"experiments/report.html.j2"``.
    **values
        What it shows. Text is escaped unless it is `markupsafe.Markup`.
    """
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
        finalize=_for_latex,
    )
    return html, latex


def _for_latex(value: object) -> str:
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], str(value))
