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
from featprop.cli.label_options import STANDARD_OUTPUT, check_out, open_output
from featprop.cli.scale_options import ComputeOption, computing


@app.command()
def predict(
    graph: GraphArgument,
    model: Annotated[Path, typer.Option("--model", help="A model that `featprop train` wrote.")] = Path(
        "model.safetensors"
    ),
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write, .csv or .parquet; - for standard output.")
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
    compute: ComputeOption = None,
) -> None:
    """Predict the class of every node, with class probabilities.

    The column `prediction` is the model's, `label` what people said. Type corrections into `label` and pass the file
    as `--labels`.

    Example: `featprop predict my-graph/ --model model.safetensors --out predictions.csv`
    """
    from featprop.labels.predictions import SUFFIXES

    if to is not None:
        out = Path(tempfile.mkdtemp(prefix="featprop-")) / "predictions.parquet"
    check_out(out, force=force, suffixes=SUFFIXES)
    with showing_progress():
        fitted = featprop.load_model(model, device=device)
        whole = read(graph, fitted.preprocessor_)
        with computing(whole, compute):
            featprop.labels.write_predictions(open_output(out), fitted, whole, force=force)
    count = len(whole.candidate_positions)
    if to is not None:
        _send(graph, to, out, force=force)
        typer.echo(f"Wrote the predictions of {count:,} nodes to {to}.")
        return
    is_file = out != STANDARD_OUTPUT
    typer.echo(f"Wrote the predictions of {count:,} nodes{f' to {out}' if is_file else ''}.", err=not is_file)


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
