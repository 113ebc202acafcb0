"""Every command and code block in the docs runs and prints what its page shows."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

from featprop.cli import app
from tests.docs.reader import Reader, blocks, differs

pytestmark = pytest.mark.no_cover
ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def variables_of(page: str) -> dict[str, Any]:
    """Return the variables that the code on a page assumes."""
    draw = np.random.default_rng(0)
    if page == "k-medoids.md":
        rows, weights = draw.normal(size=(400, 4)), draw.random(400) + 0.5
        return {"rows": rows, "new_rows": rows[:5], "already": [0, 1], "mask": np.arange(400) > 20, "weights": weights}
    if page == "your-graph.md":
        nodes = pd.DataFrame({"id": range(100), "x": draw.normal(size=100), "country": draw.choice(["a", "b"], 100)})
        edges = pd.DataFrame({"n": range(99), "payer": range(99), "payee": range(1, 100)})
        return {"nodes": nodes, "edges": edges, "labels": ["p", "q"] * 20}
    return {}


def check(page: str, names: dict[str, Any], home: Path, shelf: Path) -> None:
    """Check the result of the code on a page."""
    if page == "README.md":
        assert (len(names["picks"]), set(names["model"].class_names_)) == (40, {"fraud", "ok"})
    if page == "index.md":
        check_the_truth(home, shelf)
    if page == "choose.md":
        assert (len(names["picks"]), len(names["more"])) == (10, 20)
        assert len(names["learner"].labels) == 9
        assert names["learner"].skipped == [], "undo withdraws the skip"
    if page == "k-medoids.md":
        assert len(names["result"].medoids) == 160
    if page == "your-graph.md":
        written = next(home.rglob("predictions.csv"))
        sheet, predictions = pd.read_csv(written.with_name("picks.csv")), pd.read_csv(written)
        assert list(sheet) == ["id", "label", "rank", "represents", "spread", "country"]
        assert predictions["label"].count() == 40


def check_the_truth(home: Path, shelf: Path) -> None:
    """Check the true figures that the first page gives for its predictions."""
    found = pd.read_csv(next(home.rglob("predictions.csv"))).query("label.isna()")
    truth = pd.read_csv(shelf / "labelled-graph" / "nodes.csv").set_index("id")["label"]
    frauds, flagged = found["id"].map(truth) == "fraud", found["prediction"] == "fraud"
    shares = [f"{100 * share.mean():.0f}" for share in (frauds == flagged, ~frauds)]
    counts = [f"{count.sum()}" for count in (flagged, frauds & flagged, frauds)]
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    quoted = page[page.index("the truth is known") : page.index("frauds that are left")]
    assert re.findall(r"\d+", quoted) == [*shares, *counts]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs_as_shown(page: Path, reader: Reader, shelf: Path) -> None:
    reader.names |= variables_of(page.name)
    before = None
    for block in blocks(page):
        if before is None or block.section != before.section:
            reader.start_section(block.section)
        reader.run_block(block)
        if block.language == "text" and before is not None and before.language == "sh":
            reader.compare(block)
        before = block
    check(page.name, reader.names, reader.home, shelf)


def test_first_page_shows_the_example_tables(shelf: Path) -> None:
    shown = next(block.text for block in blocks(ROOT / "docs" / "index.md") if block.language == "")
    halves = [re.split(r" {2,}", line) for line in shown.splitlines()]
    for name, lines in zip(("nodes.csv", "edges.csv"), zip(*halves, strict=True), strict=True):
        assert (shelf / "my-graph" / name).read_text(encoding="utf-8").splitlines()[: len(lines)] == list(lines)


@pytest.mark.parametrize(
    ("shown", "printed", "different"),
    [
        ("Wrote 40 nodes.", "Read it\nWrote 40 nodes.\nmore", None),
        ("92% (84 to 100%) right", "91% (83 to 99%) right", None),
        ("(84 to 100%)", "(74 to 100%)", "(84 to 100%)"),
        ("mean 0.4427, largest 1.676.", "mean 0.4431, largest 1.67.", None),
        ("1 node, 0.95", "1 node, 0.05", "1 node, 0.95"),
        ("these first: 1792 1107", "these first: 1750 1107", "these first: 1792 1107"),
        ("mean 0.44", "largest 0.44", "mean 0.44"),
        ("one\ntwo three", "one two", "two three"),
    ],
)
def test_differences_between_shown_and_printed_text(shown: str, printed: str, different: str | None) -> None:
    assert differs(shown, printed) == different


def test_commands_in_the_text_exist_with_their_options() -> None:
    group = typer.main.get_command(app)
    seen = 0
    for page in [*PAGES, *(ROOT / "docs").glob("*/*.md")]:
        for typed in re.findall(r"`featprop ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
            words = typed.split()
            command = group.commands[words[0]]
            if words[1:] and words[1] in getattr(command, "commands", ()):
                command = command.commands[words[1]]
            known = {spelling for parameter in command.params for spelling in parameter.opts} | {"--help"}
            assert {word for word in words if word.startswith("-") and word != "-"} <= known, (page.name, typed)
            seen += 1
    assert seen > 50
