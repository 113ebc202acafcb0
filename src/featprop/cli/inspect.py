"""``featprop inspect``."""

from __future__ import annotations

from collections import Counter

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import print_table, showing_progress

MAX_CLASSES = 8
"""Classes whose nodes are counted, the largest ones."""


@app.command()
def inspect(graph: options.GraphPath) -> None:
    """Show the columns of the nodes, the feature each becomes, and facts about the edges.

    Other commands use exactly what is shown here. To change it, write a graph.toml with `featprop init` and edit it.

    Example: `featprop inspect my-graph/`
    """
    from featprop.web.report.analysis import describe_graph

    with showing_progress():
        whole = options.read_graph(graph, summarize=False)
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
    facts = describe_graph(whole)
    counts = Counter(name for name in whole.class_names() if name is not None)
    if counts:
        listed = ", ".join(f"{count:,} {name}" for name, count in counts.most_common(MAX_CLASSES))
        more = ", …" if len(counts) > MAX_CLASSES else ""
        facts["labels"] = f"{counts.total():,} of {len(counts)} classes: {listed}{more}"
    width = max(map(len, facts))
    for name, fact in facts.items():
        typer.echo(f"{name:<{width}}  {fact}")
