"""Results on disk: whole or not there, and known by content."""

import datetime as dt
import json
import platform
import resource
import signal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.errors import FileError
from featprop.experiments.results import Result, appending, read_results, read_statistics

Make = Callable[..., Result]


def test_a_line_comes_back_as_it_was(line: Make, tmp_path: Path) -> None:
    written = [
        line("anrmab", 10, 0, 0.1 + 0.2, nodes=("ä", 7), state={"weights": [1.0]}, options={"rounds": 5}),
        line("random", 20, 1, 0.5, dataset="some/graph", versions={"numpy": "2"}),
    ]
    with appending(tmp_path / "new" / "results") as appender:
        appender.append(written)
    assert read_results(tmp_path / "new" / "results") == written
    assert {path.name for path in (tmp_path / "new" / "results").glob("*.jsonl")} == {"cora.jsonl", "graph.jsonl"}


def test_the_fields_are_those_that_are_promised(line: Make) -> None:
    promised = (
        "dataset strategy budget seed model protocol nodes macro_f1 micro_f1 accuracy seconds_select seconds_train "
        "peak_memory mean_distance max_distance versions"
    )
    assert set(promised.split()) <= set(json.loads(line("random", 10, 0, 0.5, versions={"numpy": "2"}).to_json()))


@pytest.mark.parametrize("kept", [1, 40, 200, -1])
def test_a_line_cut_short_is_ignored_and_then_cut_off(line: Make, tmp_path: Path, kept: int) -> None:
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


def test_damage_elsewhere_is_told(line: Make, tmp_path: Path) -> None:
    text = line("random", 10, 0, 0.5).to_json()
    (tmp_path / "cora.jsonl").write_text(f"{text}\n{text[:50]}\n{text}\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"Line 2 of .*cora\.jsonl must be a result"):
        read_results(tmp_path)


def test_of_two_lines_of_one_cell_the_first_counts(line: Make, tmp_path: Path) -> None:
    with appending(tmp_path) as appender:
        appender.append([line("random", 10, 0, 0.5), line("random", 10, 0, 0.6)])
    assert [found.macro_f1 for found in read_results(tmp_path)] == [0.5]


def test_a_cell_is_known_by_content_and_not_by_name(line: Make, tmp_path: Path) -> None:
    """The graph, the options, the settings and the schedule are the cell; the name of the data set is not."""
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


def test_nodes_keep_their_type(line: Make, tmp_path: Path) -> None:
    result = line("random", 4, 0, 0.5, nodes=((0, 1), 1.5, "1.5", dt.date(2026, 11, 16)))
    with appending(tmp_path) as appender:
        appender.append([result])
    assert read_results(tmp_path)[0].nodes == result.nodes


def test_the_figures_of_data_sets_are_added_to(tmp_path: Path) -> None:
    with appending(tmp_path) as appender:
        appender.record({"one": {"nodes": 1}})
        appender.record({"two": {"nodes": 2}, "one": {"nodes": 3}})
    assert read_statistics(tmp_path) == {"one": {"nodes": 3}, "two": {"nodes": 2}}
    (tmp_path / "datasets.json").write_text("[")
    with pytest.raises(FileError, match="must be figures of data sets"):
        read_statistics(tmp_path)


def test_a_score_that_is_no_number_is_told(line: Make, tmp_path: Path) -> None:
    (tmp_path / "cora.jsonl").write_text(line("random", 10, 0, 0.5).to_json().replace("0.5,", '"x",', 1) + "\n")
    with pytest.raises(FileError, match="macro_f1 that is 'x'"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("dataset", ["cora"]), ("budget", "10"), ("seed", 1.5), ("accuracy", float("nan")), ("seconds_train", None),
     ("settings", []), ("schedule", "5"), ("versions", 3), ("calibration_error", "low")],
)  # fmt: skip
def test_a_field_of_another_type_is_told(field: str, value: Any, line: Make, tmp_path: Path) -> None:
    content = json.loads(line("random", 10, 0, 0.5).to_json()) | {field: value}
    (tmp_path / "cora.jsonl").write_text(json.dumps(content) + "\n")
    with pytest.raises(FileError, match=f"Line 1 of .* must be a result; found {field} that is"):
        read_results(tmp_path)


@pytest.mark.parametrize(
    "content", ['{"cora": {"nodes": [1]}}', '{"cora": {"edges": "x"}}', '{"cora": 1}', "[" * 10**5]
)
def test_figures_that_are_none_are_told(content: str, tmp_path: Path) -> None:
    (tmp_path / "datasets.json").write_text(content)
    with pytest.raises(FileError, match="must be figures of data sets"):
        read_statistics(tmp_path)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with appending(tmp_path), pytest.raises(FileError, match="another run"), appending(tmp_path):
        pass
    with appending(tmp_path):
        pass


def test_what_a_killed_run_left_is_swept_away(tmp_path: Path) -> None:
    left = tmp_path / f".featprop-{zlib.crc32(platform.node().encode()):08x}-99999999-abc"
    left.mkdir()
    with appending(tmp_path):
        assert not left.exists()


def test_a_disk_without_room_is_said_and_the_next_run_goes_on(line: Make, tmp_path: Path) -> None:
    first, second = line("random", 10, 0, 0.5), line("random", 10, 1, 0.6)
    with appending(tmp_path) as appender:
        appender.append([first])
        whole = (tmp_path / "cora.jsonl").read_bytes()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, before[1]))
        try:
            with pytest.raises(FileError, match=r"cora\.jsonl must have room on its disk; found File too large"):
                appender.append([second])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, ignored)
    assert read_results(tmp_path) == [first]
    with appending(tmp_path) as appender:
        appender.append([second])
    assert read_results(tmp_path) == [first, second]


def test_a_mean_above_the_maximum_is_impossible(line: Make) -> None:
    with pytest.raises(ValueError, match="above the largest"):
        line("random", 10, 0, 0.5, mean_distance=2.0, max_distance=1.0)
    assert line("random", 10, 0, 0.5, mean_distance=1.0, max_distance=1.0)


def test_an_empty_folder_has_no_lines(tmp_path: Path) -> None:
    assert read_results(tmp_path / "nowhere") == []
