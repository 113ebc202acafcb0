"""``featprop audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.app import ForceOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import (
    STANDARD_OUTPUT,
    ClassesOption,
    OnConflictOption,
    SkipOption,
    check_place,
    listed,
    place_of,
    read_sheets,
)
from featprop.errors import ParameterError, unknown_choice

__all__ = ["audit"]

WAYS = ("predicted",)
"""What an audit may be drawn by."""


@app.command()
def audit(
    graph: GraphArgument,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            "--labels", help="A table of nodes that are labelled or asked for already (id, label). Repeatable."
        ),
    ] = None,
    size: Annotated[int, typer.Option("--size", help="How many nodes to draw.")] = 30,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="predicted",
            help="Draw the same number of each class that a model predicts, so that rare ones are checked too.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="That model; featprop models lists them.", show_default="ridge"),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="COLUMN,…", help="Columns of the nodes to show in the sheet."),
    ] = None,
    classes: ClassesOption = None,
    skip: SkipOption = None,
    on_conflict: OnConflictOption = "error",
    out: Annotated[Path, typer.Option("--out", "-o", help="The sheet to write; - for standard output.")] = Path(
        "audit.csv"
    ),
    seed: SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Draw nodes at random for checking a model, and write them as a sheet to label.

    Pass the filled sheet with `--labels` beside the others: nothing is learnt from it and its nodes are not chosen, but
    `featprop train` says how good the model is. `featprop train --use-audit` trains on it in the end.

    Example: `featprop audit my-graph/ --labels picks.csv --size 30 --out audit.csv`
    """
    from featprop.active.audit_sheet import write_audit
    from featprop.active.labelling_sheet import check_shown
    from featprop.evaluate import draw_audit
    from featprop.io.labels import LabelSheet
    from featprop.models import model_of_seed

    shown = listed(show)
    check_place(out, force=force, shown=shown)
    if by is not None and by not in WAYS:
        raise unknown_choice("by", by, WAYS)
    if model is not None and by is None:
        raise ParameterError("model", "must go with --by predicted", "no --by", "leave it out, or add --by predicted")
    if by is not None and not labels:
        rule, cure = "must go with labels to train a model on", "pass --labels picks.csv, or leave out --by"
        raise ParameterError("by", rule, "no --labels", cure)
    with showing_progress():
        whole = read(graph)
        check_shown(shown, whole)
        sheet = LabelSheet()
        if labels:
            sheet = read_sheets(labels, whole, (), classes, skip, on_conflict, may_be_blank=by is None)
        fitted = None
        if by is not None:
            fitted = model_of_seed(seed, model).fit(whole, sheet.nodes, sheet.labels)
        out_of_it = [*sheet.nodes, *sheet.skipped, *sheet.blank, *sheet.audit]
        sample = draw_audit(whole, size, exclude=out_of_it, seed=seed, model=fitted)
        write_audit(place_of(out), sample, whole, show=shown, force=force)
    is_file = out != STANDARD_OUTPUT
    drawn = f"{len(sample):,} nodes drawn from {whole.n_nodes - len(set(out_of_it)):,}"
    where, column = (f" to {out}", "its") if is_file else ("", "the")
    typer.echo(f"Wrote {drawn}{where}: fill {column} label column, without a look at predictions.", err=not is_file)
