"""``featprop export``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import STANDARD_OUTPUT, LogArgument, counted, listed, log_at, place_of
from featprop.errors import FileError, ParameterError

if TYPE_CHECKING:
    from featprop.labels import LabelLog

__all__ = ["export"]


@app.command()
def export(
    labels: LogArgument,
    format_: Annotated[
        str, typer.Option("--format", metavar="csv|jsonl|label-studio", help="The tool to write for; jsonl is doccano.")
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; - for standard output.", show_default="labels.csv"),
    ] = None,
    graph: Annotated[
        Path | None,
        typer.Option("--graph", metavar="GRAPH", help="The graph, to show its columns and what a model predicts."),
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option("--nodes", help="A table of further nodes to list without an answer (id), such as picks.csv."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", help="The labelling configuration to write for Label Studio (XML)."),
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option("--classes", metavar="A,B,…", help="The classes in that configuration, besides those of labels."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files whatever they hold.")] = False,
) -> None:
    """Write what people said for another tool: a sheet, JSON lines for doccano, or tasks for Label Studio.

    A file that is there is overwritten if all its answers are in the log. What another tool adds comes back with
    `featprop import`.

    Example: `featprop export my-graph.labels --format csv --out labels.csv`
    """
    from featprop.io.answers import read_ids
    from featprop.labels.exchange import FORMATS, check_format, check_may_export, export_labels, label_studio_config

    check_format(format_)
    if config is not None and format_ != "label-studio":
        raise ParameterError("config", "must go with --format label-studio", format_, "leave it out")
    if classes is not None and config is None:
        raise ParameterError("classes", "must go with --config", "no --config", "leave it out, or add --config FILE")
    if nodes is not None and graph is None:
        raise ParameterError("nodes", "must go with --graph", "no --graph", "add --graph GRAPH")
    place = out or Path(f"labels{FORMATS[format_]}")
    with showing_progress(), _opened(labels, may_be_new=nodes is not None) as log:
        if place != STANDARD_OUTPUT:
            check_may_export(log, place, format_, force=force)
        whole = None if graph is None else read(graph)
        further = [] if nodes is None or whole is None else read_ids(nodes, whole)
        content = export_labels(log, whole, format_, nodes=further)
        if config is not None:
            _write_config(config, label_studio_config(log, whole, listed(classes) or None), force=force)
        _write(place, content)
        answers = log.holding()
    is_file = place != STANDARD_OUTPUT
    people, answered = len({act.annotator for act in answers}), {act.node for act in answers}
    new = [node for node in dict.fromkeys(further) if node not in answered]
    size = f"{counted(len(answers), 'answer')} on {counted(len(answered), 'node')}"
    size += f" by {counted(people, 'annotator')}" + (f" and {counted(len(new), 'further node')}" if further else "")
    typer.echo(f"Wrote {size}{f' to {place}' if is_file else ''}.", err=not is_file)
    if config is not None:
        typer.echo(f"Wrote the labelling configuration to {config}.", err=not is_file)


def _opened(path: Path, *, may_be_new: bool) -> LabelLog:
    """Open a label log that is there; one that is not is empty where there are nodes to list."""
    from featprop.labels import LabelLog

    place = log_at(path)
    if place.exists():
        return LabelLog(place, read_only=True)
    if may_be_new:
        return LabelLog()
    cure = "check the path, or list nodes to label with --nodes"
    raise FileError(f"{path}", "must be a label log", "no such file", cure)


def _write_config(path: Path, content: bytes, *, force: bool) -> None:
    if path.suffix.lower() != ".xml":
        raise ParameterError("config", "must end in .xml", repr(path.name), f"write to {path.stem}.xml")
    if not force and path.exists() and (path.is_dir() or path.read_bytes() != content):
        found, cure = "another configuration", "choose another --config or pass --force"
        raise FileError(f"{path}", "must not be overwritten", found, cure)
    _write(path, content)


def _write(path: Path, content: bytes) -> None:
    from featprop.io.atomic import replacing_file

    place = place_of(path)
    if isinstance(place, Path):
        with replacing_file(place) as temporary:
            temporary.write_bytes(content)
    else:
        place.write(content)
        place.flush()
