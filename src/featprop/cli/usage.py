"""What is wrong with a command line that does not parse, as one sentence in the form of featprop's other errors."""

from __future__ import annotations

import difflib
import re
from typing import Any

import typer

from featprop.errors import ParameterError, unknown_choice

__all__ = ["UsageError", "is_help", "usage_error"]

UsageError: Any = typer.BadParameter.__bases__[0]
"""What Typer raises about a command line; it has no public name of its own."""

DEMANDS = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_parsing": "true or false",
    "greater_than_equal": "at least {ge}",
    "greater_than": "above {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "below {lt}",
}
"""What a value must be, by the name that the check of a value has in Pydantic."""


def is_help(error: Any) -> bool:
    """Say whether this is the help that a command without arguments prints."""
    return type(error).__name__ == "NoArgsIsHelpError"


def usage_error(error: Any, ctx: Any) -> ParameterError:
    """Return the error of Typer as one of featprop.

    Parameters
    ----------
    error
        What Typer raised.
    ctx
        Where, for an error that does not say.
    """
    command = _command(error, ctx)
    see, message = f"see {command} --help", " ".join(error.format_message().split())
    option, param = getattr(error, "option_name", None), getattr(error, "param", None)
    if hasattr(error, "param_type") and param is not None:
        return ParameterError(_name_of(param), f"must be given to {command}", "none", see)
    if param is not None:
        return _bad_value(error, _name_of(param), message, see)
    if option and hasattr(error, "possibilities"):
        close = difflib.get_close_matches(option, _options(error.ctx or ctx), n=1)
        cure = f"did you mean {close[0]}?" if close else see
        return ParameterError(option, f"must be an option of {command}", "no such option", cure)
    if option and "does not take" in message:
        return ParameterError(option, "must stand alone", "a value after it", "leave out the value")
    if option:
        return ParameterError(option, "must be followed by a value", "none", see)
    if unknown := re.match(r"No such command '(.*?)'\.", message):
        return unknown_choice(f"Command of {command}", unknown[1], _commands(error.ctx or ctx))
    if extra := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)$", message):
        repeated = " and ".join(_repeated(error.ctx or ctx))
        cure = f"give {repeated} once for each value, " if repeated else ""
        cure += f"quote patterns and names with spaces, and {see}"
        return ParameterError(command, "must get no further argument", repr(extra[1]), cure)
    return ParameterError(command, "must be called as its help says", f"this: {message.rstrip('.')}", see)


def _bad_value(error: Any, name: str, message: str, see: str) -> ParameterError:
    if choice := re.search(r"'([^']*)' is not one of (.*?)\.?$", message):
        return unknown_choice(name, choice[1], re.findall("'([^']*)'", choice[2]))
    checks: list[Any] = getattr(error.__cause__, "errors", list)()
    check = checks[0] if checks else {}
    demand = DEMANDS.get(check.get("type", ""))
    if demand is None:
        return ParameterError(name, "must be a value that fits", f"this: {message.rstrip('.')}", see)
    return ParameterError(name, f"must be {demand.format(**check.get('ctx', {}))}", repr(check["input"]), see)


def _name_of(param: Any) -> str:
    """Return how a person writes a parameter: the longest form of an option, the place of an argument."""
    if param.param_type_name == "option":
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name.upper()).strip("[]")


def _command(error: Any, ctx: Any) -> str:
    """Return the command as a person types it, whatever the program was started as."""
    words: list[str] = []
    if error.ctx is None and ctx.invoked_subcommand:
        words.append(ctx.invoked_subcommand)
    place = error.ctx or ctx
    while place.parent is not None:
        words.insert(0, place.info_name)
        place = place.parent
    return " ".join(["featprop", *words])


def _options(ctx: Any) -> list[str]:
    params = [param for param in ctx.command.get_params(ctx) if param.param_type_name == "option"]
    return [name for param in params for name in (*param.opts, *param.secondary_opts) if name.startswith("--")]


def _repeated(ctx: Any) -> list[str]:
    """Return the options that were given and may be given several times."""
    params = [param for param in ctx.command.get_params(ctx) if param.param_type_name == "option" and param.multiple]
    return [_name_of(param) for param in params if ctx.params.get(param.name)]


def _commands(ctx: Any) -> list[str]:
    return list(ctx.command.commands)
