"""The report: every table and figure of some results, as files and on one page; and the same in a Markdown page.

A Markdown page has its tables between marks that name them, and shows figures by their path::

    <!-- table macro-f1-gcn-paper -->
    …
    <!-- end -->

    ![…](figures/macro-f1-gcn-paper.svg)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from featprop.errors import FileError, already_exists, quote_error, unknown_choice
from featprop.experiments import paper
from featprop.experiments.figures import (
    Drawing,
    ablation,
    error_against_loss,
    later_curves,
    learning_curves,
    model_comparison,
)
from featprop.experiments.results import read_results, read_statistics
from featprop.experiments.settings import PROTOCOLS
from featprop.experiments.summary import Results, Runs
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
TABLE_MARK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
FIGURE_LINK = re.compile(r"!\[[^\]]*\]\((figures/([^)/]+)\.svg)\)")


@dataclass(frozen=True)
class Report:
    """The HTML page of a report, its tables and figures, and its findings as text."""

    page: Path
    tables: tuple[Table, ...]
    drawings: tuple[Drawing, ...]
    summary: str


def write_report(folders: Sequence[Path], out: Path, *, force: bool = False) -> Report:
    """Write tables, figures, the table of all results and a page with all of them.

    Parameters
    ----------
    folders
        Folders of results; of two results of one cell, the first counts.
    out
        Folder to write to.
    force
        Overwrite files in `out`.
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
    matrices = build_matrices(results)
    tables, drawings = [*matrices, *build_tables(results, statistics)], list(build_drawings(results))
    headline, *findings = summarize_findings(results)
    text = render_template(
        "experiments/report.html.j2",
        command="featprop experiments",
        headline=headline,
        findings=findings,
        tables=tables[len(matrices) :],
        matrices=matrices,
        drawings=drawings,
        cells=f"{len(results.lines):,}",
        seeds=len({line.seed for line in results.lines}),
        budgets=sorted({line.budget for line in results.lines}),
        versions=sorted({f"{name} {number}" for line in results.lines for name, number in line.versions.items()}),
    )
    _write(page, text)
    _write(out / "results.csv", results.table.drop(columns=["schedule", "line"]).to_csv(index=False))
    for table in tables:
        _write(out / "tables" / f"{table.name}.md", table.markdown())
        _write(out / "tables" / f"{table.name}.csv", table.csv())
        _write(out / "tables" / f"{table.name}.tex", table.latex())
    for drawing in drawings:
        _write(out / "figures" / f"{drawing.name}.svg", drawing.file)
    return Report(page, tuple(tables), tuple(drawings), "\n".join([headline, *findings]))


def build_matrices(results: Results) -> list[Table]:
    """Return the tables of strategies by budgets, one for each protocol, model and metric."""
    made = (
        matrix_table(results, metric, model, protocol)
        for protocol, model, metric in product(PROTOCOLS, results.models, METRICS_SHOWN)
    )
    return [table for table in made if table]


def build_tables(results: Results, statistics: dict[str, dict[str, float]]) -> list[Table]:
    """Return every table of the results, those of the paper's protocol first."""
    made: list[Table | None] = [
        score_table(results, metric, model, protocol)
        for protocol, model, metric in product(PROTOCOLS, results.models, METRICS_SHOWN)
    ]
    made += [
        default_table(results, metric, protocol, published)
        for protocol, metric, published in product(PROTOCOLS, METRICS_SHOWN, (True, False))
    ]
    made.append(calibration_table(results))
    made += [time_table(results, model) for model in results.models]
    made += [correlation_table(results, model, "paper") for model in results.models]
    names = [variant.name for variant in results.datasets.values()]
    made.append(datasets_table(statistics, [*dict.fromkeys([*names, *statistics])]))
    return [table for table in made if table]


def build_drawings(results: Results) -> Iterator[Drawing]:
    """Yield every figure of the results."""
    makers: list[Callable[[], Drawing | None]] = []
    for protocol in PROTOCOLS:
        for model, draw in product(results.models, (learning_curves, later_curves, ablation)):
            makers.append(partial(draw, results, "macro_f1", model, protocol))
        makers.append(partial(model_comparison, results, "macro_f1", protocol))
    makers += [partial(error_against_loss, results, model, "paper") for model in results.models]
    for make in tracked(makers, "drawing figures", len(makers)):
        if drawing := make():
            yield drawing


