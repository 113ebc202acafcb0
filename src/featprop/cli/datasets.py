"""``featprop datasets``, with fetch, stats and make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli import options
from featprop.cli.application import Commands, app
from featprop.cli.console import print_table, showing_progress
from featprop.errors import FileError

if TYPE_CHECKING:
    from featprop.graph import Graph

commands = typer.Typer(
    cls=Commands, help="Data sets of the paper and of the field, by name.", rich_markup_mode="markdown"
)
app.add_typer(commands, name="datasets")


@commands.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List the data sets, their sources, and whether they are on this machine.

    Every command that takes a graph also takes one of these names: `featprop select cora --budget 20`
    """
    if context.invoked_subcommand:
        return
    from featprop.datasets import CATALOGUE, status
    from featprop.datasets.download import placed_folder
    from featprop.files import cache_folder

    rows = []
    for entry in CATALOGUE.values():
        counts = [f"{entry.nodes:,}", f"{entry.edges:,}", f"{entry.classes}", f"{entry.features:,}"]
        homophily = "?" if entry.homophily is None else f"{entry.homophily:.2f}"
        rows.append([entry.name, *counts, homophily, entry.licence, status(entry), entry.source])
    titles = ["name", "nodes", "edges", "classes", "features", "homophily", "licence", "status", "source"]
    print_table(titles, rows, left={"name", "licence", "status", "source"})
    typer.echo(f"\nCache: {cache_folder()} (FEATPROP_CACHE)")
    typer.echo(f"Placed files: {placed_folder() or 'no folder'} (FEATPROP_DATA)")
    typer.echo("Download a missing data set with: featprop datasets fetch NAME")


@commands.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of data sets, such as cora.")],
    force: Annotated[bool, typer.Option("--force", help="Download again even if the data set is cached.")] = False,
) -> None:
    """Download data sets into the cache, so that they load offline afterwards.

    Example: `featprop datasets fetch cora citeseer pubmed`
    """
    from featprop.datasets import Status, find, load, status
    from featprop.datasets import fetch as fetch_again
    from featprop.files import cache_folder

    for entry in [find(name) for name in names]:
        with showing_progress():
            graph = fetch_again(entry.name) if force else load(entry.name)
        if status(entry) not in (Status.CACHED, Status.BUILT_IN):
            message = f"{entry.name} could not be written to the cache {cache_folder()}."
            raise FileError(message, hint="Set FEATPROP_CACHE to another folder.", path=cache_folder())
        typer.echo(f"{entry.name}: {_size(graph)}")


@commands.command()
def stats(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names of data sets. Default: the paper's four.")
    ] = None,
) -> None:
    """Show statistics of data sets on this machine next to the paper's. Downloads nothing.

    Example: `featprop datasets stats`
    """
    from featprop.datasets import CATALOGUE, Status, find, load, statistics, status
    from featprop.datasets.catalogue import NOTES

    entries = [find(name) for name in names] if names else [entry for entry in CATALOGUE.values() if entry.printed]
    missing = [entry.name for entry in entries if status(entry) is Status.MISSING]
    rows: list[list[str]] = []
    for entry in entries:
        if entry.name not in missing:
            with showing_progress():
                ours = statistics(load(entry.name))
            counts = [f"{ours.nodes:,}", f"{ours.edges:,}", f"{ours.classes}", f"{ours.features:,}"]
            others = [f"{ours.homophily:.4f}", f"{ours.labelled:,}", f"{ours.isolated:,}", f"{ours.density:.2%}"]
            rows.append([entry.name, "featprop", *counts, *others])
        if entry.printed:
            rows.append([entry.name, "paper", *(f"{count:,}" for count in entry.printed)])
    titles = ["data set", "by", "nodes", "edges", "classes", "features"]
    titles += ["homophily", "labelled", "isolated", "non-zero"]
    print_table(titles, rows, left={"data set", "by"})
    for name in missing:
        typer.echo(f"{name} is not on this machine. Download it with: featprop datasets fetch {name}")
    for note in NOTES if any(entry.printed for entry in entries) else ():
        typer.echo(f"\n{note}")


def _parse_whole(text: str) -> int:
    """Read a whole number such as 1000000, 1_000_000 or 1e6."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


@commands.command()
def make(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False)],
    nodes: Annotated[int, typer.Option(parser=_parse_whole, metavar="NUMBER", help="Number of nodes, such as 1e6.")],
    edges: Annotated[int, typer.Option(parser=_parse_whole, metavar="NUMBER", help="Number of edges, such as 1e7.")],
    classes: Annotated[int, typer.Option(help="Number of classes.")] = 10,
    features: Annotated[int, typer.Option(help="Number of columns, or of words in the vocabulary.")] = 64,
    homophily: Annotated[float, typer.Option(help="Share of edges within a class.")] = 0.8,
    smallest: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of nodes in the smallest class, for classes of unequal size."),
    ] = None,
    isolated: Annotated[float, typer.Option(metavar="SHARE", help="Share of nodes without an edge.")] = 0.0,
    kind: Annotated[str, typer.Option(help="Kind of features: gaussian, or words (sparse).")] = "gaussian",
    signal: Annotated[float, typer.Option(help="How much the features depend on the class: 0 for not at all.")] = 1.0,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing graph.")] = False,
) -> None:
    """Make a synthetic graph: a degree-corrected stochastic block model.

    It is written while it is drawn, so it may be larger than memory. Every command takes the folder as a graph.

    Example: `featprop datasets make --nodes 1e6 --edges 1e7 --classes 20 --out big/`
    """
    from featprop.datasets.synthetic import make as make_graph

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
    typer.echo(f"Wrote {out}: {_size(graph)}.")


def _size(graph: Graph) -> str:
    return f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features"
