"""The report: its files, and one self-contained page."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
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
from tests.helpers import raises

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
        for dataset in ("coauthor-cs", "<odd> & co")
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


class Checked(HTMLParser):
    """Collect the URLs a page refers to, and check that its tags match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href") and tag != "use"]
        if tag not in ("meta", "br", "img", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href") and tag != "use"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_self_contained(report: Report) -> None:
    page = report.page.read_text(encoding="utf-8")
    checked = Checked()
    checked.feed(page)
    assert checked.open == []
    assert all(link.startswith("#") for link in checked.fetched), checked.fetched
    assert "url(http" not in page
    assert "<script" not in page
    assert "&lt;odd&gt; &amp; co" in page
    assert "in place of CoraFull" in page


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


def test_report_is_deterministic(report: Report, folder: Path, tmp_path: Path) -> None:
    again = write_report([folder], tmp_path)
    files = [path for path in report.page.parent.rglob("*.*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        twin = again.page.parent / path.relative_to(report.page.parent)
        assert path.read_bytes() == twin.read_bytes(), path.name


@pytest.mark.parametrize("name", ["report.html", "tables/time-gcn.csv", "figures/plot.svg"])
def test_existing_files_are_kept_unless_forced(
    folder: Path, tmp_path: Path, contents: Callable[[], dict[str, bytes | None]], name: str
) -> None:
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text("mine", encoding="utf-8")
    before = contents()
    with raises(FileError, path=out / name.partition("/")[0]):
        write_report([folder], out)
    assert contents() == before
    write_report([folder], out, force=True)
    assert (out / "report.html").stat().st_size > 1000


def test_tidy_table_has_one_row_per_result(report: Report, lines: list[Result]) -> None:
    rows = (report.page.parent / "results.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith("dataset,strategy,model,protocol,budget,seed,macro_f1")
    assert len(rows) == 1 + len(lines)


def test_figures_do_not_share_ids(report: Report) -> None:
    page = report.page.read_text(encoding="utf-8")
    sizes = [set(re.findall(r' id="([^"]+)"', svg)) for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)]
    assert len(sizes) > 5
    assert sum(map(len, sizes)) == len(set().union(*sizes))


def test_figures_need_results(line: Make) -> None:
    few = Results([line("featprop", 10, 0, 0.5), line("random", 10, 0, 0.4)])
    assert learning_curves(few, "macro_f1", "gcn", "paper") is not None
    assert learning_curves(few, "macro_f1", "sgc", "paper") is None
    assert model_comparison(few, "macro_f1", "paper") is None
    assert ablation(few, "macro_f1", "gcn", "paper") is None
    assert later_curves(few, "macro_f1", "gcn", "paper") is None
    assert error_against_loss(few, "gcn", "paper") is not None
    assert error_against_loss(few, "gcn", "unlabelled") is None


def test_figure_has_a_description(line: Make) -> None:
    results = Results([line("featprop", budget, seed, 0.5 + seed / 10) for budget in (10, 20) for seed in (0, 1)])
    drawing = learning_curves(results, "macro_f1", "gcn", "paper")
    assert drawing is not None
    assert "Cora, FeatProp: 55.0 with 10, 55.0 with 20" in drawing.description
    assert drawing.description in drawing.html()
