"""``featprop train``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import LabelError


@app.command()
def train(
    graph: options.GraphPath,
    labels: options.Labels = None,
    classes: options.Classes = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Model to write.")] = Path("model.safetensors"),
    model: options.Model = None,
    settings: options.Settings = None,
    use_audit: Annotated[
        bool, typer.Option("--use-audit", help="Train on the labels of an audit, too; it cannot check this model.")
    ] = False,
    seed: options.Seed = 0,
    force: options.Force = False,
    device: options.Device = "cpu",
    compute: options.Compute = None,
) -> None:
    """Train a model on the labelled nodes and save it.

    Without `--labels` it trains on the graph's own labels. The labels of an audit (`featprop audit`) are left out, and
    measure how good the model is.

    Example: `featprop train my-graph/ --labels picks.csv --out model.safetensors`
    """
    from featprop.evaluate import score_audit
    from featprop.labels import read as read_labels
    from featprop.models import save_model

    chosen = options.make_model(model, settings, seed, device)
    options.check_out(out, force=force, suffixes=(".safetensors",))
    with showing_progress():
        whole = options.read_graph(graph)
        allowed = options.split_names(classes) or None
        known = read_labels(labels or (), whole, classes=allowed, use_audit=use_audit)
        if known.audit and not known:
            raise LabelError("There are only labels of an audit.", hint="Pass other `labels`, too, or `use_audit`.")
        with options.computing(compute):
            fitted = chosen.fit(whole, list(known), list(known.values()))
            score = score_audit(whole, fitted, known.audited, known.audit) if known.audited else None
        save_model(fitted, out, force=force)
    counts = Counter(known.values())
    listed = ", ".join(f"{name} ({counts[name]:,})" for name in fitted.class_names_)
    typer.echo(f"Trained on {len(known):,} labels of {len(fitted.class_names_)} classes: {listed}.")
    for line in (fitted.evidence(), score):
        if line is not None:
            typer.echo(f"{line}")
    typer.echo(f"Wrote the model to {out}.")
