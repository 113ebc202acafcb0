"""``featprop export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import showing_progress
from featprop.errors import FileError, ParameterError


@app.command()
def export(
    labels: options.LogPath,
    format_: Annotated[
        str, typer.Option("--format", metavar="csv|jsonl|label-studio", help="Format; jsonl is for doccano.")
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File to write; - for standard output.", show_default="labels.csv"),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="GRAPH", help="The graph, to include its columns and predictions.")
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(help="A table of further nodes (id) to list without an answer, such as picks.csv; with --graph."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="Labelling configuration to write for Label Studio (XML).")
    ] = None,
    classes: options.Classes = None,
    force: options.Force = False,
) -> None:
    """Export a label log: as a sheet, as JSON lines for doccano, or as tasks for Label Studio.

    `featprop import` brings back what another tool adds.

    Example: `featprop export my-graph.labels --format csv --out labels.csv`
    """
    from featprop.labels import LabelLog, export_labels, label_studio_config, read_ids
    from featprop.labels.exporting import FORMATS, check_format
    from featprop.labels.sheets import write_chunks

    check_format(format_)
    for name, given, other, is_there in [
        ("config", config, "`format` label-studio", format_ == "label-studio"),
        ("classes", classes, "`config`", config is not None),
        ("nodes", nodes, "`graph`", graph is not None),
    ]:
        if given is not None and not is_there:
            raise ParameterError(f"`{name}` needs {other}.", parameter=name, value=given)
    place = out or Path(f"labels{FORMATS[format_]}")
    options.check_out(place, force=force, suffixes=(FORMATS[format_],))
    if config is not None:
        options.check_out(config, force=force, suffixes=(".xml",))
    if not labels.exists() and nodes is None:
        message, hint = f"There is no label log {labels}.", "List nodes to label with `nodes`."
        raise FileError(message, hint=hint, path=labels)
    with showing_progress(), LabelLog(labels if labels.exists() else None, read_only=labels.exists()) as log:
        whole = None if graph is None else options.read_graph(graph)
        further = [] if nodes is None or whole is None else read_ids(nodes, whole)
        content = export_labels(log, whole, format_, nodes=further)
        if config is not None:
            write_chunks(config, [label_studio_config(log, whole, options.split_names(classes) or None)], force=force)
        write_chunks(options.open_output(place), [content], force=force)
        answers = log.holding()
    people, answered = {each.annotator for each in answers}, {each.node for each in answers}
    counts = [(answers, "answer"), (answered, "node"), (people, "annotator"), (further, "listed node")]
    sizes = [options.count_of(len(each), what) for each, what in counts]
    options.report_written(f"{sizes[0]} on {sizes[1]} by {sizes[2]}" + (f", and {sizes[3]}" if further else ""), place)
    if config is not None:
        typer.echo(f"Wrote the labelling configuration to {config}.", err=place == options.STANDARD_OUTPUT)
