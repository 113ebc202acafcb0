"""``featprop strategies``."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer

from featprop.cli.app import app
from featprop.cli.tables import print_table
from featprop.errors import ParameterError

__all__ = ["strategies"]


@app.command()
def strategies(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A strategy, to read about it and its options.")
    ] = None,
) -> None:
    """List the strategies: what each does, whether it needs a model, where it is from, and what it costs.

    Example: `featprop strategies age`
    """
    from featprop.strategies import available, options_of, strategy_class

    if name is None:
        titles = ["name", "needs", "what it does", "reference", "cost"]
        print_table(titles, [_row(known) for known in available()], left=set(titles))
        typer.echo("\nOptions of one: featprop strategies NAME")
        typer.echo("Choose by it: featprop select GRAPH --budget 20 --strategy NAME --set OPTION=VALUE")
        return
    kind = strategy_class(name)
    text, _, _ = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------")
    typer.echo(f"{kind.name}: {text.rstrip()}\n")
    typer.echo(f"needs      {', '.join(sorted(kind.needs)) + ' of a trained model' if kind.needs else 'no model'}")
    typer.echo(f"reference  {kind.reference}")
    typer.echo(f"cost       {kind.cost}\n")
    options = [[option.name, str(option.default), option.demand] for option in options_of(kind).values()]
    if options:
        print_table(["--set", "default", "must be"], options, left={"--set", "default", "must be"})
    else:
        typer.echo("It has no options.")


def _row(name: str) -> list[str]:
    """Return the cells of one strategy; one of another package that does not load says so."""
    from featprop.strategies import strategy_class

    try:
        kind = strategy_class(name)
    except ParameterError as error:
        return [name, f"does not load: {error.found}"]
    summary = (kind.__doc__ or "").strip().split("\n", 1)[0].rstrip(".")
    return [name, "model" if kind.needs else "none", summary, kind.reference, kind.cost]
