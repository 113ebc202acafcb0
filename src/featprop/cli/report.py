"""``featprop report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress


@app.command()
def report(
    graph: options.GraphPath,
    labels: options.Labels = None,
    classes: options.Classes = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Page to write.")] = Path("report.html"),
    model: options.Model = None,
    settings: options.Settings = None,
    title: Annotated[
        str | None, typer.Option(help="Name of the graph on the page.", show_default="name of the graph")
    ] = None,
    seed: options.Seed = 0,
    device: options.Device = "cpu",
    force: options.Force = False,
) -> None:
    """Write a page about your graph and labels: how good the predictions are, and what to check next.

    It is one self-contained HTML file: a map, the estimated accuracy, curves, nodes to check, and commands to go on
    with.

    Example: `featprop report my-graph/ --labels picks.csv --out report.html`
    """
    from featprop.labels import read as read_labels
    from featprop.web.report import report as write_report
    from featprop.web.report.commands import Files

    chosen = options.make_model(model, settings, seed, device)
    options.check_out(out, force=force, suffixes=(".html", ".htm"))
    repeated = {"classes": classes, "model": model, "set": settings, "device": device, "seed": seed, "title": title}
    with showing_progress():
        whole = options.read_graph(graph)
        known = read_labels(labels or (), whole, classes=options.split_names(classes) or None)
        written = write_report(
            whole,
            known.labels,
            audit=known.audited,
            weights=known.audit or None,
            out=out,
            model=chosen,
            title=title or graph.name,
            files=Files(str(graph), tuple(map(str, labels or ())), str(out), repeated),
            random_state=seed,
            force=force,
        )
    typer.echo(f"{written.headline}.")
    if written.warning is not None:
        typer.echo(f"{written.warning}.")
    typer.echo(f"Wrote the report to {out}. Open it in a browser.")
