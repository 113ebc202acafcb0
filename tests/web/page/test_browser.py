"""The labelling page in Chromium."""

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from featprop.graph import Graph
from tests.web.page.conftest import give_ranking

EVIL = "<script>document.title='stolen'</script><img src=x onerror=\"document.title='stolen'\">"
MakeLive = Callable[..., Any]
Visit = Callable[..., Any]


@pytest.fixture
def visit(open_tab: Any) -> Visit:
    """Open the page of an annotator."""

    def open_page(live: Any, annotator: str = "", **options: Any) -> Any:
        return open_tab(live.address(annotator), **options)

    open_page.troubles = open_tab.troubles  # type: ignore[attr-defined]
    return open_page


@pytest.fixture
def live(make_live: MakeLive) -> Any:
    return make_live()


@pytest.fixture
def tab(live: Any, visit: Visit) -> Any:
    return visit(live)


def intercept(tab: Any, pattern: str, handler: Callable[[Any], None]) -> None:
    """Intercept requests of a page and reload it, because Chromium may have loaded some before."""
    tab.route(pattern, handler)
    tab.reload()


def title(tab: Any) -> str:
    return str(tab.locator("#title").inner_text())


def press(tab: Any, key: str) -> None:
    """Press a key and wait for the next question."""
    before = tab.locator("#question").get_attribute("data-node")
    tab.keyboard.press(key)
    next_question(tab, before)


def next_question(tab: Any, before: str) -> None:
    """Wait until another question is on the page and nothing is being saved."""
    tab.wait_for_function(
        "before => document.querySelector('#question').dataset.node !== before && !document.querySelector('.busy')",
        arg=before,
    )


def acts(live: Any) -> list[tuple[str, Any]]:
    return [(act.kind, act.label) for act in live.page.events() if act.kind != "remove"]


def test_link_from_another_site_works(make_live: MakeLive, chromium: Any) -> None:
    live = make_live()
    tab = chromium.new_page()
    tab.route("http://mail.example/", lambda route: route.fulfill(body=f'<a href="{live.address()}">label</a>'))
    tab.goto("http://mail.example/")
    tab.click("a")
    tab.wait_for_url(f"{live.root}/")
    assert tab.locator("#title").count() == 1
    tab.close()


def test_label_twenty_nodes_by_keyboard(make_live: MakeLive, visit: Visit) -> None:
    live = make_live(budget=25)
    tab = visit(live)
    for place in range(20):
        press(tab, "123"[place % 3])
    assert acts(live) == [("label", ("ok", "review", "fraud")[place % 3]) for place in range(20)]
    assert len(live.page.log.labels()) == 20
    tab.wait_for_selector("#status:has-text('20 of 25')")
    assert "review" in tab.locator("#live").inner_text()
    assert tab.evaluate("() => document.activeElement.id") == "title"


def test_integers_beyond_double_precision_are_kept(make_live: MakeLive, visit: Visit) -> None:
    ids = [2**53 + 1, 2**53 + 2, 2**53 + 3]
    chain = sp.diags_array([np.ones(2), np.ones(2)], offsets=[-1, 1], format="csr")
    live = make_live(Graph.from_scipy(chain, np.eye(3), ids=ids), classes=[2**53 + 5, 2**53 + 6])
    tab = visit(live)
    said = {}
    for place in range(3):
        said[int(tab.locator("#question").get_attribute("data-node") or "0")] = 2**53 + 5 + place % 2
        press(tab, "12"[place % 2])
    assert sorted(said) == ids
    assert live.page.log.labels() == said


def test_skip_asks_for_a_reason(live: Any, tab: Any) -> None:
    tab.keyboard.press("s")
    assert tab.locator("#skip .panel").is_visible()
    assert live.page.events() == []
    press(tab, "2")
    tab.keyboard.press("s")
    tab.fill("#reason", "page 3 is missing")
    press(tab, "Enter")
    assert list(live.page.log.skips().values()) == ["bad data", "page 3 is missing"]
    tab.keyboard.press("s")
    tab.keyboard.press("Escape")
    press(tab, "1")
    assert list(live.page.log.labels().values()) == ["ok"]


