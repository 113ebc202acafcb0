"""``featprop inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from featprop.cli.app import GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.cli.table_options import reads_tables

if TYPE_CHECKING:
    from featprop.graph import Graph
    from featprop.tables import TableOptions

__all__ = ["inspect"]


@app.command()
@reads_tables()
def inspect(graph: GraphArgument, tables: TableOptions) -> None:
    """Show how featprop reads a graph: the columns of its nodes, the features they become, and its edges.

    Writes nothing. The other commands read the graph in the same way: to change it, pass --features, --column, --source
    or --target here and to them.

    Example: `featprop inspect my-graph/`
    """
    from featprop.cli.printing import print_table

    with showing_progress():
        whole = read(graph, tables, in_short=False)
    if whole.preparation is not None:
        rows = [
            [
                column.name,
                column.kind,
                column.values,
                f"{column.missing:.1%}" if column.missing else "",
                f"{column.features:,}" if column.features else "",
                column.becomes,
            ]
            for column in whole.preparation.columns
        ]
        titles = ["column", "kind", "values", "missing", "features", "becomes"]
        print_table(titles, rows, left={"column", "kind", "values", "becomes"})
        typer.echo("")
    facts = _facts(whole)
    width = max(map(len, facts))
    for name, fact in facts.items():
        typer.echo(f"{name:<{width}}  {fact}")


def _facts(graph: Graph) -> dict[str, str]:
    """Return what there is to know of a graph, a line each."""
    import numpy as np

    from featprop.web.report.graph_stats import describe_graph

    facts = describe_graph(graph)
    if graph.labels is not None:
        known = graph.labels[graph.labels >= 0]
        counts = np.bincount(known, minlength=len(graph.classes)).tolist()
        told = [f"{count:,} {name}" for name, count in zip(graph.classes[:8], counts, strict=False)]
        facts["labels"] = f"{known.size:,} of {len(graph.classes)} classes: {', '.join(told)}" + (
            ", …" if len(graph.classes) > 8 else ""
        )
    return facts
