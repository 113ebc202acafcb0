"""``featprop predict``."""

from __future__ import annotations

import shutil
import tempfile
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
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="DATABASE.TABLE",
            help="Write id, prediction, confidence and label to a table of a database that graph.toml attaches.",
        ),
    ] = None,
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

    if to is not None:
        out = Path(tempfile.mkdtemp(prefix="featprop-")) / "predictions.parquet"
    check_place(out, force=force, suffixes=PREDICTION_SUFFIXES)
    with showing_progress():
        fitted = featprop.load_model(model, device=device)
        whole = read(graph, fitted.preprocessor_)
        with working_as_said(whole, max_memory, scratch, workers, cluster):
            write_predictions(place_of(out), fitted, whole, force=force)
    if to is not None:
        _send(graph, to, out, force=force)
        typer.echo(f"Wrote the predicted class of {len(whole.candidate_positions):,} nodes to {to}.")
        return
    is_file = out != STANDARD_OUTPUT
    typer.echo(
        f"Wrote the predicted class of {whole.n_nodes:,} nodes{f' to {out}' if is_file else ''}.", err=not is_file
    )


def _send(graph: Path, to: str, file: Path, *, force: bool) -> None:
    """Write the predictions of a file to a database, and remove the file."""
    import pyarrow.parquet as pq

    from featprop.sources.databases import attached_description, write_table

    try:
        table = pq.read_table(file)
        columns = [name for name in ("id", "prediction", "confidence", "label") if name in table.column_names]
        write_table(attached_description(graph), to, table.select(columns), force=force)
    finally:
        shutil.rmtree(file.parent, ignore_errors=True)
