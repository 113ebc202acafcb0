"""``featprop select``."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import FeaturesOption, ForceOption, GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.errors import ParameterError, first_five

if TYPE_CHECKING:
    from featprop.graph import Graph
    from featprop.io.sheets import LabelSheet
    from featprop.selection import ActiveLearner
    from featprop.strategies import Strategy

__all__ = ["select"]


@app.command()
def select(
    graph: GraphArgument,
    budget: Annotated[int, typer.Option("--budget", "-b", help="How many nodes to label.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="The labelling sheet to write.")] = Path("picks.csv"),
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy", help="How to choose; featprop strategies lists them.", show_default="featprop-diffused"
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the strategy; featprop strategies NAME lists them. Repeatable.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="What a strategy that looks at a model gets; featprop models lists them.",
            show_default="ridge",
        ),
    ] = None,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A table of nodes that are labelled already (id, label). Repeatable."),
    ] = None,
    rounds: Annotated[
        Path | None,
        typer.Option(
            "--rounds",
            help="A folder that keeps what people said, and what strategy and model learn.",
        ),
    ] = None,
    candidates: Annotated[
        Path | None, typer.Option("--candidates", help="A table of the nodes that may be chosen (id), if not all may.")
    ] = None,
    description: Annotated[
        bool,
        typer.Option(
            "--description/--no-description", help="Measure how many nodes each pick stands for; takes a propagation."
        ),
    ] = True,
    features: FeaturesOption = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed gives the same nodes.", show_default="0")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Choose the nodes to label and write them as a labelling sheet.

    The sheet has one row a node, the most useful first, and an empty label column to fill. Nodes listed in
    `--labels` are not chosen again; those with a label count as chosen already, so the new ones spread around them.
    A strategy that looks at a model gets one, trained on those labels.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.io.sheets import LabelSheet, check_may_write, read_ids, read_labels, write_picks
    from featprop.options import parse_options
    from featprop.selection.learner import alone_at
    from featprop.strategies import DEFAULT_STRATEGY, get_strategy, strategy_class

    check_may_write(out, force=force)
    if rounds is not None and rounds.resolve() in out.resolve().parents:
        raise ParameterError("out", "must not be in the folder of --rounds", f"{out}", "write the sheet elsewhere")
    kind = strategy_class(strategy or DEFAULT_STRATEGY)
    chooser = get_strategy(kind.name, **parse_options(kind, settings or []))
    if model and not kind.looks_at_model():
        rule, cure = "must be left out with a strategy that looks at none", "leave it out, or choose another strategy"
        raise ParameterError("model", rule, f"{model} with {kind.name}", cure)
    with showing_progress():
        whole = read(graph, features)
        if whole.classes and not labels:
            typer.echo(
                "The graph's own labels are not looked at: pass them with --labels if they should count", err=True
            )
        with alone_at(rounds) if rounds else nullcontext():
            learner = _learner(rounds, whole, chooser, model, seed, is_chosen=bool(strategy or settings))
            sheet = read_labels(labels, whole, learner.labels.values()) if labels else LabelSheet([], [], [])
            _tell(learner, sheet)
            if learner.asked:
                waiting = first_five(learner.asked)
                typer.echo(f"Asked for and without a label yet, not asked for again: {waiting}", err=True)
            picks = learner.ask(budget, read_ids(candidates, whole) if candidates else None)
            figures = (picks.represents, picks.spread) if description else (None, None)
            keep = None if rounds is None else partial(learner.save, rounds)
            write_picks(out, picks.nodes, *figures, force=force, first=keep)
    typer.echo(f"Wrote {len(picks):,} nodes to {out}: fill its label column.")
    if description:
        typer.echo(
            "Distance of a node to the nearest one picked or labelled: "
            f"mean {picks.mean_distance:.4g}, largest {picks.max_distance:.4g}."
        )


def _learner(
    folder: Path | None, graph: Graph, strategy: Strategy, model: str | None, seed: int | None, *, is_chosen: bool
) -> ActiveLearner:
    """Take up the rounds kept in the folder, or start anew."""
    from featprop.models import model_of_seed
    from featprop.options import settings_of
    from featprop.selection import ActiveLearner

    looked_at = model_of_seed(seed or 0, model)
    if folder is None:
        return ActiveLearner(graph, strategy, model=looked_at, seed=seed or 0)
    learner = ActiveLearner.at(folder, graph, strategy, model=looked_at, seed=seed or 0)
    if model not in (None, learner.model_name):
        rule = f"must be that of the earlier rounds, {learner.model_name}"
        raise ParameterError("model", rule, model, "leave it out, or keep these rounds in another folder")
    ours, theirs = ((type(each), settings_of(each)) for each in (strategy, learner.strategy))
    if is_chosen and ours != theirs:
        rule = f"must be that of the earlier rounds, {learner.strategy.name} with the options it had"
        cure = "leave out --strategy and --set, or keep these rounds in another folder"
        raise ParameterError("strategy", rule, f"{strategy.name} or other options", cure)
    if seed not in (None, learner.seed):
        rule = f"must be that of the earlier rounds, {learner.seed}"
        raise ParameterError("seed", rule, seed, "leave it out, or keep these rounds in another folder")
    return learner


def _tell(learner: ActiveLearner, sheet: LabelSheet) -> None:
    """Tell the learner what the sheets say; a label that was changed in a sheet is a correction."""
    told = dict(zip(sheet.nodes, sheet.labels, strict=True))
    before = learner.labels
    changed = [node for node, label in told.items() if before.get(node, label) != label]
    for node in changed:
        learner.correct(node, told[node])
    learner.tell(told)
    if before:
        corrections = [f"{node}: {before[node]} is now {told[node]}" for node in changed]
        new = f"{len(set(told) - set(before)):,} new labels"
        typer.echo(f"{new}, corrections: {first_five(corrections) if changed else 'none'}", err=True)
    learner.asked = list(dict.fromkeys([*learner.asked, *sheet.blank]))
