"""The application every command hangs on, and the options several commands share."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop.errors import FeatpropError, FileError, reason

if TYPE_CHECKING:
    from featprop.graph import Graph

__all__ = [
    "DeviceOption",
    "FeaturesOption",
    "ForceOption",
    "GraphArgument",
    "SeedOption",
    "app",
    "read",
]


class Commands(TyperGroup):
    """The one place where an error of the library or of the system becomes a message and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except FeatpropError as error:
            told: FeatpropError = error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            what, cure = str(error.filename or "A file"), "check the path, your rights there and the room on the disk"
            told = FileError(what, "must be there to be read or written", error.strerror or reason(error), cure)
        typer.echo(f"Error: {told}", err=True)
        raise typer.Exit(2)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

GraphArgument = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        help="A folder with nodes.csv and edges.csv (or .parquet), a converted graph, a sparse-graph .npz, "
        "or the name of a data set such as cora.",
        show_default=False,
    ),
]
FeaturesOption = Annotated[
    list[str] | None,
    typer.Option("--features", help="A feature column of the nodes, or a pattern such as 'w_*'. Repeatable."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite --out even if a person typed into it.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]
DeviceOption = Annotated[str, typer.Option("--device", help="Where PyTorch computes, such as cpu or cuda.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"featprop {featprop.__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Name the nodes of a graph to label, train a model on the labels, predict every other node.

    Try it: `featprop demo`
    """


def read(path: Path, features: list[str] | None) -> Graph:
    """Read a graph, or load the data set of that name, and say what was read."""
    from featprop.datasets import resolve

    graph = resolve(path, features)
    size = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features"
    typer.echo(f"Read {size} from {path}", err=True)
    return graph
