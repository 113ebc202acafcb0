"""``featprop train``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import featprop
from featprop.cli.app import DeviceOption, FeaturesOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress
from featprop.errors import LabelError

if TYPE_CHECKING:
    from featprop.graph import Graph

__all__ = ["train"]


@app.command()
def train(
    graph: GraphArgument,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A filled labelling sheet (id, label). Repeatable. Default: the graph's own."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model folder to write.")] = Path("model"),
    model: Annotated[
        str | None,
        typer.Option("--model", help="What to train; featprop models lists them.", show_default="ridge"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A setting of the model; featprop models NAME lists them. Repeatable."
        ),
    ] = None,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
) -> None:
    """Train a model on the labelled nodes and save it.

    Example: `featprop train my-graph/ --labels picks.csv --out model/`
    """
    from featprop.io.sheets import read_labels
    from featprop.models import DEFAULT_MODEL, get_model, model_class
    from featprop.models.saved import check_may_hold_model
    from featprop.options import options_of, parse_options

    kind = model_class(model or DEFAULT_MODEL)
    given = {"seed": seed, "device": device} | parse_options(kind, settings or [])
    chosen = get_model(kind.name, **{name: value for name, value in given.items() if name in options_of(kind)})
    check_may_hold_model(out)
    with showing_progress():
        whole = read(graph, features)
        if labels:
            sheet = read_labels(labels, whole)
            nodes, names = sheet.nodes, sheet.labels
        else:
            nodes, names = _own_labels(whole)
        fitted = chosen.fit(whole, nodes, names)
        featprop.save_model(fitted, out)
    counts = Counter(names)
    classes = ", ".join(f"{counts[name]:,} {name}" for name in fitted.classes_)
    typer.echo(f"Trained on {len(nodes):,} labels of {len(fitted.classes_)} classes: {classes}.")
    typer.echo(f"Wrote the model to {out}.")


def _own_labels(graph: Graph) -> tuple[list[Hashable], list[Hashable]]:
    named = zip(graph.ids.tolist(), graph.class_names(), strict=True)
    known = [(node, name) for node, name in named if name is not None]
    if not known:
        found = "no --labels, and no label in the graph's own label column"
        raise LabelError("Training", "must have labels", found, "pass --labels picks.csv")
    return [node for node, _ in known], [name for _, name in known]
