"""The wording of featprop: one list of all messages, plain English in it, in the README and in the docs."""

import re
from pathlib import Path

import pytest

from tests.messages import GOLDEN, ROOT, SOURCES, all_messages, messages_by_package

MESSAGES = messages_by_package([SOURCES])
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]


TICS = re.compile(
    r"\b(is|are|was|were|be) (said|told)\b(?! from)"
    r"|\banew\b|\bsomebody\b|\bnobody\b|\bmend(s|ed|ing)?\b|\bby lot\b|\bso many\b|\bof (its|his|their) own\b(?! class)"
    r"|\b(a|one) (row|line|key|column|file|call|node|label|answer) an? \w|\bbeside\b|\bas (it|they) came\b|; found ",
    re.IGNORECASE,
)
"""Turns of phrase of a translation, and the old form of errors."""

OWN_ERRORS = {"FeatpropError", "ParameterError", "FileError", "GraphError", "LabelError", "ModelError"}


def sentences(package: str) -> list[tuple[str, str]]:
    """Return (kind, message) of a package without the Python expressions inside messages."""
    return [(kind, re.sub(r"\{[^{}]*\}", "{}", message)) for kind, message in MESSAGES[package]]


def test_list_of_messages_is_up_to_date() -> None:
    assert GOLDEN.read_text(encoding="utf-8") == all_messages([SOURCES]), "run make messages and review the difference"


@pytest.mark.parametrize("package", sorted(set(MESSAGES)))
def test_messages_are_plain_english(package: str) -> None:
    assert [message for _, message in sentences(package) if TICS.search(message)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages_are_plain_english(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").split())
    assert [text[max(0, tic.start() - 40) : tic.end() + 40] for tic in TICS.finditer(text)] == []


@pytest.mark.parametrize("package", sorted(set(MESSAGES)))
def test_errors_are_sentences(package: str) -> None:
    errors = [message for kind, message in sentences(package) if kind in OWN_ERRORS]
    assert [message for message in errors if not message.endswith((".", "?", "}")) and "Run: " not in message] == []


@pytest.mark.parametrize("package", sorted(set(MESSAGES) - {"cli"}))
def test_the_library_names_parameters_and_not_options(package: str) -> None:
    messages = [message for _, message in sentences(package)]
    assert [message for message in messages if re.search(r"(?<![\w-])--[a-z]", message)] == []
