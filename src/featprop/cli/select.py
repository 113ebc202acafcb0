"""``featprop select``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import featprop
from featprop.cli.app import FeaturesOption, ForceOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress

__all__ = ["select"]


@app.command()
def select(
    graph: GraphArgument,
    budget: Annotated[int, typer.Option("--budget", "-b", help="How many nodes to label.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The labelling sheet to write.")] = Path("picks.csv"),
    strategy: Annotated[str, typer.Option("--strategy", help="How to choose: featprop or random.")] = "featprop",
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A table of nodes that are labelled already (id, label). Repeatable."),
    ] = None,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Choose the nodes to label and write them as a labelling sheet.

    The sheet has one row a node, the most useful first, and an empty label column to fill. Nodes listed in
    `--labels` are not chosen again; those with a label count as chosen already, so the new ones spread around them.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.io.sheets import LabelSheet, check_may_write, read_labels, write_picks

    check_may_write(out, force=force)
    with showing_progress():
        whole = read(graph, features)
        sheet = read_labels(labels, whole) if labels else LabelSheet([], [], [])
        if sheet.blank:
            typer.echo(f"{len(sheet.blank):,} nodes in --labels have no label yet: not chosen again", err=True)
        picks = featprop.select(whole, budget, strategy=strategy, labelled=sheet.nodes, exclude=sheet.blank, seed=seed)
        write_picks(out, picks.nodes, picks.represents, picks.spread, force=force)
    typer.echo(f"Wrote {len(picks):,} nodes to {out}: fill its label column.")
    typer.echo(
        "Distance of a node to the nearest one picked or labelled: "
        f"mean {picks.mean_distance:.4g}, largest {picks.max_distance:.4g}."
    )
