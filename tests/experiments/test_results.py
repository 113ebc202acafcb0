"""Results on disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

from featprop.errors import FileError
from featprop.experiments.results import (
    Result,
    append_results,
    locking,
    read_results,
    read_statistics,
    record_statistics,
)
from tests.helpers import raises

Make = Callable[..., Result]


def test_results_round_trip(line: Make, tmp_path: Path) -> None:
    written = [
        line("anrmab", 10, 0, 0.1 + 0.2, nodes=("ä", 7), options={"rounds": 5}),
        line("random", 20, 1, 0.5, dataset="some/graph", versions={"numpy": "2"}),
    ]
    folder = tmp_path / "new" / "results"
    with locking(folder):
        append_results(folder, written)
    assert read_results(folder) == written
    assert {path.name for path in folder.glob("*.jsonl")} == {"cora.jsonl", "graph.jsonl"}
    assert read_results(tmp_path / "nowhere") == []


@pytest.mark.parametrize("kept", [1, 200, -1])
def test_incomplete_line_is_ignored_and_then_removed(line: Make, tmp_path: Path, kept: int) -> None:
    lines = [line("random", budget, 0, 0.5) for budget in (10, 20, 40)]
    append_results(tmp_path, lines[:2])
    path = tmp_path / "cora.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + (lines[2].to_json() + "\n").encode()[:kept])
    assert read_results(tmp_path) == lines[:2]
    with locking(tmp_path):
        assert path.read_bytes() == whole
        append_results(tmp_path, lines[2:])
    assert read_results(tmp_path) == lines


@pytest.mark.parametrize("damaged", ['{"dataset":"cora","str', "[]", '{"dataset":"cora","nodes":[1]}'])
def test_damaged_line_is_an_error(line: Make, tmp_path: Path, damaged: str) -> None:
    text = line("random", 10, 0, 0.5).to_json()
    (tmp_path / "cora.jsonl").write_text(f"{text}\n{damaged}\n{text}\n", encoding="utf-8")
    with raises(FileError, path=tmp_path / "cora.jsonl", row=2):
        read_results(tmp_path)


def test_cell_is_identified_by_content(line: Make, tmp_path: Path) -> None:
    """Graph, options, settings and schedule identify a cell; the name of the data set does not."""
    given = [
        {"graph": "a"},
        {"graph": "b"},
        {"graph": "a", "options": {"layers": 1}},
        {"graph": "a", "settings": {"hidden": 32}},
        {"graph": "a", "schedule": (5, 10)},
        {"graph": "a", "model": "sgc"},
    ]
    results = [line("featprop", 10, 0, 0.5, **each) for each in given]
    assert len({result.cell for result in results}) == len(given)
    assert line("x", 10, 0, 0.5, options={"a": 1, "b": 2}).cell == line("x", 10, 0, 0.5, options={"b": 2, "a": 1}).cell
    copy = line("featprop", 10, 0, 0.6, graph="a", dataset="copy")
    append_results(tmp_path, [*results, copy])
    assert read_results(tmp_path) == [copy, *results[1:]], "the first line of a cell counts"


def test_statistics_are_merged(tmp_path: Path) -> None:
    record_statistics(tmp_path, {"one": {"nodes": 1}})
    record_statistics(tmp_path, {"two": {"nodes": 2}, "one": {"nodes": 3}})
    assert read_statistics(tmp_path) == {"one": {"nodes": 3}, "two": {"nodes": 2}}
    (tmp_path / "datasets.json").write_text("[")
    with raises(FileError, path=tmp_path / "datasets.json"):
        read_statistics(tmp_path)


def test_folder_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with raises(FileError, path=tmp_path / "file"), locking(tmp_path / "file"):
        pass
