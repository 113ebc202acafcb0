"""HTML for notebooks: escaped and well-formed."""

from xml.etree import ElementTree

from featprop.html import bars, card, grid


def test_card_escapes_its_content() -> None:
    shown = card("<Graph>", [("nodes", "3 & more"), ("<b>", 5)], "<p>below</p>")
    tree = ElementTree.fromstring(shown)
    assert tree[0].text == "<Graph>"
    assert [[cell.text for cell in row] for row in tree[1]] == [["nodes", "3 & more"], ["<b>", "5"]]
    assert shown.endswith("<p>below</p></div>")


def test_grid() -> None:
    tree = ElementTree.fromstring(grid(["id"], [["<script>"], [2]]))
    assert [cell.text for cell in tree.iter("th")] == ["id"]
    assert [cell.text for cell in tree.iter("td")] == ["<script>", "2"]


def test_bar_lengths_are_proportional() -> None:
    tree = ElementTree.fromstring(bars("a <title>", [("x & y", 1), ("z" * 50, 4), ("none", 0)]))
    space = "{http://www.w3.org/2000/svg}"
    widths = [int(bar.get("width", "")) for bar in tree.iter(f"{space}rect")]
    assert widths == [50, 200, 1]
    texts = [text.text for text in tree.iter(f"{space}text")]
    assert texts == ["a <title>", "x & y", "1", "z" * 21 + "…", "4", "none", "0"]


def test_number_of_bars() -> None:
    shown = bars("many", [(str(number), number) for number in range(10_000)])
    assert shown.count("<rect") == 12
    assert "and 9,988 more" in shown
    ElementTree.fromstring(shown)
    assert bars("none", []) == ""
    assert bars("zeros", [("a", 0)]).count("<rect") == 1
