"""Changes of JSON: whatever earlier changes have left of it."""

import random

import pytest

from fuzz.mutations.trees import mutated_json


@pytest.mark.parametrize("left", [b"\x93NUMPY", b"", b"[1, 2", b"[" * 100_000])
def test_what_is_no_json_any_more_is_changed_byte_by_byte(left: bytes) -> None:
    changed = {mutated_json(random.Random(seed), left) for seed in range(40)}
    assert len(changed - {left}) > 5


def test_json_stays_json_most_often() -> None:
    changed = [mutated_json(random.Random(seed), b'{"name": "a", "parts": [1, 2]}') for seed in range(100)]
    assert sum(text.startswith((b"{", b"[")) and text.endswith((b"}", b"]")) for text in changed) > 50
