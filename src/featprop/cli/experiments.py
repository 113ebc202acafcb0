"""``featprop experiments``, with run and report, and ``featprop demo``."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated, Any

import typer

from featprop.cli import options
from featprop.cli.application import Commands, app
from featprop.cli.console import showing_progress
from featprop.errors import ParameterError

commands = typer.Typer(
    cls=Commands,
    help="Compare strategies: run experiments, then make tables and figures of the results.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
app.add_typer(commands, name="experiments")


@commands.command()
def run(
    settings: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="TOML file with the settings of experiments. Repeatable.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Data set, or path of a graph with labels. Repeatable.")
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Strategy, or strategy[option=value]. Repeatable.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Model, or model[setting=value]. Repeatable.")
    ] = None,
    budgets: Annotated[str | None, typer.Option(help="Numbers of labels, ascending. Default: 10,20,40,80,160.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of runs, with the seeds 0, 1, 2, …; default: 5.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; default: one per core.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads per process.")] = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the results.")] = Path("results"),
    reuse: Annotated[
        list[Path] | None, typer.Option(metavar="FOLDER", help="Folder with results to use as well. Repeatable.")
    ] = None,
) -> None:
    """Select nodes, train on their labels and score the predictions, for every combination of the options.

    Cells that have a result in `--out` are skipped, so the same command continues an interrupted run.

    Example: `featprop experiments run --dataset cora --strategy featprop --strategy random --seeds 5 --out results/`
    """
    options.check_installed("experiments run", "train", "torch")
    from featprop.experiments.runner import run as run_experiments
    from featprop.experiments.settings import Settings, read_settings

    given: dict[str, Any] = {
        "datasets": dataset,
        "strategies": strategy,
        "models": model,
        "budgets": _parse_numbers(budgets) if budgets else None,
        "seeds": seeds,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if (settings and given) or not (settings or dataset):
        message = "Pass either `settings`, or `dataset` with other options."
        raise ParameterError(message, parameter="settings", value=sorted(given))
    wanted = [read_settings(path) for path in settings or ()]
    if not settings:
        wanted = [Settings(**{"strategies": ["featprop", "random"], **given})]
    try:
        with showing_progress():
            outcome = run_experiments(wanted, out, jobs, threads, reuse or [])
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"All finished cells are in {out}. Run the same command to continue.") from None
    for failure in outcome.failures:
        typer.echo(f"  Failed: {failure}", err=True)
    skipped = f"{outcome.skipped:,} had a result already"
    typer.echo(f"{outcome.done:,} cells in {outcome.seconds:,.1f} s; {skipped}. Results: {out}")
    if outcome.failures:
        raise typer.Exit(1)


@commands.command()
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULTS...", help="Folders of results.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")] = Path("report"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite files in --out.")] = False,
) -> None:
    """Write tables (Markdown, CSV, LaTeX), figures (SVG) and an HTML page of results.

    Example: `featprop experiments report results/ --out report/`
    """
    options.check_installed("experiments report", "demo", "jinja2", "matplotlib", "pandas")
    from featprop.experiments.report import write_report

    with showing_progress():
        written = write_report(results, out, force=force)
    typer.echo(written.summary)
    typer.echo(f"Report: {written.page}")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")] = Path("demo"),
    seeds: Annotated[int, typer.Option(min=1, help="Number of runs of each experiment.")] = 5,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier demonstration.")] = False,
) -> None:
    """Compare the default with random selection and the paper's method on handwritten digits.

    Works offline. Writes `report.html`, and the digits as a graph folder to try the other commands on.

    Example: `featprop demo --out demo`
    """
    options.check_installed("demo", "demo", "jinja2", "matplotlib", "pandas", "torch")
    from featprop.experiments.demo import run

    with showing_progress(logging.WARNING):
        summary = run(out, seeds=seeds, force=force)
    typer.echo(summary)


def _parse_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        message = f"`budgets` must be whole numbers with commas in between, not {text!r}."
        raise ParameterError(message, hint="Example: 10,20,40.", parameter="budgets", value=text) from None
