"""The README and the guides say what is true; that their commands and code run is shown in ``docs/``, beside this."""

import csv
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from featprop.cli import app
from featprop.datasets import digits
from featprop.experiments.demo_folder import DemoFolder
from featprop.graph import Graph
from featprop.matrix import as_dense
from featprop.models import MODELS, get_model, load_model, save_model
from featprop.propagation import Propagation
from featprop.strategies import STRATEGIES, QueryContext, available_strategies, get_strategy

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.fixture
def my_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The digits in ``my-graph/`` of the current folder, as a user would have them: without labels."""
    graph = digits()
    outputs = DemoFolder(tmp_path)
    outputs.write_graph(graph)
    outputs.graph.rename(tmp_path / "my-graph")
    monkeypatch.chdir(tmp_path)
    return graph


def rows_of(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))


def fill(sheet: Path, graph: Graph) -> None:
    """Do what the person does."""
    rows = rows_of(sheet)
    names = graph.class_names()
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows({**row, "label": f"digit {names[int(row['id'])]}"} for row in rows)


def commands() -> Iterator[list[str]]:
    for block in blocks(README, "bash"):
        yield from (shlex.split(line, comments=True) for line in block.splitlines() if line.startswith("featprop"))


def test_the_commands_of_the_readme(my_graph: Graph, run: Callable[..., Any], tmp_path: Path) -> None:
    done = []
    for words in commands():
        result = run(*words[1:])
        assert result.exit_code == 0, (words, result.output)
        if words[1] == "select":
            fill(Path(words[words.index("--out") + 1]), my_graph)
        done.append(words[1])
    assert done == ["inspect", "select", "train", "predict", "select"]
    first, more = rows_of(Path("picks.csv")), rows_of(Path("more.csv"))
    assert (len(first), len(more)) == (40, 20)
    assert not {row["id"] for row in first} & {row["id"] for row in more}
    predictions = rows_of(Path("predictions.csv"))
    right = [row["label"] == f"digit {name}" for row, name in zip(predictions, my_graph.class_names(), strict=True)]
    assert np.mean(right) > 0.9


def test_the_table_of_preparation_is_made_of_its_lines() -> None:
    path = ROOT / "experiments" / "preprocessor" / "results.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    page = (ROOT / "docs" / "your-graph.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [-0-9.]+ \| ([0-9.]+) \| ([0-9.]+) \| ([-+0-9.]+) \|$", page, flags=re.MULTILINE)
    assert len(rows) == len({line["graph"] for line in lines})
    for name, default, hand, gap in rows:
        means = [
            100 * np.mean([line[way] for line in lines if line["graph"] == name]) for way in ("default", "by hand")
        ]
        assert [default, hand, gap] == [f"{means[0]:.1f}", f"{means[1]:.1f}", f"{means[0] - means[1]:+.1f}"]
        assert float(gap) >= -1


def test_the_strategy_of_the_guide_works(monkeypatch: pytest.MonkeyPatch, line: Graph) -> None:
    monkeypatch.setattr(STRATEGIES, "classes", dict(STRATEGIES.classes))
    block = next(block for block in blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python"))
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})
    situation = QueryContext(line, np.array([1]), np.array([0, 2, 3, 4]))
    assert sorted(get_strategy("leaves").select(situation, 2, np.random.default_rng(0)).tolist()) == [0, 4]
    assert get_strategy("every-other").select(situation, 2, np.random.default_rng(0)).tolist() == [0, 3]


def words_graph() -> Graph:
    """Return a graph of few words a node out of many, whose propagated rows stay sparse, with two classes of labels."""
    generator = np.random.default_rng(0)
    words = sp.random_array((2000, 1000), density=0.005, rng=generator, format="lil")
    words[np.arange(2000), np.arange(2000) % 2] = 3.0
    ends = np.arange(1998)
    edges = sp.coo_array((np.ones(1998), (ends, ends + 2)), shape=(2000, 2000))
    return Graph.from_scipy(edges, words, labels=np.where(np.arange(2000) % 2, "odd", "even"))


@pytest.mark.parametrize("make", [digits, words_graph])
def test_the_model_of_the_guide_works(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[], Graph], tmp_path: Path
) -> None:
    monkeypatch.setattr(MODELS, "classes", dict(MODELS.classes))
    _, block = blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python")
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})
    graph = make()
    names = np.array(graph.class_names())
    model = get_model("nearest-mean").fit(graph, range(100), names[:100])
    rows = Propagation.of(graph).rows(model.layers)
    assert sp.issparse(rows) == (make is words_graph)
    assert np.mean(model.predict(graph) == names) > 0.7
    near = cdist(as_dense(rows), model.means).argmin(axis=1)
    assert model.predict(graph).tolist() == [model.classes_[code] for code in near]
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(graph), model.predict(graph))


def test_make_targets_named_in_the_docs_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        named = set(re.findall(r"\bmake ([a-z-]+)`", page.read_text(encoding="utf-8")))
        assert named <= targets, page


def anchors(page: Path) -> set[str]:
    """The names that the headings of a page can be linked by."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
            if link.startswith("https://"):
                continue
            target = page.parent / link if link else page
            assert target.exists(), (page, link)
            if anchor and target.name not in ("contributing.md", "changes.md", "security.md"):
                assert anchor in anchors(target), (page, link, anchor)


def test_every_command_and_strategy_is_documented() -> None:
    pages = README + "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"featprop {command.name or command.callback.__name__}" in pages
    for name in available_strategies():
        assert f"`{name}`" in pages
