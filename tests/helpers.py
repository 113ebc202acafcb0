"""What several test files share and pytest's fixtures cannot give."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import FeatpropError


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
