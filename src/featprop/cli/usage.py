"""How the command line talks about itself: usage errors in one line, and parameters spelled as options."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any

import typer

__all__ = ["UsageError", "is_help", "option_speller", "usage_message"]

UsageError: Any = typer.BadParameter.__bases__[0]
"""The exception Typer raises about a command line; Typer does not export it."""

PYTHON_NAMES = {"random_state": "seed", "columns": "column", "settings": "set"}
"""Parameters of the library that the command line calls differently."""


def is_help(error: Any) -> bool:
    """Return whether this is the help that a command without arguments prints."""
    return type(error).__name__ == "NoArgsIsHelpError"


def usage_message(error: Any) -> str:
    """Return Typer's message about a command line in one line, with a suggestion or a pointer to the help."""
    message, ctx, param = " ".join(error.message.split()), error.ctx, getattr(error, "param", None)
    if hasattr(error, "possibilities"):
        close = difflib.get_close_matches(error.option_name, error.possibilities or (), n=1, cutoff=0.75)
        return f"{message}. Did you mean {close[0]}?" if close else f"{message}. {_usage(ctx)}"
    checks: list[Any] = getattr(error.__cause__, "errors", list)()
    if param is not None and checks:
        message = f"Invalid value for {_spelling(param)}: {checks[0]['input']!r}. {checks[0]['msg']}"
    else:
        message = " ".join(error.format_message().split())
    message += "" if message.endswith((".", "?")) else "."
    if ctx is None or message.endswith("?"):
        return message
    if hasattr(error, "param"):
        return f"{message} See {ctx.command_path} --help."
    repeatable = [_spelling(param) for param in ctx.command.params if _is_repeated(param, ctx)]
    hint = f" Repeat {' and '.join(repeatable)} for each value." if repeatable else ""
    return f"{message}{hint} {_usage(ctx)}"


def option_speller(command: Any) -> Callable[[str], str]:
    """Return a function that spells a parameter of the library as an option or argument of a command.

    ``max_memory`` becomes ``--max-memory``, ``force=True`` becomes ``--force``, ``strategy="age"`` becomes
    ``--strategy age``. Anything that is not a parameter of the command keeps its backquotes.
    """
    spellings = {}
    for param in command.params:
        spellings[param.name.strip("_")] = spelling = _spelling(param)
        spellings[spelling.strip("-").replace("-", "_")] = spelling

    def spell(code: str) -> str:
        name, equals, value = code.partition("=")
        spelling = spellings.get(name) or spellings.get(PYTHON_NAMES.get(name, ""))
        if spelling is None or not re.fullmatch(r"\w+", name) or value in ("False", "None"):
            return f"`{code}`"
        value = value.strip("'\"")
        return f"{spelling} {value}" if equals and value != "True" else spelling

    return spell


def _usage(ctx: Any) -> str:
    return " ".join(ctx.get_usage().split())


def _spelling(param: Any) -> str:
    """Return how a user writes a parameter: the long form of an option, the placeholder of an argument."""
    if param.param_type_name == "option":
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name.upper()).strip("[].")


def _is_repeated(param: Any, ctx: Any) -> bool:
    """Return whether an option may be repeated and was given."""
    return bool(param.param_type_name == "option" and param.multiple and ctx.params.get(param.name))
