"""Rendering of templates."""

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from featprop.experiments.tables import Table
from featprop.web.common.templates import render_template

TABLE = Table("t", "<i> & _", "50 %", {"": {"x": {"c": "x & y"}}, "a<b": {"x": {"d": "**<0.001**"}}})


def test_text_is_escaped_and_markup_is_not() -> None:
    page = render_template("web/common/page.html.j2", command="featprop <x>", headline=Markup("<i>so</i>"))
    assert "<h1><i>so</i></h1>" in page
    assert '<p class="eyebrow">featprop &lt;x&gt;</p>' in page
    assert "--ink: #1b1f24;" in page
    assert "font: 17px/1.6 system-ui" in page


def test_table_as_html() -> None:
    html = TABLE.html()
    assert isinstance(html, Markup)
    assert 'aria-label="&lt;i&gt; &amp; _"' in html
    assert '<th colspan="1" scope="colgroup">a&lt;b</th>' in html
    assert '<th scope="col">c</th><th scope="col" class="opening">d</th>' in html
    assert '<tr><th scope="row">x &amp; y</th><td class="opening"><b>&lt;0.001</b></td></tr>' in html


def test_table_as_latex() -> None:
    assert TABLE.latex() == "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\caption{$<$i$>$ \& \_. 50 \%}",
            r"\begin{tabular}{lr}",
            r"\toprule",
            r" & \multicolumn{1}{c}{a$<$b} \\",
            r"c & d \\",
            r"\midrule",
            r"x \& y & \textbf{$<$0.001} \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def test_table_as_text() -> None:
    heads = {"x": {"n": "10"}, "y": {"n": "200"}}
    table = Table("t", "", "", {"": heads, "head": {"x": {"a": "1.0", "b": "22.0"}, "y": {"a": "3", "b": "4"}}})
    assert table.text() == "      head\n  n     a      b\n 10   1.0   22.0\n200     3      4"


def test_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="headline"):
        render_template("web/common/page.html.j2", command="x")
