"""What several test files share and pytest's fixtures cannot give."""

import csv
import importlib.util
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from featprop.errors import FeatpropError
from featprop.experiments import runner


@contextmanager
def raises(kind: type[FeatpropError], **fields: Any) -> Iterator[pytest.ExceptionInfo[Any]]:
    """Expect an error of this type whose fields have these values; a `Path` is compared as text."""
    with pytest.raises(kind) as caught:
        yield caught
    for name, expected in fields.items():
        found = getattr(caught.value, name)
        assert found == (str(expected) if isinstance(expected, Path) else expected), f"{name} of: {caught.value}"


def assert_refused(result: Any, facts: str) -> None:
    """Expect exit code 2 and one line that starts with ``Error:`` and mentions every word of `facts`."""
    assert result.exit_code == 2, result.exception or result.output
    assert result.stdout == ""
    *progress, message = result.stderr.splitlines()
    assert message.startswith("Error: ")
    assert not [line for line in progress if "rror" in line]
    missing = [fact for fact in facts.split() if not re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", message)]
    assert not missing, f"not in {message!r}: {missing}"


def ok(result: Any) -> Any:
    """Expect exit code 0 and return the result of a command."""
    assert result.exit_code == 0, result.output
    return result


def rows_of(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file as people see them."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: str | Path, label: Callable[[str], str], rows: int | None = None) -> None:
    """Type the label of each node, or of the first `rows`, into a sheet, as a person would."""
    sheet = rows_of(path)
    for row in sheet[:rows]:
        row["label"] = label(row["id"])
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(sheet[0]))
        writer.writeheader()
        writer.writerows(sheet)


def run_trials_here(patch: pytest.MonkeyPatch) -> None:
    """Let experiments run their trials in this process."""
    patch.setattr(runner, "_load_protocol", runner._load_protocol.__wrapped__)
    patch.setattr(runner, "run_trials", lambda trials, *_: map(runner._run_trial, trials))


def load_script(path: Path) -> ModuleType:
    """Import a script that is not in a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


VOID = ("br", "hr", "img", "input", "link", "meta")
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
"""Attributes with a URL that a browser loads without a click, by element."""


class HtmlPage(HTMLParser):
    """A page whose tags match: its tags, ids, the ids it refers to, and the URLs it links to and loads."""

    def __init__(self, text: str, *, check: bool = True) -> None:
        super().__init__()
        self.check = check
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        found = {name: value or "" for name, value in attrs}
        self.ids += [found[name] for name in ("id", "name") if found.get(name) and (name == "id" or tag == "a")]
        self.links += [found["href"]] if tag == "a" and found.get("href") else []
        self.loads += [found[LOADED[tag]]] if found.get(LOADED.get(tag, "")) else []
        for value in (found.get("href", ""), found.get("xlink:href", "")):
            self.references += [value[1:]] if value.startswith("#") else []
        for value in found.values():
            self.references += re.findall(r"url\(#([^)]*)\)", value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag or not self.check


def check_self_contained(text: str) -> HtmlPage:
    """Return a page after checking that its tags match, its ids are unique, and it loads and runs nothing."""
    page = HtmlPage(text)
    assert page.open == []
    assert page.loads == []
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    assert "url(http" not in text
    assert "@import" not in text
    assert len(page.ids) == len(set(page.ids))
    assert set(page.references) <= set(page.ids)
    return page
