"""``featprop select``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import ForceOption, GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import (
    STANDARD_OUTPUT,
    ClassesOption,
    LabelsOption,
    ShowOption,
    check_out,
    open_output,
    split_names,
)
from featprop.cli.printing import print_table, print_text
from featprop.cli.scale_options import ComputeOption, computing
from featprop.errors import ParameterError, first_five

if TYPE_CHECKING:
    from featprop.active import Selection


@app.command()
def select(
    graph: GraphArgument,
    budget: Annotated[int, typer.Option("--budget", "-b", help="Number of nodes to select.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Labelling sheet to write; - for standard output.")] = Path(
        "picks.csv"
    ),
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            help="Query strategy; `featprop strategies` lists them.",
            show_default="featprop-diffused",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Setting of the strategy; featprop strategies NAME lists them. Repeatable.",
        ),
    ] = None,
    labels: LabelsOption = None,
    classes: ClassesOption = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", help="A label log that keeps labels and the state of the strategy between rounds."),
    ] = None,
    show: ShowOption = None,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Write nothing; print what smaller budgets would achieve.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Seed of the random generator.", show_default="0")
    ] = None,
    force: ForceOption = False,
    compute: ComputeOption = None,
) -> None:
    """Select the nodes to label and write them as a labelling sheet.

    The sheet has one row per node, the most useful first, and an empty label column to fill. Nodes in `--labels` are
    not selected again. Labels and predictions of the neighbours are included with `--show`.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.active import ActiveLearner
    from featprop.active.sheets import check_columns, write_picks
    from featprop.labels import LabelLog
    from featprop.labels import read as read_labels
    from featprop.options import parse_options
    from featprop.strategies import DEFAULT_STRATEGY, get_strategy, strategy_class

    shown = split_names(show)
    if not only_plan:
        check_out(out, force=force)
    elif log is not None:
        raise ParameterError("`plan` records nothing, so `log` cannot be combined with it.", parameter="log")
    kind = strategy_class(strategy or DEFAULT_STRATEGY)
    options = parse_options(kind, settings or [])
    chosen = get_strategy(kind.name, **options) if strategy or settings else None
    with showing_progress():
        whole = read(graph)
        check_columns(shown, whole)
        if whole.classes and not labels:
            typer.echo("The graph's own labels are ignored; pass them with --labels to use them.", err=True)
        allowed = split_names(classes) or None
        is_new = log is None or not log.exists()
        # A sheet with an error must not leave an empty log behind.
        told = read_labels(labels, whole, classes=allowed) if labels and is_new else None
        with computing(whole, compute), LabelLog(log, exclusive=True) if log else nullcontext() as opened:
            learner = ActiveLearner(whole, chosen, random_state=seed, log=opened)
            if labels:
                if told is None:
                    told = read_labels(labels, whole, known=learner.labels.values(), classes=allowed)
                learner.tell(told)
            if learner.asked:
                typer.echo(f"Already asked for, without a label yet: {first_five(learner.asked)}", err=True)
            picks = learner.propose(budget)
            if only_plan:
                _print_plan(picks)
                return
            known = learner.labels if shown else {}
            model = learner.model if len(set(known.values())) > 1 else None
            write_picks(open_output(out), picks, show=shown, labels=known, model=model, force=force)
            learner.record(picks)
    is_file = out != STANDARD_OUTPUT
    typer.echo(f"Wrote {len(picks):,} nodes{f' to {out}' if is_file else ''}. Fill the label column.", err=not is_file)
    typer.echo(
        "Distance of a node to the nearest picked or labelled one: "
        f"mean {picks.mean_distance:.4g}, maximum {picks.max_distance:.4g}.",
        err=not is_file,
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
    print_text(str(found))
