"""The page on strategies says what is true: its table is complete, and its code and commands run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import featprop
from featprop.graph import Graph
from featprop.options import options_of
from featprop.strategies import available_strategies, strategy_class

PAGE = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8")
N = 60


def cells() -> dict[str, list[str]]:
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows if len(row) == 4}


def test_the_table_has_every_strategy_its_needs_and_its_options() -> None:
    table = cells()
    assert sorted(table) == available_strategies()
    for name, (_, needs, options) in table.items():
        kind = strategy_class(name)
        used = "model, once there are labels" if kind.uses else ""
        assert needs == ("model" if kind.needs else used), name
        assert re.findall(r"`(\w+)`", options) == list(options_of(kind)), name


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """A small graph in ``my-graph/``, whose even nodes are of one class and the odd ones of another."""
    generator = np.random.default_rng(0)
    kind = np.arange(N) % 2
    same = kind[:, None] == kind[None]
    adjacency = sp.csr_array((generator.random((N, N)) < np.where(same, 0.1, 0.01)).astype(float))
    features = np.round(generator.normal(size=(N, 3)) + kind[:, None], 3)
    folder = tmp_path / "my-graph"
    folder.mkdir()
    rows = (f"{node},{','.join(map(str, values))}\n" for node, values in enumerate(features.tolist()))
    (folder / "nodes.csv").write_text("id,x,y,z\n" + "".join(rows))
    ends = zip(*(part.tolist() for part in adjacency.nonzero()), strict=True)
    (folder / "edges.csv").write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in ends))
    monkeypatch.chdir(tmp_path)
    return featprop.read_graph(folder)


def kind_of(node: Any) -> str:
    return "odd" if int(node) % 2 else "even"


def test_the_python_of_the_page(graph: Graph) -> None:
    first = {node: kind_of(node) for node in range(4)}
    labels = [kind_of(node) for node in featprop.select(graph, 40, strategy="featprop-cosine").nodes]
    names = {"featprop": featprop, "graph": graph, "labels": labels, "first_labels": first, "ask_a_person": kind_of}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "strategies.md", "exec"), names)
    assert len(names["more"].nodes) == 20
    assert len(names["learner"].labels) == 13
    assert names["learner"].skipped == [], "the skip was the last act that changed anything"


def test_the_commands_of_the_page(graph: Graph, run: Callable[..., Any]) -> None:
    Path("first.csv").write_text("id,label\n" + "".join(f"{node},{kind_of(node)}\n" for node in range(4)))
    done = 0
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL):
        for words in (shlex.split(line, comments=True) for line in block.splitlines()):
            result = run(*words[1:], "--force")
            assert result.exit_code == 0, (words, result.output)
            sheet = Path(words[words.index("--out") + 1] if "--out" in words else "picks.csv")
            lines = sheet.read_text().splitlines()
            sheet.write_text("\n".join([lines[0], *(line + kind_of(line.split(",")[1]) for line in lines[1:])]) + "\n")
            done += 1
    assert done == 5
