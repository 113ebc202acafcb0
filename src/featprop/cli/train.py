"""``featprop train``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import featprop
from featprop.cli.app import DeviceOption, ForceOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import ClassesOption, OnConflictOption, SkipOption, read_sheets
from featprop.cli.model_options import LabelsOption, ModelOption, SettingsOption, chosen_model
from featprop.cli.scale_options import (
    ClusterOption,
    MaxMemoryOption,
    ScratchOption,
    WorkersOption,
    working_as_said,
)
from featprop.cli.table_options import reads_tables
from featprop.errors import LabelError

if TYPE_CHECKING:
    from featprop.tables import TableOptions

__all__ = ["train"]


@app.command()
@reads_tables()
def train(
    graph: GraphArgument,
    tables: TableOptions,
    labels: LabelsOption = None,
    classes: ClassesOption = None,
    skip: SkipOption = None,
    on_conflict: OnConflictOption = "error",
    out: Annotated[Path, typer.Option("--out", "-o", help="The model to write, a .safetensors file.")] = Path(
        "model.safetensors"
    ),
    model: ModelOption = None,
    settings: SettingsOption = None,
    use_audit: Annotated[
        bool, typer.Option("--use-audit", help="Train on the labels of an audit too; it checks this model no more.")
    ] = False,
    seed: SeedOption = 0,
    force: ForceOption = False,
    device: DeviceOption = "cpu",
    max_memory: MaxMemoryOption = None,
    scratch: ScratchOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Train a model on the labelled nodes and save it.

    The labels of an audit (`featprop audit`) are left out, and say how good the model is.

    Example: `featprop train my-graph/ --labels picks.csv --out model.safetensors`
    """
    from featprop.evaluate import score_audit
    from featprop.files import check_output

    chosen = chosen_model(model, settings, seed, device)
    check_output(out, force=force, suffixes=(".safetensors",))
    with showing_progress():
        whole = read(graph, tables)
        sheet = read_sheets(labels, whole, (), classes, skip, on_conflict, use_audit=use_audit)
        if sheet.audit and not sheet.nodes:
            found, cure = "those of an audit only", "pass other --labels too, or --use-audit"
            raise LabelError("Training", "must have labels", found, cure)
        with working_as_said(whole, max_memory, scratch, workers, cluster):
            fitted = chosen.fit(whole, sheet.nodes, sheet.labels)
            score = score_audit(whole, fitted, sheet.audited, sheet.audit) if sheet.audited else None
        featprop.save_model(fitted, out, force=force)
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
    typer.echo(f"Wrote the model to {out}.")
