"""The command line from a graph to predictions, in process."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import featprop
from tests.helpers import fill, ok, rows_of

Run = Callable[..., Any]
WriteFolder = Callable[..., Path]

SHEET = ["id", "label", "rank", "represents", "spread"]
PREDICTIONS = [
    *("id", "prediction", "confidence", "label", "probability_left", "probability_right", "distance", "isolated")
]
CLASS_OF = {f"0{number}": "left" if number < 6 else "right" for number in range(10)}
"""Two groups of nodes whose ids a spreadsheet or a parser could spoil."""


@pytest.fixture
def groups(write_folder: WriteFolder) -> Path:
    """The two groups, each a circle whose nodes look alike."""
    nodes, edges = "id,x,y\n", "source,target\n"
    for number, (node, group) in enumerate(CLASS_OF.items()):
        nodes += f"{node},{'1,0' if group == 'left' else '0,1'}.{number}\n"
        start, size = (0, 6) if group == "left" else (6, 4)
        edges += f"{node},0{start + (number - start + 1) % size}\n"
    return write_folder(nodes, edges)


def test_from_a_graph_to_predictions_and_on(run: Run, groups: Path) -> None:
    result = ok(run("select", "graph", "--budget", 2))
    assert result.stdout.startswith("Wrote 2 nodes to picks.csv.")
    assert "Read 10 nodes, 10 edges, 2 features from graph\n" in result.stderr
    first = rows_of("picks.csv")
    assert [list(row) for row in first] == [SHEET, SHEET]
    assert [row["rank"] for row in first] == ["1", "2"]
    assert [row["label"] for row in first] == ["", ""]
    assert {CLASS_OF[row["id"]]: row["represents"] for row in first} == {"left": "6", "right": "4"}
    assert all(0 < float(row["spread"]) < 1 for row in first)

    fill("picks.csv", CLASS_OF.__getitem__)
    result = ok(run("train", "graph", "--labels", "picks.csv"))
    assert result.stdout.splitlines() == [
        "Trained on 2 labels of 2 classes: left (1), right (1).",
        "Wrote the model to model.safetensors.",
    ]

    result = ok(run("predict", "graph"))
    assert "10 nodes to predictions.csv" in result.stdout
    predictions = rows_of("predictions.csv")
    assert {row["id"]: row["prediction"] for row in predictions} == CLASS_OF
    for row in predictions:
        assert list(row) == PREDICTIONS
        probabilities = {name: float(row[f"probability_{name}"]) for name in ("left", "right")}
        assert sum(probabilities.values()) == pytest.approx(1, abs=1e-4)
        assert float(row["confidence"]) == max(probabilities.values()) == probabilities[row["prediction"]]

    ok(run("select", "graph", "--budget", 3, "--labels", "picks.csv", "--out", "more.csv"))
    more = rows_of("more.csv")
    assert len({row["id"] for row in more} | {row["id"] for row in first}) == 5

    fill("more.csv", CLASS_OF.__getitem__, rows=1)
    result = ok(run("select", "graph", "-b", 5, "--labels", "picks.csv", "--labels", "more.csv", "-o", "rest.csv"))
    assert "without a label yet: 2 (" in result.stderr
    chosen = [row["id"] for row in first + more + rows_of("rest.csv")]
    assert sorted(chosen) == sorted(CLASS_OF)


def test_a_plan_says_what_budgets_buy_and_writes_nothing(run: Run, groups: Path) -> None:
    before = sorted(Path().rglob("*"))
    result = ok(run("select", "graph", "--budget", 6, "--plan"))
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["labels", "mean", "distance", "gained"]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "5", "6"]
    assert lines[2].split()[-1] == "elbow"
    assert "2 labels" in result.stdout
    assert run("select", "graph", "--budget", 6, "--plan", "--log", "a.labels").exit_code == 2
    assert sorted(Path().rglob("*")) == before


def test_the_sheet_is_what_the_library_selects(run: Run, groups: Path) -> None:
    command = ("select", "graph", "--budget", 4, "--strategy", "random", "--seed", 5)
    ok(run(*command))
    assert ok(run(*command, "--out", "-")).stdout == Path("picks.csv").read_text(encoding="utf-8")
    graph = featprop.read_graph(groups)
    picks = featprop.select(graph, 4, strategy="random", random_state=5)
    rows = rows_of("picks.csv")
    assert [row["id"] for row in rows] == picks.nodes.tolist()
    assert [int(row["represents"]) for row in rows] == picks.represents.tolist()
    assert [float(row["spread"]) for row in rows] == pytest.approx(picks.spread.tolist(), abs=1e-6)


@pytest.mark.parametrize("command", ["select", "strategies", "train", "predict", "demo"])
def test_every_command_shows_an_example(run: Run, command: str) -> None:
    for flag in ("--help", "-h"):
        text = " ".join(ok(run(command, flag)).stdout.split())
        assert f"Example: featprop {command} " in text


def python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONWARNINGS": "error::DeprecationWarning:featprop"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_as_a_module(tmp_path: Path) -> None:
    done = python("-m", "featprop", "--version", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"featprop {featprop.__version__}\n")
    done = python("-m", "featprop", "select", "nowhere", "--budget", "1", folder=tmp_path)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("Error: ")
    assert "nowhere" in line
    assert list(tmp_path.iterdir()) == []


def test_selecting_nodes_never_loads_pytorch(write_folder: WriteFolder) -> None:
    folder = write_folder().parent
    code = (
        "import sys; from featprop.cli import app; "
        "run = lambda *words: app(list(words), standalone_mode=False); run('--help'); run('datasets', '--help'); "
        "assert not {'sklearn', 'pyarrow', 'pandas'} & set(sys.modules); run('strategies'); "
        "run('select', 'graph', '-b', '2'); "
        "heavy = {'torch', 'torch_geometric', 'networkx', 'matplotlib'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = python("-c", code, folder=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "picks.csv").exists()


def test_the_seed_reaches_the_model(run: Run, groups: Path) -> None:
    Path("labels.csv").write_text("id,label\n00,left\n09,right\n")
    ok(run("train", "graph", "--labels", "labels.csv", "--model", "sgc", "--seed", 3, "--set", "epochs=1"))
    assert featprop.load_model("model.safetensors").random_state == 3
