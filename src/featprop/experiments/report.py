"""The report: every table and figure that the lines allow, as files and on one page that holds them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from featprop.errors import FileError, overwriting
from featprop.experiments.cost_tables import datasets_table, time_table
from featprop.experiments.curves import ablation, later_curves, learning_curves, model_comparison
from featprop.experiments.default_tables import calibration_table, default_table
from featprop.experiments.figures import Drawing
from featprop.experiments.findings import findings
from featprop.experiments.results import read_results, read_statistics
from featprop.experiments.score_tables import score_table
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import Results
from featprop.experiments.theory import correlation_table, error_against_loss
from featprop.experiments.typeset import Table
from featprop.files import replacing_file
from featprop.progress import tracked
from featprop.web.drawing.templates import rendered
from featprop.web.report.files import check_replaceable

__all__ = ["Report", "build_drawings", "build_tables", "write_report"]

COMMAND = "featprop experiments"
PARTS = ("tables", "figures")
SHOWN = ("macro_f1", "micro_f1")


@dataclass(frozen=True)
class Report:
    """What was made.

    Attributes
    ----------
    page
        The HTML page.
    tables, drawings
        All tables and figures.
    summary
        The findings as text.
    """

    page: Path
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]
    summary: str


def build_tables(results: Results, statistics: dict[str, dict[str, float]]) -> list[Table]:
    """Return every table the lines allow, those of the paper's protocol first."""
    made: list[Table | None] = [
        score_table(results, metric, model, protocol)
        for protocol, model, metric in product(PROTOCOLS, results.models, SHOWN)
    ]
    made += [
        default_table(results, metric, protocol, published)
        for protocol, metric, published in product(PROTOCOLS, SHOWN, (True, False))
    ]
    made.append(calibration_table(results))
    made += [time_table(results, model) for model in results.models]
    made += [correlation_table(results, model, "paper") for model in results.models]
    names = [variant.name for variant in results.datasets.values()]
    made.append(datasets_table(statistics, [*dict.fromkeys([*names, *statistics])]))
    return [table for table in made if table]


def write_report(folders: Sequence[Path], out: Path, *, force: bool = False) -> Report:
    """Write tables, figures and the page.

    Parameters
    ----------
    folders
        The results, as runs leave them; of two lines of one cell, the first counts.
    out
        The folder to write to; files of an earlier report in it are replaced.
    force
        Write there whatever it holds.
    """
    page = out / "report.html"
    _check_may_hold_report(page, force=force)
    results = Results(line for folder in folders for line in read_results(folder))
    figures = {name: each for folder in folders for name, each in read_statistics(folder).items()}
    if not results.lines and not figures:
        cure = "make some with featprop experiments run"
        raise FileError(", ".join(map(str, folders)), "must hold results (*.jsonl)", "none", cure)
    tables = build_tables(results, figures)
    drawings = list(build_drawings(results))
    found = findings(results)
    text = rendered(
        "experiments/report.html.j2",
        command=COMMAND,
        headline=found[0],
        findings=found[1:],
        tables=tables,
        drawings=drawings,
        cells=f"{len(results.lines):,}",
        seeds=len({line.seed for line in results.lines}),
        budgets=sorted({line.budget for line in results.lines}),
        versions=sorted({f"{name} {number}" for line in results.lines for name, number in line.versions.items()}),
    )
    _write(page, text)
    for table in tables:
        _write(out / "tables" / f"{table.name}.md", table.markdown())
        _write(out / "tables" / f"{table.name}.csv", table.csv())
        _write(out / "tables" / f"{table.name}.tex", table.latex())
    for drawing in drawings:
        _write(out / "figures" / f"{drawing.name}.svg", drawing.file)
    return Report(page, tuple(tables), tuple(drawings), "\n".join(found))


def _check_may_hold_report(page: Path, *, force: bool) -> None:
    """Refuse a folder with tables or figures that are not of an earlier report: its page, written first, marks one."""
    check_replaceable(page, force=force, command=COMMAND)
    parts = [part for part in PARTS if (page.parent / part).exists()]
    if parts and not page.exists() and not force:
        rule, found = "must be new or hold an earlier report", f"{' and '.join(parts)} without {page.name}"
        raise overwriting(page.parent, found, rule)


def build_drawings(results: Results) -> Iterator[Drawing]:
    """Yield every figure the lines allow."""
    makers: list[Callable[[], Drawing | None]] = []
    for protocol in PROTOCOLS:
        for model, draw in product(results.models, (learning_curves, later_curves, ablation)):
            makers.append(partial(draw, results, "macro_f1", model, protocol))
        makers.append(partial(model_comparison, results, "macro_f1", protocol))
    makers += [partial(error_against_loss, results, model, "paper") for model in results.models]
    for make in tracked(makers, "drawing figures", len(makers)):
        drawing = make()
        if drawing:
            yield drawing


def _write(path: Path, text: str) -> None:
    with replacing_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
