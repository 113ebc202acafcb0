"""``featprop predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import featprop
from featprop.cli.app import DeviceOption, ForceOption, GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import STANDARD_OUTPUT, check_place, place_of
from featprop.cli.scale_options import (
    ClusterOption,
    MaxMemoryOption,
    ScratchOption,
    WorkersOption,
    working_as_said,
)

__all__ = ["predict"]


@app.command()
def predict(
    graph: GraphArgument,
    model: Annotated[Path, typer.Option("--model", help="A model folder that featprop train wrote.")] = Path("model"),
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The table to write, .csv or .parquet; - for standard output.")
    ] = Path("predictions.csv"),
    force: ForceOption = False,
    device: DeviceOption = "cpu",
    max_memory: MaxMemoryOption = None,
    scratch: ScratchOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Predict the class of every node, with a probability for each class.

    The labels the model was trained on stay as a person gave them.

    Example: `featprop predict my-graph/ --model model/ --out predictions.csv`
    """
    from featprop.active import write_predictions
    from featprop.io.overwriting import PREDICTION_SUFFIXES

    check_place(out, force=force, suffixes=PREDICTION_SUFFIXES)
    with showing_progress():
        fitted = featprop.load_model(model, device=device)
        whole = read(graph, fitted.preprocessor_)
        with working_as_said(whole, max_memory, scratch, workers, cluster):
            write_predictions(place_of(out), fitted, whole, force=force)
    is_file = out != STANDARD_OUTPUT
    typer.echo(
        f"Wrote the predicted class of {whole.n_nodes:,} nodes{f' to {out}' if is_file else ''}.", err=not is_file
    )
