"""What a user can get wrong. Every message names the thing, the rule, the value found and the cure.

::

    FeatpropError
    ├── ParameterError      an argument or option outside its range, or an unknown name
    ├── FileError           a file that is missing, not what its name says, or not to be overwritten
    ├── GraphError          edges, features or ids that do not make a graph
    ├── LabelError          labels that do not fit the graph or cannot train a model
    ├── ModelError          a saved model that is damaged or does not fit the graph
    └── MissingExtraError   a part of featprop whose optional dependency is not installed
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "FeatpropError",
    "FileError",
    "GraphError",
    "LabelError",
    "MissingExtraError",
    "ModelError",
    "ParameterError",
    "first_five",
    "overwriting",
    "reason",
    "shortened",
    "unknown_choice",
]


LONGEST = 1000
"""Letters of each part of a message."""


class FeatpropError(Exception):
    """Base of every error featprop raises on purpose.

    Parameters
    ----------
    what
        The parameter, file, column or node the error is about.
    rule
        What must hold, as it reads after `what`: ``"must be at least 1"``.
    found
        The value found instead.
    cure
        What to do about it.
    """

    def __init__(self, what: str, rule: str, found: object, cure: str) -> None:
        super().__init__(what, rule, found, cure)
        self.what, self.rule, self.found, self.cure = what, rule, found, cure

    def __str__(self) -> str:
        what, rule, found, cure = (_in_short(str(part)) for part in (self.what, self.rule, self.found, self.cure))
        sentence = f"{what} {rule}; found {found}: {cure}{'' if cure.endswith('?') else '.'}"
        return " ".join(sentence.splitlines())


def _in_short(text: str) -> str:
    """Leave out the middle of a text that nobody would read: names and values may be as long as a file."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} … {text[-LONGEST // 2 :]}"


class ParameterError(FeatpropError, ValueError):
    """An argument or option is outside its range, or names something unknown."""


class FileError(FeatpropError, ValueError):
    """A file is missing, is not what its name says, or must not be overwritten."""


class GraphError(FeatpropError, ValueError):
    """Edges, features or ids do not make a graph."""


class LabelError(FeatpropError, ValueError):
    """Labels do not fit the graph or cannot train a model."""


class ModelError(FeatpropError, ValueError):
    """A saved model is damaged or does not fit the graph."""


class MissingExtraError(FeatpropError, ImportError):
    """A part of featprop needs a package that is not installed.

    Parameters
    ----------
    part
        What was asked for.
    extra
        The extra of featprop that installs what it needs.
    missing
        The package that is not there.
    """

    def __init__(self, part: str, extra: str, missing: str) -> None:
        super().__init__(
            part,
            f"needs the package {missing}",
            "no such package installed",
            f"pip install 'featprop[{extra}]'",
        )
        self.part, self.extra, self.missing = part, extra, missing

    def __reduce__(self) -> tuple[Any, ...]:
        return MissingExtraError, (self.part, self.extra, self.missing)


def unknown_choice(what: str, name: object, choices: Iterable[str]) -> ParameterError:
    """Return the error for a name that is not among `choices`, with the one or two that come closest."""
    known = sorted(choices)
    if not known:
        return ParameterError(what, "must be left out, there is none", repr(name), "drop it")
    close = difflib.get_close_matches(str(name).lower(), known, n=2)
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "choose one of them"
    return ParameterError(what, f"must be one of {', '.join(known)}", repr(name), hint)


def overwriting(path: object, found: str, rule: str = "must not be overwritten") -> FileError:
    """Return the error for a place that holds something not to be lost unasked."""
    return FileError(f"{path}", rule, found, "choose another place or pass --force (force=True in Python)")


def first_five(values: Sequence[object]) -> str:
    """Write a count and the first five of `values` for a message: ``"7 (a, b, c, d, e, …)"``."""
    shown = ", ".join(str(value) for value in values[:5])
    return f"{len(values):,} ({shown}{', …' if len(values) > 5 else ''})"


def shortened(text: str, most: int) -> str:
    """Return a text of no more than so many letters, the last of them an ellipsis if any were left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def reason(error: Exception) -> str:
    """Return the first sentence of another library's error, to stand inside a message."""
    text = f"no {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
    return text.split(". ")[0].rstrip(".:") or type(error).__name__