def test_notes_are_saved_alone_or_with_the_label(live: Any, tab: Any) -> None:
    tab.keyboard.press("n")
    tab.keyboard.type("look at page 3")
    tab.keyboard.press("Escape")
    assert tab.locator("#note.draft").is_visible()
    press(tab, "1")
    tab.keyboard.press("n")
    tab.keyboard.type("1 or 2? unsure")
    tab.keyboard.press("Control+Enter")
    tab.wait_for_selector(".note")
    assert [(act.kind, act.text) for act in live.page.events()] == [
        ("note", "look at page 3"),
        ("label", ""),
        ("note", "1 or 2? unsure"),
    ]


def test_second_tab_announces_a_changed_answer(live: Any, tab: Any) -> None:
    second = tab.context.new_page()
    second.goto(live.root)
    press(tab, "1")
    press(second, "3")
    assert all(name in second.locator("#live").inner_text() for name in ("ok", "fraud"))
    assert acts(live) == [("label", "ok"), ("label", "fraud")]


def test_modified_and_repeated_keys_do_nothing(live: Any, tab: Any) -> None:
    for keys in ("Control+1", "Alt+1", "Meta+1", "Shift+Digit1", "x", "Enter", " ", "Backspace"):
        tab.keyboard.press(keys)
    assert live.page.events() == []
    before = tab.locator("#question").get_attribute("data-node")
    tab.keyboard.down("1")
    for _ in range(5):
        tab.keyboard.down("1")
    tab.keyboard.up("1")
    next_question(tab, before)
    assert acts(live) == [("label", "ok")]


def test_three_quick_presses_are_three_labels(live: Any, tab: Any) -> None:
    for keys in ("123", "321"):
        count = len(live.page.log.labels())
        tab.evaluate(
            "keys => [...keys].forEach(key => document.dispatchEvent(new KeyboardEvent('keydown', { key })))", keys
        )
        tab.wait_for_function("() => !document.querySelector('.busy')")
        deadline = time.monotonic() + 30
        while len(live.page.log.labels()) < count + 3 and time.monotonic() < deadline:
            tab.wait_for_timeout(50)
    names = ("ok", "review", "fraud")
    assert acts(live) == [("label", name) for name in (*names, *reversed(names))]
    assert len(live.page.log.labels()) == 6
    shown = json.loads(tab.locator("#question").get_attribute("data-node"))
    assert shown == live.page.session.next("").node


def test_next_question_is_shown_before_the_answer_is_saved(live: Any, tab: Any) -> None:
    held: list[Any] = []
    intercept(tab, "**/api/labels", lambda route: held.append(route))
    before = tab.locator("#question").get_attribute("data-node")
    tab.wait_for_function("() => ahead !== null")
    tab.keyboard.press("1")
    tab.wait_for_function("before => document.querySelector('#question').dataset.node !== before", arg=before)
    assert live.page.events() == []
    held[0].continue_()
    tab.wait_for_function("() => !document.querySelector('.busy')")
    assert acts(live) == [("label", "ok")]


def test_shortcuts_stay_off_after_a_reload(live: Any, tab: Any) -> None:
    tab.click("#keys")
    assert tab.locator("#keys").get_attribute("aria-pressed") == "false"
    for key in "123sun?":
        tab.keyboard.press(key)
    tab.reload()
    assert tab.locator("#keys").get_attribute("aria-pressed") == "false"
    tab.keyboard.press("1")
    assert live.page.events() == []
    assert tab.locator("dialog").count() == 0
    tab.click("#choices button >> nth=2")
    tab.wait_for_selector(".last a")
    assert tab.locator("#keys").get_attribute("aria-pressed") == "false"
    tab.click("#keys")
    press(tab, "1")
    assert acts(live) == [("label", "fraud"), ("label", "ok")]


def test_help_dialog(live: Any, tab: Any) -> None:
    tab.keyboard.press("?")
    tab.wait_for_selector("dialog[open]")
    tab.keyboard.press("1")
    tab.keyboard.press("Escape")
    tab.wait_for_selector("dialog[open]", state="hidden")
    assert live.page.events() == []
    press(tab, "1")


