"""`featprop convert` of tables: in bounded memory, to the end or not at all, and further nodes and edges later."""

import csv
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from featprop.sources import read_graph
from featprop.sources.native import is_native, open_native

Run = Callable[..., Any]

STALLED = """
import sys, time
from featprop.cli import app
from featprop.io import appending, converting, native

moment, *arguments = sys.argv[1:]
where, name = {
    "reading edges": (converting.Mending, "kept"),
    "sorting edges": (converting, "merged"),
    "dividing weights": (converting, "divide_weights"),
    "adding edges": (appending, "gather_edges"),
    "merging edges": (appending, "_merged_rows"),
    "stamping": (native, "stamp_written"),
}[moment]
def stall(*_, **__):
    print("ready", flush=True)
    time.sleep(60)
setattr(where, name, stall)
app(arguments, standalone_mode=False)
"""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,w\n" + "".join(f"n{i},{i * i % 17}\n" for i in range(40)))
    edges = "".join(f"n{i},n{(i * 7 + 3) % 40},{1 + i % 3}\n" for i in range(40))
    (folder / "edges.csv").write_text("source,target,weight\n" + edges)
    return folder


@pytest.fixture
def more(tmp_path: Path) -> Path:
    folder = tmp_path / "more"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,w\n" + "".join(f"m{i},{i}\n" for i in range(12)))
    (folder / "edges.csv").write_text("source,target,weight\n" + "".join(f"m{i},n{i},2\n" for i in range(12)))
    return folder


def stalled(moment: str, *arguments: object) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", STALLED, moment, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def ended(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    process.send_signal(how)
    process.communicate(timeout=300)


def left(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir() if path.name.startswith((".featprop", "featprop-scratch")))


def test_in_bounded_memory(tables: Path, run: Run, tmp_path: Path) -> None:
    said = run("convert", tables, "out", "--max-memory", "600MB", "--scratch", "scratch")
    assert said.exit_code == 0, said.output
    assert "Memory: at most 600.0 MB" in said.output
    assert "Read 40 nodes, 36 edges, 1 features from" in said.output
    assert read_graph("out").fingerprint == read_graph(tables).fingerprint
    assert list((tmp_path / "scratch").iterdir()) == []
    assert "Memory:" not in run("convert", tables, "other").output
    refused = run("convert", tables, "third", "--max-memory", "1MB")
    assert refused.exit_code == 2
    assert "max_memory must be at least 500.0 MB; found 1.0 MB: allow more." in refused.output
    assert not Path("third").exists()


