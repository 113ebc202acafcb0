"""The errors featprop raises when it is given something it cannot use.

::

    FeatpropError
    ├── ParameterError      an argument or option outside its range, or an unknown name
    ├── FileError           a file that is missing, damaged, of the wrong kind, or already there
    ├── GraphError          edges, features or ids that do not make a graph
    ├── LabelError          labels that do not fit the graph or cannot train a model
    ├── ModelError          a saved model that is damaged or does not fit the graph
    └── MissingExtraError   an optional dependency that is not installed

An error is a message written for its situation and a set of fields. The message names parameters in backquotes, as
Python spells them: ``"`budget` must be at least 1, not 0."``. The command line spells them as options
(`FeatpropError.spelled`).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

MAX_MESSAGE_CHARS = 2000


class FeatpropError(Exception):
    """Base class of every error featprop raises on purpose.

    Parameters
    ----------
    message
        What is wrong, in one sentence. Parameters are in backquotes.
    hint
        What to do about it, in one sentence.
    parameter
        Name of the parameter the error is about.
    value
        The value that was refused.
    choices
        The values that would have been accepted, if there are few.
    path
        The file or folder the error is about.
    row
        Row of a table, counted from 1, the header not counted.
    column
        Name of a column of a table.
    node
        Id of a node.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        parameter: str | None = None,
        value: object = None,
        choices: Iterable[str] = (),
        path: object = None,
        row: int | None = None,
        column: str | None = None,
        node: object = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.parameter = parameter
        self.value = value
        self.choices = tuple(choices)
        self.path = None if path is None else str(path)
        self.row = row
        self.column = column
        self.node = node

    def __str__(self) -> str:
        text = " ".join(f"{self.message} {self.hint}".split())
        half = MAX_MESSAGE_CHARS // 2
        return text if len(text) <= MAX_MESSAGE_CHARS else f"{text[:half]} … {text[-half:]}"

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with every name in backquotes replaced by ``spell(name)``."""
        return re.sub(r"`([^`]+)`", lambda found: spell(found[1]), str(self))


class ParameterError(FeatpropError, ValueError):
    """An argument or option is outside its range, or names something unknown."""


class FileError(FeatpropError, ValueError):
    """A file is missing, damaged, of the wrong kind, or already there."""


class GraphError(FeatpropError, ValueError):
    """Edges, features or ids do not make a graph."""


class LabelError(FeatpropError, ValueError):
    """Labels do not fit the graph or cannot train a model."""


class ModelError(FeatpropError, ValueError):
    """A saved model is damaged or does not fit the graph."""


class MissingExtraError(FeatpropError, ImportError):
    """An optional dependency is not installed.

    Parameters
    ----------
    feature
        What was asked for.
    extra
        The extra of featprop that installs the package.
    package
        The package that is missing.
    """

    def __init__(self, feature: str, extra: str, package: str) -> None:
        super().__init__(f"{feature} needs the package {package}.", hint=f"Run: pip install 'featprop[{extra}]'")
        self.feature, self.extra, self.package = feature, extra, package

    def __reduce__(self) -> tuple[Any, ...]:
        return MissingExtraError, (self.feature, self.extra, self.package)


def unknown_choice(parameter: str, value: object, choices: Iterable[str]) -> ParameterError:
    """Return the error for a value that is not among `choices`, with the ones that come closest."""
    known = sorted(choices)
    close = difflib.get_close_matches(str(value).lower(), known, n=2)
    if close:
        hint = f"Did you mean {' or '.join(map(repr, close))}?"
    else:
        hint = f"Choose one of {', '.join(known)}." if known else "There is nothing to choose from."
    return ParameterError(
        f"Unknown value for `{parameter}`: {value!r}.", hint=hint, parameter=parameter, value=value, choices=known
    )


def already_exists(path: object) -> FileError:
    """Return the error for an output file that exists already."""
    return FileError(f"{path} already exists.", hint="Pass `force=True` to overwrite it.", path=path)


def first_five(values: Sequence[object]) -> str:
    """Write a count and the first five of `values` for a message: ``"7 (a, b, c, d, e, …)"``."""
    shown = ", ".join(str(value) for value in values[:5])
    return f"{len(values):,} ({shown}{', …' if len(values) > 5 else ''})"


def shorten(text: str, max_chars: int) -> str:
    """Cut a text to `max_chars` characters, the last of them an ellipsis."""
    return text if len(text) <= max_chars else f"{text[: max_chars - 1]}…"


def quote_error(error: Exception) -> str:
    """Return the first sentence of another library's error, to stand inside a message."""
    text = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return text.split(". ")[0].rstrip(".:") or type(error).__name__
