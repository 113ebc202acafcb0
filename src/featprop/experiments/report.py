"""The report: every table and figure of some results, as files and on one page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from featprop.errors import FileError, already_exists
from featprop.experiments.figures import KINDS, Drawing, error_against_loss, model_comparison, strategy_curves
from featprop.experiments.results import read_results, read_statistics
from featprop.experiments.settings import PROTOCOLS
from featprop.experiments.summary import Results
from featprop.experiments.tables import (
    Table,
    calibration_table,
    correlation_table,
    datasets_table,
    default_table,
    matrix_table,
    score_table,
    time_table,
)
from featprop.files import replacing_file
from featprop.progress import tracked
from featprop.web.common.templates import render_template

METRICS_SHOWN = ("macro_f1", "micro_f1")


@dataclass(frozen=True)
class Report:
    """The HTML page of a report, its tables and figures, and its findings as text."""

    page: Path
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]
    summary: str


def write_report(folders: Sequence[Path], out: Path, *, force: bool = False) -> Report:
    """Write tables, figures, the table of all results and a page with all of them.

    Of two results of one cell in `folders`, the first counts. `force` overwrites files in `out`.
    """
    page = out / "report.html"
    for path in (page, out / "results.csv", out / "tables", out / "figures"):
        if path.exists() and not force:
            raise already_exists(path)
    results = Results(line for folder in folders for line in read_results(folder))
    statistics = {name: each for folder in folders for name, each in read_statistics(folder).items()}
    if not results.lines and not statistics:
        message = f"There are no results (*.jsonl) in {', '.join(map(str, folders))}."
        raise FileError(message, hint="Run `featprop experiments run` to make some.", path=folders[0])
    matrices, tables = build_matrices(results), build_tables(results, statistics)
    drawings = build_drawings(results)
    n_strategies, n_datasets = len(results.strategies), len(results.datasets)
    strategies = "1 strategy" if n_strategies == 1 else f"{n_strategies} strategies"
    headline = f"Results of {strategies} on {'1 data set' if n_datasets == 1 else f'{n_datasets} data sets'}"
    findings = rank_strategies(results) or ["There are no results under the paper's protocol yet."]
    text = render_template(
        "experiments/report.html.j2",
        command="featprop experiments",
        headline=headline,
        findings=findings,
        tables=tables,
        matrices=matrices,
        drawings=drawings,
        cells=f"{len(results.lines):,}",
        seeds=len({line.seed for line in results.lines}),
        budgets=sorted({line.budget for line in results.lines}),
        versions=sorted({f"{name} {number}" for line in results.lines for name, number in line.versions.items()}),
    )
    write_text(page, text)
    write_text(out / "results.csv", results.table.drop(columns=["schedule", "nodes"]).to_csv(index=False))
    for table in [*matrices, *tables]:
        write_text(out / "tables" / f"{table.name}.md", table.markdown())
        write_text(out / "tables" / f"{table.name}.csv", table.csv())
        write_text(out / "tables" / f"{table.name}.tex", table.latex())
    for drawing in drawings:
        write_text(out / "figures" / f"{drawing.name}.svg", drawing.file)
    return Report(page, (*matrices, *tables), tuple(drawings), "\n".join([headline, *findings]))


def build_matrices(results: Results) -> list[Table]:
    """Return the tables of strategies by budgets, one for each protocol, model and metric."""
    kinds = product(PROTOCOLS, results.models, METRICS_SHOWN)
    made = [matrix_table(results, metric, model, protocol) for protocol, model, metric in kinds]
    return [table for table in made if table]


def build_tables(results: Results, statistics: dict[str, dict[str, float]]) -> list[Table]:
    """Return every other table of the results, those of the paper's protocol first."""
    names = [variant.name for variant in results.datasets.values()]
    scores = product(PROTOCOLS, results.models, METRICS_SHOWN)
    defaults = product(PROTOCOLS, METRICS_SHOWN, (True, False))
    made = [
        *(score_table(results, metric, model, protocol) for protocol, model, metric in scores),
        *(default_table(results, metric, protocol, published) for protocol, metric, published in defaults),
        calibration_table(results),
        *(time_table(results, model) for model in results.models),
        *(correlation_table(results, model, "paper") for model in results.models),
        datasets_table(statistics, [*dict.fromkeys([*names, *statistics])]),
    ]
    return [table for table in made if table]


def build_drawings(results: Results) -> list[Drawing]:
    """Return every figure of the results."""
    makers: list[Callable[[], Drawing | None]] = []
    for protocol in PROTOCOLS:
        kinds = product(results.models, KINDS)
        makers += [partial(strategy_curves, results, kind, "macro_f1", model, protocol) for model, kind in kinds]
        makers.append(partial(model_comparison, results, "macro_f1", protocol))
    makers += [partial(error_against_loss, results, model, "paper") for model in results.models]
    made = [make() for make in tracked(makers, "drawing figures", len(makers))]
    return [drawing for drawing in made if drawing]


def rank_strategies(results: Results) -> list[str]:
    """Return a sentence for each data set: the strategies by Macro-F1 with a GCN, or with the first other model."""
    gcns = [key for key, variant in results.models.items() if variant.name == "gcn"]
    model = next(iter([*gcns, *results.models]), "")
    sentences = []
    for dataset, runs in results.all_runs("macro_f1", model, "paper").items():
        ranking = ", ".join(
            f"{results.strategies[name].title} {runs[name].mean:.1f}"
            for name in sorted(runs, key=lambda name: -runs[name].mean)
        )
        title = f"{results.datasets[dataset].title}, Macro-F1 of {results.models[model].title}"
        sentences.append(f"{title}: {ranking}.")
    return sentences


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with replacing_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
