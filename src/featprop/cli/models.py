"""``featprop models``."""

from __future__ import annotations

from typing import Annotated

import typer

from featprop.cli.app import app

__all__ = ["models"]


@app.command()
def models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Model to describe.")] = None,
) -> None:
    """List the models, or describe one and its settings.

    Example: `featprop models gcn`
    """
    from featprop.cli.explaining import explain, list_all
    from featprop.models import MODELS

    if name is not None:
        explain(MODELS, name, lambda _: {})
        return
    list_all(MODELS, [], lambda _: [])
    typer.echo("\nDescribe one: featprop models NAME")
    typer.echo("Train one: featprop train GRAPH --model NAME")
    typer.echo("Change a setting: --set SETTING=VALUE")
