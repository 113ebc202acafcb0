"""The statements of the README and the guides are true; ``tests/docs`` runs their commands and code."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from featprop.cli import app
from featprop.datasets import digits
from featprop.graph import Graph
from featprop.matrix import as_dense
from featprop.models import MODELS, get_model, load_model
from featprop.propagation import Propagation
from featprop.sources import read_graph
from featprop.strategies import STRATEGIES, QueryContext, available_strategies, get_strategy
from tests.helpers import ok, rows_of

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def test_preparation_table_matches_its_results() -> None:
    path = ROOT / "experiments" / "preparation" / "results.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    page = (ROOT / "docs" / "your-graph.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| [-0-9.]+ \| ([0-9.]+) \| ([0-9.]+) \| ([-+0-9.]+) \|$", page, flags=re.MULTILINE)
    assert len(rows) == len({line["graph"] for line in lines})
    for name, default, hand, gap in rows:
        means = [
            100 * np.mean([line[way] for line in lines if line["graph"] == name]) for way in ("default", "by hand")
        ]
        assert [default, hand, gap] == [f"{means[0]:.1f}", f"{means[1]:.1f}", f"{means[0] - means[1]:+.1f}"]
        assert float(gap) >= -2


def test_strategy_of_the_guide(monkeypatch: pytest.MonkeyPatch, line: Graph) -> None:
    monkeypatch.setattr(STRATEGIES, "classes", dict(STRATEGIES.classes))
    block = next(block for block in blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python"))
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})
    context = QueryContext(line, np.array([1]), np.array([0, 2, 3, 4]))
    assert sorted(get_strategy("leaves").select(context, 2, np.random.default_rng(0)).tolist()) == [0, 4]
    assert get_strategy("every-other").select(context, 2, np.random.default_rng(0)).tolist() == [0, 3]


def test_model_of_the_guide(
    monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any], graph_folder: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(MODELS, "classes", dict(MODELS.classes))
    _, block = blocks((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), "python")
    exec(compile(block, "CONTRIBUTING.md", "exec"), {})
    graph = digits()
    names = np.array(graph.class_names())
    model = get_model("nearest-mean").fit(graph, range(100), names[:100])
    rows = Propagation.of(graph).rows(model.layers)
    assert np.mean(model.predict(graph) == names) > 0.7
    near = cdist(as_dense(rows), model.means).argmin(axis=1)
    assert model.predict(graph).tolist() == [model.class_names_[code] for code in near]
    assert "nearest-mean" in ok(run("models")).stdout
    saved = tmp_path / "model.safetensors"
    ok(run("train", graph_folder, "--model", "nearest-mean", "--set", "layers=1", "--out", saved))
    ok(run("predict", graph_folder, "--model", saved))
    loaded = load_model(saved)
    assert loaded.get_params() == {"layers": 1}
    predicted = [row["prediction"] for row in rows_of(tmp_path / "predictions.csv")]
    assert predicted == loaded.predict(read_graph(graph_folder)).tolist()


def test_paths_named_in_the_guide_exist() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:[\w.-]+/)+[\w.-]*|\w+\.py)`", guide)
    assert len(paths) > 30
    assert [path for path in paths if not any((root / path).exists() for root in (ROOT, ROOT / "src/featprop"))] == []
    for name, path in re.findall(r"`(\w+)` of `([\w/]+\.py)`", guide):
        assert re.search(
            rf"^(?:def |class )?{name}\b", (ROOT / "src/featprop" / path).read_text("utf-8"), re.MULTILINE
        ), name


def test_make_targets_named_in_the_docs_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        named = set(re.findall(r"\bmake ([a-z-]+)`", page.read_text(encoding="utf-8")))
        assert named <= targets, page


def test_every_command_and_strategy_is_documented() -> None:
    pages = README + "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    for command in app.registered_commands:
        assert command.callback is not None
        assert f"featprop {command.name or command.callback.__name__}" in pages
    for name in available_strategies():
        assert f"`{name}`" in pages


def test_links_of_the_readme_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)", README)
    assert [link for link in links if not link.startswith("https://") and not (ROOT / link).exists()] == []
