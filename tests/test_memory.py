"""Memory sizes as text."""

from types import SimpleNamespace

import pytest

from featprop.errors import ParameterError
from featprop.memory import MIN_MEMORY, bytes_text, free_memory, half_of_free, parse_bytes
from tests.helpers import raises


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *[("123456", 123456), ("500MB", 500_000_000), (" 4 gb ", 4 * 10**9), ("4G", 4 * 10**9), ("1.5 kB", 1500)],
        *[("2GiB", 2 * 1024**3), ("2Gi", 2 * 1024**3), (".5KiB", 512), ("1TB", 10**12), ("12B", 12)],
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "4 GB GB", "-4GB", "4PB", "four", "4,5GB", "1e9", "0", "0.1B", "nan", "∞"])
def test_invalid_sizes(text: str) -> None:
    with raises(ParameterError, parameter="max_memory", value=text):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2 * 10**9, "2.0 GB"), (5 * 10**15, "5,000.0 TB")],
)
def test_sizes_as_text(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_the_default_limit_is_half_of_what_is_free_and_at_least_the_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    for free, limit in ((7 * 10**9, 3_500_000_000), (10**9, MIN_MEMORY)):
        monkeypatch.setattr("psutil.virtual_memory", lambda free=free: SimpleNamespace(available=free))
        assert (free_memory(), half_of_free()) == (free, limit)
