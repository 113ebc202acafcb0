"""A graph on disk is read by whichever registered format it is in."""

import re
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import featprop
from featprop import registry
from featprop.errors import FileError, ParameterError
from featprop.graph import Graph
from featprop.io import Format, register_format
from featprop.io.formats import FORMATS, known_formats
from featprop.tables import Preparation, TableOptions

Run = Callable[..., Any]


class Rows(Format):
    """A text file: a line a node, its number is its only feature, each joined to the next."""

    description = "a .rows file"

    def fits(self, place: Path) -> bool:
        return place.suffix == ".rows" and place.is_file()

    def read(self, place: Path, options: TableOptions, preparation: Preparation | None = None) -> Graph:
        numbers = np.loadtxt(place, ndmin=2)
        return Graph.from_scipy(np.eye(len(numbers), k=1), numbers)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(FORMATS, "classes", dict(FORMATS.classes))
    (tmp_path / "my.rows").write_text("1\n5\n9\n")
    return tmp_path / "my.rows"


def test_a_third_format_is_read_everywhere(rows: Path, run: Run) -> None:
    with pytest.raises(FileError, match="found another kind of file"):
        featprop.read_graph(rows)
    register_format("rows")(Rows)
    graph = featprop.read_graph(rows)
    assert (graph.n_nodes, graph.n_edges, graph.features.tolist()) == (3, 2, [[1], [5], [9]])
    result = run("select", rows, "--budget", 2, "--out", "picks.csv")
    assert result.exit_code == 0, result.output
    header, *picks = Path("picks.csv").read_text().splitlines()
    assert header.split(",")[:2] == ["id", "label"]
    assert len(picks) == 2


def test_the_format_of_another_package(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("rows", f"{__name__}:Rows", "featprop.formats")
    monkeypatch.setattr(EntryPoint, "load", lambda _: Rows)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == "featprop.formats" else [])
    assert ", the format rows, a folder with nodes.csv" in known_formats()
    assert "rows" not in FORMATS.classes, "it is imported when nothing else fits"
    assert featprop.read_graph(rows).n_nodes == 3


def test_what_cannot_be_read_is_told_what_can(rows: Path, tmp_path: Path) -> None:
    register_format("rows")(Rows)
    with pytest.raises(FileError) as caught:
        featprop.read_graph(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} must be a folder that featprop convert wrote, a sparse-graph .npz file, a .rows file, "
        "a folder with nodes.csv and edges.csv (or .parquet, .xlsx) or an .xlsx workbook with the sheets nodes and "
        "edges; found my.rows: put nodes.csv and edges.csv into a folder and pass the folder."
    )


def test_columns_are_chosen_only_where_there_are_some(rows: Path) -> None:
    register_format("rows")(Rows)
    with pytest.raises(ParameterError, match=r"leave it out for a \.rows file"):
        featprop.read_graph(rows, features=["w1"])


def test_the_format_of_the_guide_works(rows: Path, tmp_path: Path) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "your-graph.md").read_text(encoding="utf-8")
    block = next(block for block in re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL) if "Adjacency" in block)
    namespace: dict[str, Any] = {}
    exec(compile(block, "your-graph.md", "exec"), namespace)
    register_format("adjacency")(namespace["Adjacency"])
    (tmp_path / "my.adj").write_text("0 1\n1 0\n")
    assert featprop.read_graph(tmp_path / "my.adj").n_edges == 1


def test_every_format_describes_itself() -> None:
    assert set(FORMATS.built_in) == {"native", "npz", "tables", "workbook"}
    for name in FORMATS.built_in:
        assert FORMATS.find(name).description, name
        assert not FORMATS.make(name).fits(Path("nowhere")), name
