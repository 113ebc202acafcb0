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


def test_tables_are_escaped() -> None:
    html, latex = TABLE.html(), TABLE.latex()
    assert isinstance(html, Markup)
    assert 'aria-label="&lt;i&gt; &amp; _"' in html
    assert '<th colspan="1" scope="colgroup">a&lt;b</th>' in html
    assert '<tr><th scope="row">x &amp; y</th><td class="opening"><b>&lt;0.001</b></td></tr>' in html
    assert r"\caption{$<$i$>$ \& \_. 50 \%}" in latex
    assert r"x \& y & \textbf{$<$0.001} \\" in latex


def test_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="headline"):
        render_template("web/common/page.html.j2", command="x")
