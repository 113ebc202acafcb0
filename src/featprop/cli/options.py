"""Arguments and options that several commands share, and what their values mean."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from featprop.errors import ParameterError, unknown_choice

if TYPE_CHECKING:
    from featprop.graph import Graph
    from featprop.models import NodeClassifier

STANDARD_OUTPUT = Path("-")
RESOURCES = ("max-memory", "scratch", "workers", "cluster")
SHOWN_LIMIT_RATIO = 4
"""The memory limit is printed if the rows of the graph take more than this part of it."""

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
LogArgument = Annotated[
    Path, typer.Argument(metavar="LOG", help="A label log, such as my-graph.labels.", show_default=False)
]
LabelsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels: a filled sheet (id, label), a label log, or an export of another tool. Repeatable.",
        show_default=False,
    ),
]
ClassesOption = Annotated[
    list[str] | None,
    typer.Option("--classes", metavar="A,B,…", help="The classes there may be; any other label is an error."),
]
ShowOption = Annotated[
    list[str] | None, typer.Option("--show", metavar="COLUMN,…", help="Columns of the nodes to include in the sheet.")
]
ModelOption = Annotated[
    str | None, typer.Option("--model", help="Model to train; `featprop models` lists them.", show_default="ridge")
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting; `featprop models NAME` lists them. Repeatable."),
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Overwrite existing files; labels in them are first copied to NAME.bak.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
DeviceOption = Annotated[str, typer.Option("--device", help="PyTorch device, such as cpu or cuda.")]
ComputeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--compute",
        metavar="NAME=VALUE",
        help="Resources: max-memory=4GB (default: half of what is free), scratch=FOLDER for data larger than that, "
        "workers=4 for a local Dask cluster, or cluster=tcp://host:8786 for another. Repeatable.",
    ),
]


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


def make_model(name: str | None, settings: list[str] | None, seed: int, device: str) -> NodeClassifier:
    """Return the unfitted model that the options name, with seed and device if it has such settings."""
    from featprop.models import DEFAULT_MODEL, get_model, model_class
    from featprop.options import options_of, parse_options

    kind = model_class(name or DEFAULT_MODEL)
    given = {"seed": seed, "device": device} | parse_options(kind, settings or [])
    return get_model(kind.name, **{option: value for option, value in given.items() if option in options_of(kind)})


def report_memory_limit(limit: int) -> None:
    """Print how much memory may be used."""
    from featprop.resources import bytes_text

    typer.echo(f"Memory: at most {bytes_text(limit)}", err=True)


@contextmanager
def computing(graph: Graph, compute: list[str] | None) -> Iterator[None]:
    """Compute with the resources of `--compute`, and print the memory limit where it matters."""
    from featprop.compute import compute_on
    from featprop.resources import half_of_free, parse_bytes

    given = _parse_resources(compute)
    limit = parse_bytes(given["max-memory"]) if "max-memory" in given else half_of_free()
    size = 4 * graph.n_nodes * min(graph.n_features, 512)
    if "max-memory" in given or SHOWN_LIMIT_RATIO * size > limit:
        report_memory_limit(limit)
    workers = int(given["workers"]) if "workers" in given else None
    with compute_on(cluster=given.get("cluster"), workers=workers, scratch=given.get("scratch"), max_memory=limit):
        yield


def _parse_resources(compute: list[str] | None) -> dict[str, str]:
    given = {}
    for each in compute or ():
        name, _, value = each.partition("=")
        if name not in RESOURCES:
            raise unknown_choice("compute", name, RESOURCES)
        if not value:
            raise ParameterError(f"`compute` must be NAME=VALUE, not {each!r}.", parameter="compute", value=each)
        if name == "workers" and not (value.isdecimal() and int(value)):
            message = f"`workers` must be a whole number of at least 1, not {value!r}."
            raise ParameterError(message, parameter="workers", value=value)
        given[name] = value
    return given
