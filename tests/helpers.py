"""What several test files share and pytest's fixtures cannot give."""

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
