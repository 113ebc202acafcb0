"""``featprop predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import featprop
from featprop.cli.app import DeviceOption, ForceOption, GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import STANDARD_OUTPUT, check_out, open_output
from featprop.cli.scale_options import ComputeOption, computing
from featprop.cli.table_options import reads_tables

if TYPE_CHECKING:
    from featprop.tables import TableOptions


@app.command()
@reads_tables(learnt=True)
def predict(
    graph: GraphArgument,
    tables: TableOptions,
    model: Annotated[Path, typer.Option("--model", help="A model that `featprop train` wrote.")] = Path(
        "model.safetensors"
    ),
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Table to write, .csv or .parquet; - for standard output.")
    ] = Path("predictions.csv"),
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

    check_out(out, force=force, suffixes=SUFFIXES)
    with showing_progress():
        fitted = featprop.load_model(model, device=device)
        whole = read(graph, tables, fitted.preparation_)
        with computing(whole, compute):
            featprop.labels.write_predictions(open_output(out), fitted, whole, force=force)
    is_file = out != STANDARD_OUTPUT
    typer.echo(f"Wrote the predictions of {whole.n_nodes:,} nodes{f' to {out}' if is_file else ''}.", err=not is_file)
