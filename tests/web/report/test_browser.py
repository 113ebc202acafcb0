"""The report in a real browser: the map, the panel, the tables, with and without a script."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def visit(chromium: Any, written: Path) -> Iterator[Any]:
    """Open the report; whatever it complains of, or asks of the network, is a failure."""
    contexts, troubles = [], []

    def open_page(**options: Any) -> Any:
        context = chromium.new_context(**options)
        context.set_default_timeout(10_000)
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("console", lambda said: said.type == "error" and troubles.append(said.text))
        tab.on("request", lambda request: request.url.startswith("file:") or troubles.append(request.url))
        tab.goto(written.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def test_a_click_in_a_list_shows_the_node_on_the_map(visit: Any) -> None:
    tab = visit()
    link = tab.locator("#distrust a[data-node]").nth(3)
    name = link.inner_text()
    link.click()
    panel = tab.locator("#panel")
    assert name in panel.inner_text()
    assert "Neighbours" in panel.inner_text()
    assert "In the list: Least sure" in panel.inner_text()
    assert tab.locator("#chosen").get_attribute("visibility") == "visible"
    assert tab.evaluate("document.activeElement.id") == "panel"
    tab.click("#panel .back")
    assert tab.evaluate("document.activeElement.textContent") == name


def test_neighbours_are_links_and_columns_are_told(visit: Any) -> None:
    tab = visit()
    tab.locator("#picks a[data-node]").nth(2).click()
    assert tab.locator("#panel h3").inner_text() == "Account 7"
    assert "8 March 2017" in tab.locator("#panel dl").inner_text()
    link = tab.locator("#panel dd a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == ("https://example.org/7", "noreferrer noopener")
    tab.locator("#panel .around button", has_text="Account 9").click()
    assert tab.locator("#panel h3").inner_text() == "Account 9"


def test_names_that_are_markup_stay_text(visit: Any) -> None:
    tab = visit()
    tab.locator("#picks a[data-node]").first.click()
    assert tab.locator("#panel h3").inner_text().startswith("</script><script>")
    assert "stolen" in tab.title()
    assert tab.title() != "stolen"
    assert tab.locator("img").count() == 0


def test_the_map_by_pointer_and_by_keyboard(visit: Any) -> None:
    tab = visit()
    place = tab.evaluate(
        """() => {
          const node = JSON.parse(document.getElementById("data").textContent).nodes[7];
          const frame = document.getElementById("picture").getBoundingClientRect();
          const view = document.getElementById("picture").viewBox.baseVal;
          return [(node[0] / view.width) * frame.width, (node[1] / view.height) * frame.height];
        }"""
    )
    tab.locator("#picture").hover(position={"x": place[0], "y": place[1]})
    assert "Account 7" in tab.locator("#hint").inner_text()
    tab.locator("#picture").click(position={"x": place[0], "y": place[1]})
    assert tab.locator("#panel h3").inner_text() == "Account 7"
    tab.locator("#picture").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    assert tab.locator("#panel h3").inner_text() != "Account 7"
    tab.keyboard.press("Escape")
    assert tab.locator("#panel h3").count() == 0


def test_colours_legend_search_and_copying(visit: Any) -> None:
    tab = visit(permissions=["clipboard-read", "clipboard-write"])
    tab.click("label[for=by-sure]")
    assert tab.locator(".layer-sure").is_visible()
    assert not tab.locator(".layer-class").is_visible()
    tab.click("label[for=by-class]")
    tab.locator(".for-class button").first.click()
    assert "filtered" in tab.locator(".mapbox").get_attribute("class")
    tab.locator(".for-class button").first.click()
    assert "filtered" not in tab.locator(".mapbox").get_attribute("class")
    tab.fill("#find", "account 33")
    tab.keyboard.press("Enter")
    assert tab.locator("#panel h3").inner_text() == "Account 33"
    before = tab.evaluate("document.getElementById('picture').viewBox.baseVal.width")
    tab.click("[data-zoom=in]")
    assert tab.evaluate("document.getElementById('picture').viewBox.baseVal.width") < before
    tab.locator(".copy").first.click()
    assert tab.evaluate("navigator.clipboard.readText()").startswith("featprop report 'my graph/'")


def test_long_tables_open(visit: Any) -> None:
    tab = visit()
    rows = tab.locator("#picks tbody tr:visible")
    assert rows.count() == 6
    tab.click("#picks [data-more]")
    assert rows.count() == 8


def test_without_a_script_all_is_there_but_the_panel(visit: Any) -> None:
    tab = visit(java_script_enabled=False)
    assert tab.locator("#picks tbody tr:visible").count() == 8
    assert tab.locator("#picture .layer-class").is_visible()
    assert not tab.locator("#panel").is_visible()
    tab.click("label[for=by-far]")
    assert tab.locator(".layer-far").is_visible()
    assert not tab.locator(".layer-class").is_visible()
    assert tab.locator(".chart").count() == 2


@pytest.mark.parametrize("width", [360, 700, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out(visit: Any, width: int, scheme: str) -> None:
    tab = visit(viewport={"width": width, "height": 800}, color_scheme=scheme)
    tab.locator("#distrust a[data-node]").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints(visit: Any, tmp_path: Path) -> None:
    tab = visit()
    tab.emulate_media(media="print")
    assert tab.locator("#picks tbody tr:visible").count() == 8
    assert not tab.locator("#panel").is_visible()
    assert tab.pdf(format="A4").startswith(b"%PDF")
