"""The report: its files, and one self-contained page."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from featprop.errors import FileError
from featprop.experiments.report import Report, write_report
from featprop.experiments.results import Result, append_results
from tests.helpers import check_self_contained, raises

Make = Callable[..., Result]
NAMES = ["random", "featprop", "featprop-kcenter", "featprop-hidden", "featprop-cosine"]


@pytest.fixture(scope="module")
def report(line: Make, tmp_path_factory: pytest.TempPathFactory) -> Report:
    generator = np.random.default_rng(0)
    folder, out = tmp_path_factory.mktemp("results"), tmp_path_factory.mktemp("report")
    variants = [{}, {"model": "sgc"}, {"protocol": "unlabelled"}, {"options": {"layers": 1}}]
    given = {"dataset": "<odd> & co", "versions": {"numpy": "2.0"}, "graph": "abcdef1"}
    lines = [
        line(name, budget, seed, float(generator.random()), mean_distance=generator.random(), **given | variant)
        for name in NAMES
        for budget in (10, 20)
        for seed in (0, 1)
        for variant in [*variants, {"graph": "123456f"}, {"settings": {"act": "a/b c"}}]
    ]
    append_results(folder, lines)
    return write_report([folder], out)


def test_page_is_self_contained(report: Report) -> None:
    text = report.page.read_text(encoding="utf-8")
    assert all(link.startswith("#") for link in check_self_contained(text).links)
    assert "&lt;odd&gt; &amp; co" in text


def test_every_table_and_figure_has_a_file(report: Report) -> None:
    names = [table.name for table in report.tables]
    assert set(names) >= {"macro-f1-gcn-paper", "micro-f1-gcn-unlabelled", "running-time-sgc", "correlation-gcn-paper"}
    assert all(len(row) == len(table.columns) for table in report.tables for row in table.rows)
    files = {path.name for path in (report.page.parent / "tables").iterdir() if path.stat().st_size}
    assert files == {f"{name}.{ending}" for name in names for ending in ("md", "csv", "tex")}
    assert len(files) == 3 * len(names), "variants have different names"
    figures = {path.stem for path in (report.page.parent / "figures").glob("*.svg")}
    assert figures >= {
        "curves-macro-f1-gcn-paper",
        "curves-macro-f1-gcn[act=a%2Fb%20c]-paper",
        "curves-later-macro-f1-sgc-paper",
        "sgc-against-gcn[act=a%2Fb%20c]-against-gcn-macro-f1-paper",
        "ablation-macro-f1-gcn-paper",
        "error-against-loss-gcn-paper",
    }
    assert len(figures) == len(report.drawings)


def test_tidy_table_has_one_row_per_result(report: Report) -> None:
    rows = (report.page.parent / "results.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("dataset,strategy,model,protocol,budget,seed,macro_f1")
    assert len(rows) == 1 + 5 * 2 * 2 * 6


def test_report_is_deterministic_and_keeps_existing_files(line: Make, tmp_path: Path) -> None:
    results, out = tmp_path / "results", tmp_path / "out"
    results.mkdir()
    append_results(results, [line(name, 10, seed, 0.5) for name in ("random", "featprop") for seed in (0, 1)])
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
