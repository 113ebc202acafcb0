"""``featprop datasets make``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.app import SeedOption
from featprop.cli.console import showing_progress
from featprop.cli.datasets import commands


def _parse_whole(text: str) -> int:
    """Read a whole number such as 1000000, 1_000_000 or 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not number.is_integer():
        raise typer.BadParameter(f"{text!r} is not a whole number such as 1000000 or 1e6")
    return int(number)


@commands.command()
def make(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False)],
    nodes: Annotated[
        int, typer.Option("--nodes", parser=_parse_whole, metavar="NUMBER", help="Number of nodes, such as 1e6.")
    ],
    edges: Annotated[
        int, typer.Option("--edges", parser=_parse_whole, metavar="NUMBER", help="Number of edges, such as 1e7.")
    ],
    classes: Annotated[int, typer.Option("--classes", help="Number of classes.")] = 10,
    features: Annotated[int, typer.Option("--features", help="Number of columns, or of words in the vocabulary.")] = 64,
    homophily: Annotated[float, typer.Option("--homophily", help="Share of edges within a class.")] = 0.8,
    smallest: Annotated[
        float | None,
        typer.Option(
            "--smallest", metavar="SHARE", help="Share of nodes in the smallest class, for classes of unequal size."
        ),
    ] = None,
    isolated: Annotated[
        float, typer.Option("--isolated", metavar="SHARE", help="Share of nodes without an edge.")
    ] = 0.0,
    kind: Annotated[str, typer.Option("--kind", help="Kind of features: gaussian, or words (sparse).")] = "gaussian",
    signal: Annotated[
        float, typer.Option("--signal", help="How much the features depend on the class: 0 for not at all.")
    ] = 1.0,
    seed: SeedOption = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing graph.")] = False,
) -> None:
    """Make a synthetic graph: a degree-corrected stochastic block model.

    It is written while it is drawn, so it may be larger than memory. Every command takes the folder as a graph.

    Example: `featprop datasets make --nodes 1e6 --edges 1e7 --classes 20 --out big/`
    """
    from featprop.datasets.synthetic import make as make_graph
    from featprop.memory import peak_memory

    start = time.monotonic()
    with showing_progress():
        graph = make_graph(
            out,
            nodes=nodes,
            edges=edges,
            classes=classes,
            features=features,
            homophily=homophily,
            smallest=smallest,
            isolated=isolated,
            kind=kind,
            signal=signal,
            random_state=seed,
            force=force,
        )
    size = sum(file.stat().st_size for file in out.iterdir())
    typer.echo(f"Wrote {out}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features.")
    memory = f"{peak_memory() / 1e9:.2f} GB peak memory"
    typer.echo(f"Time: {time.monotonic() - start:.1f} s, {memory}, {size / 1e9:.2f} GB on disk.")
