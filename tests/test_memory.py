"""Sizes as people write them."""

import psutil
import pytest

from featprop.errors import ParameterError
from featprop.memory import LEAST_MEMORY, bytes_text, free_memory, half_of_free, parse_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1),
        ("123456", 123456),
        ("500MB", 500_000_000),
        ("4GB", 4_000_000_000),
        (" 4 gb ", 4_000_000_000),
        ("4G", 4_000_000_000),
        ("2GiB", 2 * 1024**3),
        ("2gib", 2 * 1024**3),
        ("2Gi", 2 * 1024**3),
        ("1.5 kB", 1500),
        (".5KiB", 512),
        ("1TB", 10**12),
        ("12B", 12),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4 GB GB", "-4GB", "4PB", "four", "4,5GB", "1e9", "0", "0.1B", "nan", "∞"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ParameterError, match=r"^--max-memory must be .*; found .*: write 4GB, for example\.$"):
        parse_bytes(text)


def test_the_option_that_was_given_is_named() -> None:
    with pytest.raises(ParameterError, match=r"^--piece must be a size such as 500MB, 4GB or 2GiB; found 'x'"):
        parse_bytes("x", "--piece")


def test_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    real = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: real._replace(available=7_000_000_001))
    assert (free_memory(), half_of_free()) == (7_000_000_001, 3_500_000_000)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2 * 10**9, "2.0 GB"), (5 * 10**15, "5,000.0 TB")],
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_where_little_is_free_nobody_is_refused_who_said_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.memory.free_memory", lambda: 10**9)
    assert half_of_free() == LEAST_MEMORY
