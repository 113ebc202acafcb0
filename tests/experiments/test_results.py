"""Results on disk."""

import datetime as dt
import json
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import FileError
from featprop.experiments.results import Result, appending, read_results, read_statistics
from tests.helpers import raises

Make = Callable[..., Result]


def test_results_round_trip(line: Make, tmp_path: Path) -> None:
    written = [
        line("anrmab", 10, 0, 0.1 + 0.2, nodes=("ä", 7), state={"weights": [1.0]}, options={"rounds": 5}),
        line("random", 20, 1, 0.5, dataset="some/graph", versions={"numpy": "2"}),
    ]
    with appending(tmp_path / "new" / "results") as appender:
        appender.append(written)
    assert read_results(tmp_path / "new" / "results") == written
    assert {path.name for path in (tmp_path / "new" / "results").glob("*.jsonl")} == {"cora.jsonl", "graph.jsonl"}


def test_documented_fields_are_written(line: Make) -> None:
    documented = (
        "dataset strategy budget seed model protocol nodes macro_f1 micro_f1 accuracy seconds_select seconds_train "
        "peak_memory mean_distance max_distance versions"
    )
    assert set(documented.split()) <= set(json.loads(line("random", 10, 0, 0.5, versions={"numpy": "2"}).to_json()))


@pytest.mark.parametrize("kept", [1, 40, 200, -1])
def test_incomplete_line_is_ignored_and_then_removed(line: Make, tmp_path: Path, kept: int) -> None:
    lines = [line("random", budget, 0, 0.5) for budget in (10, 20, 40)]
    with appending(tmp_path) as appender:
        appender.append(lines[:2])
    path = tmp_path / "cora.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + (lines[2].to_json() + "\n").encode()[:kept])
    assert read_results(tmp_path) == lines[:2]
    with appending(tmp_path) as appender:
        assert path.read_bytes() == whole
        appender.append(lines[2:])
    assert read_results(tmp_path) == lines


def test_damaged_line_is_an_error(line: Make, tmp_path: Path) -> None:
    text = line("random", 10, 0, 0.5).to_json()
    (tmp_path / "cora.jsonl").write_text(f"{text}\n{text[:50]}\n{text}\n", encoding="utf-8")
    with raises(FileError, path=tmp_path / "cora.jsonl", row=2):
        read_results(tmp_path)


def test_first_line_of_a_cell_counts(line: Make, tmp_path: Path) -> None:
    with appending(tmp_path) as appender:
        appender.append([line("random", 10, 0, 0.5), line("random", 10, 0, 0.6)])
    assert [found.macro_f1 for found in read_results(tmp_path)] == [0.5]


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
    assert line("featprop", 10, 0, 0.5, graph="a", dataset="copy").cell == results[0].cell
    assert line("x", 10, 0, 0.5, options={"a": 1, "b": 2}).cell == line("x", 10, 0, 0.5, options={"b": 2, "a": 1}).cell
    with appending(tmp_path) as appender:
        appender.append(results)
    assert read_results(tmp_path) == results


def test_node_ids_keep_their_type(line: Make, tmp_path: Path) -> None:
    result = line("random", 4, 0, 0.5, nodes=((0, 1), 1.5, "1.5", dt.date(2026, 11, 16)))
    with appending(tmp_path) as appender:
        appender.append([result])
    assert read_results(tmp_path)[0].nodes == result.nodes


def test_statistics_are_merged(tmp_path: Path) -> None:
    with appending(tmp_path) as appender:
        appender.record({"one": {"nodes": 1}})
        appender.record({"two": {"nodes": 2}, "one": {"nodes": 3}})
    assert read_statistics(tmp_path) == {"one": {"nodes": 3}, "two": {"nodes": 2}}
    (tmp_path / "datasets.json").write_text("[")
    with raises(FileError, path=tmp_path / "datasets.json"):
        read_statistics(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("dataset", ["cora"]), ("budget", "10"), ("seed", 1.5), ("accuracy", float("nan")), ("seconds_train", None),
     ("settings", []), ("schedule", "5"), ("versions", 3), ("calibration_error", "low"), ("macro_f1", "x")],
)  # fmt: skip
def test_field_of_the_wrong_type_is_an_error(field: str, value: Any, line: Make, tmp_path: Path) -> None:
    content = json.loads(line("random", 10, 0, 0.5).to_json()) | {field: value}
    (tmp_path / "cora.jsonl").write_text(json.dumps(content) + "\n")
    with raises(FileError, path=tmp_path / "cora.jsonl", row=1) as caught:
        read_results(tmp_path)
    assert field in str(caught.value)


@pytest.mark.parametrize(
    "content", ['{"cora": {"nodes": [1]}}', '{"cora": {"edges": "x"}}', '{"cora": 1}', "[" * 10**5]
)
def test_invalid_statistics_are_an_error(content: str, tmp_path: Path) -> None:
    (tmp_path / "datasets.json").write_text(content)
    with raises(FileError, path=tmp_path / "datasets.json"):
        read_statistics(tmp_path)


def test_folder_is_locked_by_a_run(tmp_path: Path) -> None:
    with appending(tmp_path), raises(FileError), appending(tmp_path):
        pass
    with appending(tmp_path):
        pass


def test_next_run_continues_after_a_full_disk(line: Make, tmp_path: Path) -> None:
    first, second = line("random", 10, 0, 0.5), line("random", 10, 1, 0.6)
    with appending(tmp_path) as appender:
        appender.append([first])
        whole = (tmp_path / "cora.jsonl").read_bytes()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, before[1]))
        try:
            with pytest.raises(FileError, match=r"cora\.jsonl"):
                appender.append([second])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
    assert read_results(tmp_path) == [first]
    with appending(tmp_path) as appender:
        appender.append([second])
    assert read_results(tmp_path) == [first, second]


def test_mean_distance_above_the_maximum_is_an_error(line: Make) -> None:
    with pytest.raises(ValueError):
        line("random", 10, 0, 0.5, mean_distance=2.0, max_distance=1.0)
    assert line("random", 10, 0, 0.5, mean_distance=1.0, max_distance=1.0)


def test_missing_folder_has_no_results(tmp_path: Path) -> None:
    assert read_results(tmp_path / "nowhere") == []
