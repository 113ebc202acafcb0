"""``featprop models``."""

from __future__ import annotations

from typing import Annotated

import typer

from featprop.cli.app import app

__all__ = ["models"]


@app.command()
def models(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A model, to read about it and its settings.")
    ] = None,
) -> None:
    """List the models that can be trained.

    Example: `featprop models gcn`
    """
    from featprop.cli.explaining import explain, list_all
    from featprop.models import MODELS

    if name is not None:
        explain(MODELS, name, lambda _: {})
        return
    list_all(MODELS, [], lambda _: [])
    typer.echo("\nSettings of one: featprop models NAME")
    typer.echo("Train it:\n  featprop train GRAPH --labels picks.csv --model NAME")
    typer.echo("Set one of its settings: --set SETTING=VALUE")
