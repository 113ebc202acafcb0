"""``featprop init`` writes a graph.toml that every other command reads."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import featprop as fp
from featprop.sources import GraphDescription

Run = Callable[..., Any]


@pytest.fixture
def tables(run: Run, tmp_path: Path) -> Path:
    rows = [f"u{i},{i},{'ok' if i % 3 else 'bad'},{i * 7 % 13}" for i in range(40)]
    Path("accounts.csv").write_text("row,account_id,status,amount\n" + "\n".join(rows) + "\n")
    Path("payments.csv").write_text(
        "payer,payee,sum\n" + "\n".join(f"{i},{(i * 3 + 1) % 40},1" for i in range(40)) + "\n"
    )
    return tmp_path


def test_init_writes_what_the_options_say_and_select_reads_it(run: Run, tables: Path) -> None:
    words = ["--id", "account_id", "--source", "payer", "--target", "payee", "--label", "status", "--ignore", "row"]
    done = run("init", "accounts.csv", "payments.csv", *words)
    assert done.exit_code == 0, done.output
    description = GraphDescription.from_toml(tables / "graph.toml")
    assert (description.id, description.label, description.ignore) == ("account_id", "status", ("row",))
    assert fp.read_graph(".").n_edges == fp.read_graph("graph.toml").n_edges > 0
    assert run("select", ".", "--budget", "5", "--out", "picks.csv").exit_code == 0
    assert run("inspect", "graph.toml").exit_code == 0


def test_init_finds_the_ids_by_the_edges(run: Run, tables: Path) -> None:
    done = run("init", "accounts.csv", "payments.csv", "--source", "payer", "--target", "payee")
    assert done.exit_code == 0, done.output
    assert "account_id" in done.output
    assert GraphDescription.from_toml(tables / "graph.toml").id == "account_id"


def test_init_overwrites_only_when_forced(run: Run, tables: Path) -> None:
    words = ("init", "accounts.csv", "payments.csv", "--source", "payer", "--target", "payee")
    assert run(*words).exit_code == 0
    again = run(*words)
    assert again.exit_code == 2
    assert "graph.toml" in again.output
    assert run(*words, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ([], "nodes.csv"),
        (["nowhere.csv"], "nowhere.csv"),
        (["accounts.csv", "payments.csv", "--source", "payer"], "target"),
        (["accounts.csv", "payments.csv", "--source", "payer", "--target", "payee", "--label", "stauts"], "stauts"),
        (["accounts.csv", "payments.csv", "--source", "payer", "--target", "x"], "'x'"),
    ],
)
def test_bad_input_is_one_message(run: Run, words: list[str], fact: str, tables: Path) -> None:
    done = run("init", *words)
    assert done.exit_code == 2
    assert fact in done.output
    assert not Path("graph.toml").exists()
