"""The site builds without warnings or network access, and all its links work."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import featprop
from tests.helpers import HtmlPage, load_script

ROOT = Path(__file__).parents[2]
COLOUR = r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})\b"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, HtmlPage]:
    """Build the site as ``make docs`` does, without network access, and return its pages."""
    pytest.importorskip("myst_parser", reason="the oldest dependencies come without the tools of the site")
    folder = tmp_path_factory.mktemp("site")
    nowhere = {f"{kind}_proxy": "http://127.0.0.1:9" for kind in ("http", "https", "HTTP", "HTTPS")}
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    arguments = recipe.partition("$(BIN)/python -m sphinx ")[2].partition(" docs site\n")[0].split()
    assert "--fail-on-warning" in arguments
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments, str(ROOT / "docs"), str(folder)],
        env={**os.environ, **nowhere},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path: HtmlPage(path.read_text(encoding="utf-8"), check=False) for path in sorted(folder.rglob("*.html"))}


def test_site_has_every_page(site: dict[Path, HtmlPage]) -> None:
    names = {path.name for path in site}
    assert {f"{page.stem}.html" for page in (ROOT / "docs").rglob("*.md")} <= names
    assert len(names) > 30


def test_site_includes_the_top_level_pages(site: dict[Path, HtmlPage]) -> None:
    titles = {path.name: re.findall(r"<h1>([^<]+)", path.read_text(encoding="utf-8")) for path in site}
    pages = {page.name: page.read_text(encoding="utf-8").partition("\n")[0] for page in ROOT.glob("*.md")}
    assert {"# Contributing", "# Security", "# Changes"} == set(pages.values()) - {pages["README.md"]}
    for name in ("contributing", "security", "changes"):
        assert titles[f"{name}.html"] == [name.capitalize()]
    (labelling,) = [page for path, page in site.items() if path.name == "labelling.html"]
    assert labelling.links.count("security.html") == 2, "in the navigation and in the text"


def test_links_and_anchors_exist(site: dict[Path, HtmlPage]) -> None:
    followed = 0
    for path, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), (path.name, link)
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in site[target].ids, (path.name, link)
            followed += 1
    assert followed > 1000


def test_site_loads_no_external_resources(site: dict[Path, HtmlPage]) -> None:
    for path, page in site.items():
        for target in page.loads:
            parts = urlsplit(target)
            assert not parts.netloc, (path.name, target)
            inside = parts.scheme == "data" or not parts.path or (path.parent / unquote(parts.path)).is_file()
            assert inside, (path.name, target)
    for style in next(iter(site)).parent.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text.replace('"', "").replace("'", ""), style
        assert "@import" not in text, style


def test_reference_has_every_public_name(site: dict[Path, HtmlPage]) -> None:
    found: set[str] = set().union(*(set(page.ids) for path, page in site.items() if path.parent.name == "reference"))
    public = {f"featprop.{name}" for name in featprop.__all__ if not inspect.ismodule(getattr(featprop, name))}
    assert public <= found
    reference = next(path for path in site if path.name == "reference.html")
    listed = {link.rpartition("#")[2] for link in site[reference].links}
    assert public <= listed


def test_reference_has_every_command(site: dict[Path, HtmlPage], run: Any) -> None:
    page = next(path for path in site if path.name == "commands.html")
    ids = set(site[page].ids)
    assert {"featprop-select", "featprop-experiments-run", "featprop-datasets-make", "featprop-init"} <= ids
    text = page.read_text(encoding="utf-8")
    for option in ("--compute", "--use-audit", "--classes", "--unknown", "--plan"):
        assert option in text, option


def test_figure_matches_its_script() -> None:
    place = ROOT / "docs" / "figures" / "how_it_works.py"
    script = load_script(place)
    made, kept = script.drawing(), place.with_name("how-it-works.svg").read_text(encoding="utf-8")
    assert re.sub(COLOUR, "", made) == re.sub(COLOUR, "", kept)
    channels = [[int(part, 16) for colour in re.findall(COLOUR, text) for part in colour] for text in (made, kept)]
    np.testing.assert_allclose(*channels, rtol=0, atol=2, err_msg="python docs/figures/how_it_works.py draws it")
