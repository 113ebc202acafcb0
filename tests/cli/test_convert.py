"""``featprop convert``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featprop.sources import read_graph
from featprop.sources.native import is_native

Run = Callable[..., Any]


@pytest.fixture
def tables(run: Run, tmp_path: Path) -> Path:
    Path("g").mkdir()
    Path("g/nodes.csv").write_text("id,x\n" + "".join(f"n{i},{i * 7 % 11}\n" for i in range(30)))
    Path("g/edges.csv").write_text("source,target\n" + "".join(f"n{i},n{(i * 3 + 1) % 30}\n" for i in range(30)))
    return tmp_path


def test_tables_are_converted_within_a_bound(run: Run, tables: Path) -> None:
    done = run("convert", "g", "out", "--max-memory", "1GB")
    assert done.exit_code == 0, done.output
    assert is_native(Path("out"))
    assert read_graph("out").fingerprint == read_graph("g").fingerprint
    again = run("convert", "g", "out")
    assert again.exit_code == 2
    assert "out" in again.output
    assert run("convert", "g", "out", "--force").exit_code == 0


def test_other_graphs_are_converted_whole(run: Run, tables: Path) -> None:
    Path("list.txt").write_text("1 2\n2 3\n")
    assert run("convert", "list.txt", "out").exit_code == 0
    assert read_graph("out").ids.tolist() == [1, 2, 3]
    refused = run("convert", "list.txt", "other", "--max-memory", "1GB")
    assert refused.exit_code == 2
    assert not Path("other").exists()
