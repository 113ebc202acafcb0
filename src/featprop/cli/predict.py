"""``featprop predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import featprop
from featprop.cli.app import DeviceOption, FeaturesOption, ForceOption, GraphArgument, app, read
from featprop.cli.console import showing_progress

__all__ = ["predict"]


@app.command()
def predict(
    graph: GraphArgument,
    model: Annotated[Path, typer.Option("--model", help="A model folder that featprop train wrote.")] = Path("model"),
    out: Annotated[Path, typer.Option("--out", "-o", help="The table to write.")] = Path("predictions.csv"),
    features: FeaturesOption = None,
    force: ForceOption = False,
    device: DeviceOption = "cpu",
) -> None:
    """Predict the class of every node, with a probability for each class.

    Example: `featprop predict my-graph/ --model model/ --out predictions.csv`
    """
    from featprop.io.sheets import check_may_write, write_predictions

    check_may_write(out, force=force)
    with showing_progress():
        fitted = featprop.load_model(model, device=device)
        whole = read(graph, features)
        probabilities = fitted.predict_proba(whole)
        write_predictions(out, whole.ids, fitted.classes_, probabilities, force=force)
    typer.echo(f"Wrote the predicted class of {whole.n_nodes:,} nodes to {out}.")
