"""The report: every table and figure that the lines allow, as files and on one page that holds them all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import product
from pathlib import Path
from string import Template

from featprop import __version__
from featprop.drawing.page import page_style
from featprop.errors import FileError
from featprop.experiments.cost_tables import datasets_table, time_table
from featprop.experiments.curves import ablation, later_curves, learning_curves, model_comparison
from featprop.experiments.figures import Drawing
from featprop.experiments.findings import findings
from featprop.experiments.lines import read_lines
from featprop.experiments.runner import STATISTICS
from featprop.experiments.score_tables import score_table
from featprop.experiments.scoring import PROTOCOLS
from featprop.experiments.summary import Results
from featprop.experiments.tables import Table
from featprop.experiments.theory import correlation_table, error_against_loss
from featprop.io.atomic import replacing_file
from featprop.progress import tracked

__all__ = ["Report", "build_drawings", "build_tables", "write_report"]

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
    made += [time_table(results, model) for model in results.models]
    made += [correlation_table(results, model, "paper") for model in results.models]
    made.append(datasets_table(statistics, [*dict.fromkeys([*results.datasets, *statistics])]))
    return [table for table in made if table]


def write_report(folder: Path, out: Path) -> Report:
    """Write tables, figures and the page.

    Parameters
    ----------
    folder
        The results, as a run leaves them.
    out
        The folder to write to; files of an earlier report in it are replaced.
    """
    results = Results(read_lines(folder))
    path = folder / STATISTICS
    if not results.lines and not path.exists():
        cure = "make some with featprop bench run"
        raise FileError(f"{folder}", "must hold results (*.jsonl)", "none", cure)
    tables = build_tables(results, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})
    drawings = list(build_drawings(results))
    found = findings(results)
    for table in tables:
        _write(out / "tables" / f"{table.name}.md", table.markdown())
        _write(out / "tables" / f"{table.name}.csv", table.csv())
        _write(out / "tables" / f"{table.name}.tex", table.latex())
    for drawing in drawings:
        _write(out / "figures" / f"{drawing.name}.svg", drawing.file)
    page = out / "report.html"
    _write(page, _page(results, tables, drawings, found))
    return Report(page, tuple(tables), tuple(drawings), "\n".join(found))


def build_drawings(results: Results) -> Iterator[Drawing]:
    """Yield every figure the lines allow."""
    makers: list[Callable[[], Drawing | None]] = []
    for protocol in PROTOCOLS:
        for model in results.models:
            makers.append(lambda m=model, p=protocol: learning_curves(results, "macro_f1", m, p))  # type: ignore[misc]
            makers.append(lambda m=model, p=protocol: later_curves(results, "macro_f1", m, p))  # type: ignore[misc]
            makers.append(lambda m=model, p=protocol: ablation(results, "macro_f1", m, p))  # type: ignore[misc]
        makers.append(lambda p=protocol: model_comparison(results, "macro_f1", p))  # type: ignore[misc]
    makers += [lambda m=model: error_against_loss(results, m, "paper") for model in results.models]  # type: ignore[misc]
    for make in tracked(makers, "drawing figures", len(makers)):
        drawing = make()
        if drawing:
            yield drawing


def _page(results: Results, tables: list[Table], drawings: list[Drawing], found: list[str]) -> str:
    template = Template(files("featprop.experiments").joinpath("report.html").read_text(encoding="utf-8"))
    versions = sorted({f"{name} {number}" for line in results.lines for name, number in line.versions.items()})
    seeds = len({line.seed for line in results.lines})
    return template.substitute(
        style=page_style(),
        headline=escape(found[0]),
        findings="\n".join(f"<li>{escape(sentence)}</li>" for sentence in found[1:]),
        paper=_sections(tables, drawings, "paper"),
        unlabelled=_sections(tables, drawings, "unlabelled"),
        others=_sections(tables, drawings, None),
        cells=f"{len(results.lines):,}",
        seeds=seeds,
        budgets=", ".join(map(str, results.budgets)),
        versions=escape(", ".join(versions)),
        version=__version__,
    )


def _sections(tables: list[Table], drawings: list[Drawing], protocol: str | None) -> str:
    """Return the figures and tables of one protocol, or those of none."""
    parts = [
        f"<figure><h3>{escape(drawing.title)}</h3><p class='quiet'>{escape(drawing.note)}</p>{drawing.html()}</figure>"
        for drawing in drawings
        if _belongs(drawing.name, protocol)
    ]
    parts += [
        f"<h3>{escape(table.title)}</h3><p class='quiet'>{escape(table.note)}</p>{table.html()}"
        for table in tables
        if _belongs(table.name, protocol)
    ]
    return "\n".join(parts)


def _belongs(name: str, protocol: str | None) -> bool:
    theory = name.startswith(("correlation", "error-against-loss"))
    if protocol is None:
        return theory or not name.endswith(tuple(PROTOCOLS))
    return not theory and name.endswith(f"-{protocol}")


def _write(path: Path, text: str) -> None:
    with replacing_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
