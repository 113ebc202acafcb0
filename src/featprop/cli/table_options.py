"""The options of every command that reads a user's tables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from featprop.errors import ParameterError

__all__ = ["reads_tables"]

TABLES = "Your tables"
OPTIONS: dict[str, tuple[Any, Any]] = {
    "features": (
        Annotated[
            list[str] | None,
            typer.Option(
                help="Columns to use as features, or patterns such as 'w_*', separated by commas. Repeatable. "
                "Default: all usable columns.",
                rich_help_panel=TABLES,
            ),
        ],
        None,
    ),
    "column": (
        Annotated[
            list[str] | None,
            typer.Option(
                metavar="NAME=KIND",
                help="Kind of a column: number, flag, category, date, text, vector, or out to ignore it. Repeatable.",
                rich_help_panel=TABLES,
            ),
        ],
        None,
    ),
    "raw": (
        Annotated[
            bool, typer.Option("--raw", help="Use numeric columns unchanged, and no others.", rich_help_panel=TABLES)
        ],
        False,
    ),
    "id_": (
        Annotated[
            str | None,
            typer.Option("--id", metavar="COLUMN", help="Column with the node ids.", rich_help_panel=TABLES),
        ],
        None,
    ),
    "label": (
        Annotated[
            str | None,
            typer.Option(
                "--label", metavar="COLUMN", help="Column with the labels of the nodes.", rich_help_panel=TABLES
            ),
        ],
        None,
    ),
    "source": (
        Annotated[
            str | None,
            typer.Option(metavar="COLUMN", help="Column with the source of each edge.", rich_help_panel=TABLES),
        ],
        None,
    ),
    "target": (
        Annotated[
            str | None,
            typer.Option(metavar="COLUMN", help="Column with the target of each edge.", rich_help_panel=TABLES),
        ],
        None,
    ),
    "weight": (
        Annotated[
            str | None,
            typer.Option(metavar="COLUMN", help="Column with the edge weights.", rich_help_panel=TABLES),
        ],
        None,
    ),
    "weights": (
        Annotated[
            str | None,
            typer.Option(
                metavar="mean|raw|none",
                help="Divide edge weights by their mean, use them unchanged, or ignore them.",
                show_default="mean",
                rich_help_panel=TABLES,
            ),
        ],
        None,
    ),
    "repeated": (
        Annotated[
            str | None,
            typer.Option(
                metavar="max|sum|count",
                help="How to combine the weights of duplicate edges.",
                show_default="max",
                rich_help_panel=TABLES,
            ),
        ],
        None,
    ),
}


LEARNT = ("features", "column", "raw")
"""What a model knows already."""


def reads_tables(*, learnt: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options about tables; it gets them as one `TableOptions`, its argument ``tables``.

    Parameters
    ----------
    learnt
        Whether what columns become is known from a model, and not to be said again.
    """
    options = {name: option for name, option in OPTIONS.items() if not (learnt and name in LEARNT)}

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command)
        hints = get_type_hints(command, localns={"TableOptions": Any}, include_extras=True)

        @functools.wraps(command)
        def wrapped(**given: Any) -> None:
            said = {name: given.pop(name) for name in options}
            command(**given, tables=_options(**said))

        parameters = [
            parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, parameter in own.parameters.items()
            if name != "tables"
        ]
        parameters += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in options.items()
        ]
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        del wrapped.__wrapped__
        return wrapped

    return decorated


def _options(id_: str | None, column: list[str] | None = None, **said: Any) -> Any:
    from featprop.tables import TableOptions

    kinds = {}
    for each in column or []:
        name, found, kind = each.rpartition("=")
        if not found or not name:
            message = f"--column must be NAME=KIND, for example age=number, not {each!r}."
            raise ParameterError(message, parameter="column", value=each)
        kinds[name] = kind
    given = {name: value for name, value in said.items() if value is not None}
    return TableOptions(id=id_, columns=kinds, **given)
