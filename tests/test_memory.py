"""Memory sizes as text."""

import psutil
import pytest

from featprop.errors import ParameterError
from featprop.memory import MIN_MEMORY, bytes_text, free_memory, half_of_free, parse_bytes
from tests.helpers import raises


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
def test_invalid_sizes(text: str) -> None:
    with raises(ParameterError, parameter="max_memory", value=text):
        parse_bytes(text)


def test_the_error_names_the_parameter() -> None:
    with raises(ParameterError, parameter="piece", value="x"):
        parse_bytes("x", "piece")


def test_half_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    real = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: real._replace(available=7_000_000_001))
    assert (free_memory(), half_of_free()) == (7_000_000_001, 3_500_000_000)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2 * 10**9, "2.0 GB"), (5 * 10**15, "5,000.0 TB")],
)
def test_sizes_as_text(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_the_default_limit_is_at_least_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featprop.memory.free_memory", lambda: 10**9)
    assert half_of_free() == MIN_MEMORY
