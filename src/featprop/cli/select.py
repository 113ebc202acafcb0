"""``featprop select``."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from featprop.cli.app import ForceOption, GraphArgument, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import (
    STANDARD_OUTPUT,
    ClassesOption,
    OnConflictOption,
    SkipOption,
    check_place,
    listed,
    place_of,
    read_sheets,
)
from featprop.cli.printing import print_table, print_text
from featprop.cli.scale_options import (
    ClusterOption,
    MaxMemoryOption,
    ScratchOption,
    WorkersOption,
    working_as_said,
)
from featprop.errors import ParameterError, first_five

if TYPE_CHECKING:
    from collections.abc import Hashable

    from featprop.active import ActiveLearner, Selection
    from featprop.graph import Graph
    from featprop.io.labels import LabelSheet
    from featprop.strategies import Strategy

__all__ = ["select"]


@app.command()
def select(
    graph: GraphArgument,
    budget: Annotated[int, typer.Option("--budget", "-b", help="How many nodes to label.", show_default=False)],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The labelling sheet to write; - for standard output.")
    ] = Path("picks.csv"),
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
        typer.Option("--labels", help="A table (id, label) or log of nodes that are labelled already. Repeatable."),
    ] = None,
    classes: ClassesOption = None,
    skip: SkipOption = None,
    on_conflict: OnConflictOption = "error",
    show: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            metavar="COLUMN,…",
            help="Columns of the nodes to show in the sheet, with predictions and the neighbours' labels once there "
            "are labels.",
        ),
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
    only_plan: Annotated[
        bool,
        typer.Option("--plan", help="Write nothing: say what smaller budgets than --budget would buy, and its elbow."),
    ] = False,
    no_description: Annotated[
        bool,
        typer.Option("--no-description", help="Do not measure how many nodes each pick stands for."),
    ] = False,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed gives the same nodes.", show_default="0")
    ] = None,
    force: ForceOption = False,
    max_memory: MaxMemoryOption = None,
    scratch: ScratchOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Choose the nodes to label and write them as a labelling sheet.

    The sheet has one row a node, the most useful first, and an empty label column to fill. Nodes listed in
    `--labels` are not chosen again; those with a label count as chosen already, so the new ones spread around them.
    A strategy that looks at a model gets one, trained on those labels.

    With `--plan` nothing is asked for: the curve of coverage says what smaller budgets would buy.

    Example: `featprop select my-graph/ --budget 40 --out picks.csv`
    """
    from featprop.active.labelling_sheet import check_shown, write_sheet
    from featprop.active.saved_learner import alone_at
    from featprop.io.answers import read_ids
    from featprop.io.labels import LabelSheet
    from featprop.options import parse_options
    from featprop.strategies import DEFAULT_STRATEGY, get_strategy, strategy_class

    shown = listed(show)
    if not only_plan:
        check_place(out, force=force, shown=shown)
    elif rounds is not None:
        rule = "must be left out with --plan, which keeps nothing"
        raise ParameterError("rounds", rule, f"{rounds}", "pass the labels so far with --labels")
    if rounds is not None and out != STANDARD_OUTPUT and rounds.resolve() in out.resolve().parents:
        raise ParameterError("out", "must not be in the folder of --rounds", f"{out}", "write the sheet elsewhere")
    kind = strategy_class(strategy or DEFAULT_STRATEGY)
    chooser = get_strategy(kind.name, **parse_options(kind, settings or []))
    if model and not kind.looks_at_model():
        rule, cure = "must be left out with a strategy that looks at none", "leave it out, or choose another strategy"
        raise ParameterError("model", rule, f"{model} with {kind.name}", cure)
    with showing_progress():
        whole = read(graph)
        check_shown(shown, whole)
        if whole.classes and not labels:
            typer.echo(
                "The graph's own labels are not looked at: pass them with --labels if they should count", err=True
            )
        with (
            working_as_said(whole, max_memory, scratch, workers, cluster),
            alone_at(rounds) if rounds else nullcontext(),
        ):
            learner = _learner(rounds, whole, chooser, model, seed, is_chosen=bool(strategy or settings))
            so_far = learner.labels.values()
            sheet = read_sheets(labels, whole, so_far, classes, skip, on_conflict) if labels else LabelSheet()
            _tell(learner, sheet)
            if not only_plan:
                check_place(out, force=force, shown=shown, asked=learner.asked)
            if learner.asked:
                waiting = first_five(learner.asked)
                typer.echo(f"Asked for and without a label yet, not asked for again: {waiting}", err=True)
            picks = learner.ask(budget, read_ids(candidates, whole) if candidates else None)
            if only_plan:
                _print_plan(picks)
                return
            known = learner.labels if shown else {}
            seen = learner.model if len(set(known.values())) > 1 else None
            with learner.saving(rounds) if rounds else nullcontext():
                write_sheet(
                    place_of(out),
                    picks,
                    show=shown,
                    labels=known,
                    model=seen,
                    description=not no_description,
                    force=force,
                )
    is_file = out != STANDARD_OUTPUT
    where, column = (f" to {out}", "its") if is_file else ("", "the")
    typer.echo(f"Wrote {len(picks):,} nodes{where}: fill {column} label column.", err=not is_file)
    if not no_description:
        typer.echo(
            "Distance of a node to the nearest one picked or labelled: "
            f"mean {picks.mean_distance:.4g}, largest {picks.max_distance:.4g}.",
            err=not is_file,
        )


