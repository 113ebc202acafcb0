"""``featprop inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from featprop.cli.application import app, read
from featprop.cli.console import print_table, showing_progress
from featprop.cli.options import GraphArgument

if TYPE_CHECKING:
    from featprop.graph import Graph

__all__ = ["inspect"]


@app.command()
def inspect(graph: GraphArgument) -> None:
    """Show the columns of the nodes, the feature each becomes, and facts about the edges.

    Other commands use exactly what is shown here. To change it, write a graph.toml with `featprop init` and edit it.

    Example: `featprop inspect my-graph/`
    """
    with showing_progress():
        whole = read(graph, summarize=False)
    if whole.preprocessor is not None:
        rows = [
            [
                column.name,
                column.kind,
                column.examples,
                f"{column.missing:.1%}" if column.missing else "",
                f"{column.n_features:,}" if column.n_features else "",
                column.transformation,
            ]
            for column in whole.preprocessor.profiles
        ]
        titles = ["column", "kind", "examples", "missing", "features", "transformation"]
        print_table(titles, rows, left={"column", "kind", "examples", "transformation"})
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
