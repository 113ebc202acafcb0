"""The report: files, one page that needs nothing else, the same every time."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from featprop.errors import FileError
from featprop.experiments.curves import ablation, later_curves, learning_curves, model_comparison
from featprop.experiments.report import Report, write_report
from featprop.experiments.results import Result, appending
from featprop.experiments.summary import Results
from featprop.experiments.theory import error_against_loss
from featprop.web.report.files import check_replaceable

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
    """Collects what a page would fetch, and whether its tags match."""

    VOID = frozenset({"meta", "path", "use", "rect", "image"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href") and tag != "use"]
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href") and tag != "use"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_holds_everything_it_shows(report: Report) -> None:
    page = report.page.read_text(encoding="utf-8")
    checked = Checked()
    checked.feed(page)
    assert checked.open == []
    assert all(link.startswith("#") for link in checked.fetched), checked.fetched
    assert "url(http" not in page
    assert "<script" not in page
    assert "&lt;odd&gt; &amp; co" in page
    assert "in place of CoraFull" in page
    for protocol in ("paper", "unlabelled"):
        assert f"Protocol {protocol}:" in page


def test_every_table_says_its_protocol_and_every_file_is_there(report: Report) -> None:
    names = {table.name for table in report.tables}
    assert names >= {"macro-f1-gcn-paper", "micro-f1-sgc-unlabelled", "running-time-gcn", "correlation-gcn-paper"}
    for table in report.tables:
        assert "Protocol" in table.note
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


def test_the_same_lines_give_the_same_files(report: Report, folder: Path, tmp_path: Path) -> None:
    again = write_report([folder], tmp_path)
    files = [path for path in report.page.parent.rglob("*.*") if path.is_file()]
    assert len(files) > 20
    for path in files:
        twin = again.page.parent / path.relative_to(report.page.parent)
        assert path.read_bytes() == twin.read_bytes(), path.name


@pytest.mark.parametrize(
    ("mine", "sentence"),
    [
        (
            "report.html",
            "report.html must be new or an earlier report; found a file that featprop experiments did not write",
        ),
        ("tables/time-gcn.csv", "must be new or hold an earlier report; found tables without report.html"),
        ("figures/plot.svg", "must be new or hold an earlier report; found figures without report.html"),
    ],
)
def test_only_an_earlier_report_is_replaced(
    folder: Path, tmp_path: Path, contents: Callable[[], dict[str, bytes | None]], mine: str, sentence: str
) -> None:
    place = tmp_path / "out" / mine
    place.parent.mkdir(parents=True)
    place.write_text("mine", encoding="utf-8")
    before = contents()
    with pytest.raises(FileError, match=sentence):
        write_report([folder], tmp_path / "out")
    assert contents() == before


def test_by_force_other_files_are_replaced_and_then_it_is_a_report(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("mine", encoding="utf-8")
    write_report([folder], tmp_path, force=True)
    check_replaceable(page, force=False, command="featprop experiments")


def test_ids_inside_the_page_are_distinct_between_figures(report: Report) -> None:
    page = report.page.read_text(encoding="utf-8")
    sizes = [set(re.findall(r' id="([^"]+)"', svg)) for svg in re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)]
    assert len(sizes) > 5
    assert sum(map(len, sizes)) == len(set().union(*sizes))


def test_what_is_not_there_is_not_drawn(line: Make) -> None:
    few = Results([line("featprop", 10, 0, 0.5), line("random", 10, 0, 0.4)])
    assert learning_curves(few, "macro_f1", "gcn", "paper") is not None
    assert learning_curves(few, "macro_f1", "sgc", "paper") is None
    assert model_comparison(few, "macro_f1", "paper") is None
    assert ablation(few, "macro_f1", "gcn", "paper") is None
    assert later_curves(few, "macro_f1", "gcn", "paper") is None
    assert error_against_loss(few, "gcn", "paper") is not None
    assert error_against_loss(few, "gcn", "unlabelled") is None


def test_a_figure_has_its_numbers_in_words(line: Make) -> None:
    results = Results([line("featprop", budget, seed, 0.5 + seed / 10) for budget in (10, 20) for seed in (0, 1)])
    drawing = learning_curves(results, "macro_f1", "gcn", "paper")
    assert drawing is not None
    assert "Cora, FeatProp: 55.0 with 10, 55.0 with 20" in drawing.description
    assert drawing.description in drawing.html()
