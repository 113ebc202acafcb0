"""``featprop predict``."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.application import app, read
from featprop.cli.console import showing_progress
from featprop.cli.options import (
    ComputeOption,
    DeviceOption,
    ForceOption,
    GraphArgument,
    check_out,
    computing,
    open_output,
    report_written,
)


@app.command()
def predict(
    graph: GraphArgument,
    model: Annotated[Path, typer.Option(help="A model that `featprop train` wrote.")] = Path("model.safetensors"),
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write, .csv or .parquet; - for standard output.")
    ] = Path("predictions.csv"),
    to: Annotated[
        str | None,
        typer.Option(
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
    from featprop.labels.predictions import SUFFIXES, write_predictions
    from featprop.models import load_model

    if to is not None:
        out = Path(tempfile.mkdtemp(prefix="featprop-")) / "predictions.parquet"
    check_out(out, force=force, suffixes=SUFFIXES)
    with showing_progress():
        fitted = load_model(model, device=device)
        whole = read(graph, fitted.preprocessor_)
        with computing(whole, compute):
            write_predictions(open_output(out), fitted, whole, force=force)
    count = len(whole.candidate_positions)
    if to is not None:
        _send(graph, to, out, force=force)
        typer.echo(f"Wrote the predictions of {count:,} nodes to {to}.")
        return
    report_written(f"the predictions of {count:,} nodes", out)


def _send(graph: Path, to: str, file: Path, *, force: bool) -> None:
    """Write the predictions of a file to a database, and remove the file."""
    import pyarrow.parquet as pq

    from featprop.sources.databases import write_table
    from featprop.sources.inferring import attached_description

    try:
        table = pq.read_table(file)
        columns = [name for name in ("id", "prediction", "confidence", "label") if name in table.column_names]
        write_table(attached_description(graph), to, table.select(columns), force=force)
    finally:
        shutil.rmtree(file.parent, ignore_errors=True)
