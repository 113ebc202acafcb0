"""The application every command hangs on, and the options several commands share."""

from __future__ import annotations

import errno
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop import interrupts
from featprop.cli.usage import UsageError, is_help, usage_error
from featprop.errors import FeatpropError, FileError, quote_error

if TYPE_CHECKING:
    from featprop.features import TablePreprocessor
    from featprop.graph import Graph

__all__ = [
    "DeviceOption",
    "ForceOption",
    "GraphArgument",
    "SeedOption",
    "app",
    "print_size",
    "read",
]


class Commands(TyperGroup):
    """The one place where an error of library, system or command line becomes a message and exit code 2.

    And Ctrl-C one and exit code 130: what an import or a file that it cut short has come to is no error.
    """

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the options before the command."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except KeyboardInterrupt as interrupt:
            raise _stopped(interrupt) from None
        except UsageError as error:
            if is_help(error):
                raise
            context: Any = getattr(error, "ctx", None) or SimpleNamespace(parent=None, invoked_subcommand=None)
            raise _refused(usage_error(error, context)) from error

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise _stopped(interrupt) from None
        except UsageError as error:
            if is_help(error):
                raise
            told: FeatpropError = usage_error(error, ctx)
        except FeatpropError as error:
            told = error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            what, cure = str(error.filename or "A file"), "check the path, your rights there and the room on the disk"
            told = FileError(what, "must be there to be read or written", error.strerror or quote_error(error), cure)
        except MemoryError as error:
            rule, cure = (
                "must have room in memory",
                "ask for less, take --max-memory where there is, or a larger machine",
            )
            told = FeatpropError("What was asked for", rule, f"no more ({quote_error(error)})", cure)
        raise _stopped() if interrupts.is_asked() else _refused(told)


def _stopped(interrupt: KeyboardInterrupt | None = None) -> typer.Exit:
    """Say that the command was stopped, and what it says about that itself, and return the end of the program."""
    typer.echo(" ".join(["Stopped.", *map(str, interrupt.args if interrupt else ())]), err=True)
    return typer.Exit(interrupts.INTERRUPTED)


def _refused(error: FeatpropError) -> typer.Exit:
    """Print an error and return the end of the program."""
    typer.echo(f"Error: {error}", err=True)
    return typer.Exit(2)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

GraphArgument = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        help="A graph.toml, a folder with nodes.* and edges.*, a graph file (GraphML, GEXF, GML, edge list, .npz, …), "
        "a database with the tables nodes and edges, a converted graph or its address such as s3://bucket/graph, "
        "or the name of a data set such as cora.",
        show_default=False,
    ),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite --out even if a person typed into it, and keep a copy beside it.")
]
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


def read(path: Path, preprocessor: TablePreprocessor | None = None, *, summarize: bool = True) -> Graph:
    """Read a graph, or load the data set of that name, and print its size and, to `summarize`, its columns."""
    from featprop.datasets import resolve

    graph = resolve(path, preprocessor)
    columns = graph.preprocessor if summarize and preprocessor is None else None
    print_size(path, graph.n_nodes, graph.n_edges, graph.n_features, columns)
    return graph


def print_size(path: Path, nodes: int, edges: int, features: int, columns: TablePreprocessor | None) -> None:
    """Print the size of a graph and, if a preprocessor is given, a summary of its columns."""
    typer.echo(f"Read {nodes:,} nodes, {edges:,} edges, {features:,} features from {path}", err=True)
    if columns is not None:
        more = shlex.join(["featprop", "inspect", f"{path}"])
        typer.echo(f"{columns.summary()} ({more} shows more)", err=True)