def test_by_workers(tables: Path, more: Path, run: Run, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    for name, options in (("here", []), ("there", ["--workers", 2, "--scratch", "scratch", "--max-memory", "600MB"])):
        said = run("convert", tables, name, *options)
        assert said.exit_code == 0, said.output
        said = run("convert", more, name, "--append", *options)
        assert said.exit_code == 0, said.output
        assert "52 nodes, 48 edges" in said.output
    for path in (tmp_path / "here").iterdir():
        assert path.name == "checked.json" or path.read_bytes() == (tmp_path / "there" / path.name).read_bytes()
    assert not list((tmp_path / "scratch").iterdir())
    refused = run("convert", tables, "third", "--workers", 2, "--cluster", "tcp://127.0.0.1:9")
    assert refused.exit_code == 2
    assert "must be given without" in refused.output
    assert not Path("third").exists()


@pytest.mark.parametrize("moment", ["reading edges", "sorting edges", "dividing weights", "stamping"])
def test_a_killed_conversion_leaves_nothing_that_opens(moment: str, tables: Path, run: Run, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    ended(stalled(moment, "convert", tables, tmp_path / "out", "--scratch", scratch), signal.SIGKILL)
    assert list(left(tmp_path))
    assert not is_native(tmp_path / "out")
    said = run("convert", tables, "out", "--scratch", scratch)
    assert said.exit_code == 0, said.output
    assert read_graph("out").fingerprint == read_graph(tables).fingerprint
    assert list(left(tmp_path)) == list(left(scratch)) == []


def test_an_interrupted_conversion_leaves_nothing(tables: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    ended(stalled("sorting edges", "convert", tables, tmp_path / "out", "--scratch", scratch), signal.SIGINT)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scratch", "tables"]
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("moment", ["adding edges", "merging edges", "stamping"])
def test_a_killed_addition_leaves_the_graph_as_it_was(
    moment: str, tables: Path, more: Path, run: Run, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    assert run("convert", tables, "out").exit_code == 0
    before = open_native(tmp_path / "out").fingerprint
    ended(stalled(moment, "convert", more, tmp_path / "out", "--append", "--scratch", scratch), signal.SIGKILL)
    assert open_native(tmp_path / "out").fingerprint == before
    said = run("convert", more, "out", "--append", "--scratch", scratch)
    assert said.exit_code == 0, said.output
    assert "Added 12 nodes and 12 edges to out: 52 nodes, 48 edges, 1 features." in said.output
    assert open_native(tmp_path / "out").ids.tolist()[38:42] == ["n38", "n39", "m0", "m1"]
    assert list(left(tmp_path)) == list(left(scratch)) == []


def label(sheet: Path) -> list[str]:
    """Fill a sheet as a person would, and return its ids."""
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    for row in rows:
        row["label"] = "even" if int(row["id"][1:]) % 2 == 0 else "odd"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return [row["id"] for row in rows]


def test_picks_hold_when_the_graph_has_grown(tables: Path, more: Path, run: Run) -> None:
    """Choose, label, add nodes, choose again: with the sheet alone, and in rounds."""
    assert run("convert", tables, "g").exit_code == 0
    said = run("select", "g", "--budget", 6, "--rounds", "rounds", "--out", "picks.csv")
    assert said.exit_code == 0, said.output
    first = label(Path("picks.csv"))
    assert run("convert", more, "g", "--append").exit_code == 0
    plain = run("select", "g", "--budget", 46, "--labels", "picks.csv", "--out", "rest.csv")
    assert plain.exit_code == 0, plain.output
    rest = label(Path("rest.csv"))
    assert {*first, *rest} == {*(f"n{i}" for i in range(40)), *(f"m{i}" for i in range(12))}
    assert not set(first) & set(rest)
    said = run("select", "g", "--budget", 20, "--labels", "picks.csv", "--rounds", "rounds", "--out", "more.csv")
    assert said.exit_code == 0, said.output
    second = label(Path("more.csv"))
    assert not set(first) & set(second)
    assert any(name.startswith("m") for name in second)
    trained = run("train", "g", "--labels", "picks.csv", "--labels", "more.csv", "--out", "model")
    assert trained.exit_code == 0, trained.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["cora", "g", "--append"], "cora must hold tables to add, nodes or edges or both; found no such folder"),
        (["g", "g", "--append"], "g must hold tables to add, nodes or edges or both; found something else"),
        (["tables", "nowhere", "--append"], "nowhere must be a graph in featprop's format to add to; found no such"),
        (["tables", "tables", "--append"], "tables must be a graph in featprop's format to add to; found something"),
        (["tables", "g", "--append", "--force"], "--append must be given without --force"),
    ],
)
def test_what_cannot_be_added_is_said(tables: Path, run: Run, arguments: list[str], said: str) -> None:
    assert run("convert", tables, "g").exit_code == 0
    result = run("convert", *arguments)
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize(("option", "value"), [("--max-memory", "2GB"), ("--scratch", "."), ("--workers", 2)])
def test_a_bound_is_for_tables_alone(option: str, value: object, tables: Path, run: Run) -> None:
    assert run("convert", tables, "g").exit_code == 0
    result = run("convert", "g", "again", option, value)
    assert result.exit_code == 2
    assert f"{option} must be given with tables only; found g: leave it out: this is read whole." in result.output
    assert not Path("again").exists()
