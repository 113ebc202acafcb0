"""HTML for notebooks: escaped and well-formed."""

from xml.etree import ElementTree

from featprop.html import bars, card


def test_card_escapes_its_content() -> None:
    shown = card("<Graph>", [("nodes", "3 & more"), ("<b>", 5)], "<p>below</p>")
    tree = ElementTree.fromstring(shown)
    assert tree[0].text == "<Graph>"
    assert [[cell.text for cell in row] for row in tree[1]] == [["nodes", "3 & more"], ["<b>", "5"]]
    assert shown.endswith("<p>below</p></div>")


def test_bars_of_the_first_dozen_values() -> None:
    tree = ElementTree.fromstring(bars("a <title>", [("x & y", 1), ("z" * 50, 4), ("none", 0)]))
    assert tree.findtext("caption") == "a <title>"
    assert [(bar.get("value"), bar.get("max")) for bar in tree.iter("meter")] == [("1", "4"), ("4", "4"), ("0", "4")]
    assert [head.text for head in tree.iter("th")] == ["x & y", "z" * 21 + "…", "none"]
    shown = bars("many", [(str(number), number) for number in range(10_000)])
    assert shown.count("<meter") == 12
    assert "and 9,988 more" in shown
    assert bars("none", []) == ""
    assert bars("zeros", [("a", 0)]).count("<meter") == 1
