"""``featprop import``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import LogArgument, counted, listed, log_at
from featprop.errors import LabelError, first_five

if TYPE_CHECKING:
    from featprop.labels import Imported, LabelLog

__all__ = ["import_"]

ALONE = "stop featprop label, import, and start it again"
"""What somebody can do where another process has the log."""


@app.command("import")
def import_(
    labels: LogArgument,
    results: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="What Label Studio (JSON, JSON_MIN, CSV), doccano (JSONL) or featprop wrote, or a sheet (id, label).",
            show_default=False,
        ),
    ],
    graph: Annotated[
        Path | None,
        typer.Option("--graph", metavar="GRAPH", help="The graph: answers on other nodes are left out."),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option("--classes", metavar="A,B,…", help="The classes there may be: other labels are left out."),
    ] = None,
    annotator: Annotated[
        str, typer.Option("--annotator", metavar="NAME", help="Who answered, where the file does not say.")
    ] = "",
) -> None:
    """Take what people answered in another tool into a label log, which is made if it is not there.

    Unknown nodes and classes are named and left out, the rest is taken. The same file taken twice changes nothing. If
    nothing can be taken, no log is made, and the exit code is 2.

    Example: `featprop import my-graph.labels results.json`
    """
    from featprop.active.saved_learner import alone_at
    from featprop.labels import import_labels
    from featprop.labels.agreement import alpha, disagreements
    from featprop.labels.alone import alone_with
    from featprop.labels.exchange import read_results

    place, allowed = log_at(labels), None if classes is None else listed(classes)
    with showing_progress(), alone_at(labels) if labels.is_dir() else nullcontext():
        heard = read_results(results)
        whole = None if graph is None else read(graph)
        with _opened(place) as log:
            done = import_labels(log, heard, whole, allowed, annotator=annotator.strip())
            agreed, apart = alpha(log.holding()), disagreements(log.holding())
            if log.path is None and not done.is_nothing:
                with alone_with(place, ALONE) as file:
                    log.copy_to(file)
    _tell(done, results, labels)
    if agreed is not None:
        open_ = f"nodes with different labels that nobody settled: {len(apart):,}"
        typer.echo(f"Krippendorff's alpha: {agreed:.2f}; {open_}.")
    if done.is_nothing:
        rule, cure = "must hold an answer that can be taken", "check the file, and what is left out above"
        raise LabelError(f"{results}", rule, "none", cure)


@contextmanager
def _opened(place: Path) -> Iterator[LabelLog]:
    """Open a log for this import alone; one that is not there is made in memory, and on the disk if it is worth it."""
    from featprop.labels import LabelLog
    from featprop.labels.alone import alone_with

    with alone_with(place, ALONE) if place.exists() else nullcontext() as file, LabelLog(file) as log:
        yield log


def _tell(done: Imported, results: Path, labels: Path) -> None:
    if not done.is_nothing:
        _tell_taken(done, results, labels)
    if done.unknown_nodes:
        strange = first_five([repr(node) for node in done.unknown_nodes])
        typer.echo(f"Nodes that are not in the graph, left out: {strange}", err=True)
    if done.unknown_classes:
        strange = first_five([repr(name) for name in done.unknown_classes])
        typer.echo(f"Labels that are none of the classes, left out: {strange}", err=True)
    if done.unclear:
        typer.echo(f"Not understood, left out: {first_five(done.unclear)}", err=True)


def _tell_taken(done: Imported, results: Path, labels: Path) -> None:
    sizes = [counted(done.taken, "label"), counted(done.skipped, "skip"), counted(done.notes, "note")]
    typer.echo(f"Took {sizes[0]}, {sizes[1]} and {sizes[2]} from {results} into {labels}.")
    if done.audit:
        typer.echo(f"Nodes of an audit, which nothing learns from: {done.audit:,}.")
    for count, what in [
        (done.repeated, "In the log already"),
        (done.superseded, "Said before or changed since, left as it is in the log"),
        (done.unanswered, "Without an answer"),
    ]:
        if count:
            typer.echo(f"{what}: {count:,}.")
