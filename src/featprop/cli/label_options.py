"""Options of commands that read or write labels and models."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

if TYPE_CHECKING:
    from featprop.models import NodeClassifier

STANDARD_OUTPUT = Path("-")

LabelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels",
        help="Labels: a filled sheet (id, label), a label log, or an export of another tool. Repeatable.",
        show_default=False,
    ),
]
ClassesOption = Annotated[
    list[str] | None,
    typer.Option("--classes", metavar="A,B,…", help="The classes there may be; any other label is an error."),
]
ShowOption = Annotated[
    list[str] | None,
    typer.Option("--show", metavar="COLUMN,…", help="Columns of the nodes to include in the sheet."),
]
LogArgument = Annotated[
    Path, typer.Argument(metavar="LOG", help="A label log, such as my-graph.labels.", show_default=False)
]
ModelOption = Annotated[
    str | None,
    typer.Option("--model", help="Model to train; `featprop models` lists them.", show_default="ridge"),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting; `featprop models NAME` lists them. Repeatable."),
]


def split_names(values: Iterable[str] | None) -> list[str]:
    """Return the names of an option that takes several, separated by commas or repeated."""
    named = [name.strip() for value in values or () for name in value.split(",")]
    return list(dict.fromkeys(name for name in named if name))


def count_of(number: int, what: str) -> str:
    """Write a number of things: ``"1 label"``, ``"2,000 labels"``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def open_output(out: Path) -> Path | BinaryIO:
    """Return the file to write, or standard output for ``-``."""
    return sys.stdout.buffer if out == STANDARD_OUTPUT else out


def check_out(out: Path, *, force: bool, suffixes: tuple[str, ...] = (".csv",)) -> None:
    """Refuse an output that must not be written, before any work is done."""
    from featprop.files import check_output

    if out != STANDARD_OUTPUT:
        check_output(out, force=force, suffixes=suffixes)


def make_model(name: str | None, settings: list[str] | None, seed: int, device: str) -> NodeClassifier:
    """Return the unfitted model that the options name, with seed and device if it has such settings."""
    from featprop.models import DEFAULT_MODEL, get_model, model_class
    from featprop.options import options_of, parse_options

    kind = model_class(name or DEFAULT_MODEL)
    given = {"seed": seed, "device": device} | parse_options(kind, settings or [])
    return get_model(kind.name, **{option: value for option, value in given.items() if option in options_of(kind)})
