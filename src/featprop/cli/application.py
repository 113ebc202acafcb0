"""The application object and how it reports errors: one line on standard error, parameters spelled as options."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop.cli.options import RESOURCES
from featprop.errors import FeatpropError, quote_error

__all__ = ["app", "load"]

STOPPED = 130
"""Exit code of a command that Ctrl-C stopped."""
UsageError: Any = typer.BadParameter.__bases__[0]
"""The exception Typer raises about a command line; Typer does not export it."""


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
    except MemoryError as error:
        message = f"Error: Out of memory: {quote_error(error)}. Set a lower memory limit or use a smaller graph."
    typer.echo(message, err=True)
    raise typer.Exit(code)


def _usage_message(error: Any) -> str:
    """Return Typer's message about a command line as one line, followed by the usage unless it suggests something."""
    message = " ".join(error.format_message().split())
    if error.ctx is None or message.endswith("?"):
        return message
    return f"{message.rstrip('.')}. {' '.join(error.ctx.get_usage().split())}"


def _option_speller(command: Any) -> Callable[[str], str]:
    """Return a function that spells a parameter of the library as an option or argument of a command.

    ``max_memory`` becomes ``--max-memory``, and ``force=True`` becomes ``--force``. Anything that is not a parameter of
    the command keeps its backquotes.
    """
    spellings = {}
    for param in command.params:
        is_option = param.param_type_name == "option"
        spelling = max(param.opts, key=len) if is_option else (param.metavar or param.name.upper()).strip("[].")
        spellings[param.name.strip("_")] = spellings[spelling.strip("-").replace("-", "_")] = spelling
    if "seed" in spellings:
        spellings["random_state"] = spellings["seed"]
    if "compute" in spellings:
        spellings |= {parameter: f"{spellings['compute']} {name}" for name, parameter in RESOURCES.items()}

    def spell(code: str) -> str:
        spelling = spellings.get(code.removesuffix("=True"))
        return f"`{code}`" if spelling is None else spelling

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


def load(command: str = "") -> typer.Typer:
    """Return the application after importing the file of one command, or all files if none has that name."""
    names = [found.name for found in iter_modules([str(Path(__file__).parent)])]
    for name in [command] if command in names else names:
        import_module(f"featprop.cli.{name}")
    return app
