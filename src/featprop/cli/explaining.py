"""List and describe the strategies or models of a registry, for ``featprop strategies`` and ``featprop models``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import typer

from featprop.cli.printing import print_table, print_text
from featprop.errors import ParameterError
from featprop.options import options_of
from featprop.registry import Registry

__all__ = ["explain", "list_all"]

PARAMETER_DOCS = re.compile(r"^(\w[\w, ]*)\n((?: {4}.*(?:\n|$))+)", flags=re.MULTILINE)
"""The parameters in a docstring: names and description."""


def list_all(registry: Registry[Any], titles: Sequence[str], facts: Callable[[Any], Sequence[str]]) -> None:
    """Print one line per name: its summary and further facts, or why a plug-in does not load."""
    rows = []
    for name in registry.names():
        try:
            kind = registry.find(name)
        except ParameterError as error:
            rows.append([name, f"does not load: {error}"])
        else:
            summary = (kind.__doc__ or "").strip().split("\n", 1)[0].rstrip(".")
            rows.append([name, summary, *facts(kind)])
    heads = ["name", "what it does", *titles]
    print_table(heads, rows, left=set(heads))


def explain(registry: Registry[Any], name: str, facts: Callable[[Any], dict[str, str]]) -> None:
    """Print the description, further facts and the options of one entry."""
    kind = registry.find(name)
    text, _, parameters = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------")
    print_text(f"{name}: {text.rstrip()}")
    typer.echo()
    for title, fact in facts(kind).items():
        print_text(f"{title:<10} {fact}", hang=11)
    typer.echo("", nl=bool(facts(kind)))
    options = [[option.name, str(option.default), option.accepts] for option in options_of(kind).values()]
    if options:
        print_table(["--set", "default", "value"], options, left={"--set", "default", "value"})
        for names, meaning in PARAMETER_DOCS.findall(parameters.partition("\n\n")[0]):
            typer.echo()
            print_text(f"{names}: {' '.join(meaning.split())}")
    else:
        typer.echo("No options.")
