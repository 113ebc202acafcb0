"""``featprop select``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli import options
from featprop.cli.application import app
from featprop.cli.console import print_table, print_text, showing_progress
from featprop.errors import ParameterError, first_five

if TYPE_CHECKING:
    from featprop.active import Selection


@app.command()
def select(
    graph: options.GraphPath,
    budget: Annotated[int, typer.Option("--budget", "-b", help="Number of nodes to select.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Labelling sheet to write; - for standard output.")] = Path(
        "picks.csv"
    ),
    strategy: Annotated[
        str | None,
        typer.Option(help="Query strategy; `featprop strategies` lists them.", show_default="featprop-diffused"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Setting of the strategy; featprop strategies NAME lists them. Repeatable.",
        ),
    ] = None,
    labels: options.Labels = None,
    classes: options.Classes = None,
    log: Annotated[
        Path | None, typer.Option(help="A label log that keeps labels and the state of the strategy between rounds.")
    ] = None,
    show: options.Show = None,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Write nothing; print what smaller budgets would achieve.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random generator.", show_default="0")] = None,
    force: options.Force = False,
    compute: options.Compute = None,
) -> None:
    """Select the nodes to label and write them as a labelling sheet.

    The sheet has one row per node, the most useful first, and an empty label column to fill. Nodes in `--labels` are
    not selected again. Labels and predictions of the neighbours are included with `--show`.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.active.learner import ActiveLearner
    from featprop.labels.log import open_exclusively
    from featprop.labels.sheets import check_columns
    from featprop.options import parse_options
    from featprop.strategies import DEFAULT_STRATEGY, get_strategy, strategy_class

    shown = options.split_names(show)
    if not only_plan:
        options.check_out(out, force=force)
    elif log is not None:
        raise ParameterError("`plan` records nothing, so `log` cannot be combined with it.", parameter="log")
    kind = strategy_class(strategy or DEFAULT_STRATEGY)
    chosen = None
    if strategy or settings:
        chosen = get_strategy(kind.name, **parse_options(kind, settings or []))
    with showing_progress():
        whole = options.read_graph(graph)
        check_columns(shown, whole)
        if whole.classes and not labels:
            typer.echo("The graph's own labels are ignored; pass them with --labels to use them.", err=True)
        with options.computing(compute), nullcontext() if log is None else open_exclusively(log) as opened:
            learner = ActiveLearner(whole, chosen, random_state=seed, log=opened)
            if labels:
                from featprop.labels import read as read_labels

                known = [] if opened is None else opened.labels().values()
                allowed = options.split_names(classes) or None
                learner.tell(read_labels(labels, whole, known=known, classes=allowed))
            if learner.asked:
                typer.echo(f"Already asked for, without a label yet: {first_five(learner.asked)}", err=True)
            picks = learner.propose(budget)
            if only_plan:
                _print_plan(picks)
                return
            known_labels = learner.labels if shown else {}
            model = learner.model if len(set(known_labels.values())) > 1 else None
            picks.write(options.open_output(out), show=shown, labels=known_labels, model=model, force=force)
            learner.record(picks)
    options.report_written(f"{len(picks):,} nodes", out, " Fill the label column.")
    typer.echo(
        "Distance of a node to the nearest picked or labelled one: "
        f"mean {picks.mean_distance:.4g}, maximum {picks.max_distance:.4g}.",
        err=out == options.STANDARD_OUTPUT,
    )


def _print_plan(picks: Selection) -> None:
    from featprop.active.plan import plan_of

    found = plan_of(picks)
    rows = [
        [f"{budget:,}", f"{distance:.4g}", f"{share:.0%}", "elbow" if budget == found.elbow else ""]
        for budget, distance, share in found.rows()
    ]
    print_table(["labels", "mean distance", "gained", ""], rows, [""])
    typer.echo()
    print_text(f"{found}")