def summarize_findings(results: Results) -> list[str]:
    """Return a headline and, for each data set, the ranking of the strategies and how FeatProp compares to the paper.

    They are about a GCN, or about the first model if there is no GCN.
    """
    sentences, wins, compared = [], [], []
    gcns = [key for key, variant in results.models.items() if variant.name == "gcn"]
    model = next(iter([*gcns, *results.models]), "")
    for dataset, variant in results.datasets.items():
        runs = {name: results.runs("macro_f1", dataset, name, model, "paper") for name in results.strategies}
        found = {name: each for name, each in runs.items() if each and not math.isnan(each.mean)}
        if not found:
            continue
        order = sorted(found, key=lambda name: -found[name].mean)
        of_paper = [name for name in order if paper.printed_score("macro_f1", "gcn", "paper", name, "cora")]
        if "featprop" in of_paper and len(of_paper) > 1:
            compared.append(variant.title)
            wins += [variant.title] if found["featprop"].mean >= found[of_paper[0]].mean - 1e-9 else []
        ranking = ", ".join(f"{results.strategies[name].title} {found[name].mean:.1f}" for name in order)
        printed = paper.printed_score("macro_f1", model, "paper", "featprop", variant.name)
        comparison = _compare_to_paper(printed.mean, found["featprop"]) if printed and "featprop" in found else ""
        sentences.append(f"{variant.title}, Macro-F1 of {results.models[model].title}: {ranking}.{comparison}")
    return [
        _headline(results, wins, compared),
        *(sentences or ["There are no results under the paper's protocol yet."]),
    ]


def _headline(results: Results, wins: list[str], compared: list[str]) -> str:
    if not compared:
        n_strategies, n_datasets = len(results.strategies), len(results.datasets)
        strategies = "1 strategy" if n_strategies == 1 else f"{n_strategies} strategies"
        return f"Results of {strategies} on {'1 data set' if n_datasets == 1 else f'{n_datasets} data sets'}"
    where = "every data set" if wins == compared else f"{len(wins)} of {len(compared)} data sets"
    return f"FeatProp ranks first on {where} among the strategies of the paper that were run"


def _compare_to_paper(printed: float, ours: Runs) -> str:
    if ours.budgets != paper.BUDGETS:
        theirs, here = (", ".join(map(str, budgets)) for budgets in (paper.BUDGETS, ours.budgets))
        return f" The paper prints {printed:.2f} for FeatProp over {theirs}; here it is {ours.mean:.2f} over {here}."
    return f" The paper prints {printed:.2f} for FeatProp; here it is {ours.mean:.2f} ({ours.mean - printed:+.2f})."


def update_page(path: Path, tables: Iterable[Table], drawings: Iterable[Drawing]) -> None:
    """Update the marked tables of a Markdown page, and the figures it shows in the folder next to it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"Cannot read the Markdown page {path}: {quote_error(error)}.", path=path) from error
    _write(path, replace_tables(text, tables))
    for place, drawing in find_drawings(text, drawings).items():
        _write(path.parent / place, drawing.file)


def find_drawings(page: str, drawings: Iterable[Drawing]) -> dict[str, Drawing]:
    """Return the figures that a Markdown page shows, by their path."""
    by_name = {drawing.name: drawing for drawing in drawings}
    for _, name in FIGURE_LINK.findall(page):
        if name not in by_name:
            raise _unknown_part("figure", name, by_name)
    return {place: by_name[name] for place, name in FIGURE_LINK.findall(page)}


def replace_tables(page: str, tables: Iterable[Table]) -> str:
    """Return a Markdown page with the text between its marks replaced by the tables."""
    by_name = {table.name: table for table in tables}

    def replace(found: re.Match[str]) -> str:
        if found[2] not in by_name:
            raise _unknown_part("table", found[2], by_name)
        return f"{found[1]}{by_name[found[2]].markdown()}{found[3]}"

    return TABLE_MARK.sub(replace, page)


def _unknown_part(kind: str, name: str, known: Iterable[str]) -> FileError:
    hint = unknown_choice(kind, name, known).hint
    return FileError(f"The page has a {kind} that these results do not have: {name}.", hint=hint, value=name)


def _write(path: Path, text: str) -> None:
    with replacing_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
