"""The pages without a browser: everything a form does, what is escaped, and what is drawn."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.labels import LabelLog
from featprop.web.page.curve import curve

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def form_of(text: str, action: str) -> dict[str, str]:
    """The hidden fields of the first form that leads to an action."""
    body = re.search(rf'<form method="post" action="{action}".*?</form>', text, re.DOTALL)
    assert body, action
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', body[0])
    return {name: value.replace("&#34;", '"') for name, value in found}


def test_a_form_labels_and_leads_to_the_next_question(page: Any) -> None:
    browser = page.browser()
    fields = form_of(browser.get("/").text, "/labels")
    answer = browser.post("/labels", data={**fields, "label": '"ok"'})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    again = browser.post("/labels", data={**fields, "label": '"ok"'})
    assert again.status_code == 303
    assert [act.kind for act in page.log.events()] == ["label"]
    assert form_of(browser.get("/").text, "/labels")["node"] != fields["node"]


def test_every_action_is_a_form(page: Any) -> None:
    browser = page.browser()
    text = browser.get("/").text
    browser.post("/notes", data={**form_of(text, "/notes"), "text": " odd "})
    browser.post("/classes", data={"name": "mule"})
    browser.post("/skips", data={**form_of(text, "/skips"), "reason": "unsure"})
    browser.post("/labels", data={**form_of(browser.get("/").text, "/labels"), "label": '"mule"'})
    browser.post("/undo", data=form_of(browser.get("/").text, "/undo"))
    kinds = [(act.kind, act.text) for act in page.log.events() if act.kind != "class"]
    assert kinds == [("note", "odd"), ("skip", "unsure"), ("label", ""), ("undo", "")]
    assert browser.post("/notes", data={**form_of(browser.get("/").text, "/notes"), "text": "  "}).status_code == 422


def test_the_history_is_corrected_in_place(page: Any) -> None:
    browser = page.browser()
    page.desk.label("", "n1", "ok", "1")
    fields = form_of(browser.get("/history").text, "/labels")
    answer = browser.post("/labels", data={**fields, "label": '"fraud"'})
    assert answer.headers["location"] == "/history"
    assert page.log.labels() == {"n1": "fraud"}


def test_a_node_is_labelled_and_noted_on_its_card(page: Any) -> None:
    browser = page.browser()
    text = browser.get("/nodes/%22n5%22").text
    answer = browser.post("/labels", data={**form_of(text, "/labels"), "label": '"ok"'})
    assert answer.headers["location"] == "/nodes/%22n5%22"
    browser.post("/notes", data={**form_of(text, "/notes"), "text": "mine"})
    after = browser.get("/nodes/%22n5%22").text
    assert "You said: <strong>ok</strong>" in after
    assert "mine" in after


def test_disagreements_are_settled_on_their_page(make_page: Callable[..., Any]) -> None:
    page = make_page(annotators=("ada", "grace"))
    page.desk.label("ada", "n1", "ok", "1")
    page.desk.label("grace", "n1", "fraud", "2")
    browser = page.browser("ada")
    text = browser.get("/disagreements").text
    assert "1 disagreement" in text
    answer = browser.post("/adjudications", data={**form_of(text, "/adjudications"), "label": '"fraud"'})
    assert answer.headers["location"] == "/disagreements"
    settled = browser.get("/disagreements").text
    assert "No disagreements" in settled
    assert "Settle anew" in settled
    assert "settled as <strong>fraud</strong>" in browser.get("/").text, "this is what undo takes back"
    assert "settled as fraud" in browser.get("/history").text
    browser.post("/undo", data=form_of(browser.get("/").text, "/undo"))
    assert "1 disagreement" in browser.get("/disagreements").text
    browser.post("/adjudications", data={**form_of(text, "/adjudications"), "key": "k", "label": '"ok"'})
    assert page.log.labels() == {"n1": "ok"}


def test_one_person_sees_no_disagreements_and_no_name(page: Any) -> None:
    text = page.browser().get("/").text
    assert "/disagreements" not in text
    assert 'class="who"' not in text


def test_the_progress_page_has_every_count(make_page: Callable[..., Any]) -> None:
    page = make_page(annotators=("ada", "grace"), budget=100)
    for place in range(7):
        page.desk.label("ada", f"n{place}", "ok", f"{place}")
    page.desk.skip("grace", "n9", "unsure", "s")
    text = page.browser("ada").get("/progress").text
    assert "<h1>7 of 60 labelled</h1>" in text
    assert "0 of 7" in text
    assert (
        "on this page with 20 labels, unless the graph is large; <code>featprop report</code> gives one from 10" in text
    )
    for row in ("ok", "ada", "grace"):
        assert f'<th scope="row">{row}</th>' in text
    assert "The curve begins" in text


def test_the_question_says_what_the_model_has_seen(page: Any) -> None:
    page.desk.label("", "n1", "ok", "1")
    page.desk.label("", "n2", "fraud", "2")
    assert "The model has seen 0 of 2 labels." in page.browser().get("/").text
    page.desk.start()
    assert "The model has seen 2 of 2 labels." in page.browser().get("/status").text


def test_a_training_that_fails_is_said_and_labels_are_taken(page: Any) -> None:
    page.desk._trainer.failure = "out of memory"
    browser = page.browser()
    assert "could not learn from the last labels; your answers are safe" in browser.get("/").text
    assert "out of memory" in browser.get("/progress").text
    assert browser.post("/labels", data={"node": '"n1"', "label": '"ok"', "key": "k"}).status_code == 303


def test_the_end_is_said(make_page: Callable[..., Any]) -> None:
    page = make_page(budget=1)
    page.desk.label("", "n1", "ok", "1")
    browser = page.browser()
    assert "All 1 labels are there" in browser.get("/").text
    browser.post("/undo", data=form_of(browser.get("/").text, "/undo"))
    assert "Account 1</h1>" in browser.get("/").text


@pytest.mark.parametrize("count", [3, 10, 11, 40])
def test_the_first_ten_classes_have_keys_and_more_can_be_found(make_page: Callable[..., Any], count: int) -> None:
    text = make_page(classes=[f"class {place}" for place in range(count)]).browser().get("/").text
    assert re.findall(r'data-key="(\d)" aria', text) == list("1234567890")[:count]
    assert text.count('name="label"') == count
    assert ('id="find"' in text) == (count > 10)


def test_without_classes_the_page_asks_for_the_first(make_page: Callable[..., Any]) -> None:
    page = make_page(classes=())
    browser = page.browser()
    assert "There is no class yet: add the first one." in browser.get("/").text
    browser.post("/classes", data={"name": "7"})
    assert 'value="7" data-name="7"' in browser.get("/").text


def test_those_who_may_not_add_a_class_see_no_form_for_it(make_page: Callable[..., Any]) -> None:
    page = make_page(annotators=("ada", "grace"), adding=["ada"])
    assert "New class" in page.browser("ada").get("/").text
    assert "New class" not in page.browser("grace").get("/").text
    assert page.browser("grace").post("/classes", data={"name": "x"}).status_code == 403


def test_whatever_is_stored_is_escaped_everywhere(
    make_page: Callable[..., Any], payments_of: Callable[..., Any]
) -> None:
    ids = [EVIL, *(f"n{place}" for place in range(1, 60))]
    graph = payments_of(id=ids, name=[f"{EVIL} {place}" for place in range(60)], about=[EVIL] * 60)
    page = make_page(graph, classes=(EVIL, "ok"), annotators=(EVIL, "grace"))
    browser = page.browser(EVIL)
    page.desk.label(EVIL, EVIL, EVIL, "1")
    page.desk.note(EVIL, EVIL, EVIL, "2")
    page.desk.skip(EVIL, "n3", EVIL, "3")
    page.desk.label("grace", EVIL, "ok", "4")
    address = page.script("grace").get("/api/history").json()["answers"][0]["node"]
    assert address == EVIL
    from featprop.web.page.addresses import node_address

    paths = ["/", "/history", "/progress", "/disagreements", "/predictions", "/nodes/n3", node_address(EVIL)]
    for path in [*paths, "/nodes/<script>alert(1)", "/<script>"]:
        text = browser.get(path).text
        assert "<script>" not in text, path
        assert "<img" not in text, path
    for path in ("/api/next", "/api/history", f"/api{node_address(EVIL)}", "/api/disagreements"):
        assert browser.get(path).headers["content-type"] == "application/json"


def test_pictures_come_from_the_declared_folder_alone(
    make_page: Callable[..., Any], payments_of: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    for path in (folder / "a.png", folder / "deep" / "b c.jpg", tmp_path / "secret.png", folder / "notes.txt"):
        path.write_bytes(b"bytes of " + path.name.encode())
    (folder / "evil.svg").write_text("<svg onload='alert(1)'/>", encoding="utf-8")
    (folder / "evil.html").write_text("<script>alert(1)</script>", encoding="utf-8")
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "away").symlink_to(tmp_path)
    (folder / "in.png").symlink_to(folder / "a.png")
    (folder / "dir.png").mkdir()
    (folder / "loop.png").symlink_to(folder / "loop.png")
    page = make_page(payments_of(picture=["a.png"] * 60), images=folder)
    browser = page.browser()
    shown = browser.get("/images/a.png")
    assert (shown.content, shown.headers["content-type"]) == (b"bytes of a.png", "image/png")
    assert browser.get("/images/deep/b%20c.jpg").status_code == 200
    assert browser.get("/images/in.png").status_code == 200
    assert '<img src="/images/a.png"' in browser.get("/").text
    for path in (
        "/images/%2e%2e/secret.png",
        "/images/..%2fsecret.png",
        "/images/deep/%2e%2e/%2e%2e/secret.png",
        f"/images/{tmp_path}/secret.png",
        f"/images/%2f{tmp_path}/secret.png",
        "/images/out.png",
        "/images/away/secret.png",
        "/images/dir.png",
        "/images/notes.txt",
        "/images/evil.svg",
        "/images/evil.html",
        "/images/a.png%00.png",
        "/images/a.png%00",
        "/images/nothing.png",
        "/images/loop.png",
        f"/images/{'long' * 100}.png",
        "/images/",
        "/images/..%5csecret.png",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
    ):
        answer = browser.get(path)
        assert answer.status_code == 404, path
        assert b"bytes of" not in answer.content


def test_without_a_folder_there_are_no_pictures(page: Any) -> None:
    assert page.browser().get("/images/a.png").status_code == 404


def test_the_curve_is_drawn_and_told() -> None:
    drawn = curve([(2, 0.9), (5, 0.6), (5, 0.55), (9, 0.5), (3, float("nan"))])
    assert drawn is not None
    assert len(re.findall(r"[\d.]+,[\d.]+", re.search(r'points="([^"]*)"', drawn)[1])) == 3
    assert "0.9 at 2 labels, 0.5 at 9" in drawn
    assert curve([(2, 0.9)]) is None
    assert curve([(1, 0.0), (2, 0.0)]) is not None
    assert curve([]) is None


def test_people_who_are_not_here_now_count_on_the_progress_page(make_page: Callable[..., Any], tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.tell({"n1": "ok", "n2": "ok"}, annotator="former")
        log.tell({"n1": "ok", "n2": "fraud"}, annotator="imported")
    browser = make_page(path=tmp_path / "a.labels").browser()
    text = browser.get("/progress").text
    assert "former" in text
    assert "agreement (Krippendorff" in text
    assert "nothing answered by two people yet" not in text
    assert 'href="/disagreements"' in text
    assert "1 disagreement" in browser.get("/disagreements").text
