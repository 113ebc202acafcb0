"""``featprop train``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

import featprop
from featprop.cli.application import app, read
from featprop.cli.console import showing_progress
from featprop.cli.options import (
    ClassesOption,
    ComputeOption,
    DeviceOption,
    ForceOption,
    GraphArgument,
    LabelsOption,
    ModelOption,
    SeedOption,
    SettingsOption,
    check_out,
    computing,
    make_model,
    split_names,
)
from featprop.errors import LabelError


@app.command()
def train(
    graph: GraphArgument,
    labels: LabelsOption = None,
    classes: ClassesOption = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model to write.")] = Path("model.safetensors"),
    model: ModelOption = None,
    settings: SettingsOption = None,
    use_audit: Annotated[
        bool, typer.Option("--use-audit", help="Train on the labels of an audit, too; it cannot check this model.")
    ] = False,
    seed: SeedOption = 0,
    force: ForceOption = False,
    device: DeviceOption = "cpu",
    compute: ComputeOption = None,
) -> None:
    """Train a model on the labelled nodes and save it.

    Without `--labels` it trains on the graph's own labels. The labels of an audit (`featprop audit`) are left out, and
    measure how good the model is.

    Example: `featprop train my-graph/ --labels picks.csv --out model.safetensors`
    """
    from featprop.evaluate import score_audit
    from featprop.labels import read as read_labels

    chosen = make_model(model, settings, seed, device)
    check_out(out, force=force, suffixes=(".safetensors",))
    with showing_progress():
        whole = read(graph)
        known = read_labels(labels or (), whole, classes=split_names(classes) or None, use_audit=use_audit)
        if known.audit and not known:
            raise LabelError("There are only labels of an audit.", hint="Pass other `labels`, too, or `use_audit`.")
        with computing(whole, compute):
            fitted = chosen.fit(whole, list(known), list(known.values()))
            score = score_audit(whole, fitted, known.audited, known.audit) if known.audited else None
        featprop.models.save_model(fitted, out, force=force)
    counts = Counter(known.values())
    listed = ", ".join(f"{counts[name]:,} {name}" for name in fitted.class_names_)
    typer.echo(f"Trained on {len(known):,} labels of {len(fitted.class_names_)} classes: {listed}.")
    for line in (fitted.evidence(), score):
        if line is not None:
            typer.echo(f"{line}")
    typer.echo(f"Wrote the model to {out}.")
