"""``featprop train``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

import featprop
from featprop.cli.app import DeviceOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import ClassesOption, OnConflictOption, SkipOption, counted, read_sheets
from featprop.cli.model_options import LabelsOption, ModelOption, SettingsOption, chosen_model
from featprop.cli.scale_options import (
    ClusterOption,
    MaxMemoryOption,
    ScratchOption,
    WorkersOption,
    working_as_said,
)
from featprop.errors import LabelError

__all__ = ["train"]


@app.command()
def train(
    graph: GraphArgument,
    labels: LabelsOption = None,
    classes: ClassesOption = None,
    skip: SkipOption = None,
    on_conflict: OnConflictOption = "error",
    out: Annotated[Path, typer.Option("--out", "-o", help="The model folder to write.")] = Path("model"),
    model: ModelOption = None,
    settings: SettingsOption = None,
    use_audit: Annotated[
        bool, typer.Option("--use-audit", help="Train on the labels of an audit too; it checks this model no more.")
    ] = False,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    max_memory: MaxMemoryOption = None,
    scratch: ScratchOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Train a model on the labelled nodes and save it.

    The labels of an audit (`featprop audit`) are left out, and say how good the model is.

    Example: `featprop train my-graph/ --labels picks.csv --out model/`
    """
    from featprop.evaluate import score_audit
    from featprop.models.saved import check_may_hold_model, n_labels_in

    chosen = chosen_model(model, settings, seed, device)
    check_may_hold_model(out)
    with showing_progress():
        whole = read(graph)
        sheet = read_sheets(labels, whole, (), classes, skip, on_conflict, use_audit=use_audit)
        if sheet.audit and not sheet.nodes:
            found, cure = "those of an audit only", "pass other --labels too, or --use-audit"
            raise LabelError("Training", "must have labels", found, cure)
        with working_as_said(whole, max_memory, scratch, workers, cluster):
            fitted = chosen.fit(whole, sheet.nodes, sheet.labels)
            score = score_audit(whole, fitted, sheet.audited, sheet.audit) if sheet.audited else None
        before = n_labels_in(out)
        featprop.save_model(fitted, out)
    if use_audit:
        typer.echo("The labels of the audit are among them: it checks this model no more.", err=True)
    counts = Counter(sheet.labels)
    listed = ", ".join(f"{counts[name]:,} {name}" for name in fitted.classes_)
    typer.echo(f"Trained on {len(sheet.nodes):,} labels of {len(fitted.classes_)} classes: {listed}.")
    evidence = fitted.evidence()
    if evidence is not None:
        typer.echo(evidence)
    if score is not None:
        typer.echo(f"{score}")
    instead = f", in place of one of {counted(before, 'label')}" if before else ""
    typer.echo(f"Wrote the model to {out}{instead}.")
