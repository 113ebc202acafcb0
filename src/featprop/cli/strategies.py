"""``featprop strategies``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from featprop.cli.app import app

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
    from featprop.cli.explaining import explain, list_all
    from featprop.strategies import STRATEGIES

    if name is not None:
        explain(STRATEGIES, name, _facts)
        return
    list_all(
        STRATEGIES,
        ["needs", "reference", "cost"],
        lambda kind: [
            "model" if kind.needs else "model, once there are labels" if kind.uses else "none",
            kind.reference,
            kind.cost,
        ],
    )
    typer.echo("\nOptions of one: featprop strategies NAME")
    typer.echo("Choose by it: featprop select GRAPH -b 20 --strategy NAME")
    typer.echo("Set an option of it: --set OPTION=VALUE")


def _facts(kind: Any) -> dict[str, str]:
    needs = f"{', '.join(sorted(kind.needs | kind.uses))} of a trained model" if kind.looks_at_model() else "no model"
    if kind.uses:
        needs += ", as soon as there are labels of two classes"
    return {"needs": needs, "reference": kind.reference, "cost": kind.cost}
