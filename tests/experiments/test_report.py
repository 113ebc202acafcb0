"""The report: its files, and one self-contained page."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from featprop.errors import FileError
from featprop.experiments.figures import (
    ablation,
    error_against_loss,
    later_curves,
    learning_curves,
    model_comparison,
)
from featprop.experiments.report import Report, write_report
from featprop.experiments.results import Result, appending
from featprop.experiments.summary import Results
from tests.helpers import HtmlPage, raises

Make = Callable[..., Result]


@pytest.fixture(scope="module")
def lines() -> list[Result]:
    generator = np.random.default_rng(0)
    names = ["random", "featprop", "featprop-kcenter", "featprop-hidden", "featprop-cosine"]
    return [
        Result(
            dataset=dataset,
            strategy=name,
            budget=budget,
            seed=seed,
            model=model,
            protocol=protocol,
            nodes=(1, 2),
            macro_f1=float(generator.random()),
            micro_f1=float(generator.random()),
            accuracy=float(generator.random()),
            seconds_select=1.0,
            seconds_train=0.5,
            peak_memory=2**20,
            mean_distance=float(1 + generator.random()),
            max_distance=3.0,
            versions={"numpy": "2.0"},
        )
        for dataset in ("<odd> & co",)
        for name in names
        for budget in (10, 20)
        for seed in (0, 1)
        for model in ("gcn", "sgc")
        for protocol in ("paper", "unlabelled")
    ]


@pytest.fixture(scope="module")
def folder(lines: list[Result], tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    with appending(results) as appender:
        appender.append(lines)
    return results


@pytest.fixture(scope="module")
def report(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    return write_report([folder], tmp_path_factory.mktemp("report"))


def test_page_is_self_contained(report: Report) -> None:
    text = report.page.read_text(encoding="utf-8")
    page = HtmlPage(text)
    assert page.open == []
    assert page.loads == []
    assert all(link.startswith("#") for link in page.links)
    assert len(page.ids) == len(set(page.ids)), "figures do not share ids"
    assert set(page.references) <= set(page.ids)
    assert "url(http" not in text
    assert "<script" not in text
    assert "&lt;odd&gt; &amp; co" in text


def test_report_is_deterministic_and_keeps_existing_files(line: Make, tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "out"
    with appending(results) as appender:
        appender.append([line(name, 10, seed, 0.5) for name in ("random", "featprop") for seed in (0, 1)])
    for name in ("report.html", "tables/time-gcn.csv", "figures/plot.svg"):
        mine = out / name
        mine.parent.mkdir(parents=True, exist_ok=True)
        mine.write_text("mine", encoding="utf-8")
        with raises(FileError, path=out / name.partition("/")[0]):
            write_report([results], out)
        assert list(out.rglob("*.*")) == [mine]
        shutil.rmtree(out)
    write_report([results], out)
    files = {path: path.read_bytes() for path in out.rglob("*.*")}
    assert len(files) > 10
    write_report([results], out, force=True)
    assert {path: path.read_bytes() for path in out.rglob("*.*")} == files


def test_every_table_and_figure_has_a_file(report: Report) -> None:
    names = {table.name for table in report.tables}
    assert names >= {"macro-f1-gcn-paper", "micro-f1-sgc-unlabelled", "running-time-gcn", "correlation-gcn-paper"}
    for table in report.tables:
        for ending in ("md", "csv", "tex"):
            assert (report.page.parent / "tables" / f"{table.name}.{ending}").stat().st_size > 0
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert sum(span for _, span in table.groups) == len(table.columns)
    figures = {path.stem for path in (report.page.parent / "figures").glob("*.svg")}
    assert figures >= {
        "curves-macro-f1-gcn-paper",
        "curves-macro-f1-sgc-paper",
        "curves-later-macro-f1-gcn-paper",
        "sgc-against-gcn-macro-f1-paper",
        "ablation-macro-f1-gcn-paper",
        "error-against-loss-gcn-paper",
    }


def test_tidy_table_has_one_row_per_result(report: Report, lines: list[Result]) -> None:
    rows = (report.page.parent / "results.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("dataset,strategy,model,protocol,budget,seed,macro_f1")
    assert len(rows) == 1 + len(lines)


def test_figures_need_results(line: Make) -> None:
    few = Results([line("featprop", 10, 0, 0.5), line("random", 10, 0, 0.4)])
    assert learning_curves(few, "macro_f1", "gcn", "paper") is not None
    assert learning_curves(few, "macro_f1", "sgc", "paper") is None
    assert model_comparison(few, "macro_f1", "paper") is None
    assert ablation(few, "macro_f1", "gcn", "paper") is None
    assert later_curves(few, "macro_f1", "gcn", "paper") is None
    assert error_against_loss(few, "gcn", "paper") is not None
    assert error_against_loss(few, "gcn", "unlabelled") is None
