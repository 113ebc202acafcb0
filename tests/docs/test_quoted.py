"""Figures that a page quotes are those of the page it quotes."""

import re
from pathlib import Path

from featprop.experiments.paper import printed_score

ROOT = Path(__file__).parents[2]
WHICH, DEFAULT, README = (
    (ROOT / page).read_text(encoding="utf-8") for page in ("docs/which.md", "docs/default.md", "README.md")
)
NUMBER = r"\b\d+\.\d\b"
Table = list[list[str]]


def section(page: str, anchor: str) -> str:
    """What stands below the heading that an anchor names."""
    _, *parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    named = zip(parts[::2], parts[1::2], strict=True)
    (found,) = [text for head, text in named if re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") == anchor]
    return found


def tables(text: str) -> list[Table]:
    """The cells of each table, its heading first, without what makes them bold."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [
        [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in table.splitlines() if "| ---" not in line]
        for table in found
    ]


def row(table: Table, *start: str) -> list[str]:
    """The cells after those that a row starts with."""
    (found,) = [cells[len(start) :] for cells in table if tuple(cells[: len(start)]) == start]
    return found


def test_figures_side_by_side_stand_in_one_row_or_column_of_the_section_linked_to() -> None:
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


def test_the_means_of_the_models_are_those_of_the_default() -> None:
    (quoted,) = tables(section(WHICH, "which-model"))
    table, _ = tables(section(DEFAULT, "compared-with-other-strategies"))
    for start, strategy in (
        ("mean Macro-F1 on the nodes the default", "featprop-diffused (ours)"),
        ("on nodes", "Random"),
    ):
        ((_, *shown),) = [cells for cells in quoted if cells[0].startswith(start)]
        assert shown == [*(row(table, strategy, model)[-1] for model in ("ridge", "gcn")), "not run"]


def test_confidences_are_nearer_in_as_many_cells_as_two_pages_say() -> None:
    *_, table = tables(section(DEFAULT, "calibration"))
    published = [name for name, model, *_ in table if model == "gcn"]
    ridge, gcn = ([cell for name in published for cell in row(table, name, model)] for model in ("ridge", "gcn"))
    nearer = sum(float(ours) < float(theirs) for ours, theirs in zip(ridge, gcn, strict=True))
    assert f"in {nearer} of {len(ridge)} cases" in WHICH
    assert f"in {nearer} of the {len(ridge)} cells" in DEFAULT


def test_the_readme_quotes_the_page_of_the_default() -> None:
    (quoted,) = tables(section(README, "you-compare-strategies"))
    table, _ = tables(section(DEFAULT, "compared-with-other-strategies"))
    rows = {
        "`featprop` and `gcn`": ("FeatProp", "gcn"),
        "`featprop-cosine` and `gcn`, the best before": ("FeatProp (cosine)", "gcn"),
        "random choice and `gcn`": ("Random", "gcn"),
        "the default: `featprop-diffused` and `ridge`": ("featprop-diffused (ours)", "ridge"),
    }
    for name, source in rows.items():
        assert row(quoted, name) == [cell.split(" ± ")[0] for cell in row(table, *source)[:3]]
    (theirs,) = {name for name, *_ in quoted} - {*rows, ""}
    cells = [printed_score("macro_f1", "gcn", "paper", "featprop", graph) for graph in ("cora", "citeseer", "pubmed")]
    assert row(quoted, theirs) == [f"{cell.mean:.1f}" for cell in cells if cell is not None]
