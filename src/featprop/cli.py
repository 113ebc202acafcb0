"""The command line: options in, one call into the library, print."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

import featprop
from featprop.errors import FeatpropError, LabelError, unknown_choice

if TYPE_CHECKING:
    from featprop.graph import Graph

__all__ = ["app"]


class Commands(TyperGroup):
    """The one place where an error of the library becomes a message and exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except FeatpropError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

GraphArgument = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH",
        help="A folder with nodes.csv and edges.csv (or .parquet), or a sparse-graph .npz.",
        show_default=False,
    ),
]
FeaturesOption = Annotated[
    list[str] | None,
    typer.Option("--features", help="A feature column of the nodes, or a pattern such as 'w_*'. Repeatable."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite --out even if a person typed into it.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result.")]


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
    """Name the nodes of a graph to label, train a graph neural network on the labels, predict every other node.

    Try it: `featprop demo`
    """


@app.command()
def select(
    graph: GraphArgument,
    budget: Annotated[int, typer.Option("--budget", "-b", help="How many nodes to label.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The labelling sheet to write.")] = Path("picks.csv"),
    strategy: Annotated[str, typer.Option("--strategy", help="How to choose: featprop or random.")] = "featprop",
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A table of nodes that are labelled already (id, label). Repeatable."),
    ] = None,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Choose the nodes to label and write them as a labelling sheet.

    The sheet has one row a node, the most useful first, and an empty label column to fill. Nodes listed in
    `--labels` are not chosen again; those with a label count as chosen already, so the new ones spread around them.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.io.sheets import LabelSheet, check_may_write, read_labels, write_picks

    check_may_write(out, force=force)
    with _progress():
        whole = _read(graph, features)
        sheet = read_labels(labels, whole) if labels else LabelSheet([], [], [])
        if sheet.blank:
            typer.echo(
                f"{len(sheet.blank):,} nodes in --labels have no label yet; they are not chosen again",
                err=True,
            )
        picks = featprop.select(whole, budget, strategy=strategy, labelled=sheet.nodes, exclude=sheet.blank, seed=seed)
        write_picks(out, picks.nodes, picks.represents, picks.spread, force=force)
    typer.echo(
        f"Wrote {len(picks):,} nodes to {out}: fill its label column.\n"
        f"Distance of a node to the nearest labelled or picked one: mean {picks.mean_distance:.4g}, "
        f"largest {picks.max_distance:.4g}."
    )


@app.command()
def train(
    graph: GraphArgument,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A filled labelling sheet (id, label). Repeatable. [default: the graph's own]"),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The model folder to write.")] = Path("model"),
    model: Annotated[str, typer.Option("--model", help="The network: gcn or sgc.")] = "gcn",
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    device: Annotated[str, typer.Option("--device", help="Where PyTorch computes, such as cpu or cuda.")] = "cpu",
) -> None:
    """Train a graph neural network on the labelled nodes and save it.

    Example: `featprop train my-graph/ --labels picks.csv --out model/`
    """
    from featprop.io.sheets import read_labels

    networks = {"gcn": "GCN", "sgc": "SGC"}
    if model not in networks:
        raise unknown_choice("model", model, networks)
    with _progress():
        whole = _read(graph, features)
        if labels:
            sheet = read_labels(labels, whole)
            nodes, names = sheet.nodes, sheet.labels
        else:
            nodes, names = _own_labels(whole)
        fitted = getattr(featprop, networks[model])(seed=seed, device=device).fit(whole, nodes, names)
        featprop.save_model(fitted, out)
    typer.echo(f"Trained on {len(nodes):,} labels of {len(fitted.classes)} classes; wrote the model to {out}.")


@app.command()
def predict(
    graph: GraphArgument,
    model: Annotated[Path, typer.Option("--model", help="A model folder that featprop train wrote.")] = Path("model"),
    out: Annotated[Path, typer.Option("--out", "-o", help="The table to write.")] = Path("predictions.csv"),
    features: FeaturesOption = None,
    force: ForceOption = False,
    device: Annotated[str, typer.Option("--device", help="Where PyTorch computes, such as cpu or cuda.")] = "cpu",
) -> None:
    """Predict the class of every node, with a probability for each class.

    Example: `featprop predict my-graph/ --model model/ --out predictions.csv`
    """
    from featprop.io.sheets import check_may_write, write_predictions

    check_may_write(out, force=force)
    with _progress():
        fitted = featprop.load_model(model, device=device)
        whole = _read(graph, features)
        probabilities = fitted.predict_proba(whole)
        write_predictions(out, whole.ids, fitted.classes, probabilities, force=force)
    typer.echo(f"Wrote the predicted class of {whole.n_nodes:,} nodes to {out}.")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write the report and the graph to.")] = Path(
        "demo"
    ),
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many times each experiment is run.")] = 5,
) -> None:
    """Label handwritten digits: FeatProp beside random choice, with a report to look at.

    Needs no network. Writes `report.html` and the digits as a graph folder to try the other commands on.

    Example: `featprop demo --out demo`
    """
    from featprop.demo import run

    with _progress():
        result = run(out, seeds=seeds)
    typer.echo(result)


def _read(path: Path, features: list[str] | None) -> Graph:
    whole = featprop.read_graph(path, features)
    typer.echo(
        f"Read {whole.n_nodes:,} nodes, {whole.n_edges:,} edges, {whole.n_features:,} features from {path}",
        err=True,
    )
    return whole


def _own_labels(graph: Graph) -> tuple[list[Any], list[Any]]:
    named = zip(graph.ids.tolist(), graph.class_names(), strict=True)
    known = [(node, name) for node, name in named if name is not None]
    if not known:
        found = "no label column with labels in the graph and no --labels"
        raise LabelError("Training", "must have labels", found, "pass --labels picks.csv")
    return [node for node, _ in known], [name for _, name in known]


@contextmanager
def _progress() -> Iterator[None]:
    """Show the log and, on a terminal, a bar for anything long; plain lines otherwise."""
    from featprop.console import showing_progress

    with showing_progress(logging.getLogger("featprop")):
        yield
