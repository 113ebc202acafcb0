"""Arguments and options that several commands share, and what their values mean."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from featprop.errors import MissingExtraError, ParameterError, unknown_choice

if TYPE_CHECKING:
    from featprop.features import TablePreprocessor
    from featprop.graph import Graph
    from featprop.models import NodeClassifier

STANDARD_OUTPUT = Path("-")
RESOURCES = ("max-memory", "scratch", "workers", "cluster")
"""Names that `--compute` takes: parameters of `featprop.compute.compute_on`."""

GraphPath = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        help="A graph.toml, a folder with nodes.* and edges.*, a graph file (GraphML, GEXF, GML, edge list, .npz, …), "
        "a database with the tables nodes and edges, a converted graph, or the name of a data set such as cora.",
        show_default=False,
    ),
]
LogPath = Annotated[
    Path, typer.Argument(metavar="LOG", help="A label log, such as my-graph.labels.", show_default=False)
]
Labels = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels: a filled sheet (id, label), a label log, or an export of another tool. Repeatable.",
        show_default=False,
    ),
]
Classes = Annotated[
    list[str] | None,
    typer.Option("--classes", metavar="A,B,…", help="The classes there may be; any other label is an error."),
]
Show = Annotated[
    list[str] | None, typer.Option("--show", metavar="COLUMN,…", help="Columns of the nodes to include in the sheet.")
]
Model = Annotated[
    str | None, typer.Option("--model", help="Model to train; `featprop models` lists them.", show_default="ridge")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting; `featprop models NAME` lists them. Repeatable."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite existing files; labels in them are first copied to NAME.bak.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
Device = Annotated[str, typer.Option("--device", help="PyTorch device, such as cpu or cuda.")]
Compute = Annotated[
    list[str] | None,
    typer.Option(
        "--compute",
        metavar="NAME=VALUE",
        help="Resources: max-memory=4GB (default: half of what is free), scratch=FOLDER for data larger than that, "
        "workers=4 for a local Dask cluster, or cluster=tcp://host:8786 for another. Repeatable.",
    ),
]


def read_graph(path: Path, preprocessor: TablePreprocessor | None = None, *, summarize: bool = True) -> Graph:
    """Read a graph, or load the data set of that name, and print its size and, to `summarize`, its columns."""
    if path.exists():
        from featprop.sources import read_graph as read

        graph = read(path, preprocessor=preprocessor)
    else:
        from featprop.datasets import resolve

        graph = resolve(path, preprocessor)
    columns = graph.preprocessor if summarize and preprocessor is None else None
    print_size(path, graph, columns)
    return graph


def print_size(path: Path, graph: Graph, columns: TablePreprocessor | None) -> None:
    """Print the size of a graph and, if a preprocessor is given, a summary of its columns."""
    size = f"{graph.n_nodes:,} nodes, {graph.n_edges:,} edges, {graph.n_features:,} features"
    typer.echo(f"Read {size} from {path}", err=True)
    if columns is not None:
        more = shlex.join(["featprop", "inspect", f"{path}"])
        typer.echo(f"{columns.summary()} Details: {more}", err=True)


def count_of(number: int, what: str) -> str:
    """Write a number of things: ``"1 label"``, ``"2,000 labels"``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def split_names(values: Iterable[str] | None) -> list[str]:
    """Return the names of an option that takes several, separated by commas or repeated."""
    named = [name.strip() for value in values or () for name in value.split(",")]
    return list(dict.fromkeys(name for name in named if name))


def check_out(out: Path, *, force: bool, suffixes: tuple[str, ...] = (".csv",)) -> None:
    """Refuse an output that must not be written, before any work is done."""
    from featprop.files import check_output

    if out != STANDARD_OUTPUT:
        check_output(out, force=force, suffixes=suffixes)


def open_output(out: Path) -> Path | BinaryIO:
    """Return the file to write, or standard output for ``-``."""
    return sys.stdout.buffer if out == STANDARD_OUTPUT else out


def report_written(what: str, out: Path, more: str = "") -> None:
    """Print what was written, on standard error if standard output has the content."""
    is_file = out != STANDARD_OUTPUT
    typer.echo(f"Wrote {what}{f' to {out}' if is_file else ''}.{more}", err=not is_file)


def check_installed(command: str, extra: str, *packages: str) -> None:
    """Refuse to run a command unless the packages of an extra are installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise MissingExtraError(f"featprop {command}", extra, package)


def make_model(name: str | None, settings: list[str] | None, seed: int, device: str) -> NodeClassifier:
    """Return the unfitted model that the options name, with seed and device if it has such settings."""
    from featprop.models import DEFAULT_MODEL, get_model, model_class
    from featprop.options import options_of, parse_options

    kind = model_class(name or DEFAULT_MODEL)
    given = {"random_state": seed, "device": device} | parse_options(kind, settings or [])
    return get_model(kind.name, **{option: value for option, value in given.items() if option in options_of(kind)})


def computing(compute: list[str] | None) -> AbstractContextManager[object]:
    """Compute with the resources of `--compute` inside the ``with`` block."""
    from featprop.compute import compute_on

    given: dict[str, Any] = {}
    for each in compute or ():
        name, _, value = each.partition("=")
        if name not in RESOURCES:
            raise unknown_choice("compute", name, RESOURCES)
        if not value or (name == "workers" and not value.isdecimal()):
            message = f"`compute` must be NAME=VALUE, such as workers=2, not {each!r}."
            raise ParameterError(message, parameter="compute", value=each)
        given[name.replace("-", "_")] = int(value) if name == "workers" else value
    return compute_on(**given)
