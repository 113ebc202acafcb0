"""``featprop strategies``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from featprop.cli.app import app

__all__ = ["strategies"]


@app.command()
def strategies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Strategy to describe.")] = None,
) -> None:
    """List the query strategies, or describe one and its settings.

    Example: `featprop strategies age`
    """
    from featprop.cli.explaining import explain, list_all
    from featprop.strategies import STRATEGIES

    if name is not None:
        explain(STRATEGIES, name, _facts)
        return
    list_all(
        STRATEGIES,
        ["needs", "reference", "cost"],
        lambda kind: [
            "model" if kind.needs else "model, after the first labels" if kind.uses else "none",
            kind.reference,
            kind.cost,
        ],
    )
    typer.echo("\nDescribe one: featprop strategies NAME")
    typer.echo("Use one: featprop select GRAPH --budget 20 --strategy NAME")
    typer.echo("Change a setting: --set SETTING=VALUE")


def _facts(kind: Any) -> dict[str, str]:
    needs = f"{', '.join(sorted(kind.needs | kind.uses))} of a trained model" if kind.looks_at_model() else "no model"
    if kind.uses:
        needs += ", once two classes have labels"
    return {"needs": needs, "reference": kind.reference, "cost": kind.cost}
