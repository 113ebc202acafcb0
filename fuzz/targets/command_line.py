"""Values of options, missing words and unknown options of every command that ends by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from fuzz import checks
from fuzz.case import Case, whole_command
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
    ("train",): ("csv", "--labels", "picks.csv", "--out", "out"),
    ("datasets", "stats"): ("digits",),
}
"""A valid command line of each command."""
LEFT_OUT = {
    ("label",): "a server; see the target http",
    ("demo",): "trains for minutes",
    ("datasets", "fetch"): "downloads",
    ("datasets", "make"): "makes a graph of any size",
    ("experiments", "run"): "runs for minutes; see the target settings",
    ("experiments", "report"): "reads results only",
}
"""Commands that are not run here, and why."""
INPUTS = ("csv", "log.labels", "picks.csv", "ridge.safetensors", "run.toml")
WORDS = (
    *INPUTS, "out", "out.csv", "out.parquet", "out.html", "out/x/y.csv", ".", "", "-", "--", "nowhere", "csv/nodes.csv",
    "n1", "amount", "about,label", "amount=number", "label=out", "=", "a=b=c", "layers=1", "layers=nan", "layers=1e99",
    "ok,review", ",,", "random", "featprop", "age", "ridge", "gcn", "csv", "jsonl", "label-studio", "mean", "raw", "none",
    "count", "cpu", "cuda:99", "meta", "500MB", "4TB", "-1GB", "1e400GB", "nanGB", "max-memory=1KB", "scratch=out",
)  # fmt: skip
NOT_TRIED = ("--cluster", "--workers", "--compute", "--help", "--install-completion", "--show-completion")
"""Options that start other processes."""
DEFAULT_OUTPUTS = ("audit.csv", "predictions.csv", "model.safetensors", "report.html", "labels.csv", "labels.jsonl",
                   "labels.json", "picks.csv.bak")  # fmt: skip


@st.composite
def command_lines(draw: DrawFn, seeds: Path) -> Case:
    """Change words of a valid command line: no input changes but the one that the command is for."""
    command = draw(st.sampled_from(list(VALID)))
    words, options = list(VALID[command]), _options(command)
    for _ in range(draw(st.integers(1, 3))):
        way, value = draw(st.sampled_from(["option", "option", "replace", "drop", "insert", "unknown"])), draw(_values)
        at = draw(st.integers(0, max(0, len(words) - 1)))
        if way == "option" and options:
            name, takes_value = draw(st.sampled_from(options))
            words += [name, value] if takes_value else [name]
        elif way == "replace":
            words[at : at + 1] = [value]
        elif way == "drop":
            del words[at : at + 1]
        elif way == "insert":
            words.insert(at, value)
        else:
            words.append(draw(st.sampled_from(["--no-such", "--budge", "--Seed", "-x"])))
    words = [word.replace("\0", "") for word in words]
    check = checks.kept_events(seeds / "log.labels") if command == ("import",) else None
    return Case((*command, *words), INPUTS, changes=may_change(command, words), check=check)


def may_change(command: tuple[str, ...], words: list[str]) -> tuple[str, ...]:
    """Return the names that a command line may write to: new ones, and the one input that it is for."""
    named = {word.split("/")[0] for word in words if word and not word.startswith(("/", "."))}
    own = {"import": "log.labels", "train": "ridge.safetensors", "select": "log.labels"}.get(command[0])
    return tuple(sorted({*named, *DEFAULT_OUTPUTS, "out"} - set(INPUTS) | ({own} if own else set())))


_values = st.sampled_from(WORDS) | cells


def _options(command: tuple[str, ...]) -> list[tuple[str, bool]]:
    found: Any = whole_command()
    for name in command:
        found = found.commands[name]
    return [
        (name, not getattr(option, "is_flag", False))
        for option in found.params
        for name in option.opts
        if name.startswith("-") and name not in NOT_TRIED
    ]
