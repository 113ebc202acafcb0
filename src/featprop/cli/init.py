"""``featprop init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.application import app


@app.command()
def init(
    nodes: Annotated[
        str | None, typer.Argument(metavar="NODES", help="A file, a glob or a SQL query.", show_default=False)
    ] = None,
    edges: Annotated[
        str | None, typer.Argument(metavar="EDGES", help="A file, a glob or a SQL query.", show_default=False)
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="The column of the node ids.")] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the labels.")] = None,
    source: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of one end of an edge.")] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the other end.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of the edge weights.")] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column that is not a feature. Repeatable.")
    ] = None,
    features: Annotated[str | None, typer.Option(metavar="FILE", help="A file with further features.")] = None,
    unknown: Annotated[
        str, typer.Option(metavar="error|drop|add", help="What to do with an edge whose end is not a node.")
    ] = "error",
    out: Annotated[Path, typer.Option(help="The file to write.")] = Path("graph.toml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write a graph.toml that describes two tables, and print what it inferred about them.

    A folder with nodes.* and edges.* needs none. Every other command takes the file, or its folder, as the graph.

    Example: `featprop init accounts.csv payments.csv --id account_id --source payer --target payee`
    """
    from featprop.errors import ParameterError
    from featprop.files import check_output, replacing_file
    from featprop.sources import GraphDescription
    from featprop.sources.inferring import infer_description, relative_source

    if nodes is None and edges is None:
        raise ParameterError("Name a table of nodes, of edges, or both.", hint="Example: featprop init nodes.csv.")
    check_output(out, force=force)
    folder = out.resolve().parent
    nodes, edges, features = (each and relative_source(each, folder) for each in (nodes, edges, features))
    description = GraphDescription(
        nodes=nodes,
        edges=edges,
        features=features,
        folder=folder,
        id=id_,
        label=label,
        source=source,
        target=target,
        weight=weight,
        ignore=tuple(ignore or ()),
        unknown=unknown,
    )
    description, found = infer_description(description)
    with replacing_file(out) as temporary:
        temporary.write_text(description.to_toml(), encoding="utf-8")
    for line in found:
        typer.echo(f"{line[0].upper()}{line[1:]}.")
    typer.echo(f"Wrote {out}. Next: featprop inspect {out}")
