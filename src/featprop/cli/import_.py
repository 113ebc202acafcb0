"""``featprop import``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import LabelError, first_five

if TYPE_CHECKING:
    from featprop.graph import Graph
    from featprop.labels import Imported


@app.command("import")
def import_(
    labels: options.LogPath,
    results: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A sheet (id, label), or an export of Label Studio (JSON), doccano or featprop.",
            show_default=False,
        ),
    ],
    graph: Annotated[
        Path | None, typer.Option(metavar="GRAPH", help="The graph; annotations of other nodes are left out.")
    ] = None,
    classes: Annotated[
        list[str] | None, typer.Option(metavar="A,B,…", help="The classes there may be; other labels are left out.")
    ] = None,
    annotator: Annotated[str, typer.Option(metavar="NAME", help="Annotator, if the file does not name one.")] = "",
) -> None:
    """Import the annotations of a file into a label log, which is created if it does not exist.

    Unknown nodes and classes are reported and left out. Importing a file twice changes nothing. If nothing can be
    imported, the exit code is 2.

    Example: `featprop import my-graph.labels results.json`
    """
    from featprop.labels import import_labels
    from featprop.labels.agreement import alpha, find_conflicts
    from featprop.labels.log import open_exclusively

    allowed = options.split_names(classes) or None
    with showing_progress():
        whole = None if graph is None else options.read_graph(graph)
        with open_exclusively(labels) as log:
            done = import_labels(log, results, whole, allowed, annotator=annotator.strip())
            agreed, apart = alpha(log.holding()), find_conflicts(log.holding())
            _print_left_out(done, whole)
            if done.is_nothing:
                raise LabelError(f"{results} has no annotations that can be imported.", path=results)
    counts = [(done.taken, "label"), (done.skipped, "skip"), (done.notes, "note")]
    sizes = [options.count_of(count, what) for count, what in counts]
    typer.echo(f"Imported {sizes[0]}, {sizes[1]} and {sizes[2]} from {results} into {labels}.")
    for count, what in [
        (done.audit, "Audited nodes, which no model learns from"),
        (done.repeated, "Already in the log"),
        (done.superseded, "Imported before, or older than the current answer"),
        (done.unanswered, "Without an answer"),
    ]:
        if count:
            typer.echo(f"{what}: {count:,}.")
    if agreed is not None:
        typer.echo(f"Krippendorff's alpha: {agreed:.2f}; open disagreements: {len(apart):,}.")


def _print_left_out(done: Imported, graph: Graph | None) -> None:
    from featprop.ids import closest

    near = closest(done.unknown_nodes[0], graph.ids.tolist()) if done.unknown_nodes and graph is not None else None
    advice = "" if near is None else f". Did you mean {near!r}?"
    for reason, names, more in [
        ("not in the graph", [repr(node) for node in done.unknown_nodes], advice),
        ("not among the classes", [repr(name) for name in done.unknown_classes], ""),
        ("not understood", done.unclear, ""),
    ]:
        if names:
            typer.echo(f"Left out, {reason}: {first_five(names)}{more}", err=True)