def _print_plan(picks: Selection) -> None:
    """Print what the first of the picks would buy, and where it begins to be less."""
    from featprop.active.plan import plan_of

    found = plan_of(picks)
    titles = ["labels", "mean distance", "gained", ""]
    rows = [
        [f"{budget:,}", f"{distance:.4g}", f"{share:.0%}", "elbow" if budget == found.elbow else ""]
        for budget, distance, share in found.rows()
    ]
    print_table(titles, rows, [""])
    typer.echo()
    print_text(str(found))


def _learner(
    folder: Path | None, graph: Graph, strategy: Strategy, model: str | None, seed: int | None, *, is_chosen: bool
) -> ActiveLearner:
    """Take up the rounds kept in the folder, or start anew."""
    from featprop.active import ActiveLearner
    from featprop.models import model_of_seed
    from featprop.options import settings_of

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
    """Tell the learner what the sheets say: one label a node, which counts even where more people had said another.

    A label that was changed in a sheet is a correction; one that is gone from it stays, and that is said. The nodes of
    an audit are marked as such, unless the rounds have released them.
    """
    released = learner.log.released()
    learner.log.draw_audit(
        {node: weight for node, weight in sheet.audit.items() if node not in released}, turn=learner.rounds
    )
    told = dict(zip(sheet.nodes, sheet.labels, strict=True)) | sheet.audited
    before = learner.labels | learner.audited
    for annotator in dict.fromkeys(sheet.annotators.get(node, "") for node in (*told, *sheet.skipped)):
        _tell_of(learner, sheet, told, annotator)
    now = learner.labels | learner.audited
    for node in [node for node, label in told.items() if now.get(node) != label]:
        who = sheet.annotators.get(node, "")
        learner.log.adjudicate(node, told[node], annotator=who, turn=learner.rounds, key=uuid4().hex)
    if before:
        changed = [node for node, label in told.items() if before.get(node, label) != label]
        corrections = [f"{node}: {before[node]} is now {told[node]}" for node in changed]
        new = f"{len(set(told) - set(before)):,} new labels"
        typer.echo(f"{new}, corrections: {first_five(corrections) if changed else 'none'}", err=True)
    stay = [f"{node}: {now[node]}" for node in sheet.blank if node in now]
    if stay:
        cure = "write skip there to take a label back"
        typer.echo(f"Rows without a label whose earlier one stays: {first_five(stay)}: {cure}", err=True)
    answered = {*learner.labels, *learner.skipped}
    learner.asked = [node for node in dict.fromkeys([*learner.asked, *sheet.blank]) if node not in answered]


def _tell_of(learner: ActiveLearner, sheet: LabelSheet, told: dict[Hashable, Hashable], annotator: str) -> None:
    """Tell the answers of one person, who may have given others before; a skip leaves the label of somebody else."""
    answers = [act for act in learner.log.answers() if act.kind != "skip"]
    ours = {act.node: act.label for act in answers if act.annotator == annotator}
    others = {act.node for act in answers if act.annotator != annotator}
    said = {node: label for node, label in told.items() if sheet.annotators.get(node, "") == annotator}
    for node, label in said.items():
        if ours.get(node, label) != label:
            learner.correct(node, label, annotator=annotator)
    learner.tell(said, annotator=annotator)
    for node, word in sheet.skipped.items():
        if sheet.annotators.get(node, "") == annotator and node not in others:
            learner.skip(node, reason=word, annotator=annotator)
