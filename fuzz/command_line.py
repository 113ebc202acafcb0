"""Values of options, missing words and unknown options of every command that ends by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from featprop.cli import app
from fuzz.case import Case
from fuzz.checks import kept_events
from fuzz.damage import cells
from fuzz.graphs import COMMANDS

VALID = (
    *(line.format(graph="csv", budget=2) for line in COMMANDS),
    "audit csv --labels picks.csv --size 3 --out out.csv",
    "export log.labels --out out",
    "import log.labels picks.csv",
    "models",
    "strategies",
    "datasets stats digits",
)
"""A valid command line of each command; others download, serve or run for minutes."""
WORDS = (
    "csv", "log.labels", "picks.csv", "ridge.safetensors", "out", "out.csv", "out.parquet", "out.html", "out/x/y.csv",
    ".", "", "-", "--", "nowhere", "csv/nodes.csv", "n1", "amount", "about,label", "amount=number", "label=out", "=", "a=b=c",
    "layers=1", "layers=nan", "layers=1e99", "ok,review", ",,", "random", "featprop", "age", "ridge", "gcn", "jsonl", "label-studio", "mean", "raw", "none",
    "count", "cpu", "cuda:99", "meta", "500MB", "4TB", "-1GB", "1e400GB", "nanGB", "max-memory=1KB", "scratch=out",
)  # fmt: skip
NOT_TRIED = ("--help", "--install-completion", "--show-completion")
OWN = {"import": "log.labels", "train": "ridge.safetensors", "select": "log.labels"}
"""The input that a command is there to change."""


@st.composite
def command_lines(draw: DrawFn, seeds: Path) -> Case:  # noqa: ARG001
    """Change words of a valid command line: no input changes but the one that the command is there to change."""
    words = draw(st.sampled_from(VALID)).split()
    path, options = _command_of(words)
    words = words[len(path) :]
    for _ in range(draw(st.integers(1, 2))):
        way = draw(st.sampled_from(["option"] * 6 + ["replace", "drop", "insert", "unknown"]))
        at, value = draw(st.integers(0, len(words))), draw(st.sampled_from(WORDS) | cells).replace("\0", "")
        if way == "option" and options:
            option = draw(st.sampled_from(options))
            words += [option.opts[0]] if option.is_flag else [option.opts[0], value]
        elif way == "unknown":
            words.append(draw(st.sampled_from(["--no-such", "--budge", "--Seed", "-x"])))
        else:
            words[at : at + (way != "insert")] = [] if way == "drop" else [value]
    changes = (OWN[path[0]],) if path[0] in OWN else ()
    return Case((*path, *words), {}, None, changes, kept_events if path == ["import"] else None)


def _command_of(words: list[str]) -> tuple[list[str], list[Any]]:
    """Return the words that name a command, and its options."""
    command: Any = typer.main.get_command(app)
    path = []
    while hasattr(command, "commands"):
        path.append(words[len(path)])
        command = command.commands[path[-1]]
    return path, [each for each in command.params if each.opts[0].startswith("-") and each.opts[0] not in NOT_TRIED]
