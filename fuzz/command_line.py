"""Values of options, missing words and unknown options of every command that ends by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from featprop.cli import app
from fuzz import checks
from fuzz.case import Case
from fuzz.damage import cells

VALID: dict[tuple[str, ...], tuple[str, ...]] = {
    ("audit",): ("csv", "--labels", "picks.csv", "--size", "3", "--out", "out.csv"),
    ("convert",): ("csv", "out"),
    ("export",): ("log.labels", "--out", "out"),
    ("import",): ("log.labels", "picks.csv"),
    ("inspect",): ("csv",),
    ("models",): (),
    ("predict",): ("csv", "--model", "ridge.safetensors", "--out", "out.csv"),
    ("report",): ("csv", "--labels", "picks.csv", "--out", "out.html"),
    ("select",): ("csv", "--budget", "2", "--out", "out.csv"),
    ("strategies",): (),
    ("train",): ("csv", "--labels", "picks.csv", "--out", "out.safetensors"),
    ("datasets", "stats"): ("digits",),
}
"""A valid command line of each command; others download, serve or run for minutes."""
INPUTS = ("csv", "log.labels", "picks.csv", "ridge.safetensors")
WORDS = (
    *INPUTS, "out", "out.csv", "out.parquet", "out.html", "out/x/y.csv", ".", "", "-", "--", "nowhere", "csv/nodes.csv",
    "n1", "amount", "about,label", "amount=number", "label=out", "=", "a=b=c", "layers=1", "layers=nan", "layers=1e99",
    "ok,review", ",,", "random", "featprop", "age", "ridge", "gcn", "csv", "jsonl", "label-studio", "mean", "raw", "none",
    "count", "cpu", "cuda:99", "meta", "500MB", "4TB", "-1GB", "1e400GB", "nanGB", "max-memory=1KB", "scratch=out",
)  # fmt: skip
NOT_TRIED = ("--cluster", "--workers", "--help", "--install-completion", "--show-completion")
OWN = {"import": "log.labels", "train": "ridge.safetensors", "select": "log.labels"}
"""The input that a command is there to change."""
OUTPUTS = {"out", "audit.csv", "predictions.csv", "model.safetensors", "report.html", "picks.csv.bak"}
OUTPUTS |= {"labels.csv", "labels.jsonl", "labels.json"}


@st.composite
def command_lines(draw: DrawFn, seeds: Path) -> Case:
    """Change words of a valid command line: no input changes but the one that the command is there to change."""
    command = draw(st.sampled_from(list(VALID)))
    words, options = list(VALID[command]), _options(command)
    for _ in range(draw(st.integers(1, 2))):
        way = draw(st.sampled_from(["option"] * 6 + ["replace", "drop", "insert", "unknown"]))
        at, value = draw(st.integers(0, len(words))), draw(st.sampled_from(WORDS) | cells).replace("\0", "")
        if way == "option" and options:
            name, takes_value = draw(st.sampled_from(options))
            words += [name, value] if takes_value else [name]
        elif way == "unknown":
            words.append(draw(st.sampled_from(["--no-such", "--budge", "--Seed", "-x"])))
        else:
            words[at : at + (way != "insert")] = [] if way == "drop" else [value]
    named = {word.split("/")[0] for word in words if word and not word.startswith(("/", "."))}
    changes = (named | OUTPUTS) - set(INPUTS) | {OWN.get(command[0], "out")}
    check = checks.kept_events(seeds / "log.labels") if command == ("import",) else None
    return Case((*command, *words), INPUTS, changes=tuple(sorted(changes)), check=check)


def _options(command: tuple[str, ...]) -> list[tuple[str, bool]]:
    found: Any = typer.main.get_command(app)
    for name in command:
        found = found.commands[name]
    return [
        (name, not getattr(option, "is_flag", False))
        for option in found.params
        for name in option.opts
        if name.startswith("-") and name not in NOT_TRIED
    ]