def test_other_sites_cannot_answer(live: Any, chromium: Any) -> None:
    context = chromium.new_context()
    tab = context.new_page()
    tab.goto(live.address())
    evil = (
        f'<form method="post" action="{live.root}/labels"><input name="node" value="&quot;n1&quot;">'
        '<input name="label" value="&quot;ok&quot;"><input name="key" value="k"></form>'
    )
    tab.route("http://127.0.0.1:1/", lambda route: route.fulfill(body=evil, content_type="text/html"))
    tab.goto("http://127.0.0.1:1/")
    with tab.expect_response(f"{live.root}/labels") as answer:
        tab.evaluate("() => document.forms[0].submit()")
    assert answer.value.status == 403
    assert live.page.events() == []
    context.close()


def test_everything_works_without_javascript(make_live: MakeLive, visit: Visit) -> None:
    live = make_live()
    tab = visit(live, java_script_enabled=False)
    first = title(tab)
    tab.click("#choices button >> nth=1")
    assert title(tab) != first
    tab.click("#skip summary")
    tab.click("#skip button >> nth=0")
    tab.click("#undo")
    tab.click("#note summary")
    tab.fill("#text", "by hand")
    tab.click("#note button")
    tab.click("#add summary")
    tab.fill("#class", "mule")
    tab.click("#add button")
    tab.click("#choices button >> nth=3")
    tab.click('nav a[href="/history"]')
    tab.select_option("select >> nth=0", label="ok")
    tab.click(".answers button >> nth=0")
    kinds = [(act.kind, act.label or act.text) for act in live.page.events() if act.kind != "class"]
    assert kinds == [
        ("label", "review"),
        ("skip", "unsure"),
        ("undo", ""),
        ("note", "by hand"),
        ("label", "mule"),
        ("label", "ok"),
    ]
    assert tab.locator("#keys").count() == 0


