"""A figure quoted on one page equals the figure on the page, or in the results, it comes from."""

import json
import re
import statistics
from pathlib import Path

from featprop.experiments.paper import printed_score

ROOT = Path(__file__).parents[2]
WHICH, DEFAULT, README = (
    (ROOT / page).read_text(encoding="utf-8") for page in ("docs/which.md", "docs/default.md", "README.md")
)
NUMBER = r"\b\d+\.\d\b"
Table = list[list[str]]


def section(page: str, anchor: str) -> str:
    """Return the section below the heading of an anchor."""
    _, *parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    named = zip(parts[::2], parts[1::2], strict=True)
    (found,) = [text for head, text in named if re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") == anchor]
    return found


def tables(text: str) -> list[Table]:
    """Return the cells of each table, header first, without bold markup."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [
        [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in table.splitlines() if "| ---" not in line]
        for table in found
    ]


def row(table: Table, *start: str) -> list[str]:
    """Return the cells after those a row starts with."""
    (found,) = [cells[len(start) :] for cells in table if tuple(cells[: len(start)]) == start]
    return found


def test_which_quotes_one_row_or_column_of_the_linked_section() -> None:
    quoting = 0
    for part in re.split(r"\n\n|\n(?=\|)", WHICH):
        numbers = set(re.findall(NUMBER, part))
        if numbers:
            ((page, anchor),) = re.findall(r"\(([a-z-]+\.md)#([^)]+)\)", part)
            found = tables(section((ROOT / "docs" / page).read_text(encoding="utf-8"), anchor))
            lines = [" ".join(line) for table in found for line in [*table, *zip(*table, strict=True)]]
            assert any(numbers <= set(re.findall(NUMBER, line)) for line in lines), part
            quoting += len(numbers)
    assert quoting >= 10


def test_which_quotes_the_calibration_counts() -> None:
    *_, table = tables(section(DEFAULT, "calibration"))
    published = [name for name, model, *_ in table if model == "gcn"]
    ridge, gcn = ([cell for name in published for cell in row(table, name, model)] for model in ("ridge", "gcn"))
    nearer = sum(float(ours) < float(theirs) for ours, theirs in zip(ridge, gcn, strict=True))
    assert f"in {nearer} of {len(ridge)} cases" in WHICH
    assert f"in {nearer} of the {len(ridge)} cells" in DEFAULT


def test_readme_quotes_the_table_of_the_default() -> None:
    (quoted,) = tables(section(README, "you-compare-strategies"))
    table, _ = tables(section(DEFAULT, "compared-with-other-strategies"))
    rows = {
        "`featprop` and `gcn`": ("FeatProp", "gcn"),
        "`featprop-cosine` and `gcn`, our previous best": ("FeatProp (cosine)", "gcn"),
        "random choice and `gcn`": ("Random", "gcn"),
        "the default: `featprop-diffused` and `ridge`": ("featprop-diffused (ours)", "ridge"),
    }
    for name, source in rows.items():
        assert row(quoted, name) == [cell.split(" ± ")[0] for cell in row(table, *source)[:3]]
    (theirs,) = {name for name, *_ in quoted} - {*rows, ""}
    cells = [printed_score("macro_f1", "gcn", "paper", "featprop", graph) for graph in ("cora", "citeseer", "pubmed")]
    assert row(quoted, theirs) == [f"{cell.mean:.1f}" for cell in cells if cell is not None]


def test_readme_quotes_the_accuracy_on_cora() -> None:
    lines = map(json.loads, (ROOT / "experiments/default/robustness.jsonl").read_text(encoding="utf-8").splitlines())
    found = [line for line in lines if (line["graph"], line["how"], line["budget"]) == ("cora", "rounds", 20)]
    assert len(found) == 5
    assert f"**{100 * statistics.mean(line['accuracy'] for line in found):.1f} %**" in README
    results = (ROOT / "experiments/default/results/cora.jsonl").read_text(encoding="utf-8").splitlines()
    wanted = {"strategy": "featprop-diffused", "model": "ridge", "budget": 20, "protocol": "unlabelled"}
    lines = [line for line in map(json.loads, results) if wanted.items() <= line.items()]
    assert {f"{100 * line['accuracy']:.1f} %" for line in lines} == {"82.4 %"}
    assert "82.4 %" in README
