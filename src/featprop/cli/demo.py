"""``featprop demo``."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from featprop.cli.app import app
from featprop.cli.console import showing_progress


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")] = Path("demo"),
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of runs of each experiment.")] = 5,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier demonstration.")] = False,
) -> None:
    """Compare the default with random selection and the paper's method on handwritten digits.

    Works offline. Writes `report.html`, and the digits as a graph folder to try the other commands on.

    Example: `featprop demo --out demo`
    """
    from featprop.experiments.demo import run

    with showing_progress(logging.WARNING):
        summary = run(out, seeds=seeds, force=force)
    typer.echo(summary)
