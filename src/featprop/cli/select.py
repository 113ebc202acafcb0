"""``featprop select``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import FeaturesOption, ForceOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress
from featprop.errors import ParameterError

if TYPE_CHECKING:
    from featprop.graph import Graph
    from featprop.io.sheets import LabelSheet
    from featprop.learner import ActiveLearner
    from featprop.strategies import Strategy

__all__ = ["select"]


@app.command()
def select(
    graph: GraphArgument,
    budget: Annotated[int, typer.Option("--budget", "-b", help="How many nodes to label.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The labelling sheet to write.")] = Path("picks.csv"),
    strategy: Annotated[
        str | None,
        typer.Option("--strategy", help="How to choose; featprop strategies lists them.", show_default="featprop"),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="An option of the strategy, such as layers=3. Repeatable."),
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A table of nodes that are labelled already (id, label). Repeatable."),
    ] = None,
    rounds: Annotated[
        Path | None,
        typer.Option("--rounds", help="A folder that keeps what strategy and model learn from round to round."),
    ] = None,
    features: FeaturesOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Choose the nodes to label and write them as a labelling sheet.

    The sheet has one row a node, the most useful first, and an empty label column to fill. Nodes listed in
    `--labels` are not chosen again; those with a label count as chosen already, so the new ones spread around them.
    A strategy that looks at a model gets one, trained on those labels.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.io.sheets import LabelSheet, check_may_write, read_labels, write_picks
    from featprop.strategies import get_strategy, parse_options, strategy_class

    check_may_write(out, force=force)
    kind = strategy_class(strategy or "featprop")
    chooser = get_strategy(kind.name, **parse_options(kind, settings or []))
    with showing_progress():
        whole = read(graph, features)
        sheet = read_labels(labels, whole) if labels else LabelSheet([], [], [])
        if whole.classes and not labels:
            typer.echo(
                "The graph's own labels are not looked at: pass them with --labels if they should count", err=True
            )
        if sheet.blank:
            typer.echo(f"{len(sheet.blank):,} nodes in --labels have no label yet: not chosen again", err=True)
        learner = _learner(rounds, whole, chooser, seed, is_chosen=bool(strategy or settings))
        _tell(learner, sheet)
        picks = learner.ask(budget)
        write_picks(out, picks.nodes, picks.represents, picks.spread, force=force)
        if rounds is not None:
            learner.save(rounds)
    typer.echo(f"Wrote {len(picks):,} nodes to {out}: fill its label column.")
    typer.echo(
        "Distance of a node to the nearest one picked or labelled: "
        f"mean {picks.mean_distance:.4g}, largest {picks.max_distance:.4g}."
    )


def _learner(folder: Path | None, graph: Graph, strategy: Strategy, seed: int, *, is_chosen: bool) -> ActiveLearner:
    """Take up the rounds kept in the folder, or start anew."""
    from featprop.learner import ActiveLearner, check_may_hold_learner
    from featprop.strategies import settings_of

    if folder is not None:
        check_may_hold_learner(folder)
        if folder.exists():
            learner = ActiveLearner.resume(folder, graph)
            if is_chosen and settings_of(learner.strategy) != settings_of(strategy):
                rule = f"must be that of the earlier rounds, {learner.strategy.name} with the options it had"
                cure = "leave out --strategy and --set, or keep these rounds in another folder"
                raise ParameterError("strategy", rule, f"{strategy.name} or other options", cure)
            if seed not in (0, learner.seed):
                rule = f"must be that of the earlier rounds, {learner.seed}"
                raise ParameterError("seed", rule, seed, "leave it out, or keep these rounds in another folder")
            return learner
    return ActiveLearner(graph, strategy, seed=seed)


def _tell(learner: ActiveLearner, sheet: LabelSheet) -> None:
    """Tell the learner what the sheets say; a label that was changed in a sheet is a correction."""
    told = dict(zip(sheet.nodes, sheet.labels, strict=True))
    for node, label in told.items():
        if learner.labels.get(node, label) != label:
            learner.correct(node, label)
    learner.tell(told)
    learner.asked = list(dict.fromkeys([*learner.asked, *sheet.blank]))
