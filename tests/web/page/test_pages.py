"""The HTML pages without a browser: forms, escaping, images."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.labels import LabelLog
from tests.web.page.conftest import give_ranking, learn, payments

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def form_of(text: str, action: str) -> dict[str, str]:
    """Hidden fields of the first form with an action."""
    body = re.search(rf'<form method="post" action="{action}".*?</form>', text, re.DOTALL)
    assert body, action
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', body[0])
    return {name: value.replace("&#34;", '"') for name, value in found}


def test_disagreements_are_settled_and_reopened(make_page: Callable[..., Any]) -> None:
    page = make_page(annotators=("ada", "grace"))
    page.session.label("ada", "n1", "ok", "1")
    page.session.label("grace", "n1", "fraud", "2")
    browser = page.browser("ada")
    text = browser.get("/review/disagreements").text
    assert re.findall(r"(\w+): <strong>(\w+)</strong>", text) == [
        ("ada", "ok"),
        ("grace", "fraud"),
        ("unlabelled", "5"),
    ]
    answer = browser.post("/adjudications", data={**form_of(text, "/adjudications"), "label": '"fraud"'})
    assert answer.headers["location"] == "/review/disagreements?after=%22n1%22"
    assert 'class="finished"' in browser.get(answer.headers["location"]).text
    settled = browser.get("/review").text
    assert 'id="settled"' in settled
    assert 'class="badge"' not in settled
    assert "<strong>fraud</strong>" in browser.get("/").text, "undo removes this"
    assert 'data-kind="adjudicate"' in browser.get("/history").text
    browser.post("/undo", data=form_of(browser.get("/").text, "/undo"))
    assert 'class="badge"' in browser.get("/").text
    browser.post("/adjudications", data={**form_of(text, "/adjudications"), "key": "k", "label": '"ok"'})
    assert page.log.labels() == {"n1": "ok"}


def test_review_lists_and_order(page: Any) -> None:
    for node, label in {"n1": "ok", "n2": "fraud", "n3": "review"}.items():
        page.session.label("", node, label, node)
    give_ranking(page, n7=[0.4, 0.35, 0.25], n8=[0.1, 0.45, 0.45], n3=[0.5, 0.4, 0.1])
    browser = page.browser()
    overview = browser.get("/review").text
    assert re.findall(r'<section id="([\w-]+)"', overview) == ["least_certain", "contradicted", "wrong_labels"]
    assert form_of(browser.get("/review/least_certain").text, "/labels")["node"] == '"n7"'
    after = browser.get("/review/least_certain?after=%22n7%22").text
    assert form_of(after, "/labels")["node"] == '"n8"'
    assert form_of(browser.get("/review/contradicted").text, "/labels")["node"] == '"n8"'
    wrong = browser.get("/review/wrong_labels").text
    assert form_of(wrong, "/labels") == {**form_of(wrong, "/labels"), "node": '"n2"', "back": "review/wrong_labels"}
    assert "Label: <strong>fraud</strong>" in wrong
    accepted = re.search(r'<button name="label" value="([^"]*)"[^>]*class="[^"]*accepted"', wrong)
    assert accepted is not None
    assert accepted[1] == "&#34;ok&#34;"
    assert form_of(browser.get("/review/wrong_labels?after=%22n2%22").text, "/labels")["node"] == '"n3"'
    assert browser.get("/review/nothing").status_code == 404
    assert browser.get("/review/least_certain?node=nope").status_code == 404


def test_one_person_reviews_the_verdicts_of_an_earlier_team(make_page: Callable[..., Any]) -> None:
    page = make_page()
    page.session.log.adjudicate("n1", "ok", annotator="ada")
    (link,) = re.findall(r'href="(/review/disagreements\?node=[^"]*)"', page.browser().get("/review").text)
    assert 'action="/adjudications"' in page.browser().get(link).text


def test_owner_settles_labels_of_others_that_look_wrong(make_page: Callable[..., Any]) -> None:
    page = make_page(annotators=("ada", "grace"))
    page.session.label("grace", "n2", "fraud", "1")
    page.session.label("grace", "n1", "ok", "2")
    give_ranking(page)
    assert 'action="/labels"' in page.browser("grace").get("/review/wrong_labels").text
    assert 'action="/adjudications"' in page.browser("ada").get("/review/wrong_labels").text
    page.session.label("ada", "n3", "fraud", "3")
    give_ranking(page)
    assert "/review/disagreements" not in page.browser("grace").get("/review").text
    assert "Account 3" not in page.browser("grace").get("/review/wrong_labels?after=%22n2%22").text


def test_probabilities_are_on_the_answer_buttons(make_page: Callable[..., Any]) -> None:
    for blind, shares in ((False, ["80 %", "10 %", "10 %"]), (True, [])):
        page = make_page(blind=blind)
        give_ranking(page)
        assert re.findall(r'<span class="share">([^<]*)</span>', page.browser().get("/").text) == shares


def test_progress_page_has_every_count(make_page: Callable[..., Any]) -> None:
    page = make_page(annotators=("ada", "grace"), budget=100)
    for place in range(7):
        page.session.label("ada", f"n{place}", "ok", f"{place}")
    page.session.skip("grace", "n9", "unsure", "s")
    text = page.browser("ada").get("/progress").text
    assert "7 of 60" in text
    assert "0 of 7" in text
    assert "<code>--audit 30</code>" in text
    for row in ("ok", "ada", "grace"):
        assert f'<th scope="row">{row}</th>' in text
    assert 'class="chart"' not in text


def test_status_has_the_number_of_labels_the_model_used(page: Any) -> None:
    page.session.label("", "n1", "ok", "1")
    page.session.label("", "n2", "fraud", "2")
    assert 'data-seen="0" data-labelled="2"' in page.browser().get("/").text
    learn(page.session)
    assert 'data-seen="2" data-labelled="2"' in page.browser().get("/status").text


def test_failed_training_is_shown_and_labels_are_saved(page: Any) -> None:
    page.session.trainer.failure = "out of memory"
    browser = page.browser()
    assert "data-failed" in browser.get("/").text
    assert "out of memory" in browser.get("/progress").text
    assert browser.post("/labels", data={"node": '"n1"', "label": '"ok"', "key": "k"}).status_code == 303


def test_finished_page(make_page: Callable[..., Any]) -> None:
    page = make_page(budget=1)
    page.session.label("", "n1", "ok", "1")
    browser = page.browser()
    text = browser.get("/").text
    assert 'id="finished"' in text
    assert 'href="/downloads"' in text
    assert 'data-copy="featprop train g --labels g.labels"' in text
    browser.post("/undo", data=form_of(browser.get("/").text, "/undo"))
    assert "Account 1</h1>" in browser.get("/").text


@pytest.mark.parametrize("count", [3, 10, 11, 40])
def test_first_ten_classes_have_keys_and_more_have_a_search(make_page: Callable[..., Any], count: int) -> None:
    text = make_page(classes=[f"class {place}" for place in range(count)]).browser().get("/").text
    in_reach = count if count <= 10 else 5
    assert re.findall(r'data-key="(\d)" aria', text) == list("1234567890")[:in_reach]
    assert text.count('name="label"') == count + (5 if count > 10 else 0)
    assert ('id="find"' in text) == (count > 10)


def test_stored_text_is_escaped_everywhere(make_page: Callable[..., Any]) -> None:
    ids = [EVIL, *(f"n{place}" for place in range(1, 60))]
    graph = payments(id=ids, name=[f"{EVIL} {place}" for place in range(60)], about=[EVIL] * 60)
    page = make_page(graph, classes=(EVIL, "ok"), annotators=(EVIL, "grace"))
    browser = page.browser(EVIL)
    page.session.label(EVIL, EVIL, EVIL, "1")
    page.session.note(EVIL, EVIL, EVIL, "2")
    page.session.skip(EVIL, "n3", EVIL, "3")
    page.session.label("grace", EVIL, "ok", "4")
    address = page.script("grace").get("/api/history").json()["answers"][0]["node"]
    assert address == EVIL
    from featprop.web.page.fields import node_address

    paths = ["/", "/history", "/progress", "/review", "/review/disagreements", "/nodes/n3", node_address(EVIL)]
    for path in [*paths, "/nodes/<script>alert(1)", "/<script>"]:
        text = browser.get(path).text
        assert "<script>" not in text, path
        assert "<img src=x" not in text, path
    for path in ("/api/next", "/api/history", f"/api{node_address(EVIL)}", "/api/disagreements"):
        assert browser.get(path).headers["content-type"] == "application/json"


def test_images_come_only_from_the_declared_folder(make_page: Callable[..., Any], tmp_path: Path) -> None:
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
    page = make_page(payments(picture=["a.png"] * 60), images=folder)
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


def test_progress_counts_former_annotators(make_page: Callable[..., Any], tmp_path: Path) -> None:
    with LabelLog(tmp_path / "a.labels") as log:
        log.tell({"n1": "ok", "n2": "ok"}, annotator="former")
        log.tell({"n1": "ok", "n2": "fraud"}, annotator="imported")
    browser = make_page(path=tmp_path / "a.labels").browser()
    text = browser.get("/progress").text
    assert "former" in text
    assert re.search(r'<li id="alpha"><strong>−?0\.\d', text)
    assert 'class="badge"' in text
    assert 'class="votes"' in browser.get("/review/disagreements").text
