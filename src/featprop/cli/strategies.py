"""``featprop strategies`` and ``featprop models``: list them, or describe one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from featprop.cli.application import app
from featprop.cli.console import print_table, print_text

Facts = Callable[[Any], Mapping[str, str]]
"""Returns further facts about a class by their title."""

PARAMETER_DOCS = re.compile(r"^(\w[\w, ]*)\n((?: {4}.*(?:\n|$))+)", flags=re.MULTILINE)
"""The parameters in a docstring: names and description."""


@app.command()
def strategies(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Strategy to describe.")] = None,
) -> None:
    """List the query strategies, or describe one and its settings.

    Example: `featprop strategies age`
    """
    from featprop.strategies import STRATEGIES

    if name is not None:
        _describe(STRATEGIES, name, _strategy_facts)
        return
    _list(STRATEGIES, _strategy_facts, ["needs", "reference", "cost"])
    typer.echo("\nDescribe one: featprop strategies NAME")
    typer.echo("Use one: featprop select GRAPH --budget 20 --strategy NAME")
    typer.echo("Change a setting: --set SETTING=VALUE")


@app.command()
def models(name: Annotated[str | None, typer.Argument(metavar="NAME", help="Model to describe.")] = None) -> None:
    """List the models, or describe one and its settings.

    Example: `featprop models gcn`
    """
    from featprop.models import MODELS

    if name is not None:
        _describe(MODELS, name, lambda _: {})
        return
    _list(MODELS, lambda _: {}, [])
    typer.echo("\nDescribe one: featprop models NAME")
    typer.echo("Train one: featprop train GRAPH --model NAME")
    typer.echo("Change a setting: --set SETTING=VALUE")


def _strategy_facts(kind: Any) -> dict[str, str]:
    needs = "model" if kind.needs else "model, after the first labels" if kind.uses else "none"
    return {"needs": needs, "reference": kind.reference, "cost": kind.cost}


def _list(registry: Any, facts: Facts, titles: list[str]) -> None:
    """Print one line per name: its summary and further facts, or why a plug-in does not load."""
    from featprop.errors import ParameterError

    rows = []
    for name in registry.names():
        try:
            kind = registry.find(name)
        except ParameterError as error:
            rows.append([name, f"does not load: {error}"])
        else:
            summary = (kind.__doc__ or "").strip().split("\n", 1)[0].rstrip(".")
            rows.append([name, summary, *facts(kind).values()])
    heads = ["name", "what it does", *titles]
    print_table(heads, rows, left=heads)


def _describe(registry: Any, name: str, facts: Facts) -> None:
    """Print the description, further facts and the options of one entry."""
    from featprop.options import options_of

    kind = registry.find(name)
    text, _, parameters = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------")
    print_text(f"{name}: {text.rstrip()}\n")
    for title, fact in facts(kind).items():
        print_text(f"{title:<10} {fact}", hang=11)
    options = [[option.name, str(option.default), option.accepts] for option in options_of(kind).values()]
    if not options:
        typer.echo("\nNo options.")
        return
    heads = ["--set", "default", "value"]
    typer.echo()
    print_table(heads, options, left=heads)
    for names, meaning in PARAMETER_DOCS.findall(parameters.partition("\n\n")[0]):
        print_text(f"\n{names}: {' '.join(meaning.split())}")
