"""``featprop strategies`` and ``featprop models``: list them, or describe one."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer

from featprop.cli.application import app
from featprop.cli.console import print_table, print_text

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
        _describe(STRATEGIES.find(name))
        return
    _list(STRATEGIES, ["needs", "reference", "cost"])
    typer.echo("\nDescribe one: featprop strategies NAME")
    typer.echo("Use one: featprop select GRAPH --budget 20 --strategy NAME")


@app.command()
def models(name: Annotated[str | None, typer.Argument(metavar="NAME", help="Model to describe.")] = None) -> None:
    """List the models, or describe one and its settings.

    Example: `featprop models gcn`
    """
    from featprop.models import MODELS

    if name is not None:
        _describe(MODELS.find(name))
        return
    _list(MODELS, [])
    typer.echo("\nDescribe one: featprop models NAME")
    typer.echo("Train one: featprop train GRAPH --model NAME")


def _facts(kind: Any) -> dict[str, str]:
    """Return further facts about a strategy by their title; a model has none."""
    if not hasattr(kind, "cost"):
        return {}
    needs = "model" if kind.needs else "model, after the first labels" if kind.uses else "none"
    return {"needs": needs, "reference": kind.reference, "cost": kind.cost}


def _list(registry: Any, titles: list[str]) -> None:
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
            rows.append([name, summary, *_facts(kind).values()])
    heads = ["name", "what it does", *titles]
    print_table(heads, rows, left=heads)


def _describe(kind: Any) -> None:
    """Print the description, further facts and the options of a class."""
    from featprop.options import options_of

    text, _, _ = _split_docstring(kind)
    print_text(f"{kind.name}: {text.rstrip()}")
    facts = [f"{title}: {fact}" for title, fact in _facts(kind).items()]
    if facts:
        typer.echo("\n" + "\n".join(facts))
    meanings = {
        name: " ".join(meaning.split())
        for base in reversed(kind.__mro__)  # parameters of a base class are documented there
        for names, meaning in PARAMETER_DOCS.findall(_split_docstring(base)[2].partition("\n\n")[0])
        for name in names.split(", ")
    }
    rows = [
        [option.name, str(option.default), option.accepts, meanings.get(option.name, "")]
        for option in options_of(kind).values()
    ]
    if rows:
        typer.echo()
        heads = ["--set", "default", "value", "meaning"]
        print_table(heads, rows, left=heads)


def _split_docstring(kind: type[Any]) -> tuple[str, str, str]:
    """Return the text of a docstring, the title of its parameters, and the parameters."""
    return inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------\n")
