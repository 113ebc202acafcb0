"""Every command with its options, as Markdown, from what the command line says of itself.

It takes the place of ``<!-- commands -->`` in a page. Options that several commands share under a heading of their own
are listed once, at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from sphinx.application import Sphinx

from featprop.cli import app

PLACE = "<!-- commands -->"


def commands(group: Any, name: str = "featprop") -> Iterator[tuple[str, Any]]:
    """Yield each command by its full name, those of a group after it."""
    for part, command in sorted(group.commands.items()):
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield f"{name} {part}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {part}")


def panels(command: Any) -> dict[str, list[Any]]:
    """Return the parameters of a command by the heading they stand under; most have none."""
    found: dict[str, list[Any]] = {}
    for parameter in command.params:
        if not parameter.hidden and parameter.help:
            found.setdefault(parameter.rich_help_panel or "", []).append(parameter)
    return found


def row(parameter: Any) -> str:
    """Return the row of a parameter: how it is written, and what it does."""
    flags = [f"`{spelling}`" for spelling in parameter.opts] if parameter.param_type_name == "option" else []
    value = "" if getattr(parameter, "is_flag", False) else (parameter.metavar or parameter.name.upper())
    written = " ".join([*flags, f"`{value}`" if value else ""]).strip()
    default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    shown = parameter.show_default and default not in (None, False, (), []) and not callable(default)
    told = re.sub(r"(?<![`\w-])(--[a-z][a-z-]*)", r"`\1`", parameter.help)
    cells = [written, told + (f" Default: `{default}`." if shown else "")]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table(parameters: list[Any]) -> list[str]:
    """Return the table of some parameters."""
    return ["| | |", "| --- | --- |", *map(row, parameters), ""]


def reference(group: Any) -> str:
    """Return the reference of all commands."""
    lines: list[str] = []
    shared: dict[str, list[Any]] = {}
    for name, command in commands(group):
        lines += [f"## {name}", "", *command.help.splitlines(), ""]
        found = panels(command)
        lines += table(found.pop("", [])) if "" in found else []
        for heading, parameters in found.items():
            known = {each.name for each in shared.setdefault(heading, [])}
            shared[heading] += [each for each in parameters if each.name not in known]
        if found:
            links = " and ".join(f"[{heading}](#{heading.lower().replace(' ', '-')})" for heading in found)
            lines += [f"Besides, the options on {links}.", ""]
    for heading, parameters in shared.items():
        lines += [f"## {heading}", "", *table(parameters)]
    return "\n".join(lines)


def fill(_: Sphinx, __: str, source: list[str]) -> None:
    """Put the commands where a page wants them."""
    if PLACE in source[0]:
        source[0] = source[0].replace(PLACE, reference(typer.main.get_command(app)))


def setup(sphinx: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    sphinx.connect("source-read", fill)
    return {"parallel_read_safe": True}
