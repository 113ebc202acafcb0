"""Write every command with its options as Markdown, in place of ``<!-- commands -->`` in a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from sphinx.application import Sphinx

from featprop.cli import app

PLACE = "<!-- commands -->"


def commands(group: Any, name: str = "featprop") -> Iterator[tuple[str, Any]]:
    """Yield the full name of each command and the command, those of a group after it."""
    for part, command in sorted(group.commands.items()):
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield f"{name} {part}", command
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {part}")


def row(parameter: Any) -> str:
    """Return the row of a parameter: its spelling, its help and its default."""
    flags = [f"`{spelling}`" for spelling in parameter.opts] if parameter.param_type_name == "option" else []
    value = "" if getattr(parameter, "is_flag", False) else (parameter.metavar or parameter.name.upper())
    written = " ".join([*flags, f"`{value}`" if value else ""]).strip()
    default = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    shown = parameter.show_default and default not in (None, False, (), []) and not callable(default)
    help_text = re.sub(r"(?<![`\w-])(--[a-z][a-z-]*)", r"`\1`", parameter.help)
    cells = [written, help_text + (f" Default: `{default}`." if shown else "")]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table(parameters: list[Any]) -> list[str]:
    """Return the table of some parameters."""
    return ["| | |", "| --- | --- |", *map(row, parameters), ""]


def reference(group: Any) -> str:
    """Return the reference of all commands."""
    lines: list[str] = []
    for name, command in commands(group):
        parameters = [each for each in command.params if each.help and not each.hidden]
        lines += [f"## {name}", "", *command.help.splitlines(), "", *(table(parameters) if parameters else [])]
    return "\n".join(lines)


def fill(_: Sphinx, __: str, source: list[str]) -> None:
    """Replace the placeholder in a page by the commands."""
    if PLACE in source[0]:
        source[0] = source[0].replace(PLACE, reference(typer.main.get_command(app)))


def setup(sphinx: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    sphinx.connect("source-read", fill)
    return {"parallel_read_safe": True}
