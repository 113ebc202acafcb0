"""``featprop report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featprop.cli.app import DeviceOption, GraphArgument, SeedOption, app, read
from featprop.cli.console import showing_progress
from featprop.cli.label_options import ClassesOption, OnConflictOption, SkipOption, counted, read_sheets
from featprop.cli.model_options import LabelsOption, ModelOption, SettingsOption, chosen_model
from featprop.errors import LabelError

if TYPE_CHECKING:
    from featprop.io.labels import LabelSheet

__all__ = ["report"]


@app.command()
def report(
    graph: GraphArgument,
    labels: LabelsOption = None,
    audit: Annotated[
        list[Path] | None,
        typer.Option("--audit", help="A filled audit sheet: nodes drawn at random, for checking only. Repeatable."),
    ] = None,
    classes: ClassesOption = None,
    skip: SkipOption = None,
    on_conflict: OnConflictOption = "error",
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write.")] = Path("report.html"),
    model: ModelOption = None,
    settings: SettingsOption = None,
    title: Annotated[
        str | None, typer.Option("--title", help="What the page calls the graph.", show_default="its name")
    ] = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    force: Annotated[bool, typer.Option("--force", help="Overwrite --out whatever it is.")] = False,
) -> None:
    """Write a page on your graph and labels: how good the predictions are, is it enough, what to distrust.

    One HTML file that loads nothing: a map to click on, the estimate with its interval, curves, lists of nodes to look
    at, and the commands to go on with.

    Example: `featprop report my-graph/ --labels picks.csv --out report.html`
    """
    from featprop.io.audits import pooled
    from featprop.io.labels import LabelSheet
    from featprop.web.report import report as write_report
    from featprop.web.report.commands import Files
    from featprop.web.report.files import check_replaceable

    chosen = chosen_model(model, settings, seed, device)
    check_replaceable(out, force=force)
    with showing_progress():
        whole = read(graph)
        sheet = read_sheets(labels, whole, (), classes, skip, on_conflict)
        checked = read_sheets(audit, whole, sheet.labels, classes, skip, on_conflict) if audit else LabelSheet()
        _check_weighed(sheet, checked)
        if checked.nodes:
            told = f"{counted(len(checked.nodes), 'label')} of --audit without the column audit"
            typer.echo(f"{told}: its figures are right only if these nodes were drawn at random", err=True)
        audited = sheet.audited | checked.audited | dict(zip(checked.nodes, checked.labels, strict=True))
        listed = {*sheet.blank, *sheet.skipped, *sheet.audit, *checked.blank, *checked.skipped, *checked.audit}
        written = write_report(
            whole,
            dict(zip(sheet.nodes, sheet.labels, strict=True)),
            audit=audited,
            weights=pooled([sheet.audit, checked.audit]) or None,
            out=out,
            model=chosen,
            title=title or graph.name,
            files=Files(
                str(graph),
                tuple(map(str, labels or ())),
                tuple(map(str, audit or ())),
                str(out),
                answers=(
                    *_words("--classes", classes),
                    *_words("--skip", skip),
                    *_words("--on-conflict", on_conflict, "error"),
                ),
                model=(*_words("--model", model), *_words("--set", settings)),
                device=_words("--device", device, "cpu"),
                seed=_words("--seed", seed, 0),
                title=_words("--title", title),
                waiting=len(listed - {*sheet.nodes, *audited}),
            ),
            seed=seed,
            force=force,
        )
    typer.echo(f"{written.headline}.")
    if written.caution is not None:
        typer.echo(f"{written.caution}.")
    typer.echo(f"Wrote the report to {out}: open it in a browser.")


def _check_weighed(sheet: LabelSheet, checked: LabelSheet) -> None:
    """Refuse an audit of which some sheets say how many nodes each row stands for and others do not."""
    if checked.nodes and (sheet.audit or checked.audit):
        rule = "must be sheets that all have the column audit, or none of them, beside an audit in --labels too"
        found = f"{counted(len(checked.nodes), 'label')} without it, such as of {checked.nodes[0]!r}"
        raise LabelError("--audit", rule, found, "pass every sheet as featprop audit wrote it, with that column")


def _words(option: str, value: object, usual: object = None) -> tuple[str, ...]:
    """Return the words of a command line that say an option, none where it is as usual."""
    if value is None or value == usual:
        return ()
    return tuple(word for each in (value if isinstance(value, list) else [value]) for word in (option, str(each)))
