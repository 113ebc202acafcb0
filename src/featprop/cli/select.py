"""``featprop select``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.application import app, read
from featprop.cli.console import print_table, print_text, showing_progress
from featprop.cli.options import (
    STANDARD_OUTPUT,
    ClassesOption,
    ComputeOption,
    ForceOption,
    GraphArgument,
    LabelsOption,
    ShowOption,
    check_out,
    computing,
    open_output,
    report_written,
    split_names,
)
from featprop.errors import FeatpropError, ParameterError, first_five

if TYPE_CHECKING:
    from featprop.active import Selection
    from featprop.graph import Graph
    from featprop.labels import LabelLog, Labels


@app.command()
def select(
    graph: GraphArgument,
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
    labels: LabelsOption = None,
    classes: ClassesOption = None,
    log: Annotated[
        Path | None, typer.Option(help="A label log that keeps labels and the state of the strategy between rounds.")
    ] = None,
    show: ShowOption = None,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="Write nothing; print what smaller budgets would achieve.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random generator.", show_default="0")] = None,
    force: ForceOption = False,
    compute: ComputeOption = None,
) -> None:
    """Select the nodes to label and write them as a labelling sheet.

    The sheet has one row per node, the most useful first, and an empty label column to fill. Nodes in `--labels` are
    not selected again. Labels and predictions of the neighbours are included with `--show`.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.active.learner import ActiveLearner
    from featprop.labels.sheets import check_columns
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
        with computing(whole, compute), _opened(log, labels, whole, split_names(classes)) as (opened, given):
            learner = ActiveLearner(whole, chosen, random_state=seed, log=opened)
            if given is not None:
                learner.tell(given)
            if learner.asked:
                typer.echo(f"Already asked for, without a label yet: {first_five(learner.asked)}", err=True)
            picks = learner.propose(budget)
            if only_plan:
                _print_plan(picks)
                return
            known = learner.labels if shown else {}
            model = learner.model if len(set(known.values())) > 1 else None
            picks.write(open_output(out), show=shown, labels=known, model=model, force=force)
            learner.record(picks)
    report_written(f"{len(picks):,} nodes", out, " Fill the label column.")
    typer.echo(
        "Distance of a node to the nearest picked or labelled one: "
        f"mean {picks.mean_distance:.4g}, maximum {picks.max_distance:.4g}.",
        err=out == STANDARD_OUTPUT,
    )


@contextmanager
def _opened(
    path: Path | None, sheets: list[Path] | None, graph: Graph, classes: list[str]
) -> Iterator[tuple[LabelLog | None, Labels | None]]:
    """Yield the label log, if any, and the labels of the sheets; an error leaves no new log behind."""
    if path is None and not sheets:
        yield None, None
        return
    from featprop.labels import LabelLog
    from featprop.labels import read as read_labels

    is_new = path is None or not path.exists()
    given = read_labels(sheets, graph, classes=classes or None) if sheets and is_new else None
    try:
        with LabelLog(path, exclusive=True) if path else nullcontext() as log:
            if sheets and log is not None and not is_new:
                given = read_labels(sheets, graph, known=log.labels().values(), classes=classes or None)
            yield log, given
    except FeatpropError:
        if path is not None and is_new:
            path.unlink(missing_ok=True)
        raise


def _print_plan(picks: Selection) -> None:
    from featprop.active.plan import plan_of

    found = plan_of(picks)
    rows = [
        [f"{budget:,}", f"{distance:.4g}", f"{share:.0%}", "elbow" if budget == found.elbow else ""]
        for budget, distance, share in found.rows()
    ]
    print_table(["labels", "mean distance", "gained", ""], rows, [""])
    print_text(f"\n{found}")
