"""The report in Chromium, with and without JavaScript."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def visit(open_tab: Any, written: Path) -> Any:
    """Open the report, which must not load anything."""

    def open_page(**options: Any) -> Any:
        tab = open_tab("about:blank", **options)
        tab.on("request", lambda request: request.url.startswith("file:") or open_tab.troubles.append(request.url))
        tab.goto(written.as_uri())
        return tab

    return open_page


def test_click_in_a_list_opens_the_node(visit: Any) -> None:
    tab = visit()
    link = tab.locator("#review a[data-node]").first
    name = link.inner_text()
    link.click()
    panel = tab.locator("#panel")
    assert name in panel.inner_text()
    assert panel.locator(".around").count() > 0
    assert panel.locator(".flag").inner_text() == "In the list: Labels that look wrong"
    assert tab.locator("#chosen").get_attribute("visibility") == "visible"
    assert tab.evaluate("() => document.activeElement.id") == "panel"
    tab.click("#panel .back")
    assert tab.evaluate("() => document.activeElement.textContent") == name


def test_panel_has_neighbours_and_columns(visit: Any) -> None:
    tab = visit()
    tab.fill("#find", "n7")
    tab.keyboard.press("Enter")
    assert tab.locator("#panel h3").inner_text() == "Account 7"
    assert "8 March 2017" in tab.locator("#panel dl").inner_text()
    link = tab.locator("#panel dd a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == ("https://example.org/7", "noreferrer noopener")
    tab.locator("#panel .around button", has_text="Account 9").click()
    assert tab.locator("#panel h3").inner_text() == "Account 9"


def test_markup_in_names_stays_text(visit: Any) -> None:
    tab = visit()
    tab.locator("#labels a[data-node]").first.click()
    assert tab.locator("#panel h3").inner_text().startswith("</script><script>")
    assert "stolen" in tab.title()
    assert tab.title() != "stolen"
    assert tab.locator("img").count() == 0


def test_map_by_pointer_and_keyboard(visit: Any) -> None:
    tab = visit()
    place = tab.evaluate(
        """() => {
          const { x, y } = JSON.parse(document.getElementById("data").textContent).nodes;
          const frame = document.getElementById("picture").getBoundingClientRect();
          const view = document.getElementById("picture").viewBox.baseVal;
          return [(x[7] / view.width) * frame.width, (y[7] / view.height) * frame.height];
        }"""
    )
    tab.locator("#picture").hover(position={"x": place[0], "y": place[1]})
    assert "Account 7" in tab.locator("#hint").inner_text()
    tab.locator("#picture").click(position={"x": place[0], "y": place[1]})
    assert tab.locator("#panel h3").inner_text() == "Account 7"
    tab.locator("#picture").focus()
    opened = set()
    for key in ("ArrowRight", "ArrowLeft"):
        tab.keyboard.press(key)
        tab.keyboard.press("Enter")
        opened.add(tab.locator("#panel h3").inner_text())
    assert opened - {"Account 7"}
    tab.keyboard.press("Escape")
    assert tab.locator("#panel h3").count() == 0


def test_colours_legend_search_and_copy(visit: Any) -> None:
    tab = visit(permissions=["clipboard-read", "clipboard-write"])
    tab.click("label[for=by-confidence]")
    assert tab.locator(".layer-confidence").is_visible()
    assert not tab.locator(".layer-class").is_visible()
    tab.click("label[for=by-class]")
    tab.locator(".for-class button").first.click()
    assert "filtered" in tab.locator(".mapbox").get_attribute("class")
    tab.locator(".for-class button").first.click()
    assert "filtered" not in tab.locator(".mapbox").get_attribute("class")
    tab.fill("#find", "account 33")
    tab.keyboard.press("Enter")
    assert tab.locator("#panel h3").inner_text() == "Account 33"
    before = tab.evaluate("() => document.getElementById('picture').viewBox.baseVal.width")
    tab.click("[data-zoom=in]")
    assert tab.evaluate("() => document.getElementById('picture').viewBox.baseVal.width") < before
    tab.locator(".copy").first.click()
    assert tab.evaluate("() => navigator.clipboard.readText()").startswith("featprop report 'my graph/'")


def test_long_tables_unfold(visit: Any) -> None:
    tab = visit()
    rows = tab.locator("#labels tbody tr:visible")
    assert rows.count() == 6
    tab.click("#labels [data-more]")
    assert rows.count() == 21


def test_everything_but_the_panel_works_without_javascript(visit: Any) -> None:
    tab = visit(java_script_enabled=False)
    assert tab.locator("#labels tbody tr:visible").count() == 21
    assert tab.locator("#picture .layer-class").is_visible()
    assert not tab.locator("#panel").is_visible()
    tab.click("label[for=by-distance]")
    assert tab.locator(".layer-distance").is_visible()
    assert not tab.locator(".layer-class").is_visible()
    assert tab.locator(".chart").count() == 2


def test_print(visit: Any) -> None:
    tab = visit()
    tab.emulate_media(media="print")
    assert tab.locator("#labels tbody tr:visible").count() == 21
    assert not tab.locator("#panel").is_visible()
    assert tab.pdf(format="A4").startswith(b"%PDF")
