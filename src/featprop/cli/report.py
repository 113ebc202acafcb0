"""``featprop report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import LabelError

if TYPE_CHECKING:
    from featprop.labels import Labels


@app.command()
def report(
    graph: options.GraphPath,
    labels: options.Labels = None,
    audit: Annotated[
        list[Path] | None, typer.Option(help="A filled audit sheet, to check the model only. Repeatable.")
    ] = None,
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
    from featprop.labels import Labels
    from featprop.labels import read as read_labels
    from featprop.labels.agreement import pool_audits
    from featprop.web.report import report as write_report
    from featprop.web.report.commands import Files

    chosen = options.make_model(model, settings, seed, device)
    options.check_out(out, force=force, suffixes=(".html", ".htm"))
    with showing_progress():
        whole = options.read_graph(graph)
        allowed = options.split_names(classes) or None
        known = read_labels(labels or (), whole, classes=allowed)
        checked = read_labels(audit, whole, known=known.values(), classes=allowed) if audit else Labels()
        _check_weights(known, checked)
        audited = known.audited | checked.audited | checked.labels
        repeated = {"classes": classes, "model": model, "set": settings, "device": device, "seed": seed, "title": title}
        sheets, checks = tuple(map(str, labels or ())), tuple(map(str, audit or ()))
        written = write_report(
            whole,
            known.labels,
            audit=audited,
            weights=pool_audits([known.audit, checked.audit]) or None,
            out=out,
            model=chosen,
            title=title or graph.name,
            files=Files(str(graph), sheets, checks, str(out), repeated),
            random_state=seed,
            force=force,
        )
    typer.echo(f"{written.headline}.")
    if written.warning is not None:
        typer.echo(f"{written.warning}.")
    typer.echo(f"Wrote the report to {out}. Open it in a browser.")


def _check_weights(known: Labels, checked: Labels) -> None:
    """Refuse audits of which only some say how many nodes each row stands for, and ask about those that do not."""
    count = options.count_of(len(checked), "label")
    if checked and (known.audit or checked.audit):
        raise LabelError(
            f"{count} of `audit` have no audit column, others have.",
            hint="Pass every sheet with its audit column, as `featprop audit` wrote it.",
            parameter="audit",
            node=next(iter(checked)),
        )
    if checked:
        typer.echo(f"{count} of --audit have no audit column; were these nodes drawn at random?", err=True)
