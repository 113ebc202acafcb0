"""``featprop experiments``, with run and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from featprop.cli.app import app
from featprop.cli.console import showing_progress
from featprop.errors import MissingExtraError, ParameterError

__all__ = ["commands", "report", "run"]

commands = typer.Typer(
    help="The paper's experiments: run them, then make tables and figures of the results.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(commands, name="experiments")


@commands.command()
def run(
    settings: Annotated[
        list[Path] | None, typer.Option("--settings", help="A TOML file that says what to run. Repeatable.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option("--dataset", help="A data set, or a graph with labels. Repeatable.")
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option("--strategy", help="A strategy, or strategy[option=value]. Repeatable.")
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", help="A model, or model[setting=value]; featprop models lists them. Repeatable."),
    ] = None,
    budgets: Annotated[
        str | None, typer.Option("--budgets", help="Numbers of labels, ascending; default: 10,20,40,80,160.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="How many runs, with the seeds 0, 1, 2, …; default: 5.")
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="Of every training; default: 200.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", min=1, help="Processes; default: one a core.")] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of each process.")] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the results.")] = Path("results"),
    others: Annotated[
        list[Path] | None, typer.Option("--beside", help="Results of another folder, not made again. Repeatable.")
    ] = None,
) -> None:
    """Choose nodes, train on their labels and score the predictions, for every combination of what is named.

    Cells whose line is in the folder already are skipped, so a run that was stopped goes on where it was.

    Example: `featprop experiments run --dataset cora --strategy featprop --strategy random --seeds 5 --out results/`
    """
    _check_installed("experiments run", "train", "torch")
    from featprop.experiments.runner import run as run_cells
    from featprop.experiments.settings import Settings, read_settings

    named = {"dataset": dataset, "strategy": strategy, "model": model, "budgets": budgets, "seeds": seeds}
    beside = [f"--{name}" for name, value in (named | {"epochs": epochs}).items() if value is not None]
    if settings and beside:
        found = f"{', '.join(beside)} beside it"
        raise ParameterError("settings", "must be all that says what to run", found, "drop one or the other")
    if settings:
        wanted = [read_settings(path) for path in settings]
    else:
        given: dict[str, Any] = {
            "models": model,
            "budgets": _numbers(budgets) if budgets else None,
            "seeds": seeds,
            "epochs": epochs,
        }
        chosen = {name: value for name, value in given.items() if value is not None}
        wanted = [Settings(dataset or [], strategy or ["featprop", "random"], **chosen)]
    try:
        with showing_progress():
            outcome = run_cells(wanted, out, jobs, threads, others or [])
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"What is done is in {out}; the same command goes on from there.") from None
    for missing, stand_in in outcome.absent.items():
        typer.echo(f"  {missing} is not here{f': {stand_in} in its place' if stand_in else ', left out'}", err=True)
    for failure in outcome.failures:
        typer.echo(f"  not done: {failure.trial}: {failure.reason}", err=True)
    titles = "; ".join(each.title for each in wanted if each.title)
    took = f"{outcome.seconds / 60:.1f} minutes" if outcome.seconds >= 100 else f"{outcome.seconds:.1f} s"
    typer.echo(
        f"{f'{titles}: ' if titles else ''}{outcome.done:,} cells in {took}, {outcome.skipped:,} were there, in {out}"
    )
    if outcome.failures:
        raise typer.Exit(1)


@commands.command()
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS", help="The folders that runs wrote.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path("report"),
    into: Annotated[
        Path | None,
        typer.Option("--into", help="A Markdown page whose marked tables, and figures, to bring up to date."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write to --out whatever it holds.")] = False,
) -> None:
    """Make tables (Markdown, CSV, LaTeX), figures (SVG) and one HTML page of results.

    An earlier report in `--out` is replaced, other tables, figures and pages only with `--force`.

    Example: `featprop experiments report results/ --out report/`
    """
    _check_installed("experiments report", "demo", "jinja2", "matplotlib")
    from featprop.experiments.pages import refresh
    from featprop.experiments.report import write_report

    with showing_progress():
        written = write_report(results, out, force=force)
        if into:
            refresh(into, written.tables, written.drawings)
    typer.echo(written.summary)
    typer.echo(f"Report: {written.page}")


def _check_installed(command: str, extra: str, *packages: str) -> None:
    from importlib.util import find_spec

    for needed in packages:
        if find_spec(needed) is None:
            raise MissingExtraError(f"featprop {command}", extra, needed)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError("budgets", "must be whole numbers with commas between", text, "such as 10,20,40") from None
