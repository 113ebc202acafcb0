"""``featprop audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.application import app, read
from featprop.cli.console import showing_progress
from featprop.cli.options import (
    ClassesOption,
    ForceOption,
    GraphArgument,
    LabelsOption,
    ModelOption,
    SeedOption,
    ShowOption,
    check_out,
    open_output,
    report_written,
    split_names,
)
from featprop.errors import ParameterError, unknown_choice

STRATA = ("predicted",)


@app.command()
def audit(
    graph: GraphArgument,
    labels: LabelsOption = None,
    size: Annotated[int, typer.Option(help="Number of nodes to draw.")] = 30,
    by: Annotated[
        str | None, typer.Option(metavar="predicted", help="Draw the same number of each class that a model predicts.")
    ] = None,
    model: ModelOption = None,
    show: ShowOption = None,
    classes: ClassesOption = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Sheet to write; - for standard output.")] = Path(
        "audit.csv"
    ),
    seed: SeedOption = 0,
    force: ForceOption = False,
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

    shown = split_names(show)
    check_out(out, force=force)
    if by is not None and by not in STRATA:
        raise unknown_choice("by", by, STRATA)
    if model is not None and by is None:
        raise ParameterError("`model` needs `by` predicted.", parameter="model", value=model)
    if by is not None and not labels:
        raise ParameterError("`by` needs `labels` to train a model on.", parameter="by", value=by)
    with showing_progress():
        whole = read(graph)
        check_columns(shown, whole)
        known = Labels()
        if labels:
            known = read_labels(labels, whole, classes=split_names(classes) or None, allow_empty=by is None)
        fitted = None
        if by is not None:
            fitted = seeded_model(seed, model).fit(whole, list(known), list(known.values()))
        sample = draw_audit(whole, size, exclude=known.taken, random_state=seed, model=fitted)
        sample.write(open_output(out), whole, show=shown, force=force)
    drawn = f"{len(sample):,} of {whole.n_nodes - len(known.taken):,} nodes"
    report_written(drawn, out, " Fill the label column without looking at predictions.")
