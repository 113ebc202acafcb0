"""``featprop audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import ParameterError, unknown_choice

STRATA = ("predicted",)


@app.command()
def audit(
    graph: options.GraphPath,
    labels: options.Labels = None,
    size: Annotated[int, typer.Option(help="Number of nodes to draw.")] = 30,
    by: Annotated[
        str | None, typer.Option(metavar="predicted", help="Draw the same number of each class that a model predicts.")
    ] = None,
    model: options.Model = None,
    show: options.Show = None,
    classes: options.Classes = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Sheet to write; - for standard output.")] = Path(
        "audit.csv"
    ),
    seed: options.Seed = 0,
    force: options.Force = False,
) -> None:
    """Draw nodes at random to check a model, and write them as a sheet to label.

    Pass the filled sheet with `--labels` next to the others: no model learns from it and its nodes are not selected,
    but `featprop train` measures the model on it. `featprop train --use-audit` trains on it in the end.

    Example: `featprop audit my-graph/ --labels picks.csv --size 30 --out audit.csv`
    """
    from featprop.evaluate import draw_audit
    from featprop.labels import Labels
    from featprop.labels import read as read_labels
    from featprop.labels.sheets import check_columns
    from featprop.models import seeded_model

    shown = options.split_names(show)
    options.check_out(out, force=force)
    if by is not None and by not in STRATA:
        raise unknown_choice("by", by, STRATA)
    if model is not None and by is None:
        raise ParameterError("`model` needs `by` predicted.", parameter="model", value=model)
    if by is not None and not labels:
        raise ParameterError("`by` needs `labels` to train a model on.", parameter="by", value=by)
    with showing_progress():
        whole = options.read_graph(graph)
        check_columns(shown, whole)
        known = Labels()
        if labels:
            allowed = options.split_names(classes) or None
            known = read_labels(labels, whole, classes=allowed, allow_empty=by is None)
        fitted = None
        if by is not None:
            fitted = seeded_model(seed, model).fit(whole, list(known), list(known.values()))
        sample = draw_audit(whole, size, exclude=known.taken, random_state=seed, model=fitted)
        sample.write(options.open_output(out), whole, show=shown, force=force)
    drawn = f"{len(sample):,} of {whole.n_nodes - len(known.taken):,} nodes"
    options.report_written(drawn, out, " Fill the label column without looking at predictions.")
