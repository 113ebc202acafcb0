"""The browser that the tests of the page and the report share."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Chromium of this machine; tests are skipped without it.

    It closes after each file, because no other event loop can start while Playwright runs.
    """
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_tab(chromium: Any) -> Iterator[Any]:
    """Open pages in separate browser contexts; errors on the console, in `troubles`, are failures."""
    contexts, troubles = [], []

    def open_page(address: str, **options: Any) -> Any:
        context = chromium.new_context(**options)
        context.set_default_timeout(30_000)
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("console", lambda said: said.type == "error" and troubles.append(said.text))
        tab.goto(address)
        return tab

    open_page.troubles = troubles  # type: ignore[attr-defined]
    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
