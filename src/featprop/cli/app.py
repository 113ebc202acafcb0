"""The application object, error handling, and the options several commands share."""

from __future__ import annotations

import errno
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop import interrupts
from featprop.cli.usage import UsageError, is_help, option_speller, usage_message
from featprop.errors import FeatpropError, quote_error

if TYPE_CHECKING:
    from featprop.features import TablePreprocessor
    from featprop.graph import Graph

__all__ = [
    "DeviceOption",
    "ForceOption",
    "GraphArgument",
    "SeedOption",
    "app",
    "read",
]


class Commands(TyperGroup):
    """Turn every expected error into one line on standard error and exit code 2, and Ctrl-C into exit code 130."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the options before the command, and remember which command runs."""
        command: Any = self
        for word in args:
            command = getattr(command, "commands", {}).get(word, command)
        try:
            return super().make_context(info_name, args, parent, obj=command, **extra)
        except KeyboardInterrupt as interrupt:
            raise _stop(interrupt) from None
        except UsageError as error:
            if is_help(error):
                raise
            raise _refuse(usage_message(error)) from error

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise _stop(interrupt) from None
        except UsageError as error:
            if is_help(error):
                raise
            message = usage_message(error)
        except FeatpropError as error:
            message = error.spelled(option_speller(ctx.obj))
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            message = f"Cannot read or write {error.filename or 'a file'}: {error.strerror or quote_error(error)}."
            if error.errno == errno.ENOSPC:
                message += " Free some disk space and run the command again."
        except MemoryError as error:
            cure = option_speller(ctx.obj)("max_memory")
            cure = f"Set {cure} to less than the memory of this machine" if cure[0] == "-" else "Use a smaller graph"
            message = f"Out of memory: {quote_error(error)}. {cure}, or use a machine with more memory."
        raise _stop() if interrupts.is_interrupted() else _refuse(message)


def _stop(interrupt: KeyboardInterrupt | None = None) -> typer.Exit:
    """Report that the command was stopped, with what the command adds to that, and return the exit."""
    typer.echo(" ".join(["Stopped.", *map(str, interrupt.args if interrupt else ())]), err=True)
    return typer.Exit(interrupts.INTERRUPTED_EXIT_CODE)


def _refuse(message: str) -> typer.Exit:
    """Print an error message and return the exit."""
    typer.echo(f"Error: {message}", err=True)
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
    bool, typer.Option("--force", help="Overwrite existing files; labels in them are first copied to NAME.bak.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
DeviceOption = Annotated[str, typer.Option("--device", help="PyTorch device, such as cpu or cuda.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"featprop {featprop.__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Select the nodes of a graph to label, train a model on the labels, and predict every other node.

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
