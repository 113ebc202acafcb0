"""The application object and how it reports errors: one line on standard error, parameters spelled as options."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop.errors import FeatpropError, quote_error

if TYPE_CHECKING:
    from featprop.features import TablePreprocessor
    from featprop.graph import Graph

__all__ = ["app", "count_of", "print_size", "read"]

STOPPED = 130
"""Exit code of a command that Ctrl-C stopped."""
UsageError: Any = typer.BadParameter.__bases__[0]
"""The exception Typer raises about a command line; Typer does not export it."""
COMPUTE_NAMES = {"max_memory": "max-memory", "scratch": "scratch", "workers": "workers", "cluster": "cluster"}
"""Parameters of `featprop.compute.compute_on`, as `--compute` takes them."""


class Commands(TyperGroup):
    """Turn every expected error into one line on standard error and exit code 2, and Ctrl-C into exit code 130."""

    def make_context(self, info_name: Any, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the options before the command, and remember which command runs."""
        command: Any = self
        for word in args:
            command = getattr(command, "commands", {}).get(word, command)
        with _reporting_errors(command):
            return super().make_context(info_name, args, parent, obj=command, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _reporting_errors(ctx.obj):
            return super().invoke(ctx)


@contextmanager
def _reporting_errors(command: Any) -> Iterator[None]:
    code = 2
    try:
        yield
        return
    except KeyboardInterrupt as interrupt:
        code, message = STOPPED, " ".join(["Stopped.", *map(str, interrupt.args)])
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        message = f"Error: {_usage_message(error)}"
    except FeatpropError as error:
        message = f"Error: {error.spelled(_option_speller(command))}"
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        reason = error.strerror or quote_error(error)
        message = f"Error: Cannot read or write {error.filename or 'a file'}: {reason}."
        if error.errno == errno.ENOSPC:
            message += " Free some disk space and run the command again."
    except MemoryError as error:
        message = f"Error: Out of memory: {quote_error(error)}. "
        message += "Set a lower memory limit, use a smaller graph, or use a machine with more memory."
    typer.echo(message, err=True)
    raise typer.Exit(code)


def _usage_message(error: Any) -> str:
    """Return Typer's message about a command line as one line, with a suggestion or a pointer to the help."""
    message = " ".join(error.format_message().split())
    message += "" if message.endswith((".", "?")) else "."
    if error.ctx is None or message.endswith("?"):
        return message
    if hasattr(error, "param"):
        return f"{message} See {error.ctx.command_path} --help."
    return f"{message} {' '.join(error.ctx.get_usage().split())}"


def _option_speller(command: Any) -> Callable[[str], str]:
    """Return a function that spells a parameter of the library as an option or argument of a command.

    ``max_memory`` becomes ``--max-memory``, ``force=True`` becomes ``--force``, ``strategy="age"`` becomes
    ``--strategy age``. Anything that is not a parameter of the command keeps its backquotes.
    """
    spellings = {}
    for param in command.params:
        is_option = param.param_type_name == "option"
        spelling = max(param.opts, key=len) if is_option else (param.metavar or param.name.upper()).strip("[].")
        spellings[param.name.strip("_")] = spellings[spelling.strip("-").replace("-", "_")] = spelling
    if "seed" in spellings:
        spellings["random_state"] = spellings["seed"]
    if "compute" in spellings:
        spellings |= {name: f"{spellings['compute']} {value}" for name, value in COMPUTE_NAMES.items()}

    def spell(code: str) -> str:
        name, equals, value = code.partition("=")
        spelling = spellings.get(name)
        if spelling is None or value in ("False", "None"):
            return f"`{code}`"
        value = value.strip("'\"")
        return f"{spelling} {value}" if equals and value != "True" else spelling

    return spell


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    if path.exists():
        from featprop.sources import read_graph

        graph = read_graph(path, preprocessor=preprocessor)
    else:
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


def count_of(number: int, what: str) -> str:
    """Write a number of things: ``"1 label"``, ``"2,000 labels"``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
