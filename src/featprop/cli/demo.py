"""``featprop demo``."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.app import app
from featprop.cli.console import showing_progress

__all__ = ["demo"]


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path("demo"),
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many times each experiment is run.")] = 5,
) -> None:
    """Label handwritten digits: our default beside random choice and the paper's method, with a report to look at.

    Needs no network. Writes `report.html`, and the digits as a graph folder to try the other commands on.

    Example: `featprop demo --out demo`
    """
    from featprop.experiments.demo import run

    with showing_progress(logging.WARNING):
        summary = run(out, seeds=seeds)
    typer.echo(summary)