def test_forms_work_on_a_network_address(make_live: MakeLive, visit: Visit) -> None:
    """There browsers do not send Sec-Fetch-Site, and `Referrer-Policy: no-referrer` would make Origin null."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("no network")
        own = probe.getsockname()[0]
    live = make_live(host=own)
    tab = visit(live, java_script_enabled=False)
    tab.click("#choices button >> nth=1")
    assert tab.locator("#title").count() == 1
    assert acts(live) == [("label", "review")]
    visit.troubles.clear()  # type: ignore[attr-defined]


def test_phone_has_one_column_large_targets_and_menus(make_live: MakeLive, visit: Visit) -> None:
    live = make_live(classes=[f"class number {place}" for place in range(8)])
    tab = visit(live, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360
    card, around = tab.locator(".card").bounding_box(), tab.locator(".around").bounding_box()
    assert around["y"] >= card["y"] + card["height"]
    for place in range(8):
        box = tab.locator("#choices button").nth(place).bounding_box()
        assert box["height"] >= 44
        assert box["width"] >= 44
    for name in ("/history", "/progress", "/review", "/downloads", "/help", "/nodes/%22n1%22"):
        tab.goto(live.root + name)
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360, name
    tab.tap("header .menu")
    tab.tap('nav a[href="/"]')
    tab.wait_for_selector("#choices")
    before = tab.locator("#question").get_attribute("data-node")
    tab.tap("#choices button >> nth=3")
    next_question(tab, before)
    before = tab.locator("#question").get_attribute("data-node")
    tab.tap(".answer .menu")
    tab.tap("#skip summary")
    tab.tap("#skip button >> nth=0")
    next_question(tab, before)
    assert acts(live) == [("label", "class number 3"), ("skip", None)]


def test_search_among_more_than_ten_classes(make_live: MakeLive, visit: Visit) -> None:
    names = [*(f"class {place}" for place in range(10)), "small shop", "ship"]
    live = make_live(classes=names)
    tab = visit(live)
    tab.keyboard.press("/")
    tab.keyboard.type("smp")
    assert "small shop" in tab.locator("#found").inner_text()
    assert tab.locator("#found-classes button:visible").count() == 1
    press(tab, "Enter")
    assert tab.evaluate("() => document.activeElement.id") == "title"
    press(tab, "1")
    tab.keyboard.press("/")
    tab.keyboard.type("zz")
    tab.keyboard.press("Enter")
    assert tab.locator("#found-classes button:visible").count() == 0
    tab.keyboard.press("Escape")
    press(tab, "5")
    assert acts(live) == [("label", "small shop"), ("label", "class 0"), ("label", "class 4")]


def test_unsent_answer_is_kept_and_sent_once(live: Any, tab: Any, make_live: MakeLive, visit: Visit) -> None:
    before = tab.locator("#question").get_attribute("data-node")
    live.stop()
    tab.keyboard.press("1")
    tab.wait_for_selector("#trouble:not([hidden])")
    tab.keyboard.press("2")
    assert live.page.events() == []
    again = make_live(page=live.page, port=live.port)
    tab.click("#trouble button")
    next_question(tab, before)
    assert acts(again) == [("label", "ok")]
    assert tab.locator("#trouble").is_hidden()
    visit.troubles.clear()  # type: ignore[attr-defined]


def test_lost_response_does_not_label_twice(live: Any, tab: Any, visit: Visit) -> None:
    lost: list[Any] = []

    def lose(route: Any) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.fetch())
        route.abort()

    intercept(tab, "**/api/labels", lose)
    press(tab, "3")
    assert acts(live) == [("label", "fraud")]
    assert lost[0].status == 200
    visit.troubles.clear()  # type: ignore[attr-defined]


def test_refused_answer_keeps_the_question(live: Any, tab: Any, visit: Visit) -> None:
    live.page.session.remove_class("", "review")
    tab.keyboard.press("2")
    tab.wait_for_selector("#trouble:not([hidden])")
    assert "review" in tab.locator("#trouble").inner_text()
    press(tab, "1")
    assert acts(live) == [("label", "ok")]
    visit.troubles.clear()  # type: ignore[attr-defined]


def test_answer_is_kept_when_the_server_restarts(live: Any, tab: Any, make_live: MakeLive, visit: Visit) -> None:
    tab.on("dialog", lambda dialog: dialog.accept())
    live.stop()
    page = live.page
    page.tokens = type(page.tokens)(page.session.annotators)
    again = make_live(page=page, port=live.port)
    tab.keyboard.press("1")
    tab.wait_for_selector("#trouble:not([hidden])")
    assert page.events() == []
    tab.goto(again.address())
    tab.wait_for_selector(".last a")
    assert acts(again) == [("label", "ok")]
    visit.troubles.clear()  # type: ignore[attr-defined]


def test_two_annotators_get_different_nodes(make_live: MakeLive, visit: Visit) -> None:
    live = make_live(annotators=("ada", "grace"))
    tabs = [visit(live, name) for name in ("ada", "grace")]
    for tab in tabs * 3:
        press(tab, "1")
    answers = live.page.log.holding()
    assert sorted(each.annotator for each in answers) == ["ada"] * 3 + ["grace"] * 3
    assert len({each.node for each in answers}) == 6


def test_heartbeat_keeps_the_question(make_live: MakeLive, visit: Visit) -> None:
    now = [0.0]
    live = make_live(annotators=("ada", "grace"), clock=lambda: now[0])
    tab = visit(live, "ada")
    node = json.loads(tab.locator("#question").get_attribute("data-node"))
    for _ in range(3):
        now[0] += 500
        tab.evaluate("() => heartbeat()")
        tab.wait_for_timeout(200)
    assert live.page.session.heartbeat("ada", node)["held"]
    assert live.page.session.next("ada").node == node


def test_neighbours_link_to_their_pages(live: Any, tab: Any) -> None:
    before = title(tab)
    tab.locator(".chips a").first.click()
    tab.wait_for_url("**/nodes/**")
    other = title(tab)
    assert other != before
    tab.keyboard.press("2")
    tab.wait_for_selector("#answer:has-text('review')")
    assert title(tab) == other
    tab.click(".back a")
    assert title(tab) == before
    assert acts(live) == [("label", "review")]


def test_drawing_is_one_tab_stop_with_arrow_keys(live: Any, tab: Any) -> None:
    tab.click("#drawing summary")
    tab.keyboard.press("Tab")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    node = tab.evaluate("() => document.activeElement.dataset.node")
    assert node == tab.locator(".neighbourhood a").nth(1).get_attribute("data-node")
    tab.locator(f'.chip[data-node="{node}"]').hover()
    assert tab.locator(".neighbourhood a.lit").get_attribute("data-node") == node
    tab.locator(f'.neighbourhood a[data-node="{node}"]').focus()
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/nodes/**")
    tab.goto(live.root)
    assert tab.locator("#drawing").get_attribute("open") is not None, "stays open"


def test_answers_come_before_the_neighbours_in_the_tab_order(tab: Any) -> None:
    stops = []
    for _ in range(20):
        tab.keyboard.press("Tab")
        stops.append(tab.evaluate("() => document.activeElement.closest('.choices, .chips, nav')?.className"))
    assert stops.index("choices") < stops.index("chips")


def test_toast_undoes_the_answer_but_backspace_does_not(live: Any, tab: Any) -> None:
    first = title(tab)
    assert tab.locator("#undo").is_disabled()
    press(tab, "1")
    tab.keyboard.press("Backspace")
    assert title(tab) != first
    toast, bar = tab.locator("#toast").bounding_box(), tab.locator(".answer").bounding_box()
    assert toast["x"] < 100
    assert toast["y"] + toast["height"] <= bar["y"]
    tab.keyboard.press("n")
    assert not tab.locator("#toast").is_visible(), "it would cover the panel"
    tab.keyboard.press("Escape")
    before = tab.locator("#question").get_attribute("data-node")
    tab.click("#toast button")
    next_question(tab, before)
    assert title(tab) == first
    assert [kind for kind, _ in acts(live)] == ["label", "undo"]


def test_review_stream_by_keyboard(make_live: MakeLive, visit: Visit) -> None:
    """Enter accepts the model, a digit overrides it, an arrow passes a node, and undo returns to it."""
    live = make_live(annotators=("ada", "grace"))
    for place in range(4):
        live.page.session.label("ada", f"n{place}", "ok", f"a{place}")
        live.page.session.label("grace", f"n{place}", "fraud", f"g{place}")
    give_ranking(live.page)
    tab = visit(live, "ada")
    tab.goto(f"{live.root}/review/disagreements")
    assert [vote.inner_text() for vote in tab.locator(".votes .name").all()] == ["ada: ok", "grace: fraud"]
    press(tab, "Enter")
    press(tab, "3")
    settled = {act.node: act.label for act in live.page.log.verdicts()}
    assert settled == {"n0": "ok", "n1": "fraud"}
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("() => document.querySelector('#title').textContent === 'Account 3'")
    press(tab, "u")
    assert title(tab) == "Account 1"
    assert [act.node for act in live.page.log.verdicts()] == ["n0"]
    press(tab, "2")
    assert title(tab) == "Account 3"
    tab.keyboard.press("1")
    tab.wait_for_selector("#question .finished")
    tab.goto(f"{live.root}/review/least_certain")
    assert tab.locator(".choices .accepted").get_attribute("data-name") == "ok"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast(make_live: MakeLive, visit: Visit, scheme: str) -> None:
    live = make_live(annotators=("ada", "grace"))
    live.page.session.label("ada", "n1", "ok", "1")
    tab = visit(live, "ada", color_scheme=scheme, reduced_motion="reduce")
    give_ranking(live.page)
    for path in ("/", "/history", "/progress", "/review", "/review/least_certain", "/help", "/downloads"):
        tab.goto(live.root + path)
        assert tab.evaluate(LOW_CONTRAST) == [], (scheme, path)


LOW_CONTRAST = """() => {
  const numbers = (colour) => (colour.match(/[0-9.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = numbers(getComputedStyle(each).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *:not(svg *):not(script)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest(".sr-only, .skip-link, :disabled")) continue;
    const [one, other] = [light(numbers(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) found.push([element.outerHTML.slice(0, 80), contrast.toFixed(2)]);
  }
  return found;
}"""
