"""The tables of the default."""

from collections.abc import Callable
from pathlib import Path

import pytest

from featprop.experiments.report import TABLE_MARK, build_tables, replace_tables
from featprop.experiments.results import Result, read_results
from featprop.experiments.summary import Results
from featprop.experiments.tables import calibration_table, default_table

ROOT = Path(__file__).parent.parent.parent
FOLDERS = [ROOT / "experiments" / place for place in ("default/results", "default/made", "results")]
PAGE = ROOT / "docs" / "default.md"

Make = Callable[..., Result]


@pytest.fixture
def lines(line: Make) -> list[Result]:
    """On two data sets the default has 80, 81, 82; herding with a ridge 80, 81, 83 and with a GCN 60, 60, 60."""
    made = []
    for dataset in ("cora", "pubmed"):
        for seed, score in enumerate((0.80, 0.81, 0.82)):
            ours = {"model": "ridge", "dataset": dataset, "schedule": (10,), "calibration_error": 0.05 + score / 100}
            made.append(line("featprop-diffused", 10, seed, score, **ours))
            made.append(line("featprop-diffused", 10, seed, score, **ours | {"protocol": "unlabelled"}))
        for seed, score in enumerate((0.80, 0.81, 0.83)):
            made.append(line("herding", 10, seed, score, model="ridge", dataset=dataset))
        made.extend(line("herding", 10, seed, 0.60, model="gcn", dataset=dataset) for seed in range(3))
    return [*made, line("random", 10, 0, 0.9, model="gcn", dataset="cora")]


def test_pairs_that_ran_on_every_data_set_are_ranked(lines: list[Result]) -> None:
    table = default_table(Results(lines), "macro_f1", "paper")
    assert table is not None
    assert table.columns == ["strategy", "model", "Cora", "PubMed", "mean"]
    rows = [[cell.text for cell in row] for row in table.rows]
    # gaps to the default 0, 0, 1: t = 1 with 2 degrees of freedom, p = 0.42
    assert rows[0][1:] == ["ridge", "81.3 ± 1.5 ≈", "81.3 ± 1.5 ≈", "81.3"]
    assert rows[1][1:] == ["ridge", "81.0 ± 1.0", "81.0 ± 1.0", "81.0"]
    assert rows[2][1:] == ["gcn", "60.0 ± 0.0", "60.0 ± 0.0", "60.0"]
    assert len(rows) == 3, "random selection ran on one data set only"
    assert [cell.bold for cell in table.rows[0]] == [False, False, True, True, True]


def test_graphs_on_disk_have_a_separate_table(lines: list[Result], line: Make) -> None:
    made = line("featprop-diffused", 10, 0, 0.7, model="ridge", dataset="somewhere/made", schedule=(10,))
    both = Results([*lines, made])
    published, on_disk = (default_table(both, "macro_f1", "paper", which) for which in (True, False))
    assert published is not None
    assert on_disk is not None
    assert published.columns[2:4] == ["Cora", "PubMed"]
    assert on_disk.columns == ["strategy", "model", "made", "mean"]


def test_no_default_table_without_the_default(line: Make) -> None:
    results = Results([line("herding", 10, 0, 0.8, model="ridge")])
    assert default_table(results, "macro_f1", "paper") is None
    assert calibration_table(results) is None


def test_calibration_error_is_averaged_over_seeds(lines: list[Result]) -> None:
    table = calibration_table(Results(lines))
    assert table is not None
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["Cora", "ridge", "0.058"],
        ["PubMed", "ridge", "0.058"],
    ]


def test_docs_match_committed_results() -> None:
    page = PAGE.read_text(encoding="utf-8")
    results = Results(line for folder in FOLDERS for line in read_results(folder))
    assert TABLE_MARK.search(page), "the page has no marked table"
    assert replace_tables(page, build_tables(results, {})) == page
