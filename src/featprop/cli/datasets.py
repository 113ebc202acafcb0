"""``featprop datasets``, with fetch and stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import app
from featprop.cli.console import showing_progress
from featprop.cli.printing import print_table
from featprop.errors import FileError

if TYPE_CHECKING:
    from featprop.datasets import Dataset

__all__ = ["commands", "datasets", "fetch", "stats"]

commands = typer.Typer(help="The data sets of the paper and of the field, by name.", rich_markup_mode="markdown")
app.add_typer(commands, name="datasets")


@commands.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List the data sets, where each is from and whether it is here; or do one of the commands below.

    Every command that takes a graph takes one of these names too: `featprop select cora --budget 20`
    """
    if context.invoked_subcommand:
        return
    from featprop.datasets import CATALOGUE
    from featprop.datasets.cache import cache_folder, placed_folder

    rows = [
        [
            entry.name,
            f"{entry.nodes:,}",
            f"{entry.edges:,}",
            f"{entry.classes}",
            f"{entry.features:,}",
            "?" if entry.homophily is None else f"{entry.homophily:.2f}",
            entry.licence,
            _here(entry),
            entry.source,
        ]
        for entry in CATALOGUE.values()
    ]
    titles = ["name", "nodes", "edges", "classes", "features", "homophily", "licence", "here", "source"]
    print_table(titles, rows, left={"name", "licence", "here", "source"})
    typer.echo(f"\nCache: {cache_folder()} (FEATPROP_CACHE)")
    typer.echo(f"Placed files: {placed_folder() or 'no folder set'} (FEATPROP_DATA)")
    typer.echo("Get one that is not here with: featprop datasets fetch NAME")


def _here(entry: Dataset) -> str:
    """Say where a data set is and, if it has several public forms, which one is there."""
    from featprop.datasets import kept_form, whereabouts

    form = kept_form(entry) if len(entry.forms) > 1 else None
    return f"{whereabouts(entry)} ({form})" if form else whereabouts(entry)


@commands.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets, such as cora.")],
    force: Annotated[bool, typer.Option("--force", help="Get it again even if the cache has it.")] = False,
) -> None:
    """Get data sets into the cache, so that they load without a network from then on.

    Example: `featprop datasets fetch cora citeseer pubmed`
    """
    from featprop.cache import cache_folder
    from featprop.datasets import fetch as fetch_anew
    from featprop.datasets import find, load, whereabouts

    for name in [find(name).name for name in names]:
        with showing_progress():
            graph = fetch_anew(name) if force else load(name)
        if whereabouts(find(name)) not in ("cache", "embedded"):
            cure = "look at its rights and the room on its disk, or set FEATPROP_CACHE to another folder"
            raise FileError(f"{name}", "must be kept in the cache", f"that {cache_folder()} could not take it", cure)
        typer.echo(f"{name}: {graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features")


@commands.command()
def stats(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Data sets; default: the four of the paper.")
    ] = None,
) -> None:
    """Count what the data sets hold, beside what the paper's table prints. Nothing is fetched.

    Example: `featprop datasets stats`
    """
    from featprop.datasets import CATALOGUE, find, load, whereabouts
    from featprop.datasets.stats import NOTES, statistics

    entries = [find(name) for name in names] if names else [entry for entry in CATALOGUE.values() if entry.printed]
    rows: list[list[str]] = []
    absent = [entry.name for entry in entries if whereabouts(entry) == "no"]
    for entry in entries:
        if entry.name not in absent:
            with showing_progress():
                ours = statistics(load(entry.name))
            counts = [f"{ours.nodes:,}", f"{ours.edges:,}", f"{ours.classes}", f"{ours.features:,}"]
            others = [f"{ours.homophily:.4f}", f"{ours.labelled:,}", f"{ours.isolated:,}", f"{ours.density:.2%}"]
            rows.append([entry.name, "featprop", *counts, *others])
        if entry.printed:
            paper = entry.printed
            numbers = [f"{paper.nodes:,}", f"{paper.edges:,}", f"{paper.classes}", f"{paper.features:,}"]
            rows.append([entry.name if entry.name in absent else "", "paper", *numbers])
    titles = [
        "data set",
        "by",
        "nodes",
        "edges",
        "classes",
        "features",
        "homophily",
        "labelled",
        "isolated",
        "non-zero",
    ]
    print_table(titles, rows, left={"data set", "by"})
    for name in absent:
        typer.echo(f"{name} is not here: featprop datasets fetch {name}")
    if any(entry.printed for entry in entries):
        for note in NOTES:
            typer.echo(f"\n{note}")
