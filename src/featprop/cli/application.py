"""The application object and how it reports errors: one line on standard error, parameters spelled as options."""

from __future__ import annotations

import errno
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop.cli.options import RESOURCES
from featprop.errors import FeatpropError, quote_error

STOPPED = 130
"""Exit code of a command that Ctrl-C stopped."""


class Commands(TyperGroup):
    """Turn every expected error into one line on standard error and exit code 2, and Ctrl-C into exit code 130."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        code = 2
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            code, message = STOPPED, " ".join(["Stopped.", *map(str, interrupt.args)])
        except FeatpropError as error:
            command = self.commands.get(ctx.invoked_subcommand, self)
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
        spellings |= {name.replace("-", "_"): f"{spellings['compute']} {name}" for name in RESOURCES}

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
