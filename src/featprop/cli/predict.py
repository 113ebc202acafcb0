"""``featprop predict``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress

SENT_COLUMNS = ("id", "prediction", "confidence", "label")
"""Columns of a table that `--to` writes."""


@app.command()
def predict(
    graph: options.GraphPath,
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
    force: options.Force = False,
    device: options.Device = "cpu",
    compute: options.Compute = None,
) -> None:
    """Predict the class of every node, with class probabilities.

    The column `prediction` is the model's answer; `label` holds the labels people gave. Type corrections into `label`
    and pass the file to `featprop train --labels`.

    Example: `featprop predict my-graph/ --model model.safetensors --out predictions.csv`
    """
    from featprop.labels.predictions import SUFFIXES, write_predictions
    from featprop.models import load_model

    if to is None:
        options.check_out(out, force=force, suffixes=SUFFIXES)
    with showing_progress(), tempfile.TemporaryDirectory(prefix="featprop-") as folder:
        fitted = load_model(model, device=device)
        whole = options.read_graph(graph, fitted.preprocessor_)
        written = options.open_output(out) if to is None else Path(folder) / "predictions.parquet"
        with options.computing(compute):
            write_predictions(written, fitted, whole, force=force)
        if to is not None:
            _send(graph, to, Path(folder) / "predictions.parquet", force=force)
    what = f"the predictions of {len(whole.candidate_positions):,} nodes"
    options.report_written(what, out if to is None else Path(to))


def _send(graph: Path, to: str, file: Path, *, force: bool) -> None:
    """Write the predictions of a file to a database."""
    import pyarrow.parquet as pq

    from featprop.sources.databases import write_table
    from featprop.sources.reading import attached_description

    table = pq.read_table(file)
    columns = [name for name in SENT_COLUMNS if name in table.column_names]
    write_table(attached_description(graph), to, table.select(columns), force=force)
